//! A join is commutative, associative and idempotent: on states, on bytes and on views.

use crate::simulation::sample;
use crate::support::*;
use abasto_cart::{Cart, Dot, Entry, Seal, default_cap};

fn join(a: &Cart, b: &Cart) -> Cart {
    joined(a, [b])
}

fn same(left: &Cart, right: &Cart, law: &str) {
    assert_eq!(left, right, "{law} on states");
    assert_eq!(left.encode(), right.encode(), "{law} on bytes");
    assert_eq!(
        left.view(&default_cap),
        right.view(&default_cap),
        "{law} on views"
    );
}

fn check(a: &Cart, b: &Cart, c: &Cart) {
    same(&join(a, b), &join(b, a), "commutative");
    same(&join(&join(a, b), c), &join(a, &join(b, c)), "associative");
    same(&join(a, a), a, "idempotent");
    same(&join(&join(a, b), b), &join(a, b), "absorbing");
    same(&join(a, &Cart::new()), a, "the empty cart is neutral");
}

#[test]
fn joins_obey_their_laws() {
    let mut rng = Rng::new(1);
    for seed in 0..150 {
        let carts = sample(seed);
        for _ in 0..12 {
            check(rng.pick(&carts), rng.pick(&carts), rng.pick(&carts));
        }
    }
}

#[test]
fn the_rest_of_a_join_is_the_join_of_the_rests() {
    let mut rng = Rng::new(2);
    for seed in 0..150 {
        let carts = sample(seed);
        let seal = Seal::of(rng.pick(&carts));
        let (a, b) = (rng.pick(&carts), rng.pick(&carts));
        same(
            &seal.rest(&join(a, b)),
            &join(&seal.rest(a), &seal.rest(b)),
            "sealing",
        );
        let order: Vec<Dot> = seal.order().entries().iter().map(|(dot, _)| *dot).collect();
        let rest = seal.rest(a);
        assert!(
            rest.entries().iter().all(|(dot, _)| !order.contains(dot)),
            "nothing is sold twice"
        );
    }
}

/// One dot with two contents is a breach of the rules. It must end the same everywhere all the
/// same, and be reported.
#[test]
fn a_dot_with_two_contents_ends_the_same_everywhere() {
    let rid = abasto_cart::Rid::device(1);
    let at = |content: &abasto_cart::Operation| {
        let mut replica = Replica::new(1);
        assert_eq!(replica.rid, rid);
        replica.make(content)
    };
    let carts = [
        at(&add("X", 1)),
        at(&add("Y", 1)),
        at(&add("X", 2)),
        at(&set("X", 1)),
        at(&coupon("C")),
        at(&field("f")),
        Cart::delta([], [dot(rid, 1)]),
        Cart::new(),
    ];
    for a in &carts {
        for b in &carts {
            for c in &carts {
                check(a, b, c);
            }
            let reported = !a.clone().join(b).reused.is_empty();
            let differ = |entry: &Entry| b.get(dot(rid, 1)).is_some_and(|other| other != entry);
            assert_eq!(
                reported,
                a.get(dot(rid, 1)).is_some_and(differ),
                "{a:?} and {b:?}"
            );
        }
    }
}

#[test]
fn a_change_does_not_depend_on_the_order_of_its_parts() {
    let dots: Vec<Dot> = (1..=3)
        .map(|seq| dot(abasto_cart::Rid::device(1), seq))
        .collect();
    let coupon = |code: &str| Entry::Coupon { code: name(code) };
    let parts = [
        (dots[1], coupon("A")),
        (dots[0], coupon("B")),
        (dots[1], coupon("C")),
        (dots[2], coupon("D")),
    ];
    let one_by_one = parts.iter().map(|part| Cart::delta([part.clone()], []));
    let expected = one_by_one.fold(Cart::delta([], [dots[2]]), |all, part| join(&all, &part));
    for order in orders(4) {
        let delta = Cart::delta(order.iter().map(|&at| parts[at].clone()), [dots[2]]);
        same(&delta, &expected, "the order of parts");
    }
    assert_eq!(expected.get(dots[1]), Some(&coupon("A")));
    assert_eq!(
        expected.get(dots[2]),
        None,
        "what a change removes is not live in it"
    );
}
