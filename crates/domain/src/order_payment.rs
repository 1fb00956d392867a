//! What a payment means for its order: paid in time, paid too late, failed, given back.
//!
//! Owns the late-payment policy: units that are still there are reserved anew; when they are gone
//! the money goes back. Money is never given back because something did not answer.

use alloc::vec::Vec;

use crate::coupon::Redemption;
use crate::effect::RESERVE;
use crate::id::RawId;
use crate::limits::PAYMENTS_PER_ORDER_MAX;
use crate::money::Amount;
use crate::order::{Order, PaymentMethod};
use crate::order_state::{PaymentStatus, Status};
use crate::payment::{Payment, RefundReason};
use crate::stock::StockChange;
use crate::time::Timestamp;

/// What is known of the shelf when money comes in for an order that has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// Nothing yet: the commit finds out.
    Unknown,
    /// The commit found too few units.
    Gone,
}

/// What becomes of an order that is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaidPolicy {
    /// It waits to be confirmed.
    Wait,
    /// It is confirmed at once.
    Confirm,
}

/// What a capture comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The order after it; the same as before when it does not change.
    pub order: Order,
    /// The stock to reserve anew.
    pub stock: Vec<StockChange>,
    /// Why the money goes back at once, if it does.
    pub refund: Option<RefundReason>,
    /// What happened to the order.
    pub event: &'static str,
}

/// Decides what money that came in means for its order.
pub fn captured(
    order: &Order,
    policy: PaidPolicy,
    shelf: Shelf,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Captured {
    let unpaid = matches!(
        order.payment_status,
        PaymentStatus::Unpaid | PaymentStatus::Failed
    );
    if !unpaid {
        return back(
            order.clone(),
            RefundReason::Overpaid,
            "abasto.order.overpaid",
        );
    }
    let mut next = order.clone();
    next.stamp = order.stamp.next(now);
    next.timeline.paid_at = Some(next.stamp.updated_at);
    next.payment_status = PaymentStatus::Paid;
    let expired = order.timeline.expired_at.is_some();
    match (order.status, shelf) {
        (Status::Cancelled, Shelf::Unknown) if expired => {
            next.reserved_anew = Some(ids());
            next.timeline.cancelled_at = None;
            next.cancel_reason = None;
            next.mark_redemptions(Redemption::Counted);
            next.accept(policy);
            Captured {
                stock: next.stock_changes(RESERVE, ids),
                order: next,
                refund: None,
                event: "abasto.order.paid_late",
            }
        }
        (Status::Cancelled, _) if expired => {
            next.payment_status = PaymentStatus::PaidUnfulfillable;
            let event = "abasto.order.unfulfillable";
            back(next, RefundReason::Unfulfillable, event)
        }
        (Status::Cancelled, _) => {
            let event = "abasto.order.paid_after_cancel";
            back(next, RefundReason::Cancelled, event)
        }
        _ => {
            next.accept(policy);
            Captured {
                order: next,
                stock: Vec::new(),
                refund: None,
                event: "abasto.order.paid",
            }
        }
    }
}

const fn back(order: Order, reason: RefundReason, event: &'static str) -> Captured {
    Captured {
        order,
        stock: Vec::new(),
        refund: Some(reason),
        event,
    }
}

/// Decides what a failed attempt means: the order goes on waiting until its reservation ends.
/// `None` when that is known, or the order does not wait.
pub fn failed(order: &Order, now: Timestamp) -> Option<Order> {
    let waits = order.status == Status::PendingPayment;
    if !waits || order.payment_status != PaymentStatus::Unpaid {
        return None;
    }
    let mut next = order.clone();
    next.payment_status = PaymentStatus::Failed;
    next.stamp = order.stamp.next(now);
    Some(next)
}

/// Decides what all attempts of an order together say about money that went back; `None` when
/// that is known.
pub fn refunded(order: &Order, attempts: &[&Payment], now: Timestamp) -> Option<Order> {
    let sum = |part: fn(&Payment) -> Amount| Amount::sum(attempts.iter().map(|it| part(it))).ok();
    let captured = sum(Payment::captured)?;
    let kept = captured.minus(sum(Payment::refunded)?).ok()?;
    let status = if captured == Amount::ZERO || kept >= order.totals.total {
        return None;
    } else if kept == Amount::ZERO {
        PaymentStatus::Refunded
    } else {
        PaymentStatus::PartiallyRefunded
    };
    if status == order.payment_status {
        return None;
    }
    let mut next = order.clone();
    next.payment_status = status;
    next.stamp = order.stamp.next(now);
    Some(next)
}

/// Why an attempt to pay cannot begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PayRejection {
    /// The order does not wait for an online payment.
    #[error("the order does not wait for an online payment")]
    NotPayable(Status),
    /// It had as many attempts as it may have.
    #[error("the order had too many attempts to pay it")]
    TooManyAttempts,
}

/// Whether another attempt to pay the order may begin at that time.
pub fn payable(order: &Order, attempts: usize, now: Timestamp) -> Result<(), PayRejection> {
    let over = order.reservation_expires_at.is_none_or(|due| now >= due);
    let waits = order.status == Status::PendingPayment;
    if !waits || over || order.payment_method != PaymentMethod::Online {
        Err(PayRejection::NotPayable(order.status))
    } else if attempts >= PAYMENTS_PER_ORDER_MAX {
        Err(PayRejection::TooManyAttempts)
    } else {
        Ok(())
    }
}

impl Order {
    fn accept(&mut self, policy: PaidPolicy) {
        self.reservation_expires_at = None;
        match policy {
            PaidPolicy::Wait => self.status = Status::Pending,
            PaidPolicy::Confirm => {
                self.status = Status::Confirmed;
                self.timeline.confirmed_at = Some(self.stamp.updated_at);
            }
        }
    }
}
