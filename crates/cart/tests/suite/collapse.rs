//! A busy line is folded, and no edit is lost by that.

use crate::support::*;
use abasto_cart::limit::MAX_LINE_DOTS;
use abasto_cart::{Cart, Hlc, PatchStep, Rid, Stamp, Subject, Tag, default_cap};

/// Folds every crowded line at the place that may, as a writer does that commits against the
/// state it has read.
fn fold(cart: &mut Cart, rid: Rid, seq: &mut u64) {
    for line in cart.crowded() {
        *seq += 1;
        let delta = cart.collapse(&line, dot(rid, *seq)).unwrap();
        cart.join(&delta);
    }
}

#[test]
fn sixteen_devices_and_ten_thousand_steps_all_count_and_the_line_stays_small() {
    let mut server = Replica::new(100).capped(1_000_000);
    server.make(&add("X", 1));
    let mut devices: Vec<Replica> = (0..16).map(|id| server.fork(id + 1)).collect();
    let (region, mut seq) = (Rid::region(5), 0);
    let mut rng = Rng::new(8);
    for n in 0..10_000 {
        let device = &mut devices[n % 16];
        // Devices see the server's state from time to time only.
        if rng.one_in(20) {
            device.cart.join(&server.cart);
        }
        let operation = if rng.one_in(3) {
            add("X", 1)
        } else {
            inc("X", 1)
        };
        let delta = device.make(&operation);
        server.cart.join(&delta);
        fold(&mut server.cart, region, &mut seq);
        assert!(server.cart.entries().len() <= MAX_LINE_DOTS);
    }
    assert_eq!(show_capped(&server.cart, 1_000_000), "X:10001");
    assert!(seq > 100, "folded {seq} times");
}

#[test]
fn edits_that_a_fold_has_not_seen_land_on_top_of_it() {
    let mut base = Replica::new(100);
    base.make(&add("X", 5));
    base.make(&inc("X", 1));
    base.make(&attribute("X", "kept"));
    let fold = base
        .cart
        .collapse(&line("X"), dot(Rid::region(5), 1))
        .unwrap();
    let show_with = |delta: Cart| show(&in_every_order(&base.cart, &[fold.clone(), delta]));
    assert_eq!(show(&joined(&base.cart, [&fold])), "X:6 +kept");
    assert_eq!(joined(&base.cart, [&fold]).entries().len(), 2);
    assert_eq!(show_with(base.fork(1).make(&add("X", 2))), "X:8 +kept");
    assert_eq!(show_with(base.fork(1).make(&inc("X", 2))), "X:8 +kept");
    assert_eq!(show_with(base.fork(1).make(&dec("X", 2))), "X:4 +kept");
    assert_eq!(
        show_with(base.fork(1).at(&set("X", 3), 1)),
        "X:3? +kept",
        "a person's set wins against a fold"
    );
    assert_eq!(
        show_with(base.fork(1).make(&remove("X"))),
        "X:6",
        "an unseen set survives a removal"
    );
    let tag = base.cart.tag(Subject::Line(line("X")), &default_cap);
    let late = tagged_step(&base.cart, &tag);
    assert_eq!(show_with(late), "X:7 +kept");
}

fn tagged_step(cart: &Cart, tag: &Tag) -> Cart {
    let step = PatchStep {
        operation: inc("X", 1),
        tag: Some(tag.clone()),
    };
    let stamp = Stamp {
        dot: dot(Rid::device(9), 1),
        hlc: Hlc::new(1, 0),
    };
    cart.patch(&[step], stamp, &default_cap).unwrap()
}

#[test]
fn only_a_line_that_shows_can_be_folded() {
    let mut cart = Replica::new(1);
    assert_eq!(cart.cart.collapse(&line("X"), dot(Rid::region(5), 1)), None);
    cart.make(&add("X", 1));
    cart.make(&dec("X", 1));
    assert_eq!(cart.cart.collapse(&line("X"), dot(Rid::region(5), 1)), None);
    assert_eq!(cart.cart.crowded(), []);
}
