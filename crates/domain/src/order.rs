//! An order: what was sold, to whom, for how much, and how far it has come.
//!
//! Owns the record and the placing of an order. Its later life is in [`crate::order_state`]. Must
//! not know stock levels: placing yields the changes of stock that the commit checks.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::branch::Branch;
use crate::currency::Currency;
use crate::id::{
    BranchId, BusinessId, CartId, CheckoutId, CustomerId, MemberId, MovementId, OrderId, ProductId,
    RawId,
};
use crate::money::{Amount, AmountOverflow};
use crate::number::{OrderNumber, Series};
use crate::order_state::{PaymentStatus, Status, Timeline};
use crate::pricing::{Item, Line, Totals, price_line, totals};
use crate::product::{Product, Unsellable};
use crate::quantity::Quantity;
use crate::stamp::Stamp;
use crate::stock::{Cause, MovementKind, OperationId, Place, Step, StockChange, reserving};
use crate::time::Timestamp;

/// One order. Its lines are snapshots: no later change of a product shows in it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: OrderId,
    /// Its number for people; blank until committed.
    pub number: OrderNumber,
    /// Where it was sold.
    pub branch: BranchId,
    /// How far it has come.
    pub status: Status,
    /// What is known of its payment.
    pub payment_status: PaymentStatus,
    /// How it is to be paid.
    pub payment_method: PaymentMethod,
    /// Who bought, as known then.
    pub customer: Buyer,
    /// What was bought: one line per product.
    pub lines: Vec<Line>,
    /// The sums.
    pub totals: Totals,
    /// Of all amounts.
    pub currency: Currency,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// For the people who pack.
    pub note: Option<String>,
    /// The checkout it came from.
    pub checkout: Option<CheckoutId>,
    /// The cart it came from.
    pub cart: Option<CartId>,
    /// When an unpaid order gives its units back.
    pub reservation_expires_at: Option<Timestamp>,
    /// When it came to its states.
    pub timeline: Timeline,
    /// Why it was cancelled.
    pub cancel_reason: Option<String>,
    /// Version and times.
    pub stamp: Stamp,
}

/// How an order is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentMethod {
    /// When it is handed over.
    OnDelivery,
    /// Through a payment provider, before it is worked on.
    Online,
}

/// The buyer as known when the order was placed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buyer {
    /// The customer record, if there is one.
    pub id: Option<CustomerId>,
    /// The name then.
    pub name: Option<String>,
    /// The phone number then.
    pub phone: Option<String>,
}

/// How an order reaches its buyer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fulfilment {
    /// Fetched or brought.
    pub kind: FulfilmentKind,
    /// Where to; needed for a delivery.
    pub address: Option<Address>,
    /// Who brings it.
    pub courier: Option<MemberId>,
}

/// Whether an order is fetched or brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FulfilmentKind {
    /// The buyer comes.
    Pickup,
    /// A courier goes.
    Delivery,
}

/// An address is one value: free text or named parts, never merged part by part.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Address {
    /// As written on a label.
    Text(String),
    /// Named parts such as `street` and `city`.
    Parts(BTreeMap<String, String>),
}

/// Everything that placing an order needs; nothing in it is a price.
#[derive(Debug)]
pub struct Draft<'a> {
    /// The new order's id.
    pub id: OrderId,
    /// Where it is sold.
    pub branch: &'a Branch,
    /// The business's currency.
    pub currency: Currency,
    /// The civil year of now in the branch's zone.
    pub year: i16,
    /// What is bought: one item per product (see [`crate::pricing::merge_items`]).
    pub items: &'a [Item],
    /// The product of each item, in the same order.
    pub products: &'a [&'a Product],
    /// Who buys.
    pub customer: Buyer,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// How it is paid.
    pub payment_method: PaymentMethod,
    /// The fee for the delivery.
    pub delivery_fee: Amount,
    /// For the people who pack.
    pub note: Option<String>,
    /// What the caller believes the total to be.
    pub expected_total: Option<Amount>,
    /// How long an unpaid online order keeps its units, in milliseconds.
    pub unpaid_ms: i64,
}

/// A product of an order that cannot be sold, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The product.
    pub product: ProductId,
    /// Why.
    pub why: Unsellable,
}

/// More units of a product than one order may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit {
    /// The product.
    pub product: ProductId,
    /// How many were asked for.
    pub requested: Quantity,
    /// How many one order may have.
    pub limit: Quantity,
}

/// Why an order cannot be placed; stock is not looked at here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceRejection {
    /// The branch takes no orders.
    #[error("the branch is not active")]
    BranchInactive,
    /// Some products are not sold (any more, or here).
    #[error("some products cannot be sold")]
    Unsellable(Vec<Refused>),
    /// Some products have a limit per order.
    #[error("more units than one order may have")]
    OverLimit(Vec<OverLimit>),
    /// The caller saw other prices.
    #[error("the total is not what the caller expected")]
    PriceChanged {
        /// What the caller expected.
        expected: Amount,
        /// What it is.
        actual: Amount,
    },
    /// The total is out of range.
    #[error(transparent)]
    Overflow(#[from] AmountOverflow),
}

/// Decides a new order: the record (number blank, version 1) with all prices from the catalogue.
pub fn place(draft: Draft<'_>, now: Timestamp) -> Result<Order, PlaceRejection> {
    check_sellable(&draft)?;
    let lines = priced(&draft)?;
    let totals = totals(&lines, draft.delivery_fee)?;
    if let Some(expected) = draft
        .expected_total
        .filter(|expected| *expected != totals.total)
    {
        return Err(PlaceRejection::PriceChanged {
            expected,
            actual: totals.total,
        });
    }
    let (status, expires) = match draft.payment_method {
        PaymentMethod::OnDelivery => (Status::Pending, None),
        PaymentMethod::Online => (
            Status::PendingPayment,
            Some(now.plus_millis(draft.unpaid_ms)),
        ),
    };
    Ok(Order {
        business: draft.branch.business,
        id: draft.id,
        number: OrderNumber::blank(Series {
            code: draft.branch.code.clone(),
            year: draft.year,
        }),
        branch: draft.branch.id,
        status,
        payment_status: PaymentStatus::Unpaid,
        payment_method: draft.payment_method,
        customer: draft.customer,
        lines,
        totals,
        currency: draft.currency,
        fulfilment: draft.fulfilment,
        note: draft.note,
        checkout: None,
        cart: None,
        reservation_expires_at: expires,
        timeline: Timeline::default(),
        cancel_reason: None,
        stamp: Stamp::first(now),
    })
}

fn check_sellable(draft: &Draft<'_>) -> Result<(), PlaceRejection> {
    if !draft.branch.active {
        return Err(PlaceRejection::BranchInactive);
    }
    let refused: Vec<Refused> = draft
        .products
        .iter()
        .filter_map(|product| {
            let why = product.sellable_at(draft.branch.id).err()?;
            Some(Refused {
                product: product.id,
                why,
            })
        })
        .collect();
    if !refused.is_empty() {
        return Err(PlaceRejection::Unsellable(refused));
    }
    let over: Vec<OverLimit> = draft
        .items
        .iter()
        .zip(draft.products)
        .filter_map(|(item, product)| {
            let limit = product
                .max_per_order
                .filter(|limit| item.quantity > *limit)?;
            Some(OverLimit {
                product: product.id,
                requested: item.quantity,
                limit,
            })
        })
        .collect();
    if over.is_empty() {
        Ok(())
    } else {
        Err(PlaceRejection::OverLimit(over))
    }
}

fn priced(draft: &Draft<'_>) -> Result<Vec<Line>, AmountOverflow> {
    draft
        .items
        .iter()
        .zip(draft.products)
        .map(|(item, product)| price_line(product, item.quantity))
        .collect()
}

impl Order {
    /// The changes of stock that go with one step of the order's life: one per line, sorted by
    /// product, so that orders that share products touch them in one order.
    pub fn stock_changes(
        &self,
        effect: LineEffect,
        ids: &mut dyn FnMut() -> RawId,
    ) -> Vec<StockChange> {
        let mut changes: Vec<StockChange> = self
            .lines
            .iter()
            .zip(0u16..)
            .map(|(line, number)| {
                let (available, reserved) = (effect.units)(line.quantity);
                StockChange {
                    id: MovementId(ids()),
                    place: Place {
                        branch: self.branch,
                        product: line.product,
                    },
                    kind: effect.kind,
                    available,
                    reserved,
                    operation: OperationId {
                        source: self.id.0,
                        step: effect.step,
                        line: number,
                    },
                    cause: Cause {
                        order: Some(self.id),
                        checkout: self.checkout,
                        reason: effect.reason.map(Into::into),
                        reference: None,
                    },
                }
            })
            .collect();
        changes.sort_by_key(|change| change.place);
        changes
    }
}

/// What one step does to the stock of each line.
#[derive(Debug, Clone, Copy)]
pub struct LineEffect {
    /// The kind of movement.
    pub kind: MovementKind,
    /// The step, part of the movement's identity.
    pub step: Step,
    /// The signed change of (available, reserved) for so many units.
    pub units: fn(Quantity) -> (i64, i64),
    /// A reason to record.
    pub reason: Option<&'static str>,
}

/// An order takes its units: available → reserved.
pub const RESERVE: LineEffect = LineEffect {
    kind: MovementKind::Reservation,
    step: Step::Reserve,
    units: reserving,
    reason: None,
};
