//! The life of an order: every step from every state, every path to its end.

use std::collections::BTreeMap;

use abasto_domain::coupon::Redemption;
use abasto_domain::id::{MemberId, ProductId};
use abasto_domain::order::{Order, RESERVE};
use abasto_domain::order_state::{
    Action, InvalidTransition, Outcome, Status, Units, act, assign_courier,
};
use abasto_domain::stock::StockChange;
use abasto_domain::time::Timestamp;

use crate::sample::{NOW, ids, order, raw};

const LATER: Timestamp = NOW.plus_millis(1_000);

fn cancel(units: Units) -> Action {
    Action::Cancel {
        reason: "test".into(),
        units,
        coupons: Redemption::Returned,
    }
}

fn actions() -> Vec<Action> {
    vec![
        Action::Confirm,
        Action::Prepare,
        Action::Dispatch,
        Action::Deliver,
        cancel(Units::Restock),
        cancel(Units::WriteOff),
    ]
}

fn at(status: Status) -> Order {
    Order { status, ..order() }
}

/// The state an action leads to from each state: itself (`=`), the next (`>`), or refused (`x`).
#[test]
fn the_table_of_steps() {
    // confirm, prepare, dispatch, deliver, cancel
    let table = [
        (Status::PendingPayment, "xxxx>"),
        (Status::Pending, ">xxx>"),
        (Status::Confirmed, "=>xx>"),
        (Status::Preparing, "x=>xx"),
        (Status::Dispatched, "xx=>x"),
        (Status::Delivered, "xxx=x"),
        (Status::Cancelled, "xxxx="),
    ];
    for (status, expected) in table {
        let mut found = String::new();
        for action in &actions()[..5] {
            let to = action.target();
            found.push(match act(&at(status), action.clone(), LATER, &mut ids()) {
                Ok(Outcome::Unchanged) => '=',
                Ok(Outcome::Changed { order, .. }) => {
                    assert_eq!(order.status, to);
                    '>'
                }
                Err(refusal) => {
                    assert_eq!(refusal, InvalidTransition { from: status, to });
                    'x'
                }
            });
        }
        assert_eq!(found, expected, "{status:?}");
        let allowed: Vec<Status> = status.allowed().to_vec();
        for next in Status::ALL {
            let by_action = actions().iter().any(|action| {
                action.target() == next
                    && matches!(
                        act(&at(status), action.clone(), LATER, &mut ids()),
                        Ok(Outcome::Changed { .. })
                    )
            });
            // Only a payment leads from pending_payment to pending.
            let by_payment = (status, next) == (Status::PendingPayment, Status::Pending);
            assert_eq!(
                allowed.contains(&next),
                by_action || by_payment,
                "{status:?} {next:?}"
            );
        }
    }
}

/// Units by product: (available, reserved), from a shelf of a hundred each.
type Shelf = BTreeMap<ProductId, (i64, i64)>;

fn apply(shelf: &mut Shelf, changes: &[StockChange]) {
    for change in changes {
        let units = shelf.entry(change.place.product).or_insert((100, 0));
        units.0 += change.available;
        units.1 += change.reserved;
        assert!(units.0 >= 0 && units.1 >= 0, "{change:?}");
    }
}

/// Walks every path from a new order to its end and checks each step on the way.
#[test]
fn every_path_conserves_units_and_ends() {
    let first = order();
    let mut shelf = Shelf::new();
    apply(&mut shelf, &first.stock_changes(RESERVE, &mut ids()));
    let mut ends = BTreeMap::new();
    follow(&first, &shelf, &mut ends);
    let expected = [("cancelled", 4), ("delivered", 1)];
    assert_eq!(ends, BTreeMap::from(expected));
}

fn follow(order: &Order, shelf: &Shelf, ends: &mut BTreeMap<&'static str, u32>) {
    let mut ended = true;
    for action in actions() {
        let Ok(Outcome::Changed { order: next, stock }) =
            act(order, action.clone(), LATER, &mut ids())
        else {
            continue;
        };
        ended = false;
        let mut after = shelf.clone();
        apply(&mut after, &stock);
        check_step(order, &next);
        check_units(&next, &action, &after);
        // The same step again: nothing to do, nothing to move.
        let again = act(&next, action, LATER, &mut ids());
        assert_eq!(again, Ok(Outcome::Unchanged));
        follow(&next, &after, ends);
    }
    if ended {
        *ends.entry(order.status.name()).or_default() += 1;
    }
}

fn check_step(before: &Order, after: &Order) {
    assert_eq!(after.stamp.version, before.stamp.version + 1);
    assert!(after.stamp.updated_at >= before.stamp.updated_at);
    assert_eq!((&after.lines, after.totals), (&before.lines, before.totals));
    assert_eq!((&after.number, after.id), (&before.number, before.id));
    let reached = |order: &Order| {
        let t = order.timeline;
        let times = [
            t.confirmed_at,
            t.preparing_at,
            t.dispatched_at,
            t.delivered_at,
            t.cancelled_at,
        ];
        times.into_iter().flatten().count()
    };
    assert_eq!(reached(after), reached(before) + 1);
}

fn check_units(order: &Order, action: &Action, shelf: &Shelf) {
    for line in &order.lines {
        let units = line.quantity.units();
        let expected = match (order.status, action) {
            (
                Status::Cancelled,
                Action::Cancel {
                    units: Units::Restock,
                    ..
                },
            ) => (100, 0),
            (Status::Dispatched | Status::Delivered | Status::Cancelled, _) => (100 - units, 0),
            _ => (100 - units, units),
        };
        assert_eq!(shelf[&line.product], expected, "{:?}", order.status);
        let held = if order.status.holds_stock() { units } else { 0 };
        assert_eq!(shelf[&line.product].1, held);
    }
}

/// Each effect on stock has an identity of its own, whatever the path.
#[test]
fn every_effect_has_its_own_identity_and_its_order() {
    let order = order();
    let mut changes = order.stock_changes(RESERVE, &mut ids());
    for action in [Action::Dispatch, cancel(Units::WriteOff)] {
        let from = if action == Action::Dispatch {
            Status::Preparing
        } else {
            Status::Pending
        };
        let outcome = act(&at(from), action, LATER, &mut ids());
        let Ok(Outcome::Changed { stock, .. }) = outcome else {
            panic!("{outcome:?}");
        };
        changes.extend(stock);
    }
    for (index, change) in changes.iter().enumerate() {
        assert_eq!(change.cause.order, Some(order.id));
        assert_eq!(change.operation.source, order.id.0);
        let twin = changes[index + 1..]
            .iter()
            .find(|other| other.operation == change.operation);
        assert_eq!(twin, None);
    }
}

/// Orders that share products touch them in one order, whatever the order of their lines.
#[test]
fn effects_are_sorted_by_place() {
    let mut order = order();
    order.lines.reverse();
    let changes = order.stock_changes(RESERVE, &mut ids());
    assert!(changes.is_sorted_by_key(|change| change.place));
    assert_eq!(changes.len(), 2);
}

#[test]
fn a_courier_can_be_named_until_the_order_has_left() {
    let courier = MemberId(raw(8));
    for status in Status::ALL {
        let order = at(status);
        let outcome = assign_courier(&order, courier, LATER);
        if !status.holds_stock() {
            assert!(outcome.is_err(), "{status:?}");
            continue;
        }
        let Ok(Outcome::Changed { order: next, stock }) = outcome else {
            panic!("{status:?}: {outcome:?}");
        };
        assert!(stock.is_empty());
        assert_eq!(
            (next.fulfilment.courier, next.status),
            (Some(courier), status)
        );
        assert_eq!(next.stamp.version, order.stamp.version + 1);
        assert_eq!(
            assign_courier(&next, courier, LATER),
            Ok(Outcome::Unchanged)
        );
        let other = assign_courier(&next, MemberId(raw(9)), LATER);
        assert!(matches!(other, Ok(Outcome::Changed { .. })));
    }
}

#[test]
fn a_clock_that_goes_back_does_not_take_the_order_with_it() {
    let before = NOW.plus_millis(-5_000);
    let Ok(Outcome::Changed { order: next, .. }) =
        act(&order(), Action::Confirm, before, &mut ids())
    else {
        panic!("a pending order can be confirmed");
    };
    assert_eq!(next.stamp.updated_at, NOW);
    assert_eq!(next.timeline.confirmed_at, Some(NOW));
}
