//! The steps of an order's life: once each, in order, whoever races.

use std::sync::Arc;

use abasto_domain::order_state::Status;
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::stock::{Counted, MoveStock};
use abasto_engine::{Error, business::ChangeBusiness};
use abasto_sim::backing::Backing;
use abasto_store::query::Page;
use tokio::task::JoinSet;

use crate::world::World;

on_embedded_stores! {
    a_whole_life_moves_stock_once,
    steps_out_of_order_are_refused_with_what_is_allowed,
    two_cancellations_at_once_give_the_units_back_once,
    cancel_racing_prepare_ends_in_one_of_both,
    units_of_a_cancelled_order_come_back_or_are_lost,
    a_cancelled_order_gives_back_units_of_a_shelf_that_was_counted_empty,
    a_stale_if_match_is_told_the_present_version,
    a_replayed_step_answers_as_it_did_even_when_the_order_went_on,
}

fn cancel(restock: Option<bool>) -> OrderStep {
    OrderStep::Cancel {
        reason: "changed my mind".into(),
        restock,
    }
}

async fn a_whole_life_moves_stock_once(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 4)]).await.unwrap().value;
    assert_eq!(world.units(product).await, (6, 4));
    let life = [
        OrderStep::Confirm,
        OrderStep::Prepare,
        OrderStep::Dispatch,
        OrderStep::Deliver,
    ];
    for (index, step) in life.into_iter().enumerate() {
        for try_number in 0..2 {
            let key = format!("{index}-{try_number}");
            let done = world.step(&key, &order, step.clone()).await.unwrap();
            assert_eq!(done.value.stamp.version, 2 + i64::try_from(index).unwrap());
        }
    }
    assert_eq!(world.units(product).await, (6, 0));
    world.check_level(world.bogota.id, product).await;
    let page = Page {
        after: None,
        limit: 50,
    };
    let history = world
        .engine
        .order_events(&world.owner, order.id, page)
        .await
        .unwrap();
    let steps: Vec<_> = history
        .iter()
        .map(|event| (event.sequence, event.name.as_str()))
        .collect();
    let expected = [
        "created",
        "confirmed",
        "preparing",
        "dispatched",
        "delivered",
    ];
    let expected: Vec<_> = expected.map(|name| format!("abasto.order.{name}")).into();
    assert_eq!(
        steps,
        (1..)
            .zip(expected.iter().map(String::as_str))
            .collect::<Vec<_>>()
    );
    assert_eq!(
        history[4].data,
        serde_json::json!({ "from": "dispatched", "to": "delivered" })
    );
}

async fn steps_out_of_order_are_refused_with_what_is_allowed(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 1)]).await.unwrap().value;
    for step in [OrderStep::Prepare, OrderStep::Dispatch, OrderStep::Deliver] {
        let Err(Error::InvalidTransition(refused)) = world.step("s", &order, step).await else {
            panic!("the step must be refused");
        };
        assert_eq!(refused.from, Status::Pending);
        assert_eq!(
            refused.from.allowed(),
            [Status::Confirmed, Status::Cancelled]
        );
    }
    world.step("s", &order, OrderStep::Confirm).await.unwrap();
}

async fn two_cancellations_at_once_give_the_units_back_once(on: Backing) {
    for _ in 0..20 {
        let world = Arc::new(World::new(on).await);
        let product = world.stocked("A", 10).await.id;
        let order = world.buy("k", &[(product, 4)]).await.unwrap().value;
        let mut tasks = JoinSet::new();
        for key in ["c1", "c2", "c1"] {
            let (world, order) = (Arc::clone(&world), Arc::clone(&order));
            tasks.spawn(async move { world.step(key, &order, cancel(None)).await });
        }
        for done in tasks.join_all().await {
            assert_eq!(done.unwrap().value.status, Status::Cancelled);
        }
        assert_eq!(world.units(product).await, (10, 0));
        world.check_level(world.bogota.id, product).await;
    }
}

async fn cancel_racing_prepare_ends_in_one_of_both(on: Backing) {
    for _ in 0..50 {
        let world = Arc::new(World::new(on).await);
        let product = world.stocked("A", 10).await.id;
        let order = world.buy("k", &[(product, 4)]).await.unwrap().value;
        world
            .step("confirm", &order, OrderStep::Confirm)
            .await
            .unwrap();
        let mut tasks = JoinSet::new();
        for (key, step) in [("c", cancel(None)), ("p", OrderStep::Prepare)] {
            let (world, order) = (Arc::clone(&world), Arc::clone(&order));
            tasks.spawn(async move { world.step(key, &order, step).await });
        }
        let outcomes = tasks.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        let order = world.engine.order(&world.owner, order.id).await.unwrap();
        let expected = if order.status == Status::Cancelled {
            (10, 0)
        } else {
            (6, 4)
        };
        assert_eq!(world.units(product).await, expected);
    }
}

async fn units_of_a_cancelled_order_come_back_or_are_lost(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let lost = world.buy("k1", &[(product, 4)]).await.unwrap().value;
    world.step("c1", &lost, cancel(Some(false))).await.unwrap();
    assert_eq!(world.units(product).await, (6, 0));
    let policy = ChangeBusiness {
        restock_on_cancel: Some(false),
        ..ChangeBusiness::default()
    };
    world
        .engine
        .change_business(&world.owner, None, policy)
        .await
        .unwrap();
    let by_policy = world.buy("k2", &[(product, 1)]).await.unwrap().value;
    world.step("c2", &by_policy, cancel(None)).await.unwrap();
    assert_eq!(world.units(product).await, (5, 0));
    let back = world.buy("k3", &[(product, 1)]).await.unwrap().value;
    world.step("c3", &back, cancel(Some(true))).await.unwrap();
    assert_eq!(world.units(product).await, (5, 0));
    world.check_level(world.bogota.id, product).await;
}

/// What is reserved is on the shelf: no count goes below it, and it comes back when it is free.
async fn a_cancelled_order_gives_back_units_of_a_shelf_that_was_counted_empty(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 4)]).await.unwrap().value;
    let count = async |key: &str, counted: i64| {
        let level = world.level(world.bogota.id, product).await;
        let command = MoveStock::Count {
            branch: world.bogota.id,
            items: vec![Counted {
                product,
                counted,
                expected_version: level.version,
            }],
        };
        let counted = world.engine.move_stock(&world.owner, key, command).await;
        counted.map(drop)
    };
    let below = count("to zero", 0).await;
    assert!(matches!(below, Err(Error::BelowReserved(_))), "{below:?}");
    count("to what is reserved", 4).await.unwrap();
    assert_eq!(world.units(product).await, (0, 4));
    world.step("c", &order, cancel(None)).await.unwrap();
    assert_eq!(world.units(product).await, (4, 0));
    world.check_level(world.bogota.id, product).await;
}

async fn a_stale_if_match_is_told_the_present_version(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 1)]).await.unwrap().value;
    world
        .step("confirm", &order, OrderStep::Confirm)
        .await
        .unwrap();
    let stale = StepOrder {
        order: order.id,
        step: cancel(None),
        expected_version: Some(1),
    };
    let Err(Error::VersionMismatch(current)) =
        world.engine.step_order(&world.owner, "c", stale).await
    else {
        panic!("the step must be refused");
    };
    assert_eq!(current.version(), 2);
}

async fn a_replayed_step_answers_as_it_did_even_when_the_order_went_on(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 1)]).await.unwrap().value;
    let first = world
        .step("confirm", &order, OrderStep::Confirm)
        .await
        .unwrap();
    world
        .step("prepare", &order, OrderStep::Prepare)
        .await
        .unwrap();
    let again = world
        .step("confirm", &order, OrderStep::Confirm)
        .await
        .unwrap();
    assert!(again.replayed);
    assert_eq!(again.value, first.value);
    let reused = world.step("confirm", &order, OrderStep::Dispatch).await;
    assert!(matches!(reused, Err(Error::KeyReused)));
}
