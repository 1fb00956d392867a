//! The numbered scenarios of the design, in every order and doubled.

use crate::support::*;
use abasto_cart::{Cart, Hlc, Operation, Problem, Rid, Seal, Stamp, default_cap};

/// Three places that have seen the same.
fn three(base: &Replica) -> [Replica; 3] {
    [base.fork(1), base.fork(2), base.fork(3)]
}

fn with_x(n: u32) -> Replica {
    let mut base = Replica::new(100);
    base.make(&add("X", n));
    base
}

#[test]
fn s1_two_places_add_different_products() {
    let [mut a, mut b, _] = three(&Replica::new(100));
    let deltas = [a.make(&add("X", 1)), b.make(&add("Y", 1))];
    assert_eq!(show(&in_every_order(&Cart::new(), &deltas)), "X:1 Y:1");
}

#[test]
fn s2_two_places_add_the_same_product() {
    let [mut a, mut b, _] = three(&Replica::new(100));
    let (from_a, from_b) = (a.make(&add("X", 1)), b.make(&add("X", 1)));
    assert_eq!(
        show(&in_every_order(
            &Cart::new(),
            &[from_a.clone(), from_b.clone()]
        )),
        "X:2"
    );
    let removed = a.make(&remove("X"));
    assert_eq!(
        show(&in_every_order(&Cart::new(), &[from_a, from_b, removed])),
        "X:1"
    );
}

#[test]
fn s3_a_stale_state_changes_nothing() {
    let mut server = with_x(1);
    let stale_tab = server.cart.clone();
    server.make(&remove("X"));
    let before = server.cart.encode();
    let joined = server.cart.join(&stale_tab);
    assert_eq!(
        (joined.added, joined.removed, joined.learned),
        (0, 0, false)
    );
    assert_eq!(server.cart.encode(), before);
    assert_eq!(show(&server.cart), "");
}

#[test]
fn s4_a_stale_tab_that_adds_means_it() {
    let base = with_x(1);
    let [mut server, mut tab, _] = three(&base);
    let deltas = [server.make(&remove("X")), tab.make(&add("X", 2))];
    assert_eq!(show(&in_every_order(&base.cart, &deltas)), "X:2");
}

#[test]
fn s5_equal_stamps_are_decided_by_author_everywhere() {
    let base = with_x(5);
    let [mut a, mut b, mut c] = three(&base);
    let deltas = [a.at(&set("X", 7), 10), b.at(&set("X", 3), 10)];
    c.cart = in_every_order(&base.cart, &deltas);
    assert_eq!(show(&c.cart), "X:3?");
    assert_eq!(c.cart.view(&default_cap).lines[0].sets, 2);
    c.at(&set("X", 4), 1);
    assert_eq!(
        show(&c.cart),
        "X:4",
        "a set that saw both wins with the oldest stamp"
    );
    assert_eq!(c.cart.entries().len(), 1);
}

#[test]
fn s6_a_clock_never_beats_cause() {
    let base = with_x(5);
    let [mut a, mut b, _] = three(&base);
    let ahead = a.at(&set("X", 7), 1_000_000);
    b.cart.join(&ahead);
    let after = b.at(&set("X", 3), 10);
    assert_eq!(show(&in_every_order(&base.cart, &[ahead, after])), "X:3");
}

#[test]
fn s7_steps_land_on_a_set_that_did_not_see_them() {
    let base = with_x(5);
    let [mut a, mut b, mut c] = three(&base);
    let deltas = [
        a.make(&set("X", 2)),
        b.make(&inc("X", 1)),
        c.make(&inc("X", 1)),
    ];
    assert_eq!(show(&in_every_order(&base.cart, &deltas)), "X:4");
}

#[test]
fn s8_one_author_in_all_120_orders_a_thousand_times() {
    let mut a = Replica::new(1);
    let edits = [
        add("X", 1),
        add("Y", 2),
        remove("X"),
        set("Y", 4),
        inc("Y", 1),
    ];
    let deltas: Vec<Cart> = edits.iter().map(|edit| a.make(edit)).collect();
    let all = orders(5);
    assert_eq!(all.len(), 120);
    for order in all {
        let mut cart = Cart::new();
        for _ in 0..1000 {
            for &at in &order {
                cart.join(&deltas[at]);
            }
        }
        assert_eq!(cart, a.cart, "order {order:?}");
        assert_eq!(show(&cart), "Y:5");
    }
}

#[test]
fn s9_a_remove_may_arrive_before_its_add() {
    let [mut a, mut b, mut c] = three(&Replica::new(100));
    let added = a.make(&add("X", 1));
    b.cart.join(&added);
    let removed = b.make(&remove("X"));
    assert_eq!(show(&c.cart), "");
    c.cart.join(&removed);
    assert_eq!(show(&c.cart), "");
    c.cart.join(&added);
    assert_eq!(show(&c.cart), "");
    assert_eq!(c.cart.context().cloud(), []);
    assert_eq!(in_every_order(&Cart::new(), &[added, removed]), c.cart);
}

#[test]
fn s10_a_gap_is_held_open_and_then_closed() {
    let mut a = Replica::new(1);
    let deltas: Vec<Cart> = (0..5).map(|n| a.make(&add(&format!("L{n}"), 1))).collect();
    let mut c = joined(&Cart::new(), [&deltas[4]]);
    assert_eq!(c.view(&default_cap).lines.len(), 1);
    assert_eq!(
        (c.context().cloud().len(), c.context().run_of(a.rid)),
        (1, 0)
    );
    for delta in &deltas[..4] {
        c.join(delta);
    }
    assert_eq!(c.view(&default_cap).lines.len(), 5);
    assert_eq!(c.context().vector(), [(a.rid, 5)]);
    assert_eq!(c.context().cloud(), []);
    assert_eq!(in_every_order(&Cart::new(), &deltas), c);
}

#[test]
fn s11_one_operation_through_two_regions_counts_once() {
    let mut other = Replica::new(7);
    let seen_in_one_region_only = other.make(&add("X", 4));
    let device = Stamp {
        dot: dot(Rid::device(1), 1),
        hlc: Hlc::new(5, 0),
    };
    let mut eu = Cart::new();
    let mut us = seen_in_one_region_only.clone();
    // Without a tag the two regions see different lives of the line, and build different entries.
    let in_eu = eu.apply(&add("X", 1), device, &default_cap).unwrap();
    let in_us = us.apply(&add("X", 1), device, &default_cap).unwrap();
    assert_ne!(in_eu, in_us);
    let end = in_every_order(
        &Cart::new(),
        &[in_eu.clone(), in_us.clone(), seen_in_one_region_only],
    );
    assert_eq!(show(&end), "X:5");
    assert!(
        eu.join(&in_us).reused.is_empty(),
        "the same operation is no misuse of its dot"
    );
    assert_eq!(show(&joined(&Cart::new(), [&in_eu, &in_us])), "X:1");
}

#[test]
fn s13_an_order_takes_exactly_what_was_sealed() {
    let base = with_x(2);
    let [mut b, mut c, mut remover] = three(&base);
    let seal = Seal::of(&base.cart);
    let late = [
        b.make(&add("Y", 1)),
        c.make(&add("X", 1)),
        remover.make(&remove("X")),
    ];
    let whole = in_every_order(&base.cart, &late);
    assert_eq!(show(seal.order()), "X:2");
    assert_eq!(show(&seal.rest(&whole)), "X:1 Y:1");
    // The parts may reach the successor one by one, before or after joining.
    let parts: Vec<Cart> = late.iter().map(|delta| seal.rest(delta)).collect();
    assert_eq!(
        in_every_order(&seal.rest(&base.cart), &parts),
        seal.rest(&whole)
    );
    assert!(
        seal.rest(&base.cart).is_empty(),
        "a successor without late edits has no history"
    );
    // The checkout again with the same key finds the stored seal; sealing again sees more.
    assert_eq!(Seal::of(&base.cart), seal);
}

#[test]
fn s13_late_edits_of_a_known_author_leave_no_gap_in_the_successor() {
    let mut author = with_x(2);
    let seal = Seal::of(&author.cart);
    let late = author.make(&add("Y", 1));
    let successor = seal.rest(&late);
    assert_eq!(show(&successor), "Y:1");
    assert_eq!(successor.context().cloud(), []);
    assert_eq!(seal.rest(&author.cart), successor);
}

#[test]
fn s14_more_than_the_cap_is_shown_as_the_cap() {
    let base = Replica::new(100).capped(10);
    let mut replicas = three(&base);
    let deltas: Vec<Cart> = replicas
        .iter_mut()
        .map(|replica| replica.make(&add("X", 4)))
        .collect();
    let mut a = replicas[0].clone();
    a.cart = in_every_order(&base.cart, &deltas);
    let view = a.cart.view(&|_| units(10));
    assert_eq!((view.lines[0].quantity, view.lines[0].raw), (units(10), 12));
    assert_eq!(view.problems(), [Problem::Clamped(line("X"))]);
    a.make(&dec("X", 1));
    assert_eq!(show_capped(&a.cart, 10), "X:9");
    assert_eq!(a.cart.view(&|_| units(10)).problems(), []);
}

#[test]
fn s15_thirty_thousand_cycles_leave_almost_nothing() {
    let mut replicas = [Replica::new(1), Replica::new(2), Replica::new(3)];
    let mut rng = Rng::new(15);
    let products: Vec<String> = (0..50).map(|n| format!("sku-{n:09}")).collect();
    for _ in 0..30_000 {
        let (at, product) = (rng.below(3), rng.pick(&products));
        let deltas = [
            replicas[at].make(&add(product, 1)),
            replicas[at].make(&remove(product)),
        ];
        for (other, replica) in replicas.iter_mut().enumerate() {
            if other != at {
                deltas.iter().for_each(|delta| {
                    replica.cart.join(delta);
                });
            }
        }
    }
    for replica in &replicas {
        let cart = &replica.cart;
        assert_eq!(
            (
                show(cart).as_str(),
                cart.entries().len(),
                cart.context().cloud().len()
            ),
            ("", 0, 0)
        );
        assert_eq!(cart.context().vector().len(), 3);
        assert!(cart.encode().len() <= 64, "{} bytes", cart.encode().len());
        assert_eq!(*cart, replicas[0].cart);
    }
}

#[test]
fn merging_a_guest_cart_is_a_join_and_happens_once() {
    let mut guest = Replica::new(1);
    guest.make(&add("X", 1));
    let mut account = Replica::new(2);
    account.make(&add("X", 2));
    let merged = in_every_order(&Cart::new(), &[guest.cart.clone(), account.cart.clone()]);
    assert_eq!(show(&merged), "X:3");
    // A removal that did not see the guest's units leaves them.
    let removed = account.make(&remove("X"));
    let late = guest.make(&inc("X", 1));
    let end = in_every_order(&Cart::new(), &[merged, removed, late]);
    assert_eq!(show(&end), "X:2");
}

#[test]
fn one_patch_is_one_change_and_builds_on_itself() {
    let base = with_x(2);
    let step = |operation| abasto_cart::PatchStep {
        operation,
        tag: None,
    };
    let steps = [
        step(add("Y", 1)),
        step(attribute("Y", "gift")),
        step(inc("Y", 2)),
        step(remove("X")),
    ];
    let first = Stamp {
        dot: dot(Rid::device(9), 1),
        hlc: Hlc::new(3, 0),
    };
    let delta = base.cart.patch(&steps, first, &default_cap).unwrap();
    assert_eq!(
        show(&in_every_order(&base.cart, std::slice::from_ref(&delta))),
        "Y:3 +gift"
    );
    assert_eq!(delta.context().run_of(Rid::device(9)), 4, "one dot each");
    let failing = [step(add("Z", 1)), step(inc("nowhere", 1))];
    let error = base.cart.patch(&failing, first, &default_cap).unwrap_err();
    assert_eq!(
        (error.at, error.error),
        (1, abasto_cart::OperationError::NoSuchLine)
    );
}

#[test]
fn clearing_takes_the_lines_that_were_seen() {
    let base = with_x(2);
    let [mut a, mut b, _] = three(&base);
    let deltas = [a.make(&Operation::Clear), b.make(&add("Y", 1))];
    assert_eq!(show(&in_every_order(&base.cart, &deltas)), "Y:1");
}
