//! The documents of stock: levels, movements and the operations that make them.

use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::limits;
use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::{AdjustmentReason, Movement};
use abasto_domain::text::clean;
use abasto_engine::stock::{Adjustment, Counted, LevelView, MoveStock};
use abasto_store::verdict::StockReply;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::value::{Id, Time, finish, optional};

/// The stock of a product at a branch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StockLevel)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LevelDocument {
    branch_id: Id,
    product_id: Id,
    /// The product's present sku.
    sku: String,
    /// Units that can be sold; never negative.
    available: i64,
    /// Units promised to holds and orders; never negative.
    reserved: i64,
    /// `available + reserved`.
    on_hand: i64,
    /// How many movements made it.
    version: i64,
    /// When it last moved; null when it never did.
    #[schema(required = true)]
    updated_at: Option<Time>,
}

impl From<&LevelView> for LevelDocument {
    fn from(LevelView { level, sku }: &LevelView) -> Self {
        Self {
            branch_id: level.place.branch.into(),
            product_id: level.place.product.into(),
            sku: sku.clone(),
            available: level.available,
            reserved: level.reserved,
            on_hand: level.on_hand(),
            version: level.version,
            updated_at: (level.version > 0).then(|| level.updated_at.into()),
        }
    }
}

/// One committed effect on a level; never changed, never deleted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Movement)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MovementDocument {
    id: Id,
    branch_id: Id,
    product_id: Id,
    /// 1, 2, 3 … per level, without gap.
    sequence: i64,
    #[schema(value_type = MovementType)]
    r#type: &'static str,
    /// Signed change of `available`.
    quantity: i64,
    /// Signed change of `reserved`.
    reserved_delta: i64,
    /// `available` after it.
    balance_after: i64,
    /// `reserved` after it.
    reserved_after: i64,
    /// The operation that made it and all movements beside it: an adjustment, count or transfer
    /// as its answer named it, else the order or checkout.
    operation_id: Id,
    /// Which effect of the operation it is. Unique in the business: an effect that is applied
    /// twice is refused by it.
    #[schema(example = "65f1c0ffee0123456789abcd-apply-0")]
    effect_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// Who made it.
    #[schema(example = "key:65f1c0ffee0123456789abcd")]
    actor: String,
    occurred_at: Time,
}

/// What a movement was.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(
    dead_code,
    reason = "it names the values in the document; the domain makes them"
)]
enum MovementType {
    Receipt,
    Adjustment,
    Count,
    TransferOut,
    TransferIn,
    Hold,
    HoldRelease,
    Reservation,
    Release,
    Dispatch,
    Return,
}

impl From<&Movement> for MovementDocument {
    fn from(movement: &Movement) -> Self {
        Self {
            id: movement.id.into(),
            branch_id: movement.place.branch.into(),
            product_id: movement.place.product.into(),
            sequence: movement.sequence,
            r#type: movement.kind.name(),
            quantity: movement.available,
            reserved_delta: movement.reserved,
            balance_after: movement.available_after,
            reserved_after: movement.reserved_after,
            operation_id: movement.operation.source.into(),
            effect_id: movement.operation.to_string(),
            order_id: movement.cause.order.map(Id::from),
            checkout_id: movement.cause.checkout.map(Id::from),
            reason: movement.cause.reason.clone(),
            reference: movement.cause.reference.clone(),
            actor: movement.actor.to_string(),
            occurred_at: movement.at.into(),
        }
    }
}

/// What an operation did to stock.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StockMoved {
    /// What all its movements have in common.
    operation_id: Id,
    /// The levels it led to.
    items: Vec<LevelDocument>,
    /// The movements it made.
    movements: Vec<MovementDocument>,
}

impl StockMoved {
    /// The answer of an operation; nothing when it moved nothing, which no operation does.
    pub(crate) fn new(reply: &StockReply, levels: &[LevelView]) -> Option<Self> {
        let first = reply.movements.first()?;
        Some(Self {
            operation_id: first.operation.source.into(),
            items: levels.iter().map(LevelDocument::from).collect(),
            movements: reply.movements.iter().map(MovementDocument::from).collect(),
        })
    }
}

/// Corrections of stock.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdjustStock {
    #[schema(min_items = 1, max_items = 200)]
    items: Vec<AdjustmentItem>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Adjustment)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AdjustmentItem {
    product_id: Id,
    /// Signed number of units, not zero.
    #[schema(minimum = -1_000_000, maximum = 1_000_000, example = -2)]
    delta: i64,
    reason: ReasonName,
    /// A document outside, such as a delivery note.
    #[schema(max_length = 100)]
    reference: Option<String>,
}

/// Why stock is adjusted.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[schema(as = AdjustmentReason)]
#[serde(rename_all = "lowercase")]
enum ReasonName {
    Receipt,
    Damage,
    Loss,
    Found,
    Correction,
}

impl From<ReasonName> for AdjustmentReason {
    fn from(name: ReasonName) -> Self {
        match name {
            ReasonName::Receipt => Self::Receipt,
            ReasonName::Damage => Self::Damage,
            ReasonName::Loss => Self::Loss,
            ReasonName::Found => Self::Found,
            ReasonName::Correction => Self::Correction,
        }
    }
}

impl AdjustStock {
    pub(crate) fn read(self) -> Result<Vec<Adjustment>, Problem> {
        const ZERO: InvalidValue =
            InvalidValue::new("out-of-range", "an adjustment changes something");
        let mut faults = Faults::default();
        let f = &mut faults;
        let items = self.items.into_iter().enumerate().map(|(index, item)| {
            if item.delta == 0 {
                f.take::<()>(format!("/items/{index}/delta"), Err(ZERO));
            }
            let pointer = format!("/items/{index}/reference");
            let reference = optional(f, &pointer, item.reference, |reference| {
                clean(&reference, limits::REFERENCE)
            });
            Some(Adjustment {
                product: item.product_id.into(),
                delta: item.delta,
                reason: item.reason.into(),
                reference: reference?,
            })
        });
        // Every item is read before the faults are looked at.
        let items: Vec<Option<Adjustment>> = items.collect();
        finish(faults, items.into_iter().collect())
    }
}

/// A physical count.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountStock {
    #[schema(min_items = 1, max_items = 200)]
    items: Vec<CountedItem>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CountedProduct)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CountedItem {
    /// Each product once.
    product_id: Id,
    /// Units on the shelf, reserved ones included.
    #[schema(minimum = 0, maximum = 1_000_000)]
    counted: i64,
    /// The version of the level that was counted against; 0 when it never moved.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    expected_version: i64,
}

impl CountStock {
    pub(crate) fn read(self) -> Vec<Counted> {
        let counted = |item: CountedItem| Counted {
            product: item.product_id.into(),
            counted: item.counted,
            expected_version: item.expected_version,
        };
        self.items.into_iter().map(counted).collect()
    }
}

/// Units that go from one branch to another.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TransferStock {
    from_branch_id: Id,
    to_branch_id: Id,
    #[schema(min_items = 1, max_items = 200)]
    items: Vec<ItemDocument>,
}

/// So many units of a product.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Item)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ItemDocument {
    product_id: Id,
    #[schema(minimum = 1, maximum = 1_000_000, example = 3)]
    quantity: i64,
}

impl TransferStock {
    pub(crate) fn read(self) -> Result<MoveStock, Problem> {
        let mut faults = Faults::default();
        let items = read_items(&mut faults, &self.items);
        let command = || {
            Some(MoveStock::Transfer {
                from: self.from_branch_id.into(),
                to: self.to_branch_id.into(),
                items: items?,
            })
        };
        finish(faults, command())
    }
}

/// The items of an order or a transfer.
pub(crate) fn read_items(faults: &mut Faults, items: &[ItemDocument]) -> Option<Vec<Item>> {
    let items: Vec<Option<Item>> = items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let quantity = Quantity::new(item.quantity);
            let quantity = match quantity {
                Ok(quantity) => quantity,
                Err(invalid) => {
                    faults.push(invalid.at(format!("/items/{index}/quantity")));
                    return None;
                }
            };
            Some(Item {
                product: item.product_id.into(),
                quantity,
            })
        })
        .collect();
    items.into_iter().collect()
}
