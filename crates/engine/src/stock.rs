//! Stock: adjusting, counting, moving between branches.
//!
//! Owns which levels an operation touches. What each does to a level is in `abasto_domain::stock`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::branch::Branch;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{BranchId, BusinessId, MovementId, ProductId, RawId};
use abasto_domain::pricing::{Item, merge_items};
use abasto_domain::product::Product;
use abasto_domain::stock::{
    AdjustmentReason, Cause, CountRejection, MovementKind, OperationId, Place, Step, StockChange,
    StockLevel, count,
};
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartWork;
use abasto_store::unit::{Answer, Guard, OperationDraft, UnitOfWork};
use abasto_store::verdict::StockReply;
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
pub use crate::level::LevelView;

/// An operation on stock: all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum MoveStock {
    /// Corrections for a reason.
    Adjust {
        /// Where.
        branch: BranchId,
        /// What; a product may appear more than once.
        items: Vec<Adjustment>,
    },
    /// A physical count of the shelf.
    Count {
        /// Where.
        branch: BranchId,
        /// What; each product once.
        items: Vec<Counted>,
    },
    /// From one branch to another.
    Transfer {
        /// From where.
        from: BranchId,
        /// To where.
        to: BranchId,
        /// What; those of one product are summed.
        items: Vec<Item>,
    },
}

/// One correction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Adjustment {
    /// What.
    pub product: ProductId,
    /// Signed number of units, not zero.
    pub delta: i64,
    /// Why.
    pub reason: AdjustmentReason,
    /// A document outside.
    pub reference: Option<String>,
}

/// One counted product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// What.
    pub product: ProductId,
    /// Units on the shelf, reserved ones included.
    pub counted: i64,
    /// The version of the level that the form was printed from.
    pub expected_version: i64,
}

impl Engine {
    /// Moves stock, and answers the movements made with the levels they led to.
    pub async fn move_stock(
        &self,
        context: &Context,
        key: &str,
        command: MoveStock,
    ) -> Result<Done<Arc<StockReply>>, Error> {
        let command = Arc::new(admit(context, command)?);
        let operation = operation(context, key, "stock.move", &canonical(&command))?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |freshness| engine.decide_move(&context, &command, &operation, freshness);
            let done = engine.settle(business, Some(&operation), decide).await;
            let done = commit::count_shortage("stock", done)?;
            done.map(commit::stock)
        })
        .await
    }

    async fn decide_move(
        &self,
        context: &Context,
        command: &MoveStock,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let business = context.business();
        for branch in command.branches() {
            self.find::<Branch>(business, branch, freshness).await?;
            context.require_at(Permission::ChangeStock, branch)?;
        }
        let products = command.products().into_iter().map(RawId::from);
        let products = self.find_all::<Product>(business, products, freshness);
        let skus = products.await?.into_iter();
        let skus = skus.map(|product| (product.id, product.sku.clone()));
        let skus: BTreeMap<ProductId, String> = skus.collect();
        let now = self.now();
        let source = self.new_id(now);
        let mut guards = Vec::new();
        let stock = match command {
            MoveStock::Adjust { branch, items } => self.adjustments(*branch, items, source, now),
            MoveStock::Transfer { from, to, items } => {
                self.transfers(*from, *to, items, source, now)
            }
            MoveStock::Count { branch, items } => {
                guards.extend(items.iter().map(|item| {
                    let place = Place {
                        branch: *branch,
                        product: item.product,
                    };
                    Guard::Level(place, item.expected_version)
                }));
                self.counts(business, *branch, items, &skus, source, now)
                    .await?
            }
        };
        Ok(UnitOfWork {
            business,
            branch: command.branches().first().copied(),
            actor: context.principal.actor,
            request: context.request.clone(),
            at: now,
            operation: Some(operation.clone()),
            guards,
            puts: Vec::new(),
            stock,
            tallies: Vec::new(),
            carts: CartWork::default(),
            answer: Answer::Stock(skus),
        })
    }

    fn adjustments(
        &self,
        branch: BranchId,
        items: &[Adjustment],
        source: RawId,
        now: Timestamp,
    ) -> Vec<StockChange> {
        let change = |(item, line): (&Adjustment, u16)| StockChange {
            id: MovementId(self.new_id(now)),
            place: Place {
                branch,
                product: item.product,
            },
            kind: item.reason.kind(),
            available: item.delta,
            reserved: 0,
            operation: OperationId {
                source,
                step: Step::Apply,
                line,
            },
            cause: Cause {
                reason: Some(item.reason.name().to_owned()),
                reference: item.reference.clone(),
                ..Cause::default()
            },
        };
        items.iter().zip(0u16..).map(change).collect()
    }

    fn transfers(
        &self,
        from: BranchId,
        to: BranchId,
        items: &[Item],
        source: RawId,
        now: Timestamp,
    ) -> Vec<StockChange> {
        let side = |branch, kind, step, sign: i64| {
            items
                .iter()
                .zip(0u16..)
                .map(move |(item, line)| StockChange {
                    id: MovementId(self.new_id(now)),
                    place: Place {
                        branch,
                        product: item.product,
                    },
                    kind,
                    available: sign * item.quantity.units(),
                    reserved: 0,
                    operation: OperationId { source, step, line },
                    cause: Cause::default(),
                })
        };
        let out = side(from, MovementKind::TransferOut, Step::Apply, -1);
        out.chain(side(to, MovementKind::TransferIn, Step::Receive, 1))
            .collect()
    }

    async fn counts(
        &self,
        business: BusinessId,
        branch: BranchId,
        items: &[Counted],
        skus: &BTreeMap<ProductId, String>,
        source: RawId,
        now: Timestamp,
    ) -> Result<Vec<StockChange>, Error> {
        let places: Vec<Place> = items
            .iter()
            .map(|item| Place {
                branch,
                product: item.product,
            })
            .collect();
        let levels = self.store.levels(business, &places).await?;
        let mut changes = Vec::with_capacity(items.len());
        for (((item, place), level), line) in items.iter().zip(places).zip(levels).zip(0u16..) {
            let level = level.unwrap_or_else(|| StockLevel::empty(business, place));
            let available = count(&level, item.counted, item.expected_version).map_err(|why| {
                let sku = skus.get(&item.product).cloned().unwrap_or_default();
                let current = Box::new(LevelView { level, sku });
                match why {
                    CountRejection::Changed => Error::StockChanged(current),
                    CountRejection::BelowReserved => Error::BelowReserved(current),
                }
            })?;
            changes.push(StockChange {
                id: MovementId(self.new_id(now)),
                place,
                kind: MovementKind::Count,
                available,
                reserved: 0,
                operation: OperationId {
                    source,
                    step: Step::Apply,
                    line,
                },
                cause: Cause::default(),
            });
        }
        Ok(changes)
    }
}

impl MoveStock {
    fn branches(&self) -> Vec<BranchId> {
        match self {
            Self::Adjust { branch, .. } | Self::Count { branch, .. } => vec![*branch],
            Self::Transfer { from, to, .. } => vec![*from, *to],
        }
    }

    fn products(&self) -> BTreeSet<ProductId> {
        match self {
            Self::Adjust { items, .. } => items.iter().map(|item| item.product).collect(),
            Self::Count { items, .. } => items.iter().map(|item| item.product).collect(),
            Self::Transfer { items, .. } => items.iter().map(|item| item.product).collect(),
        }
    }
}

/// The order of items does not make a request new.
fn canonical(command: &MoveStock) -> MoveStock {
    let mut canonical = command.clone();
    match &mut canonical {
        MoveStock::Adjust { items, .. } => items.sort(),
        MoveStock::Count { items, .. } => items.sort_by_key(|item| item.product),
        MoveStock::Transfer { items, .. } => items.sort_by_key(|item| item.product),
    }
    canonical
}

/// What can be refused before anything is read.
fn admit(context: &Context, mut command: MoveStock) -> Result<MoveStock, Error> {
    context.require(Permission::ChangeStock)?;
    match &mut command {
        MoveStock::Adjust { .. } => {}
        MoveStock::Count { items, .. } => {
            let mut seen = BTreeSet::new();
            if let Some(index) = items.iter().position(|item| !seen.insert(item.product)) {
                const TWICE: InvalidValue =
                    InvalidValue::new("duplicate-product", "a product is counted once");
                return Err(Error::fault(&format!("/items/{index}/productId"), TWICE));
            }
        }
        MoveStock::Transfer { from, to, items } => {
            if from == to {
                const SAME: InvalidValue =
                    InvalidValue::new("same-branch", "a transfer goes to another branch");
                return Err(Error::fault("/toBranchId", SAME));
            }
            *items = merge_items(items).map_err(|(index, invalid)| {
                Error::fault(&format!("/items/{index}/quantity"), invalid)
            })?;
        }
    }
    Ok(command)
}
