//! Orders and stock of a test's business, made by the rules of the domain.
//!
//! Owns fixtures: receipts, transfers, orders and the steps of their lives as units.

use std::sync::Arc;

use abasto_domain::basket::Basket;
use abasto_domain::branch::Branch;
use abasto_domain::coupon::{KnownBuyer, Redemption};
use abasto_domain::id::{MovementId, OrderId};
use abasto_domain::money::Amount;
use abasto_domain::order::{
    Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, RESERVE, place,
};
use abasto_domain::order_state::{Action, Outcome, Units, act};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::{Cause, MovementKind, OperationId, Place, Step, StockChange};
use serde_json::json;

use super::tenant::{Tenant, valid};
use super::world::{committed, document_in};
use crate::event::EventDraft;
use crate::record::Document;
use crate::unit::{Answer, Put, UnitOfWork};

/// The year of the orders' numbers where a case does not care.
pub const YEAR: i16 = 2027;

impl Tenant {
    /// A change of `available` with an identity of its own.
    pub fn stock_change(&self, place: Place, available: i64) -> StockChange {
        StockChange {
            id: MovementId(self.world.id()),
            place,
            kind: MovementKind::Adjustment,
            available,
            reserved: 0,
            operation: OperationId {
                source: self.world.id(),
                step: Step::Apply,
                line: 0,
            },
            cause: Cause {
                reason: Some("correction".to_owned()),
                ..Cause::default()
            },
        }
    }

    /// A unit that changes `available` of levels.
    pub fn adjustment(&self, changes: &[(Place, i64)]) -> UnitOfWork {
        let stock = changes.iter();
        UnitOfWork {
            branch: changes.first().map(|(place, _)| place.branch),
            stock: stock
                .map(|(place, available)| self.stock_change(*place, *available))
                .collect(),
            ..self.unit()
        }
    }

    /// Commits a receipt.
    pub async fn receive(&self, place: Place, units: i64) {
        let unit = self.adjustment(&[(place, units)]);
        committed(self.world.commit(unit).await);
    }

    /// A unit that moves units of a product to another branch.
    pub fn transfer(&self, from: Place, to: &Branch, units: i64) -> UnitOfWork {
        let source = self.world.id();
        let side = |place, kind, step, available| StockChange {
            kind,
            operation: OperationId {
                source,
                step,
                line: 0,
            },
            ..self.stock_change(place, available)
        };
        let to = Place {
            branch: to.id,
            product: from.product,
        };
        UnitOfWork {
            stock: vec![
                side(from, MovementKind::TransferOut, Step::Apply, -units),
                side(to, MovementKind::TransferIn, Step::Receive, units),
            ],
            branch: Some(from.branch),
            ..self.unit()
        }
    }

    /// A new order, number blank.
    ///
    /// # Panics
    /// When the domain refuses it.
    pub fn draft_order(&self, branch: &Branch, lines: &[(&Product, i64)], year: i16) -> Order {
        let item = |(product, units): &(&Product, i64)| Item {
            product: product.id,
            quantity: valid(Quantity::new(*units)),
        };
        let items: Vec<Item> = lines.iter().map(item).collect();
        let products: Vec<&Product> = lines.iter().map(|(product, _)| *product).collect();
        let draft = Draft {
            id: OrderId(self.world.id()),
            basket: Basket {
                branch,
                items: &items,
                products: &products,
                coupons: &[],
                buyer: KnownBuyer::No,
                delivery_fee: Amount::ZERO,
            },
            currency: self.record.currency,
            year,
            customer: Buyer {
                id: None,
                name: Some("Ana".to_owned()),
                phone: None,
            },
            fulfilment: Fulfilment {
                kind: FulfilmentKind::Pickup,
                address: None,
                courier: None,
            },
            payment_method: PaymentMethod::OnDelivery,
            note: None,
            checkout: None,
            cart: None,
            expected_total: None,
            unpaid_ms: 0,
        };
        match place(draft, self.world.now()) {
            Ok(order) => order,
            Err(why) => panic!("the domain refuses a test's order: {why}"),
        }
    }

    /// The unit that places an order and reserves its units.
    pub fn placing(&self, order: Order) -> UnitOfWork {
        let stock = order.stock_changes(RESERVE, &mut || self.world.id());
        let event = EventDraft {
            id: self.world.id().into(),
            name: "abasto.order.created",
            data: json!({ "from": null, "to": order.status.name() }),
        };
        UnitOfWork {
            branch: Some(order.branch),
            stock,
            answer: Answer::Put(0),
            puts: vec![Put {
                base: None,
                next: order.into(),
                event,
            }],
            ..self.unit()
        }
    }

    /// A unit that orders some units of one product.
    pub fn sale(&self, branch: &Branch, product: &Product, units: i64) -> UnitOfWork {
        self.placing(self.draft_order(branch, &[(product, units)], YEAR))
    }

    /// The unit of a step of an order's life.
    ///
    /// # Panics
    /// When the step is not allowed or changes nothing.
    pub fn step(&self, order: &Arc<Order>, action: Action) -> UnitOfWork {
        let now = self.world.now();
        let outcome = act(order, action, now, &mut || self.world.id());
        let Ok(Outcome::Changed { order: next, stock }) = outcome else {
            panic!("the domain refuses a test's step: {outcome:?}");
        };
        let event = EventDraft {
            id: self.world.id().into(),
            name: "abasto.order.changed",
            data: json!({ "from": order.status.name(), "to": next.status.name() }),
        };
        UnitOfWork {
            branch: Some(order.branch),
            at: now,
            stock,
            answer: Answer::Put(0),
            puts: vec![Put {
                base: Some(Arc::clone(order).into()),
                next: (*next).into(),
                event,
            }],
            ..self.unit()
        }
    }

    /// Commits a unit that answers with an order.
    ///
    /// # Panics
    /// When it does not.
    pub async fn order(&self, unit: UnitOfWork) -> Arc<Order> {
        order_in(document_in(committed(self.world.commit(unit).await)))
    }
}

/// The order in a document.
///
/// # Panics
/// When it is something else.
pub fn order_in(document: Document) -> Arc<Order> {
    match document {
        Document::Order(order) => order,
        other => panic!("expected an order, found {other:?}"),
    }
}

/// A cancellation that gives the units back.
pub fn cancel() -> Action {
    Action::Cancel {
        reason: "test".to_owned(),
        units: Units::Restock,
        coupons: Redemption::Returned,
    }
}
