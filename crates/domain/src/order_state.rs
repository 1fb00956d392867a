//! The life of an order: which step may follow which, and what each does to stock.
//!
//! Owns the state machine. Must not know who may take a step (see [`crate::access`]).

use alloc::string::String;
use alloc::vec::Vec;

use crate::coupon::Redemption;
use crate::effect::{DISPATCH, RELEASE, WRITE_OFF};
use crate::id::{MemberId, RawId};
use crate::order::Order;
use crate::stock::StockChange;
use crate::time::Timestamp;

/// How far an order has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for an online payment.
    PendingPayment,
    /// Waits to be confirmed.
    Pending,
    /// Accepted.
    Confirmed,
    /// Being packed.
    Preparing,
    /// On its way; its units have left the shelf.
    Dispatched,
    /// Handed over.
    Delivered,
    /// Ended without a sale.
    Cancelled,
}

impl Status {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 7] = [
        Self::PendingPayment,
        Self::Pending,
        Self::Confirmed,
        Self::Preparing,
        Self::Dispatched,
        Self::Delivered,
        Self::Cancelled,
    ];

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PendingPayment => "pending_payment",
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Preparing => "preparing",
            Self::Dispatched => "dispatched",
            Self::Delivered => "delivered",
            Self::Cancelled => "cancelled",
        }
    }

    /// The states that may follow.
    pub const fn allowed(self) -> &'static [Self] {
        match self {
            Self::PendingPayment => &[Self::Pending, Self::Cancelled],
            Self::Pending => &[Self::Confirmed, Self::Cancelled],
            Self::Confirmed => &[Self::Preparing, Self::Cancelled],
            Self::Preparing => &[Self::Dispatched],
            Self::Dispatched => &[Self::Delivered],
            Self::Delivered | Self::Cancelled => &[],
        }
    }

    /// The states that a payment may lead to: one that comes too late brings an expired order back
    /// when its units are still there.
    pub const fn when_paid(self) -> &'static [Self] {
        match self {
            Self::PendingPayment | Self::Cancelled => &[Self::Pending, Self::Confirmed],
            _ => &[],
        }
    }

    /// Whether the order still holds its units in `reserved`.
    pub const fn holds_stock(self) -> bool {
        matches!(
            self,
            Self::PendingPayment | Self::Pending | Self::Confirmed | Self::Preparing
        )
    }
}

/// What is known of an order's payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    /// Nothing was captured.
    Unpaid,
    /// The total was captured.
    Paid,
    /// The last attempt failed.
    Failed,
    /// Captured after the stock was gone; a refund is on its way.
    PaidUnfulfillable,
    /// Some of it went back.
    PartiallyRefunded,
    /// All of it went back.
    Refunded,
}

/// When an order came to its states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// Confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<Timestamp>,
    /// Being packed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparing_at: Option<Timestamp>,
    /// On its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatched_at: Option<Timestamp>,
    /// Handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// Cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_at: Option<Timestamp>,
    /// Cancelled because nobody paid in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired_at: Option<Timestamp>,
    /// Paid, all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paid_at: Option<Timestamp>,
}

/// A step that somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Accept it.
    Confirm,
    /// Start packing.
    Prepare,
    /// Send it off.
    Dispatch,
    /// Hand it over.
    Deliver,
    /// End it.
    Cancel {
        /// Why.
        reason: String,
        /// What becomes of its units.
        units: Units,
        /// What becomes of its coupons' redemptions.
        coupons: Redemption,
    },
}

/// What becomes of the units of a cancelled order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// They can be sold again.
    Restock,
    /// They are recorded as lost.
    WriteOff,
}

impl Action {
    /// The state it leads to.
    pub const fn target(&self) -> Status {
        match self {
            Self::Confirm => Status::Confirmed,
            Self::Prepare => Status::Preparing,
            Self::Dispatch => Status::Dispatched,
            Self::Deliver => Status::Delivered,
            Self::Cancel { .. } => Status::Cancelled,
        }
    }
}

/// A step that the present state does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an order cannot go from {} to {}", from.name(), to.name())]
pub struct InvalidTransition {
    /// The present state.
    pub from: Status,
    /// The state asked for.
    pub to: Status,
}

/// What a step comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The order is already there: nothing to do, no new event.
    Unchanged,
    /// The order after the step, and its effect on stock.
    Changed {
        /// The order.
        order: alloc::boxed::Box<Order>,
        /// The stock.
        stock: Vec<StockChange>,
    },
}

/// Decides a step.
pub fn act(
    order: &Order,
    action: Action,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Result<Outcome, InvalidTransition> {
    let (from, to) = (order.status, action.target());
    if from == to {
        return Ok(Outcome::Unchanged);
    }
    if !from.allowed().contains(&to) {
        return Err(InvalidTransition { from, to });
    }
    let stock = match &action {
        Action::Confirm | Action::Prepare | Action::Deliver => Vec::new(),
        Action::Dispatch => order.stock_changes(DISPATCH, ids),
        Action::Cancel { units, .. } => {
            let mut changes = order.stock_changes(RELEASE, ids);
            if *units == Units::WriteOff {
                changes.extend(order.stock_changes(WRITE_OFF, ids));
            }
            changes
        }
    };
    let mut next = order.clone();
    next.status = to;
    next.stamp = order.stamp.next(now);
    let at = Some(next.stamp.updated_at);
    match action {
        Action::Confirm => next.timeline.confirmed_at = at,
        Action::Prepare => next.timeline.preparing_at = at,
        Action::Dispatch => next.timeline.dispatched_at = at,
        Action::Deliver => next.timeline.delivered_at = at,
        Action::Cancel {
            reason, coupons, ..
        } => {
            next.timeline.cancelled_at = at;
            next.cancel_reason = Some(reason);
            next.reservation_expires_at = None;
            next.mark_redemptions(coupons);
        }
    }
    Ok(Outcome::Changed {
        order: next.into(),
        stock,
    })
}

/// Why an unpaid order does not expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the order does not wait for a payment that is overdue")]
pub struct NotOverdue;

/// Decides the end of an order that nobody paid in time: at the very moment that its reservation
/// names it is over. It gives back its units and its coupons.
pub fn expire(
    order: &Order,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Result<Outcome, NotOverdue> {
    let due = order.reservation_expires_at.ok_or(NotOverdue)?;
    if order.status != Status::PendingPayment || now < due {
        return Err(NotOverdue);
    }
    let mut next = order.clone();
    next.status = Status::Cancelled;
    next.stamp = order.stamp.next(now);
    next.timeline.cancelled_at = Some(next.stamp.updated_at);
    next.timeline.expired_at = Some(next.stamp.updated_at);
    next.cancel_reason = Some(EXPIRED.into());
    next.reservation_expires_at = None;
    next.mark_redemptions(Redemption::Returned);
    Ok(Outcome::Changed {
        order: next.into(),
        stock: order.stock_changes(RELEASE, ids),
    })
}

/// The reason of an order that nobody paid in time.
pub const EXPIRED: &str = "reservation-expired";

impl Order {
    /// Marks what becomes of the redemptions that still count.
    pub(crate) fn mark_redemptions(&mut self, redemption: Redemption) {
        for coupon in &mut self.coupons {
            coupon.redemption = redemption;
        }
    }
}

/// Decides who brings an order: possible until it has left the house.
pub fn assign_courier(
    order: &Order,
    courier: MemberId,
    now: Timestamp,
) -> Result<Outcome, InvalidTransition> {
    if order.fulfilment.courier == Some(courier) {
        return Ok(Outcome::Unchanged);
    }
    if !order.status.holds_stock() {
        return Err(InvalidTransition {
            from: order.status,
            to: Status::Dispatched,
        });
    }
    let mut next = order.clone();
    next.fulfilment.courier = Some(courier);
    next.stamp = order.stamp.next(now);
    Ok(Outcome::Changed {
        order: next.into(),
        stock: Vec::new(),
    })
}
