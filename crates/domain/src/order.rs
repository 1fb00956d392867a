//! An order: what was sold, to whom, for how much, and how far it has come.
//!
//! Owns the record and the placing of an order. Its later life is in [`crate::order_state`]. Must
//! not know stock levels: placing yields the changes of stock that the commit checks.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::basket::Basket;
use crate::coupon::AppliedCoupon;
use crate::currency::Currency;
use crate::effect::Owner;
use crate::id::{BranchId, BusinessId, CartId, CheckoutId, CustomerId, MemberId, OrderId, RawId};
use crate::money::Amount;
use crate::number::{OrderNumber, Series};
use crate::order_state::{PaymentStatus, Status, Timeline};
use crate::pricing::{Item, Line, Totals};
use crate::stamp::Stamp;
use crate::stock::{Cause, StockChange};
use crate::time::Timestamp;

pub use crate::basket::{OverLimit, PlaceRejection, Refused};
pub use crate::effect::{LineEffect, RESERVE};

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
    /// The coupons it used.
    #[serde(default)]
    pub coupons: Vec<AppliedCoupon>,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// For the people who pack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The checkout it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<CheckoutId>,
    /// The cart it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cart: Option<CartId>,
    /// When an unpaid order gives its units back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_expires_at: Option<Timestamp>,
    /// What the identities of its movements begin with since its units were reserved a second
    /// time (paid after it had expired); before that, its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_anew: Option<RawId>,
    /// What came back of it, one item per product.
    #[serde(default)]
    pub returned: Vec<Item>,
    /// In how many returns.
    #[serde(default)]
    pub returns: usize,
    /// When it came to its states.
    pub timeline: Timeline,
    /// Why it was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<CustomerId>,
    /// The name then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The phone number then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
}

/// How an order reaches its buyer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fulfilment {
    /// Fetched or brought.
    pub kind: FulfilmentKind,
    /// Where to; needed for a delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Address>,
    /// Who brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
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
    /// What is bought, where, with which coupons.
    pub basket: Basket<'a>,
    /// The business's currency.
    pub currency: Currency,
    /// The civil year of now in the branch's zone.
    pub year: i16,
    /// Who buys.
    pub customer: Buyer,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// How it is paid.
    pub payment_method: PaymentMethod,
    /// For the people who pack.
    pub note: Option<String>,
    /// The checkout it comes from.
    pub checkout: Option<CheckoutId>,
    /// The cart it comes from.
    pub cart: Option<CartId>,
    /// What the caller believes the total to be.
    pub expected_total: Option<Amount>,
    /// How long an unpaid online order keeps its units, in milliseconds.
    pub unpaid_ms: i64,
}

/// Decides a new order: the record (number blank, version 1) with all prices from the catalogue.
///
/// An online order waits for its payment; one that costs nothing waits for none.
pub fn place(draft: Draft<'_>, now: Timestamp) -> Result<Order, PlaceRejection> {
    let basket = draft.basket;
    let priced = basket.price(now)?;
    let total = priced.totals.total;
    if let Some(expected) = draft.expected_total.filter(|expected| *expected != total) {
        return Err(PlaceRejection::PriceChanged {
            expected,
            actual: total,
        });
    }
    let unpaid_until = now.plus_millis(draft.unpaid_ms);
    let (status, payment_status, expires) = match draft.payment_method {
        PaymentMethod::Online if total == Amount::ZERO => {
            (Status::Pending, PaymentStatus::Paid, None)
        }
        PaymentMethod::Online => {
            let unpaid = PaymentStatus::Unpaid;
            (Status::PendingPayment, unpaid, Some(unpaid_until))
        }
        PaymentMethod::OnDelivery => (Status::Pending, PaymentStatus::Unpaid, None),
    };
    Ok(Order {
        business: basket.branch.business,
        id: draft.id,
        number: OrderNumber::blank(Series {
            code: basket.branch.code.clone(),
            year: draft.year,
        }),
        branch: basket.branch.id,
        status,
        payment_status,
        payment_method: draft.payment_method,
        customer: draft.customer,
        lines: priced.lines,
        totals: priced.totals,
        currency: draft.currency,
        coupons: priced.coupons,
        fulfilment: draft.fulfilment,
        note: draft.note,
        checkout: draft.checkout,
        cart: draft.cart,
        reservation_expires_at: expires,
        reserved_anew: None,
        returned: Vec::new(),
        returns: 0,
        timeline: Timeline::default(),
        cancel_reason: None,
        stamp: Stamp::first(now),
    })
}

impl Order {
    /// The changes of stock that go with one step of the order's life: one per line, sorted by
    /// product, so that orders that share products touch them in one order.
    pub fn stock_changes(
        &self,
        effect: LineEffect,
        ids: &mut dyn FnMut() -> RawId,
    ) -> Vec<StockChange> {
        let owner = Owner {
            branch: self.branch,
            source: self.reserved_anew.unwrap_or(self.id.0),
            cause: Cause {
                order: Some(self.id),
                checkout: self.checkout,
                ..Cause::default()
            },
        };
        let lines = self.lines.iter().map(|line| (line.product, line.quantity));
        owner.changes(lines, effect, ids)
    }
}
