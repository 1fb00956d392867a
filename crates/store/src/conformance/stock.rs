//! Stock: levels with a floor of zero, and movements that explain them.

use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::coupon::Redemption;
use abasto_domain::order_state::{Action, Units};
use abasto_domain::product::Product;
use abasto_domain::stock::{Place, Shortage, UNITS_MAX};

use super::sale::cancel;
use super::tenant::{Tenant, place};
use super::world::{World, committed, stock_in};
use crate::verdict::{Rejection, ShortLevel, Verdict};

async fn shop(world: &World) -> (Tenant, Arc<Branch>, Arc<Product>, Place) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    let level = place(&branch, &product);
    (tenant, branch, product, level)
}

#[track_caller]
fn short(verdict: Verdict) -> Vec<ShortLevel> {
    match verdict {
        Verdict::Rejected(Rejection::Short(short)) => short,
        other => panic!("expected short levels, found {other:?}"),
    }
}

/// Sequence 1, 2, 3 … with running balances; nothing before the first.
pub async fn movements_are_numbered_and_balanced(world: World) {
    let (tenant, branch, product, level) = shop(&world).await;
    assert_eq!(world.level(tenant.business(), level).await, None);
    assert!(world.movements(tenant.business(), level).await.is_empty());
    tenant.receive(level, 10).await;
    tenant.order(tenant.sale(&branch, &product, 4)).await;
    let reply = committed(world.commit(tenant.adjustment(&[(level, -5)])).await);
    let movements = world.movements(tenant.business(), level).await;
    let seen: Vec<_> = movements
        .iter()
        .map(|m| {
            (
                m.sequence,
                m.available,
                m.reserved,
                m.available_after,
                m.reserved_after,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [(1, 10, 0, 10, 0), (2, -4, 4, 6, 4), (3, -5, 0, 1, 4)]
    );
    let stock = stock_in(reply);
    assert_eq!(stock.movements, movements[2..]);
    let stored = world.level(tenant.business(), level).await;
    assert_eq!(stored, stock.levels.first().copied());
    assert_eq!(stored.map(|level| level.version), Some(3));
}

/// The refusal says which level, why, how it is and what was asked.
pub async fn a_level_never_goes_below_zero(world: World) {
    let (tenant, _, _, level) = shop(&world).await;
    let found = short(world.commit(tenant.adjustment(&[(level, -1)])).await);
    let expected = ShortLevel {
        place: level,
        why: Shortage::Available,
        level: None,
        available: -1,
        reserved: 0,
    };
    assert_eq!(found, [expected]);
    tenant.receive(level, 3).await;
    let found = short(world.commit(tenant.adjustment(&[(level, -4)])).await);
    assert_eq!(found[0].level, world.level(tenant.business(), level).await);
    committed(world.commit(tenant.adjustment(&[(level, -3)])).await);
    assert_eq!(tenant.units(level).await, (0, 0));
    let mut unreserve = tenant.adjustment(&[(level, 1)]);
    unreserve.stock[0].reserved = -1;
    let found = short(world.commit(unreserve).await);
    assert_eq!(found[0].why, Shortage::Reserved);
}

/// Of ten lines all short ones are named, once each, and no other.
pub async fn all_short_levels_are_named(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let mut wanted = Vec::new();
    for number in 0..10 {
        let product = tenant.product(&format!("PAN-{number}")).await;
        let level = place(&branch, &product);
        if number % 4 != 1 {
            tenant.receive(level, 2).await;
        }
        wanted.push((level, -2));
    }
    let found = short(world.commit(tenant.adjustment(&wanted)).await);
    let mut found: Vec<Place> = found.iter().map(|short| short.place).collect();
    let mut expected = vec![wanted[1].0, wanted[5].0, wanted[9].0];
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// Several changes of one level in a unit: what is taken and given is one sum.
pub async fn only_the_sum_of_a_unit_decides(world: World) {
    let (tenant, _, _, level) = shop(&world).await;
    for changes in [[(level, -5), (level, 6)], [(level, 6), (level, -5)]] {
        committed(world.commit(tenant.adjustment(&changes)).await);
    }
    assert_eq!(tenant.units(level).await, (2, 0));
    let unit = tenant.adjustment(&[(level, -2), (level, -1), (level, 0)]);
    let found = short(world.commit(unit).await);
    assert_eq!((found.len(), found[0].available), (1, -3));
    assert_eq!(world.movements(tenant.business(), level).await.len(), 4);
}

/// +1 and −1 a thousand times each, at once: back where it was, every step on record.
pub async fn plus_and_minus_a_thousand_times(world: World) {
    let (tenant, _, _, level) = shop(&world).await;
    tenant.receive(level, 1_000).await;
    let unit = |number| tenant.adjustment(&[(level, if number % 2 == 0 { 1 } else { -1 })]);
    for verdict in world.commit_all((0..2_000).map(unit).collect()).await {
        committed(verdict);
    }
    assert_eq!(tenant.units(level).await, (1_000, 0));
    let version = world
        .level(tenant.business(), level)
        .await
        .map(|level| level.version);
    assert_eq!(version, Some(2_001));
}

/// Fifty buyers, one unit, one sale.
pub async fn the_last_unit_goes_to_one_of_fifty(world: World) {
    let (tenant, branch, product, level) = shop(&world).await;
    tenant.receive(level, 1).await;
    let buyers = (0..50).map(|_| tenant.sale(&branch, &product, 1));
    let verdicts = world.commit_all(buyers.collect()).await;
    let sold = |verdict: &&Verdict| matches!(verdict, Verdict::Committed(_));
    assert_eq!(verdicts.iter().filter(sold).count(), 1);
    for verdict in verdicts.into_iter().filter(|verdict| !sold(&verdict)) {
        assert_eq!(short(verdict)[0].place, level);
    }
    assert_eq!(tenant.units(level).await, (0, 1));
}

/// Orders that take the same two products in opposite order all get through.
pub async fn opposite_orders_of_the_same_products(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let (one, two) = (tenant.product("PAN-1").await, tenant.product("PAN-2").await);
    for product in [&one, &two] {
        tenant.receive(place(&branch, product), 200).await;
    }
    let unit = |number| {
        let (first, second) = if number % 2 == 0 {
            (&one, &two)
        } else {
            (&two, &one)
        };
        let lines = [(&**first, 1), (&**second, 1)];
        let mut unit = tenant.placing(tenant.draft_order(&branch, &lines, super::sale::YEAR));
        if number % 2 == 0 {
            unit.stock.reverse();
        }
        unit
    };
    for verdict in world.commit_all((0..200).map(unit).collect()).await {
        committed(verdict);
    }
    for product in [&one, &two] {
        assert_eq!(tenant.units(place(&branch, product)).await, (0, 200));
    }
}

/// Units leave one branch and reach the other in one step, in both directions at once.
pub async fn a_transfer_moves_all_or_nothing(world: World) {
    let (tenant, bog, product, here) = shop(&world).await;
    let med = tenant.branch("MED").await;
    let there = place(&med, &product);
    tenant.receive(here, 50).await;
    tenant.receive(there, 50).await;
    let unit = |number| match number % 2 {
        0 => tenant.transfer(here, &med, 3),
        _ => tenant.transfer(there, &bog, 3),
    };
    for verdict in world.commit_all((0..100).map(unit).collect()).await {
        if !matches!(verdict, Verdict::Committed(_)) {
            short(verdict);
        }
    }
    let ((at_bog, _), (at_med, _)) = (tenant.units(here).await, tenant.units(there).await);
    assert_eq!(at_bog + at_med, 100);
    let found = short(world.commit(tenant.transfer(here, &med, 101)).await);
    assert_eq!(found[0].place, here);
    assert_eq!(tenant.units(there).await, (at_med, 0));
}

/// Dispatch takes units out of the house, a cancellation gives them back or writes them off; a
/// step twice at once happens once.
pub async fn a_life_of_an_order_conserves_units(world: World) {
    let (tenant, branch, product, level) = shop(&world).await;
    tenant.receive(level, 30).await;
    let lost = Action::Cancel {
        reason: "broken".to_owned(),
        units: Units::WriteOff,
        coupons: Redemption::Returned,
    };
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(tenant.order(tenant.sale(&branch, &product, 10)).await);
    }
    let steps = [
        Action::Confirm,
        Action::Prepare,
        Action::Dispatch,
        Action::Deliver,
    ];
    let mut order = orders.remove(0);
    for step in steps {
        let twice = vec![tenant.step(&order, step.clone()), tenant.step(&order, step)];
        let verdicts = world.commit_all(twice).await;
        let won = verdicts.into_iter().find_map(|verdict| match verdict {
            Verdict::Committed(reply) => Some(super::world::document_in(reply)),
            _ => None,
        });
        let Some(next) = won else {
            panic!("no step was taken")
        };
        order = super::sale::order_in(next);
    }
    assert_eq!(tenant.units(level).await, (0, 20));
    // A confirmation races a cancellation: one of them is taken.
    let race = vec![
        tenant.step(&orders[0], Action::Confirm),
        tenant.step(&orders[0], cancel()),
    ];
    let verdicts = world.commit_all(race).await;
    let taken = |verdict: &&Verdict| matches!(verdict, Verdict::Committed(_));
    assert_eq!(verdicts.iter().filter(taken).count(), 1, "{verdicts:?}");
    let restocked = if taken(&&verdicts[1]) { 10 } else { 0 };
    assert_eq!(tenant.units(level).await, (restocked, 20 - restocked));
    tenant.order(tenant.step(&orders[1], lost)).await;
    assert_eq!(tenant.units(level).await, (restocked, 10 - restocked));
}

/// The most units of a shelf, one more, and sums at the end of the integers.
pub async fn a_level_holds_so_many_units_and_no_more(world: World) {
    let (tenant, _, _, level) = shop(&world).await;
    tenant.receive(level, UNITS_MAX).await;
    for units in [1, UNITS_MAX, i64::MAX] {
        let found = short(world.commit(tenant.adjustment(&[(level, units)])).await);
        assert_eq!(found[0].why, Shortage::Overflow, "{units}");
    }
    let found = short(world.commit(tenant.adjustment(&[(level, i64::MIN)])).await);
    assert_eq!(found[0].why, Shortage::Available);
    assert_eq!(tenant.units(level).await, (UNITS_MAX, 0));
}
