//! Placing an order: what is refused, and what a placed order says.

use abasto_domain::id::BranchId;
use abasto_domain::money::Amount;
use abasto_domain::order::{OverLimit, PaymentMethod, PlaceRejection, RESERVE, Refused};
use abasto_domain::order_state::{PaymentStatus, Status};
use abasto_domain::product::{Product, Unsellable};
use abasto_domain::stock::MovementKind;

use crate::sample::{NOW, Wish, amount, ids, product, raw, units};

fn bread() -> Product {
    product(1, 350_000, 190_000)
}

#[test]
fn an_inactive_branch_takes_no_order() {
    let mut wish = Wish::of(vec![(bread(), 1)]);
    wish.branch.active = false;
    assert_eq!(wish.place(), Err(PlaceRejection::BranchInactive));
}

#[test]
fn all_products_that_are_not_sold_are_named_with_the_first_reason() {
    let here = crate::sample::branch().id;
    let gone = Product {
        deleted_at: Some(NOW),
        active: false,
        ..product(2, 1, 0)
    };
    let idle = Product {
        active: false,
        ..product(3, 1, 0)
    };
    let elsewhere = Product {
        branches: Some(vec![BranchId(raw(99))]),
        ..product(4, 1, 0)
    };
    let nowhere = Product {
        branches: Some(Vec::new()),
        ..product(5, 1, 0)
    };
    let listed = Product {
        branches: Some(vec![BranchId(raw(99)), here]),
        ..product(6, 1, 0)
    };
    let all = [bread(), gone, idle, elsewhere, nowhere, listed];
    let wish = Wish::of(all.iter().cloned().map(|product| (product, 1)).collect());
    let refused = |index: usize, why| Refused {
        product: all[index].id,
        why,
    };
    let expected = vec![
        refused(1, Unsellable::Deleted),
        refused(2, Unsellable::Inactive),
        refused(3, Unsellable::NotAtBranch),
        refused(4, Unsellable::NotAtBranch),
    ];
    assert_eq!(wish.place(), Err(PlaceRejection::Unsellable(expected)));
}

#[test]
fn the_limit_per_order_holds_at_it_and_not_above() {
    let few = Product {
        max_per_order: Some(units(3)),
        ..bread()
    };
    assert!(Wish::of(vec![(few.clone(), 3)]).place().is_ok());
    let over = OverLimit {
        product: few.id,
        requested: units(4),
        limit: units(3),
    };
    let refusal = Wish::of(vec![(few, 4)]).place();
    assert_eq!(refusal, Err(PlaceRejection::OverLimit(vec![over])));
}

#[test]
fn a_total_that_is_not_the_expected_one_is_refused_with_both() {
    let mut wish = Wish::of(vec![(bread(), 2)]);
    wish.fee = amount(50_000);
    wish.expected_total = Some(amount(750_000));
    assert!(wish.place().is_ok());
    wish.expected_total = Some(amount(749_999));
    let refusal = PlaceRejection::PriceChanged {
        expected: amount(749_999),
        actual: amount(750_000),
    };
    assert_eq!(wish.place(), Err(refusal));
}

#[test]
fn an_order_is_a_snapshot() {
    let wish = Wish::of(vec![(bread(), 2)]);
    let order = wish.place().unwrap();
    let line = &order.lines[0];
    assert_eq!(
        (line.sku.as_str(), line.name.as_str()),
        ("SKU-1", "Product 1")
    );
    assert_eq!((order.stamp.version, order.stamp.created_at), (1, NOW));
    assert!(order.number.is_blank());
    assert_eq!(order.number.series.code, wish.branch.code);
    assert_eq!(
        (order.status, order.payment_status),
        (Status::Pending, PaymentStatus::Unpaid)
    );
    assert_eq!(order.reservation_expires_at, None);
}

#[test]
fn an_online_order_waits_for_its_payment_unless_it_costs_nothing() {
    let mut wish = Wish::of(vec![(bread(), 1)]);
    wish.method = PaymentMethod::Online;
    let order = wish.place().unwrap();
    assert_eq!(order.status, Status::PendingPayment);
    assert_eq!(
        order.reservation_expires_at,
        Some(NOW.plus_millis(1_800_000))
    );
    let mut free = Wish::of(vec![(product(2, 0, 0), 1)]);
    free.method = PaymentMethod::Online;
    let order = free.place().unwrap();
    assert_eq!(
        (order.status, order.payment_status),
        (Status::Pending, PaymentStatus::Paid)
    );
    assert_eq!(
        (order.reservation_expires_at, order.totals.total),
        (None, Amount::ZERO)
    );
}

#[test]
fn each_line_reserves_its_units() {
    let order = crate::sample::order();
    let changes = order.stock_changes(RESERVE, &mut ids());
    for line in &order.lines {
        let mut own = changes
            .iter()
            .filter(|change| change.place.product == line.product);
        let change = own.next().unwrap();
        assert_eq!(own.next(), None);
        let units = line.quantity.units();
        assert_eq!((change.available, change.reserved), (-units, units));
        assert_eq!(
            (change.kind, change.place.branch),
            (MovementKind::Reservation, order.branch)
        );
    }
}
