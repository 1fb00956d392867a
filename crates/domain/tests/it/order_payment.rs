//! What payments mean for orders: in time, too late, after a cancellation, twice.

use abasto_domain::coupon::Redemption;
use abasto_domain::id::RefundId;
use abasto_domain::order::Order;
use abasto_domain::order_payment::{PaidPolicy, Shelf, captured, failed, payable, refunded};
use abasto_domain::order_state::{Action, Outcome, PaymentStatus, Status, Units, act, expire};
use abasto_domain::payment::{Payment, PaymentState, RefundReason, RefundState};

use crate::sample::{HOLD_MS, NOW, amount, ids, payment, raw, unpaid_order};

fn expired() -> Order {
    let due = NOW.plus_millis(HOLD_MS);
    let order = unpaid_order();
    match expire(&order, due, &mut ids()).unwrap() {
        Outcome::Changed { order, stock } => {
            assert_eq!(stock.iter().map(|it| it.available).sum::<i64>(), 2);
            *order
        }
        Outcome::Unchanged => panic!("an overdue order ends"),
    }
}

fn cancelled() -> Order {
    let cancel = Action::Cancel {
        reason: "changed my mind".into(),
        units: Units::Restock,
        coupons: Redemption::Returned,
    };
    match act(&unpaid_order(), cancel, NOW, &mut ids()).unwrap() {
        Outcome::Changed { order, .. } => *order,
        Outcome::Unchanged => panic!("an open order ends"),
    }
}

#[test]
fn an_unpaid_order_ends_at_the_moment_it_names() {
    let order = unpaid_order();
    assert!(expire(&order, NOW.plus_millis(HOLD_MS - 1), &mut ids()).is_err());
    let ended = expired();
    assert_eq!(ended.status, Status::Cancelled);
    assert_eq!(ended.cancel_reason.as_deref(), Some("reservation-expired"));
    assert!(expire(&ended, NOW.plus_millis(HOLD_MS + 1), &mut ids()).is_err());
    assert!(payable(&order, 0, NOW.plus_millis(HOLD_MS - 1)).is_ok());
    assert!(payable(&order, 0, NOW.plus_millis(HOLD_MS)).is_err());
    assert!(payable(&order, 20, NOW).is_err());
}

#[test]
fn paid_in_time_it_goes_on_as_the_business_wants() {
    for (policy, status) in [
        (PaidPolicy::Wait, Status::Pending),
        (PaidPolicy::Confirm, Status::Confirmed),
    ] {
        let paid = captured(&unpaid_order(), policy, Shelf::Unknown, NOW, &mut ids());
        assert_eq!((paid.order.status, paid.refund), (status, None));
        assert_eq!(paid.order.payment_status, PaymentStatus::Paid);
        assert!(paid.stock.is_empty(), "the units are reserved already");
        assert_eq!(paid.order.reservation_expires_at, None);
        let again = captured(&paid.order, policy, Shelf::Unknown, NOW, &mut ids());
        assert_eq!(again.refund, Some(RefundReason::Overpaid));
        assert_eq!(again.order, paid.order);
    }
}

#[test]
fn paid_too_late_it_takes_units_that_are_there() {
    let order = expired();
    let first = unpaid_order().stock_changes(abasto_domain::effect::RESERVE, &mut ids());
    let paid = captured(&order, PaidPolicy::Wait, Shelf::Unknown, NOW, &mut ids());
    assert_eq!((paid.order.status, paid.refund), (Status::Pending, None));
    assert_eq!(paid.stock.len(), 1);
    assert_eq!((paid.stock[0].available, paid.stock[0].reserved), (-2, 2));
    assert_ne!(
        paid.stock[0].operation, first[0].operation,
        "an effect of its own"
    );
    assert_eq!(paid.order.cancel_reason, None);
}

#[test]
fn paid_too_late_and_the_units_gone_the_money_goes_back() {
    let paid = captured(&expired(), PaidPolicy::Wait, Shelf::Gone, NOW, &mut ids());
    assert_eq!(paid.order.status, Status::Cancelled);
    assert_eq!(paid.order.payment_status, PaymentStatus::PaidUnfulfillable);
    assert_eq!(paid.refund, Some(RefundReason::Unfulfillable));
    assert!(paid.stock.is_empty());
}

#[test]
fn an_order_that_somebody_cancelled_does_not_come_back() {
    for shelf in [Shelf::Unknown, Shelf::Gone] {
        let paid = captured(&cancelled(), PaidPolicy::Wait, shelf, NOW, &mut ids());
        assert_eq!(paid.order.status, Status::Cancelled);
        assert_eq!(paid.refund, Some(RefundReason::Cancelled));
        assert!(paid.stock.is_empty());
    }
}

#[test]
fn a_failed_attempt_leaves_the_order_waiting() {
    let order = failed(&unpaid_order(), NOW).unwrap();
    assert_eq!(order.status, Status::PendingPayment);
    assert_eq!(order.payment_status, PaymentStatus::Failed);
    assert!(order.reservation_expires_at.is_some());
    assert!(failed(&order, NOW).is_none());
    let paid = captured(&order, PaidPolicy::Wait, Shelf::Unknown, NOW, &mut ids());
    assert_eq!(paid.order.payment_status, PaymentStatus::Paid);
    assert!(failed(&paid.order, NOW).is_none());
    assert!(failed(&cancelled(), NOW).is_none());
}

fn given_back(minor: i64) -> Payment {
    let paid = payment().come_to(PaymentState::Captured, NOW).unwrap();
    let id = RefundId(raw(50));
    let reason = RefundReason::Asked;
    let mut back = paid.request_refund(id, amount(minor), reason, NOW).unwrap();
    back.refunds[0].state = RefundState::Succeeded;
    back
}

#[test]
fn money_that_went_back_shows_in_the_order() {
    let order = captured(
        &unpaid_order(),
        PaidPolicy::Wait,
        Shelf::Unknown,
        NOW,
        &mut ids(),
    )
    .order;
    let status =
        |attempts: &[&Payment]| refunded(&order, attempts, NOW).map(|order| order.payment_status);
    assert_eq!(
        status(&[&given_back(500)]),
        Some(PaymentStatus::PartiallyRefunded)
    );
    assert_eq!(status(&[&given_back(2_000)]), Some(PaymentStatus::Refunded));
    let kept = payment().come_to(PaymentState::Captured, NOW).unwrap();
    let twice = [&kept, &given_back(2_000)];
    assert_eq!(
        status(&twice),
        None,
        "paid twice, given back once: it is paid"
    );
}
