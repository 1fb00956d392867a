//! Order numbers: per code and year, from 1, without gaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::number::{OrderNumber, Series};
use abasto_domain::order::Order;
use abasto_domain::order_state::Action;

use super::sale::order_in;
use super::tenant::{Tenant, place, valid};
use super::world::{World, answer, committed, document_in};
use crate::unit::UnitOfWork;
use crate::verdict::{Rejection, Verdict};

fn number(text: &str) -> OrderNumber {
    valid(OrderNumber::parse(text))
}

/// The numbers of committed orders by series, sorted.
fn numbers(verdicts: Vec<Verdict>) -> BTreeMap<Series, Vec<i64>> {
    let mut found: BTreeMap<Series, Vec<i64>> = BTreeMap::new();
    for verdict in verdicts {
        if let Verdict::Committed(reply) = verdict {
            let order = order_in(document_in(reply));
            let series = order.number.series.clone();
            found.entry(series).or_default().push(order.number.sequence);
        }
    }
    found
        .values_mut()
        .for_each(|numbers| numbers.sort_unstable());
    found
}

/// 500 orders at once, two branches, every fifth impossible: each branch counts 1..200.
pub async fn five_hundred_numbers_in_two_branches(world: World) {
    let tenant = world.tenant().await;
    let (bog, med) = (tenant.branch("BOG").await, tenant.branch("MED").await);
    let (plenty, none) = (tenant.product("PAN-1").await, tenant.product("PAN-2").await);
    for branch in [&bog, &med] {
        tenant.receive(place(branch, &plenty), 1_000).await;
    }
    let unit = |number: usize| {
        let branch = if number.is_multiple_of(2) { &bog } else { &med };
        let product = if number % 5 == 4 { &none } else { &plenty };
        tenant.sale(branch, product, 1)
    };
    let numbers = numbers(world.commit_all((0..500).map(unit).collect()).await);
    assert_eq!(numbers.len(), 2);
    for (series, numbers) in numbers {
        let expected: Vec<i64> = (1..=200).collect();
        assert_eq!(numbers, expected, "{}", series.code);
    }
}

/// The number that a refused order would have had goes to the next one.
pub async fn a_refused_order_uses_no_number(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 2).await;
    let one = tenant.order(tenant.sale(&branch, &product, 1)).await;
    let verdict = world.commit(tenant.sale(&branch, &product, 2)).await;
    assert!(
        matches!(verdict, Verdict::Rejected(Rejection::Short(_))),
        "{verdict:?}"
    );
    let two = tenant.order(tenant.sale(&branch, &product, 1)).await;
    assert_eq!(one.number, number("BOG-2027-000001"));
    assert_eq!(two.number, number("BOG-2027-000002"));
}

/// Orders of two years at once, as at midnight in two time zones.
pub async fn numbers_begin_anew_each_year(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 100).await;
    let unit = |number| {
        let year = if number % 3 == 0 { 2027 } else { 2028 };
        tenant.placing(tenant.draft_order(&branch, &[(&product, 1)], year))
    };
    let numbers = numbers(world.commit_all((0..60).map(unit).collect()).await);
    let found: Vec<_> = numbers
        .into_iter()
        .map(|(series, numbers)| (series.year, numbers))
        .collect();
    assert_eq!(
        found,
        [(2027, (1..=20).collect()), (2028, (1..=40).collect())]
    );
}

/// Numbers follow the code: another branch that takes it goes on where it was.
pub async fn a_code_that_moves_goes_on_counting(world: World) {
    let tenant = world.tenant().await;
    let (old, new) = (tenant.branch("BOG").await, tenant.branch("MED").await);
    let product = tenant.product("PAN-1").await;
    for branch in [&old, &new] {
        tenant.receive(place(branch, &product), 10).await;
    }
    for _ in 0..3 {
        tenant.order(tenant.sale(&old, &product, 1)).await;
    }
    let with_code = |branch: &Arc<Branch>, code: &str| {
        Arc::new(Branch {
            code: valid(BranchCode::parse(code)),
            stamp: tenant.next(branch.stamp),
            ..Branch::clone(branch)
        })
    };
    let closed = with_code(&old, "OLD");
    let moved = with_code(&new, "BOG");
    tenant.update(old, Arc::clone(&closed)).await;
    tenant.update(new, Arc::clone(&moved)).await;
    let order = tenant.order(tenant.sale(&moved, &product, 1)).await;
    assert_eq!(order.number, number("BOG-2027-000004"));
    let order = tenant.order(tenant.sale(&closed, &product, 1)).await;
    assert_eq!(order.number, number("OLD-2027-000001"));
}

/// A unit may place more than one order.
pub async fn two_orders_in_one_unit_get_two_numbers(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 10).await;
    let mut unit = tenant.sale(&branch, &product, 1);
    let second = tenant.sale(&branch, &product, 1);
    unit.puts.extend(second.puts);
    unit.stock.extend(second.stock);
    committed(world.commit(unit).await);
    for text in ["BOG-2027-000001", "BOG-2027-000002"] {
        assert!(find(&tenant, text).await.is_some(), "{text}");
    }
}

async fn find(tenant: &Tenant, text: &str) -> Option<Order> {
    let store = tenant.world.store();
    answer(
        store
            .order_by_number(tenant.business(), &number(text))
            .await,
    )
}

/// By its own number only, as it is now, in its own business.
pub async fn an_order_is_found_by_its_number(world: World) {
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 10).await;
    let order = tenant.order(tenant.sale(&branch, &product, 1)).await;
    let unit = UnitOfWork {
        operation: Some(Tenant::operation("confirm", 1)),
        ..tenant.step(&order, Action::Confirm)
    };
    let order = tenant.order(unit).await;
    assert_eq!(
        find(&tenant, "BOG-2027-000001").await.as_ref(),
        Some(&*order)
    );
    for text in ["BOG-2027-000002", "BOG-2026-000001", "MED-2027-000001"] {
        assert_eq!(find(&tenant, text).await, None, "{text}");
    }
    assert_eq!(find(&other, "BOG-2027-000001").await, None);
}
