//! Stock operations: conserved, all or nothing, and honest about stale forms.

use std::sync::Arc;
use std::time::Duration;

use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::AdjustmentReason;
use abasto_engine::Error;
use abasto_engine::stock::{Adjustment, Counted, MoveStock};
use abasto_sim::backing::Backing;
use tokio::task::JoinSet;

use crate::world::{World, receipt};

/// Until one that found a full queue comes again.
const SHORT: Duration = Duration::from_millis(10);

on_embedded_stores! {
    plus_one_and_minus_one_a_thousand_times_cancel_out,
    an_adjustment_is_all_or_nothing_and_judged_by_its_sum,
    a_count_from_a_stale_form_is_refused_with_the_present_level,
    two_counts_of_one_form_count_once,
    a_transfer_leaves_one_branch_and_reaches_the_other,
    stock_never_overflows,
}

fn adjust(world: &World, items: &[(abasto_domain::id::ProductId, i64)]) -> MoveStock {
    let items = items.iter().map(|(product, delta)| Adjustment {
        product: *product,
        delta: *delta,
        reason: AdjustmentReason::Correction,
        reference: None,
    });
    MoveStock::Adjust {
        branch: world.bogota.id,
        items: items.collect(),
    }
}

async fn plus_one_and_minus_one_a_thousand_times_cancel_out(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("A", 1000).await.id;
    let mut tasks = JoinSet::new();
    for index in 0..2000 {
        let world = Arc::clone(&world);
        let delta = if index % 2 == 0 { 1 } else { -1 };
        tasks.spawn(async move {
            let (engine, key) = (&world.engine, format!("k{index}"));
            loop {
                let command = adjust(&world, &[(product, delta)]);
                match engine.move_stock(&world.owner, &key, command).await {
                    // More wait than a queue holds; nothing was done.
                    Err(Error::Overloaded) => tokio::time::sleep(SHORT).await,
                    moved => break moved.map(drop),
                }
            }
        });
    }
    for moved in tasks.join_all().await {
        moved.unwrap();
    }
    assert_eq!(world.units(product).await, (1000, 0));
    world.check_level(world.bogota.id, product).await;
}

async fn an_adjustment_is_all_or_nothing_and_judged_by_its_sum(on: Backing) {
    let world = World::new(on).await;
    let (a, b) = (
        world.stocked("A", 2).await.id,
        world.stocked("B", 2).await.id,
    );
    let command = adjust(&world, &[(a, -1), (b, -3)]);
    let refused = world.engine.move_stock(&world.owner, "k1", command).await;
    assert!(matches!(refused, Err(Error::InsufficientStock(short)) if short.len() == 1));
    assert_eq!(
        (world.units(a).await, world.units(b).await),
        ((2, 0), (2, 0))
    );
    let command = adjust(&world, &[(a, -5), (a, 4)]);
    world
        .engine
        .move_stock(&world.owner, "k2", command)
        .await
        .unwrap();
    assert_eq!(world.units(a).await, (1, 0));
    world.check_level(world.bogota.id, a).await;
}

async fn a_count_from_a_stale_form_is_refused_with_the_present_level(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let form = world.level(world.bogota.id, product).await.version;
    world.buy("sold-meanwhile", &[(product, 3)]).await.unwrap();
    let count = |counted, expected_version| MoveStock::Count {
        branch: world.bogota.id,
        items: vec![Counted {
            product,
            counted,
            expected_version,
        }],
    };
    let refused = world
        .engine
        .move_stock(&world.owner, "k1", count(10, form))
        .await;
    assert!(
        matches!(refused, Err(Error::StockChanged(current)) if current.level.version == form + 1)
    );
    let refused = world
        .engine
        .move_stock(&world.owner, "k1", count(2, form + 1))
        .await;
    assert!(matches!(refused, Err(Error::BelowReserved(current)) if current.level.reserved == 3));
    world
        .engine
        .move_stock(&world.owner, "k1", count(9, form + 1))
        .await
        .unwrap();
    assert_eq!(world.units(product).await, (6, 3));
    let never = world.product("NEVER", 100).await.id;
    let first = MoveStock::Count {
        branch: world.bogota.id,
        items: vec![Counted {
            product: never,
            counted: 7,
            expected_version: 0,
        }],
    };
    world
        .engine
        .move_stock(&world.owner, "k2", first)
        .await
        .unwrap();
    assert_eq!(world.units(never).await, (7, 0));
}

async fn two_counts_of_one_form_count_once(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("A", 10).await.id;
    let form = world.level(world.bogota.id, product).await.version;
    let mut tasks = JoinSet::new();
    for counted in [8, 9] {
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let items = vec![Counted {
                product,
                counted,
                expected_version: form,
            }];
            let command = MoveStock::Count {
                branch: world.bogota.id,
                items,
            };
            world
                .engine
                .move_stock(&world.owner, &format!("k{counted}"), command)
                .await
        });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(
        outcomes
            .iter()
            .any(|outcome| matches!(outcome, Err(Error::StockChanged(_))))
    );
}

async fn a_transfer_leaves_one_branch_and_reaches_the_other(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let transfer = |units| MoveStock::Transfer {
        from: world.bogota.id,
        to: world.medellin.id,
        items: vec![
            Item {
                product,
                quantity: Quantity::new(units).unwrap()
            };
            2
        ],
    };
    let refused = world
        .engine
        .move_stock(&world.owner, "k1", transfer(6))
        .await;
    assert!(matches!(refused, Err(Error::InsufficientStock(_))));
    world
        .engine
        .move_stock(&world.owner, "k1", transfer(4))
        .await
        .unwrap();
    let again = world
        .engine
        .move_stock(&world.owner, "k1", transfer(4))
        .await
        .unwrap();
    assert!(again.replayed);
    assert_eq!(world.units(product).await, (2, 0));
    assert_eq!(world.level(world.medellin.id, product).await.available, 8);
    world.check_level(world.medellin.id, product).await;
}

async fn stock_never_overflows(on: Backing) {
    let world = World::new(on).await;
    let product = world.product("A", 100).await.id;
    let most = abasto_domain::stock::UNITS_MAX;
    let fill = receipt(world.bogota.id, product, most);
    world
        .engine
        .move_stock(&world.owner, "fill", fill)
        .await
        .unwrap();
    for delta in [1, i64::MAX] {
        let more = receipt(world.bogota.id, product, delta);
        let refused = world.engine.move_stock(&world.owner, "more", more).await;
        assert!(matches!(refused, Err(Error::InsufficientStock(_))));
    }
    assert_eq!(world.units(product).await, (most, 0));
}
