//! Who may send what, and dots that come again.

use crate::support::*;
use abasto_cart::{Arrival, Cart, DotRefusal, Hlc, Operation, RecentDots, Rid, Stamp};

/// The time that every request here names.
const SENT: Option<Hlc> = Some(Hlc::new(9, 0));

fn stamp(seq: u64) -> Stamp {
    Stamp {
        dot: dot(Rid::device(1), seq),
        hlc: Hlc::new(9, 0),
    }
}

fn every_operation() -> Vec<Operation> {
    vec![
        add("X", 1),
        set("X", 2),
        set("X", 0),
        inc("X", 1),
        dec("X", 1),
        remove("X"),
        Operation::Clear,
        attribute("X", "a"),
        coupon("C"),
        no_coupon("C"),
        field("f"),
        add("Y", 1),
        add("X", 2),
        inc("X", 2),
        dec("X", 2),
        set("X", 3),
        attribute("X", "b"),
        coupon("D"),
        no_coupon("D"),
        field("g"),
    ]
}

#[test]
fn a_dot_is_fresh_then_repeated_and_never_another_operation() {
    let mut base = Replica::new(100);
    base.make(&add("X", 5));
    base.make(&coupon("C"));
    for first in every_operation() {
        let mut cart = base.cart.clone();
        let mut recent = RecentDots::default();
        assert_eq!(
            cart.arrival(&first, stamp(1).dot, SENT, &recent),
            Arrival::Fresh
        );
        cart.apply(&first, stamp(1), &abasto_cart::default_cap)
            .unwrap();
        recent.remember(&first, stamp(1).dot, SENT);
        for second in every_operation() {
            let expected = if second == first {
                Arrival::Repeated
            } else {
                Arrival::Reused
            };
            assert_eq!(
                cart.arrival(&second, stamp(1).dot, SENT, &recent),
                expected,
                "{first:?} then {second:?}"
            );
        }
    }
}

/// After a restart the region remembers nothing, and the live entry itself is compared.
#[test]
fn without_memory_the_live_entry_tells() {
    let mut base = Replica::new(100);
    base.make(&add("X", 5));
    let nothing = RecentDots::default();
    for first in every_operation() {
        let mut cart = base.cart.clone();
        cart.apply(&first, stamp(1), &abasto_cart::default_cap)
            .unwrap();
        for second in every_operation() {
            // A removal leaves nothing to compare with, and a set may have been a clamped step.
            let is_forgotten = cart.get(stamp(1).dot).is_none();
            let may_be_step = matches!(first, Operation::SetQuantity { .. })
                && matches!(
                    second,
                    Operation::Increment { .. } | Operation::Decrement { .. }
                );
            let is_same = second == first || is_forgotten || may_be_step;
            let expected = if is_same {
                Arrival::Repeated
            } else {
                Arrival::Reused
            };
            assert_eq!(
                cart.arrival(&second, stamp(1).dot, SENT, &nothing),
                expected,
                "{first:?} then {second:?}"
            );
        }
    }
    // A step on a clamped line has become a set and is still recognised.
    let mut clamped = base.clone().capped(3);
    clamped.rid = Rid::device(1);
    clamped.seq = 0;
    clamped.at(&dec("X", 1), 9);
    assert_eq!(
        clamped
            .cart
            .arrival(&dec("X", 1), stamp(1).dot, SENT, &nothing),
        Arrival::Repeated
    );
    assert_eq!(
        clamped
            .cart
            .arrival(&add("X", 1), stamp(1).dot, SENT, &nothing),
        Arrival::Reused
    );
}

/// Scenario 12: a phone restored from a backup numbers on from an old number.
#[test]
fn s12_a_restored_phone_is_loud_and_gets_a_new_identity() {
    let mut server = Cart::new();
    let mut recent = RecentDots::default();
    server
        .apply(&add("X", 1), stamp(1), &abasto_cart::default_cap)
        .unwrap();
    recent.remember(&add("X", 1), stamp(1).dot, SENT);
    assert_eq!(
        server.arrival(&add("Y", 1), stamp(1).dot, SENT, &recent),
        Arrival::Reused
    );
    let leased = Stamp {
        dot: dot(Rid::device(2), 1),
        ..stamp(1)
    };
    assert_eq!(
        server.arrival(&add("Y", 1), leased.dot, SENT, &recent),
        Arrival::Fresh
    );
    server
        .apply(&add("Y", 1), leased, &abasto_cart::default_cap)
        .unwrap();
    assert_eq!(show(&server), "X:1 Y:1");
}

/// A receiver that stamps gives the repetition another time; only the content is compared then.
#[test]
fn the_time_counts_only_where_the_request_named_it() {
    let nothing = RecentDots::default();
    for operation in [set("X", 2), attribute("X", "a"), field("f"), dec("X", 1)] {
        let mut base = Replica::new(100).capped(3);
        base.make(&add("X", 5));
        let mut cart = base.cart.clone();
        cart.apply(&operation, stamp(1), &|_| units(3)).unwrap();
        let mut recent = RecentDots::default();
        recent.remember(&operation, stamp(1).dot, None);
        let again = |sent, recent| cart.arrival(&operation, stamp(1).dot, sent, recent);
        assert_eq!(again(None, &recent), Arrival::Repeated);
        assert_eq!(again(None, &nothing), Arrival::Repeated);
        assert_eq!(again(SENT, &nothing), Arrival::Repeated);
        assert_eq!(
            again(Some(Hlc::new(10, 0)), &nothing),
            Arrival::Reused,
            "{operation:?}"
        );
    }
}

#[test]
fn a_used_dot_makes_no_second_change() {
    let mut cart = Cart::new();
    cart.apply(&add("X", 1), stamp(1), &abasto_cart::default_cap)
        .unwrap();
    let before = cart.clone();
    for operation in every_operation() {
        let again = cart.apply(&operation, stamp(1), &abasto_cart::default_cap);
        assert_eq!(again, Err(abasto_cart::OperationError::UsedDot));
    }
    assert_eq!(cart, before);
}

#[test]
fn memory_is_bounded_and_keeps_the_latest() {
    let mut recent = RecentDots::default();
    let mut cart = Cart::new();
    for seq in 1..=300 {
        let operation = add("X", 1 + (seq as u32 % 7));
        cart.join(&Cart::skip(stamp(seq).dot));
        recent.remember(&operation, stamp(seq).dot, SENT);
    }
    let other = remove("X");
    assert_eq!(
        cart.arrival(&other, stamp(300).dot, SENT, &recent),
        Arrival::Reused
    );
    assert_eq!(
        cart.arrival(&other, stamp(45).dot, SENT, &recent),
        Arrival::Reused
    );
    assert_eq!(
        cart.arrival(&other, stamp(44).dot, SENT, &recent),
        Arrival::Repeated,
        "the 257th last is forgotten"
    );
}

#[test]
fn a_device_may_run_ahead_only_so_far() {
    let cart = Cart::new();
    assert_eq!(cart.admit(dot(Rid::device(1), 256)), Ok(()));
    assert_eq!(
        cart.admit(dot(Rid::device(1), 257)),
        Err(DotRefusal::TooFarAhead)
    );
    assert_eq!(
        cart.admit(dot(Rid::region(1), 257)),
        Ok(()),
        "regions are trusted"
    );
    let after_ten = joined(
        &cart,
        &(1..=10)
            .map(|seq| Cart::skip(stamp(seq).dot))
            .collect::<Vec<_>>(),
    );
    assert_eq!(after_ten.admit(dot(Rid::device(1), 266)), Ok(()));
    assert_eq!(
        after_ten.admit(dot(Rid::device(1), 3)),
        Ok(()),
        "a repetition is always let in"
    );
}

#[test]
fn a_cart_knows_so_many_devices_and_gaps() {
    let heard = |dots: &mut dyn Iterator<Item = abasto_cart::Dot>| Cart::delta([], dots);
    let devices = heard(&mut (0..32).map(|id| dot(Rid::device(id), 1)));
    assert_eq!(devices.admit(dot(Rid::device(31), 2)), Ok(()));
    assert_eq!(
        devices.admit(dot(Rid::device(32), 1)),
        Err(DotRefusal::TooManyDevices)
    );
    // More than 32 can meet by a merge; those that are known go on.
    let met = heard(&mut (0..40).map(|id| dot(Rid::device(id), 1)));
    assert_eq!(met.admit(dot(Rid::device(39), 2)), Ok(()));
    assert_eq!(
        met.admit(dot(Rid::device(40), 1)),
        Err(DotRefusal::TooManyDevices)
    );
    let with_regions = heard(&mut (0..32).map(|id| dot(Rid::region(id), 1)));
    assert_eq!(
        with_regions.admit(dot(Rid::device(1), 1)),
        Ok(()),
        "regions do not count"
    );
    let gaps = heard(&mut (0..2).flat_map(|id| (0..128).map(move |n| dot(Rid::device(id), 3 + n))));
    assert_eq!(gaps.context().cloud().len(), 256);
    assert_eq!(
        gaps.admit(dot(Rid::device(1), 200)),
        Err(DotRefusal::TooManyGaps)
    );
    assert_eq!(
        gaps.admit(dot(Rid::device(1), 1)),
        Ok(()),
        "what closes a gap is welcome"
    );
    let closed = joined(
        &gaps,
        &[
            Cart::skip(dot(Rid::device(1), 1)),
            Cart::skip(dot(Rid::device(1), 2)),
        ],
    );
    assert_eq!(
        closed.context().run_of(Rid::device(1)),
        130,
        "empty changes close the gap"
    );
}
