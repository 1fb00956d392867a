//! Bounds: refused when one place sees them exceeded, shown when a join exceeds them.

use crate::support::*;
use abasto_cart::promotion::{Split, split, split_across};
use abasto_cart::{
    Cart, Hlc, Limit, Operation, OperationError, PatchStep, Problem, Rid, Stamp, default_cap,
};

fn refused(limit: Limit) -> Result<Cart, OperationError> {
    Err(OperationError::Limit(limit))
}

#[test]
fn lines_coupons_attributes_and_fields_are_bounded() {
    let mut cart = Replica::new(1);
    for n in 0..500 {
        cart.make(&add(&format!("p{n}"), 1));
    }
    assert_eq!(cart.try_at(&add("one-more", 1), 1), refused(Limit::Lines));
    assert_eq!(cart.try_at(&set("one-more", 1), 1), refused(Limit::Lines));
    assert!(
        cart.try_at(&add("p7", 1), 1).is_ok(),
        "a line that is there may grow"
    );
    assert_eq!(
        cart.cart.view(&default_cap).problems(),
        [Problem::TooManyLines(500)]
    );
    assert!(cart.try_at(&remove("p7"), 1).is_ok());
    assert!(cart.try_at(&add("one-more", 1), 1).is_ok());

    let mut cart = Replica::new(1);
    cart.make(&add("X", 1));
    for n in 0..10 {
        cart.make(&coupon(&format!("C{n}")));
    }
    assert_eq!(cart.try_at(&coupon("C10"), 1), refused(Limit::Coupons));
    assert!(
        cart.try_at(&coupon("C3"), 1).is_ok(),
        "one that is there may come again"
    );
    let attribute = |n: usize| Operation::SetAttribute {
        line: line("X"),
        name: name(&format!("a{n}")),
        value: text("v"),
    };
    let field = |n: usize| Operation::SetField {
        name: name(&format!("f{n}")),
        value: text("v"),
    };
    for n in 0..16 {
        cart.make(&attribute(n));
        cart.make(&field(n));
    }
    assert_eq!(cart.try_at(&attribute(16), 1), refused(Limit::Attributes));
    assert_eq!(cart.try_at(&field(16), 1), refused(Limit::Fields));
    assert!(cart.try_at(&attribute(3), 1).is_ok());
    assert!(cart.try_at(&field(3), 1).is_ok());
}

#[test]
fn a_join_never_refuses_and_the_view_says_what_is_too_much() {
    let mut places = [Replica::new(1), Replica::new(2)];
    for (at, place) in places.iter_mut().enumerate() {
        for n in 0..10 {
            place.make(&coupon(&format!("C{at}-{n}")));
        }
        for n in 0..150 {
            place.make(&add(&format!("p{at}-{n}"), 1));
        }
    }
    let both = joined(&places[0].cart, [&places[1].cart]);
    assert_eq!(
        both.view(&default_cap).problems(),
        [Problem::TooManyLines(300), Problem::TooManyCoupons(20)]
    );
}

#[test]
fn quantities_and_bytes_are_bounded() {
    let mut cart = Replica::new(1).capped(1_000_000);
    cart.make(&add("X", 999_999));
    assert_eq!(cart.try_at(&add("X", 2), 1), refused(Limit::Quantity));
    assert_eq!(cart.try_at(&inc("X", 2), 1), refused(Limit::Quantity));
    assert!(cart.try_at(&inc("X", 1), 1).is_ok());

    let mut cart = Replica::new(1);
    let long = "n".repeat(4096);
    let mut kept = 0;
    for n in 0..500 {
        let product = format!("p{n}");
        let noted = cart
            .try_at(&add(&product, 1), 1)
            .and_then(|_| cart.try_at(&attribute(&product, &long), 1));
        if noted.is_err() {
            break;
        }
        kept += 1;
    }
    assert!((60..70).contains(&kept), "{kept} notes of 4 kB in 256 kB");
    assert_eq!(cart.try_at(&add("p0", 1), 1), refused(Limit::Bytes));
    assert!(
        cart.try_at(&remove("p0"), 1).is_ok(),
        "what makes it smaller is always let in"
    );
    assert!(cart.cart.encode().len() < 300 * 1024);
}

#[test]
fn a_patch_is_bounded_by_operations_and_numbers() {
    let steps: Vec<PatchStep> = (0..51)
        .map(|_| PatchStep {
            operation: add("X", 1),
            tag: None,
        })
        .collect();
    let first = Stamp {
        dot: dot(Rid::device(1), 1),
        hlc: Hlc::ZERO,
    };
    assert!(Cart::new().patch(&steps[..50], first, &default_cap).is_ok());
    let error = Cart::new().patch(&steps, first, &default_cap).unwrap_err();
    assert_eq!(
        (error.at, error.error),
        (50, OperationError::Limit(Limit::Operations))
    );
    let last = Stamp {
        dot: dot(Rid::device(1), (1 << 53) - 1),
        hlc: Hlc::ZERO,
    };
    let error = Cart::new()
        .patch(&steps[..2], last, &default_cap)
        .unwrap_err();
    assert_eq!(
        (error.at, error.error),
        (1, OperationError::Limit(Limit::Operations))
    );
}

#[test]
fn steps_and_notes_need_a_line_that_shows() {
    let mut cart = Replica::new(1);
    for operation in [inc("X", 1), dec("X", 1), attribute("X", "a")] {
        assert_eq!(cart.try_at(&operation, 1), Err(OperationError::NoSuchLine));
    }
    cart.make(&add("X", 1));
    cart.make(&dec("X", 1));
    assert_eq!(show(&cart.cart), "");
    assert_eq!(
        cart.try_at(&inc("X", 1), 1),
        Err(OperationError::NoSuchLine)
    );
}

#[test]
fn a_line_gone_below_zero_starts_clean() {
    let mut base = Replica::new(100);
    base.make(&add("X", 1));
    base.make(&attribute("X", "old"));
    let deltas = [
        base.fork(1).make(&dec("X", 1)),
        base.fork(2).make(&dec("X", 1)),
    ];
    let unseen_step = base.fork(4).make(&inc("X", 4));
    let mut after = base.fork(3);
    after.cart = in_every_order(&base.cart, &deltas);
    assert_eq!(show(&after.cart), "");
    for operation in [add("X", 2), set("X", 2)] {
        let mut again = after.clone();
        let delta = again.make(&operation);
        assert_eq!(
            show(&again.cart),
            "X:2",
            "neither the debt nor the note is inherited"
        );
        assert_eq!(again.cart.entries().len(), 1);
        let all = [deltas.as_slice(), &[delta, unseen_step.clone()]].concat();
        assert_eq!(
            show(&in_every_order(&base.cart, &all)),
            "X:2",
            "nor a step that comes later"
        );
    }
}

/// Layer 0 of promotional limits: whatever the merge order, no more units are discounted.
#[test]
fn no_merge_order_prices_more_units_than_the_limit() {
    let free = |n: u32, m: u32| Split {
        discounted: n,
        at_list_price: m,
    };
    assert_eq!(split(5, 2), free(2, 3));
    assert_eq!(split(1, 2), free(1, 0));
    assert_eq!(split(5, 0), free(0, 5));
    let base = Replica::new(100);
    let deltas: Vec<Cart> = (1..=3)
        .map(|id| base.fork(id).make(&add("gift", 1)))
        .collect();
    let cart = in_every_order(&base.cart, &deltas);
    let shown = cart.view(&default_cap).lines[0].quantity.get();
    assert_eq!(split(shown, 1), free(1, 2));
    let across: Vec<Split> = split_across([2, 3, 1], 4).collect();
    assert_eq!(across, [free(2, 0), free(2, 1), free(0, 1)]);
}
