//! Checkouts: the hold, its renewal, its end at the very moment it names.

use abasto_domain::checkout::{Checkout, CheckoutRejection, CheckoutStatus, Ending, open, renew};
use abasto_domain::id::OrderId;
use abasto_domain::product::Product;
use abasto_domain::stock::StockChange;

use crate::sample::{HOLD_MS, NOW, basket, branch, draft, held, ids, item, product, raw};

fn sums(changes: &[StockChange]) -> (i64, i64) {
    let add =
        |sum: (i64, i64), change: &StockChange| (sum.0 + change.available, sum.1 + change.reserved);
    changes.iter().fold((0, 0), add)
}

#[test]
fn a_hold_moves_units_from_available_to_reserved() {
    let (checkout, stock) = held(&[2, 3], NOW);
    assert_eq!(checkout.status, CheckoutStatus::Open);
    assert_eq!(checkout.hold_expires_at, NOW.plus_millis(HOLD_MS));
    assert_eq!(sums(&stock), (-5, 5));
    assert!(
        stock
            .iter()
            .all(|change| change.cause.checkout == Some(checkout.id))
    );
}

#[test]
fn a_hold_ends_at_the_moment_it_names() {
    let (checkout, _) = held(&[1], NOW);
    let end = |ms| checkout.end(Ending::Expired, NOW.plus_millis(ms), &mut ids());
    let complete = |ms| checkout.complete(OrderId(raw(30)), NOW.plus_millis(ms));
    assert_eq!(end(HOLD_MS - 1), Err(CheckoutRejection::StillHeld));
    assert!(complete(HOLD_MS - 1).is_ok());
    for ms in [HOLD_MS, HOLD_MS + 1] {
        let (ended, stock) = end(ms).unwrap();
        assert_eq!(ended.status, CheckoutStatus::Expired);
        assert_eq!(sums(&stock), (1, -1));
        let expired = CheckoutRejection::Ended(CheckoutStatus::Expired);
        assert_eq!(complete(ms), Err(expired));
    }
}

#[test]
fn what_ended_once_ends_never_again() {
    let (checkout, _) = held(&[1], NOW);
    let completed = checkout.complete(OrderId(raw(30)), NOW).unwrap();
    let (abandoned, _) = checkout.end(Ending::Abandoned, NOW, &mut ids()).unwrap();
    let late = NOW.plus_millis(HOLD_MS);
    let (expired, _) = checkout.end(Ending::Abandoned, late, &mut ids()).unwrap();
    assert_eq!(expired.status, CheckoutStatus::Expired, "given up too late");
    for ended in [completed, abandoned, expired] {
        let rejection = CheckoutRejection::Ended(ended.status);
        for ending in [Ending::Expired, Ending::Abandoned] {
            assert_eq!(ended.end(ending, late, &mut ids()), Err(rejection));
        }
        assert_eq!(ended.complete(OrderId(raw(31)), NOW), Err(rejection));
    }
}

fn again(checkout: &Checkout, quantities: &[(u8, i64)]) -> (Checkout, Vec<StockChange>) {
    let products: Vec<Product> = quantities.iter().map(|it| product(it.0, 1_500)).collect();
    let items: Vec<_> = products
        .iter()
        .zip(quantities)
        .map(|(product, it)| item(product, it.1))
        .collect();
    let shelf: Vec<&Product> = products.iter().collect();
    let branch = branch();
    let draft = draft(raw(21), basket(&branch, &items, &shelf));
    renew(checkout, draft, NOW.plus_millis(5), &mut ids()).unwrap()
}

#[test]
fn the_same_units_stay_where_they_are_with_a_new_term_and_new_prices() {
    let (checkout, _) = held(&[2, 3], NOW);
    let (renewed, stock) = again(&checkout, &[(11, 3), (10, 2)]);
    assert!(stock.is_empty());
    assert_eq!((renewed.id, renewed.hold), (checkout.id, checkout.hold));
    assert_eq!(renewed.stamp.version, 2);
    assert_eq!(renewed.hold_expires_at, NOW.plus_millis(5 + HOLD_MS));
    assert_eq!(renewed.totals.total.minor(), 5 * 1_500);
    let lines = |it: &Checkout| it.lines.iter().map(|line| line.product).collect::<Vec<_>>();
    assert_eq!(
        lines(&renewed),
        lines(&checkout),
        "movements are told apart by line"
    );
}

#[test]
fn own_units_are_never_counted_against_a_renewal() {
    let (checkout, first) = held(&[2, 3], NOW);
    let (renewed, stock) = again(&checkout, &[(10, 4), (12, 1)]);
    assert_eq!(sums(&stock), (0, 0), "five units before and after");
    assert_ne!(renewed.hold, checkout.hold);
    let mut effects: Vec<_> = first.iter().chain(&stock).map(|it| it.operation).collect();
    let (end, release) = renewed.end(Ending::Abandoned, NOW, &mut ids()).unwrap();
    assert_eq!(end.status, CheckoutStatus::Abandoned);
    effects.extend(release.iter().map(|it| it.operation));
    let all = effects.len();
    effects.sort();
    effects.dedup();
    assert_eq!(
        effects.len(),
        all,
        "every effect has an identity of its own"
    );
    assert!(
        stock
            .iter()
            .all(|it| it.cause.checkout == Some(checkout.id))
    );
}

#[test]
fn nothing_is_held_of_a_basket_that_cannot_be_sold() {
    let (mut branch, product) = (branch(), product(10, 1_000));
    let items = [item(&product, 1)];
    branch.active = false;
    let shelf = [&product];
    let draft = draft(raw(20), basket(&branch, &items, &shelf));
    assert!(open(draft, NOW, &mut ids()).is_err());
}
