//! A checkout: a basket as it was priced, and the units it holds until it ends.
//!
//! Owns the state machine open → completed | expired | abandoned and the hold. Must not know stock
//! levels: a hold is a wish that the commit checks. Expiry is judged by the time that stamped it:
//! at that very moment the hold is over.

use alloc::vec::Vec;

use crate::basket::{Basket, PlaceRejection};
use crate::coupon::AppliedCoupon;
use crate::currency::Currency;
use crate::effect::{HOLD, HOLD_RELEASE, LineEffect, Owner};
use crate::id::{BranchId, BusinessId, CartId, CheckoutId, CustomerId, OrderId, ProductId, RawId};
use crate::order::{Fulfilment, PaymentMethod};
use crate::pricing::{Line, Totals};
use crate::quantity::Quantity;
use crate::stamp::Stamp;
use crate::stock::{Cause, StockChange};
use crate::time::Timestamp;

/// One checkout.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: CheckoutId,
    /// Where it is sold.
    pub branch: BranchId,
    /// How far it has come.
    pub status: CheckoutStatus,
    /// Who buys, when known.
    pub customer: Option<CustomerId>,
    /// Against whose limit of open holds it counts: the customer, else the credential.
    pub holder: RawId,
    /// The basket as it was priced.
    pub lines: Vec<Line>,
    /// The sums.
    pub totals: Totals,
    /// The coupons it uses; their redemptions count from now on.
    pub coupons: Vec<AppliedCoupon>,
    /// Of all amounts.
    pub currency: Currency,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// How it is to be paid.
    pub payment_method: PaymentMethod,
    /// What the identities of its present movements begin with: each round of holding has its own.
    pub hold: RawId,
    /// When the hold ends.
    pub hold_expires_at: Timestamp,
    /// The cart it came from.
    pub cart: Option<CartId>,
    /// The state of that cart, as the cart type writes it: what is bought.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::hex::optional"
    )]
    pub seal: Option<Vec<u8>>,
    /// The order it became.
    pub order: Option<OrderId>,
    /// Version and times.
    pub stamp: Stamp,
}

/// How far a checkout has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckoutStatus {
    /// It holds its units.
    Open,
    /// It became an order.
    Completed,
    /// Its time ran out.
    Expired,
    /// It was given up.
    Abandoned,
}

impl CheckoutStatus {
    /// All of them, in the order of their stored numbers.
    pub const ALL: [Self; 4] = [Self::Open, Self::Completed, Self::Expired, Self::Abandoned];

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Abandoned => "abandoned",
        }
    }

    /// The states that may follow.
    pub const fn allowed(self) -> &'static [Self] {
        match self {
            Self::Open => &[Self::Completed, Self::Expired, Self::Abandoned],
            Self::Completed | Self::Expired | Self::Abandoned => &[],
        }
    }
}

/// Everything that a checkout needs; nothing in it is a price.
#[derive(Debug)]
pub struct CheckoutDraft<'a> {
    /// The id of a new checkout, and of the present round of holding.
    pub id: RawId,
    /// What is bought, where, with which coupons.
    pub basket: Basket<'a>,
    /// The business's currency.
    pub currency: Currency,
    /// Who buys, when known.
    pub customer: Option<CustomerId>,
    /// As in [`Checkout::holder`].
    pub holder: RawId,
    /// How it reaches the buyer.
    pub fulfilment: Fulfilment,
    /// How it is to be paid.
    pub payment_method: PaymentMethod,
    /// The cart it comes from.
    pub cart: Option<CartId>,
    /// How long it holds its units, in milliseconds.
    pub hold_ms: i64,
}

/// Decides a new checkout and the units it holds.
pub fn open(
    draft: CheckoutDraft<'_>,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Result<(Checkout, Vec<StockChange>), PlaceRejection> {
    let priced = draft.basket.price(now)?;
    let checkout = Checkout {
        business: draft.basket.branch.business,
        id: CheckoutId(draft.id),
        branch: draft.basket.branch.id,
        status: CheckoutStatus::Open,
        customer: draft.customer,
        holder: draft.holder,
        lines: priced.lines,
        totals: priced.totals,
        coupons: priced.coupons,
        currency: draft.currency,
        fulfilment: draft.fulfilment,
        payment_method: draft.payment_method,
        hold: draft.id,
        hold_expires_at: now.plus_millis(draft.hold_ms),
        cart: draft.cart,
        seal: None,
        order: None,
        stamp: Stamp::first(now),
    };
    let stock = checkout.stock_changes(HOLD, ids);
    Ok((checkout, stock))
}

/// Decides a checkout again, with its own units not counted against it: those of the old round
/// come back and those of the new one go in one step. The same units stay where they are.
///
/// Only for a checkout that is open and has not expired; an expired one ends, and a new one opens.
pub fn renew(
    held: &Checkout,
    draft: CheckoutDraft<'_>,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Result<(Checkout, Vec<StockChange>), PlaceRejection> {
    let (mut next, mut stock) = open(draft, now, ids)?;
    next.id = held.id;
    next.stamp = held.stamp.next(now);
    if next.branch == held.branch && next.units() == held.units() {
        next.hold = held.hold;
        next.lines.sort_by_key(|line| position(held, line.product));
        stock.clear();
    } else {
        for change in &mut stock {
            change.cause.checkout = Some(held.id);
        }
        stock.extend(held.stock_changes(HOLD_RELEASE, ids));
    }
    Ok((next, stock))
}

/// Movements are told apart by line, so lines that keep their hold keep their order.
fn position(held: &Checkout, product: ProductId) -> Option<usize> {
    held.lines.iter().position(|line| line.product == product)
}

/// How a hold ends without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its time ran out.
    Expired,
    /// The buyer gave it up.
    Abandoned,
}

/// Why a checkout does not do what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutRejection {
    /// Its hold is still good.
    #[error("the hold has not expired")]
    StillHeld,
    /// It has ended, or its time is over and nobody has said so yet.
    #[error("the checkout has ended")]
    Ended(CheckoutStatus),
}

impl Checkout {
    /// Whether the hold is over at that time: at the moment it names, it is.
    pub fn is_over_at(&self, now: Timestamp) -> bool {
        now >= self.hold_expires_at
    }

    /// The state at that time, whether or not somebody has written it down yet.
    pub fn status_at(&self, now: Timestamp) -> CheckoutStatus {
        if self.status == CheckoutStatus::Open && self.is_over_at(now) {
            CheckoutStatus::Expired
        } else {
            self.status
        }
    }

    /// Decides the end of the hold without an order: its units go back, once.
    pub fn end(
        &self,
        ending: Ending,
        now: Timestamp,
        ids: &mut dyn FnMut() -> RawId,
    ) -> Result<(Self, Vec<StockChange>), CheckoutRejection> {
        if self.status != CheckoutStatus::Open {
            return Err(CheckoutRejection::Ended(self.status));
        }
        let over = self.is_over_at(now);
        if ending == Ending::Expired && !over {
            return Err(CheckoutRejection::StillHeld);
        }
        // One that is given up too late has expired.
        let status = if over {
            CheckoutStatus::Expired
        } else {
            CheckoutStatus::Abandoned
        };
        let next = Self {
            status,
            stamp: self.stamp.next(now),
            ..self.clone()
        };
        Ok((next, self.stock_changes(HOLD_RELEASE, ids)))
    }

    /// Decides that the checkout becomes an order, which takes the hold over.
    pub fn complete(&self, order: OrderId, now: Timestamp) -> Result<Self, CheckoutRejection> {
        match self.status_at(now) {
            CheckoutStatus::Open => Ok(Self {
                status: CheckoutStatus::Completed,
                order: Some(order),
                stamp: self.stamp.next(now),
                ..self.clone()
            }),
            ended => Err(CheckoutRejection::Ended(ended)),
        }
    }

    fn stock_changes(
        &self,
        effect: LineEffect,
        ids: &mut dyn FnMut() -> RawId,
    ) -> Vec<StockChange> {
        let owner = Owner {
            branch: self.branch,
            source: self.hold,
            cause: Cause {
                checkout: Some(self.id),
                ..Cause::default()
            },
        };
        let lines = self.lines.iter().map(|line| (line.product, line.quantity));
        owner.changes(lines, effect, ids)
    }

    /// The units it holds, by product.
    fn units(&self) -> Vec<(ProductId, Quantity)> {
        let lines = self.lines.iter().map(|line| (line.product, line.quantity));
        let mut units: Vec<(ProductId, Quantity)> = lines.collect();
        units.sort();
        units
    }
}
