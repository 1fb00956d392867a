//! Checkouts: holds that never leak, never come back to life and become one order.

use std::sync::Arc;

use abasto_domain::checkout::CheckoutStatus;
use abasto_domain::money::Amount;
use abasto_domain::order_state::Status;
use abasto_domain::stock::MovementKind;
use abasto_engine::Error;
use abasto_engine::order_action::OrderStep;
use abasto_engine::product::ChangeProduct;
use abasto_sim::backing::Backing;
use abasto_store::tally::TallyKind;
use tokio::task::JoinSet;

use crate::selling::{HOLD_MS, UNPAID_MS};
use crate::world::World;

on_every_store! {
    a_hold_passes_to_its_order_without_touching_available,
    all_lines_are_held_or_none,
    one_checkout_is_one_order_whatever_the_keys,
    a_hold_ends_at_the_moment_it_names_even_without_a_worker,
    a_hold_whose_time_is_over_makes_no_order_although_nobody_took_it,
    a_thousand_abandoned_holds_end_once_by_two_workers_at_once,
    expiry_and_order_compete_for_one_change,
    giving_up_releases_once,
    a_raised_price_is_not_charged_silently,
    nobody_empties_the_shelf_by_holding_it,
    a_checkout_is_seen_by_its_customer_only,
    an_unpaid_order_gives_its_units_back_in_time,
}

async fn a_hold_passes_to_its_order_without_touching_available(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let checkout = world.hold("hold", &[(product, 2)]).await.unwrap();
    assert_eq!(world.units(product).await, (3, 2));
    let order = world.complete("order", &checkout).await.unwrap().value;
    assert_eq!(world.units(product).await, (3, 2));
    assert_eq!(order.status, Status::PendingPayment);
    assert_eq!(order.checkout, Some(checkout.id));
    let ended = world
        .engine
        .checkout(&world.owner, checkout.id)
        .await
        .unwrap();
    assert_eq!(ended.status, CheckoutStatus::Completed);
    assert_eq!(ended.order, Some(order.id));
    world.later(HOLD_MS);
    assert_eq!(
        world.engine.expire_due().await.unwrap(),
        0,
        "the hold is the order's now"
    );
    assert_eq!(world.units(product).await, (3, 2));
    let place = abasto_domain::stock::Place {
        branch: world.bogota.id,
        product,
    };
    let page = abasto_store::query::Page {
        after: None,
        limit: 1,
    };
    let last = world
        .engine
        .movements(&world.owner, place, page)
        .await
        .unwrap();
    assert_eq!(last[0].kind, MovementKind::Reservation);
    assert_eq!((last[0].available, last[0].reserved), (0, 0));
    world.audit().await;
}

async fn all_lines_are_held_or_none(on: Backing) {
    let world = World::new(on).await;
    let much = world.stocked("MUCH", 5).await.id;
    let few = world.stocked("FEW", 1).await.id;
    let refused = world.hold("k", &[(much, 2), (few, 2)]).await;
    assert!(matches!(refused, Err(Error::InsufficientStock(short)) if short.len() == 1));
    assert_eq!(world.units(much).await, (5, 0));
    world.hold("k", &[(much, 2), (few, 1)]).await.unwrap();
    world.audit().await;
}

async fn one_checkout_is_one_order_whatever_the_keys(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 5).await.id;
    let checkout = world.hold("hold", &[(product, 1)]).await.unwrap();
    let mut tabs = JoinSet::new();
    for tab in 0..20 {
        let (world, checkout) = (Arc::clone(&world), Arc::clone(&checkout));
        // Two share each key.
        let key = format!("tab-{}", tab / 2);
        tabs.spawn(async move { world.complete(&key, &checkout).await });
    }
    let outcomes = tabs.join_all().await;
    let mut made: Vec<_> = outcomes
        .iter()
        .flatten()
        .map(|done| done.value.id)
        .collect();
    made.dedup();
    assert_eq!(made.len(), 1, "one order, at most told twice");
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    for error in refused {
        let completed = CheckoutStatus::Completed;
        assert!(
            matches!(error, Error::CheckoutEnded { status, order } if *status == completed
                && *order == Some(made[0])),
            "{error:?}"
        );
    }
    assert_eq!(world.units(product).await, (4, 1));
    world.audit().await;
}

async fn a_hold_ends_at_the_moment_it_names_even_without_a_worker(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("ONE", 1).await.id;
    let a = world.hold("a", &[(product, 1)]).await.unwrap();
    let early = world.hold("b", &[(product, 1)]).await;
    assert!(matches!(early, Err(Error::InsufficientStock(_))));
    world.later(HOLD_MS);
    // Nobody swept: B's insufficient check ends A's hold first.
    let b = world.hold("b", &[(product, 1)]).await.unwrap();
    let of_a = world.complete("a-order", &a).await;
    let expired = CheckoutStatus::Expired;
    assert!(matches!(of_a, Err(Error::CheckoutEnded { status, order: None }) if status == expired));
    world.complete("b-order", &b).await.unwrap();
    assert_eq!(world.units(product).await, (0, 1));
    world.audit().await;
}

async fn a_hold_whose_time_is_over_makes_no_order_although_nobody_took_it(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("ONE", 1).await.id;
    let a = world.hold("a", &[(product, 1)]).await.unwrap();
    world.later(HOLD_MS);
    let late = world.complete("late", &a).await;
    assert!(matches!(late, Err(Error::CheckoutEnded { .. })));
    let read = world.engine.checkout(&world.owner, a.id).await.unwrap();
    assert_eq!(world.engine.checkout_status(&read), CheckoutStatus::Expired);
    let again = world.hold("again", &[(product, 1)]).await.unwrap();
    assert_ne!(again.id, a.id, "a new check makes a new hold");
    world.audit().await;
}

async fn a_thousand_abandoned_holds_end_once_by_two_workers_at_once(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("MANY", 1_000).await.id;
    let mut holds = JoinSet::new();
    for shopper in 0..1_000 {
        let world = Arc::clone(&world);
        holds.spawn(async move {
            let key = format!("s{shopper}");
            world.hold(&key, &[(product, 1)]).await.map(drop)
        });
    }
    for held in holds.join_all().await {
        held.unwrap();
    }
    assert_eq!(world.units(product).await, (0, 1_000));
    world.later(3_600_000);
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let engine = world.engine.clone();
        workers.spawn(async move { while engine.expire_due().await.unwrap() > 0 {} });
    }
    workers.join_all().await;
    assert_eq!(world.units(product).await, (1_000, 0));
    world.audit().await;
}

async fn expiry_and_order_compete_for_one_change(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 100).await.id;
    for round in 0..40 {
        let key = format!("round-{round}");
        let checkout = world.hold(&key, &[(product, 1)]).await.unwrap();
        let second = world.second_instance();
        // The other instance's clock is past the end, this one's is not.
        second.clock().advance(HOLD_MS + 3_600_000);
        let sweeping = tokio::spawn(async move { second.expire_due().await });
        let ordering = {
            let (world, checkout) = (Arc::clone(&world), Arc::clone(&checkout));
            tokio::spawn(async move { world.complete(&format!("{key}-order"), &checkout).await })
        };
        sweeping.await.unwrap().unwrap();
        let ordered = ordering.await.unwrap();
        let now = world
            .engine
            .checkout(&world.owner, checkout.id)
            .await
            .unwrap();
        match ordered {
            Ok(_) => assert_eq!(now.status, CheckoutStatus::Completed),
            Err(Error::CheckoutEnded { .. }) => assert_eq!(now.status, CheckoutStatus::Expired),
            Err(other) => panic!("{other:?}"),
        }
    }
    world.audit().await;
}

async fn giving_up_releases_once(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let checkout = world.hold("hold", &[(product, 2)]).await.unwrap();
    for key in ["first", "first", "second"] {
        let done = world
            .engine
            .abandon_checkout(&world.owner, key, checkout.id)
            .await
            .unwrap();
        assert_eq!(done.value.status, CheckoutStatus::Abandoned);
        assert_eq!(done.value.stamp.version, 2);
    }
    assert_eq!(world.units(product).await, (5, 0));
    world.audit().await;
}

async fn a_raised_price_is_not_charged_silently(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await;
    let checkout = world.hold("hold", &[(product.id, 2)]).await.unwrap();
    let change = ChangeProduct {
        sale_price: Some(Amount::from_minor(400_000).unwrap()),
        ..ChangeProduct::default()
    };
    let seen = product.stamp.version;
    let changed = world
        .engine
        .change_product(&world.owner, product.id, seen, change);
    changed.await.unwrap();
    let (old, new) = (700_000, 800_000);
    let refused = world.complete("order", &checkout).await;
    assert!(matches!(
        refused,
        Err(Error::PriceChanged { expected, actual })
            if expected.minor() == old && actual.minor() == new
    ));
    let mut agreed = world.completion(&checkout);
    agreed.expected_total = Some(Amount::from_minor(new).unwrap());
    let order = world
        .engine
        .order_checkout(&world.owner, "order", agreed)
        .await;
    assert_eq!(order.unwrap().value.totals.total.minor(), new);
    world.audit().await;
}

async fn nobody_empties_the_shelf_by_holding_it(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 50).await.id;
    let (_, ana) = world.customer("Ana").await;
    let open = async |key: String| {
        let command = world.checkout_of(&[(product, 1)]);
        world.engine.open_checkout(&ana, &key, command).await
    };
    for number in 0..5 {
        open(format!("k{number}")).await.unwrap();
    }
    let refused = open("one-more".into()).await;
    assert!(matches!(refused, Err(Error::Exhausted(key)) if key.kind == TallyKind::OpenCheckouts));
    world.later(HOLD_MS);
    open("after".into()).await.unwrap();
    world.audit().await;
}

async fn a_checkout_is_seen_by_its_customer_only(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 50).await.id;
    let (_, ana) = world.customer("Ana").await;
    let (_, eva) = world.customer("Eva").await;
    let command = world.checkout_of(&[(product, 1)]);
    let of_ana = world
        .engine
        .open_checkout(&ana, "k", command)
        .await
        .unwrap()
        .value;
    let read = world.engine.checkout(&eva, of_ana.id).await;
    assert!(matches!(read, Err(Error::NotFound)));
    let order = world
        .engine
        .order_checkout(&eva, "k", world.completion(&of_ana))
        .await;
    assert!(matches!(order, Err(Error::NotFound)));
    let given_up = world.engine.abandon_checkout(&eva, "k2", of_ana.id).await;
    assert!(matches!(given_up, Err(Error::NotFound)));
    let order = world
        .engine
        .order_checkout(&ana, "k3", world.completion(&of_ana))
        .await;
    assert_eq!(order.unwrap().value.customer.id, of_ana.customer);
}

async fn an_unpaid_order_gives_its_units_back_in_time(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("ONE", 1).await.id;
    let order = world.unpaid("a", product, 1).await;
    world.later(UNPAID_MS - 60_000);
    assert_eq!(world.engine.expire_due().await.unwrap(), 0);
    world.later(60_000);
    // Without a worker: the next buyer's check ends it.
    world.hold("b", &[(product, 1)]).await.unwrap();
    let ended = world.order_now(order.id).await;
    assert_eq!(ended.status, Status::Cancelled);
    assert_eq!(ended.cancel_reason.as_deref(), Some("reservation-expired"));
    let confirm = world.step("confirm", &ended, OrderStep::Confirm).await;
    assert!(matches!(confirm, Err(Error::InvalidTransition(_))));
    world.audit().await;
}
