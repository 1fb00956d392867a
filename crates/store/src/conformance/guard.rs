//! Guards: what was only read is still so when the unit commits.

use std::sync::Arc;

use abasto_domain::product::Product;
use abasto_domain::stock::Place;

use super::tenant::{Tenant, amount, place};
use super::world::{World, committed};
use crate::record::{DocumentKey, HeadKey, Kind};
use crate::unit::{Guard, UnitOfWork};
use crate::verdict::Verdict;

fn guarded(tenant: &Tenant, guard: Guard) -> UnitOfWork {
    UnitOfWork {
        guards: vec![guard],
        ..tenant.unit_of([tenant.creation(tenant.draft_customer(None))])
    }
}

fn repriced(tenant: &Tenant, product: &Product, minor: i64) -> Product {
    Product {
        sale_price: amount(minor),
        stamp: tenant.next(product.stamp),
        ..product.clone()
    }
}

/// The guarded document is as it was read.
pub async fn a_guard_on_the_present_version_holds(world: World) {
    let tenant = world.tenant().await;
    let product = tenant.product("PAN-1").await;
    let key = DocumentKey::new(Kind::Product, product.id);
    committed(
        world
            .commit(guarded(&tenant, Guard::Document(key, 1)))
            .await,
    );
    let next = repriced(&tenant, &product, 400_000);
    tenant.update(product, next).await;
    committed(
        world
            .commit(guarded(&tenant, Guard::Document(key, 2)))
            .await,
    );
}

/// Older and newer versions than the present one are both stale, and so is one bad guard of many.
pub async fn a_guard_on_another_version_is_stale(world: World) {
    let tenant = world.tenant().await;
    let (product, other) = (tenant.product("PAN-1").await, tenant.product("PAN-2").await);
    let key = DocumentKey::new(Kind::Product, product.id);
    let good = Guard::Document(DocumentKey::new(Kind::Product, other.id), 1);
    let next = repriced(&tenant, &product, 400_000);
    tenant.update(product, next).await;
    for version in [0, 1, 3] {
        let unit = UnitOfWork {
            guards: vec![good, Guard::Document(key, version), good],
            ..guarded(&tenant, good)
        };
        let verdict = world.commit(unit).await;
        assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key)));
    }
}

/// A document that is not there has version 0.
pub async fn a_guard_on_nothing_is_version_zero(world: World) {
    let tenant = world.tenant().await;
    let draft = tenant.draft_product("PAN-1");
    let key = DocumentKey::new(Kind::Product, draft.id);
    committed(
        world
            .commit(guarded(&tenant, Guard::Document(key, 0)))
            .await,
    );
    let verdict = world
        .commit(guarded(&tenant, Guard::Document(key, 1)))
        .await;
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key)));
    tenant.save(draft).await;
    let verdict = world
        .commit(guarded(&tenant, Guard::Document(key, 0)))
        .await;
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key)));
}

/// A stale stock form: the level moved since it was read.
pub async fn a_guard_on_a_level_watches_its_movements(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    let level = place(&branch, &product);
    let count = |level: Place, version| UnitOfWork {
        guards: vec![Guard::Level(level, version)],
        ..tenant.adjustment(&[(level, 5)])
    };
    let stale = Verdict::Stale(HeadKey::Level(level));
    assert_eq!(world.commit(count(level, 1)).await, stale);
    committed(world.commit(count(level, 0)).await);
    assert_eq!(world.commit(count(level, 0)).await, stale);
    committed(world.commit(count(level, 1)).await);
    assert_eq!(tenant.units(level).await, (10, 0));
    // Many forms printed at the same version: one is taken over.
    let forms = (0..20).map(|_| count(level, 2)).collect();
    let verdicts = world.commit_all(forms).await;
    let taken = verdicts.iter().filter(|verdict| **verdict != stale);
    assert_eq!(taken.count(), 1);
    assert_eq!(tenant.units(level).await, (15, 0));
}

/// Orders priced from version 1 race a new price: none commits after the price did.
pub async fn a_guarded_order_never_misses_a_change(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 1_000).await;
    let key = DocumentKey::new(Kind::Product, product.id);
    let order = || UnitOfWork {
        guards: vec![Guard::Document(key, 1)],
        ..tenant.sale(&branch, &product, 1)
    };
    let mut units: Vec<UnitOfWork> = (0..60).map(|_| order()).collect();
    let next = repriced(&tenant, &product, 400_000);
    units.insert(
        30,
        tenant.unit_of([tenant.change(Arc::clone(&product), next)]),
    );
    let verdicts = world.commit_all(units).await;
    let stale = Verdict::Stale(HeadKey::Document(key));
    for verdict in &verdicts {
        let expected = matches!(verdict, Verdict::Committed(_)) || *verdict == stale;
        assert!(expected, "{verdict:?}");
    }
    assert!(
        matches!(verdicts[30], Verdict::Committed(_)),
        "the price did not change"
    );
    assert_eq!(world.commit(order()).await, stale);
}
