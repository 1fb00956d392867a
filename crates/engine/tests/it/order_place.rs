//! Placing orders: who wins a race, what a retry answers, what is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::money::Amount;
use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_engine::branch::ChangeBranch;
use abasto_engine::product::ChangeProduct;
use abasto_engine::{Error, order::BuyerChoice};
use abasto_sim::backing::Backing;
use tokio::task::JoinSet;

use crate::world::World;

on_embedded_stores! {
    the_last_unit_goes_to_one_of_fifty_buyers,
    one_short_line_among_ten_keeps_nothing_and_uses_no_number,
    every_short_line_is_named,
    lines_of_one_product_are_summed_before_the_check,
    orders_that_share_products_in_opposite_order_all_come_through,
    twenty_requests_under_one_key_make_one_order,
    a_key_with_other_content_does_nothing,
    a_key_belongs_to_its_business,
    the_first_answer_comes_again_whatever_changed_since,
    five_hundred_orders_in_two_branches_get_numbers_without_gaps,
    new_year_comes_to_each_branch_in_its_own_zone,
    a_product_that_changes_between_read_and_commit_is_decided_anew,
    limits_per_order_and_branch_lists_hold,
    ids_of_another_business_are_not_there,
    a_sum_beyond_a_quantity_is_refused_at_its_item,
}

async fn the_last_unit_goes_to_one_of_fifty_buyers(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("LAST", 1).await.id;
    let mut buyers = JoinSet::new();
    for buyer in 0..50 {
        let world = Arc::clone(&world);
        buyers.spawn(async move { world.buy(&format!("buyer-{buyer}"), &[(product, 1)]).await });
    }
    let outcomes = buyers.join_all().await;
    let sold = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    let short = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, Err(Error::InsufficientStock(_))));
    assert_eq!((sold, short.count()), (1, 49));
    assert_eq!(world.units(product).await, (0, 1));
    world.check_level(world.bogota.id, product).await;
}

async fn one_short_line_among_ten_keeps_nothing_and_uses_no_number(on: Backing) {
    let world = World::new(on).await;
    let mut items = Vec::new();
    for line in 0..10 {
        let product = world
            .stocked(&format!("P{line}"), if line == 7 { 1 } else { 5 })
            .await;
        items.push((product.id, 2));
    }
    let Err(Error::InsufficientStock(short)) = world.buy("first", &items).await else {
        panic!("the order must be refused");
    };
    assert_eq!(short.len(), 1);
    assert_eq!(
        (short[0].place.product, short[0].available),
        (items[7].0, -2)
    );
    for (product, _) in &items {
        assert_eq!(world.units(*product).await.1, 0);
    }
    items[7].1 = 1;
    let order = world.buy("first", &items).await.unwrap();
    assert!(!order.replayed, "a refused request leaves its key free");
    assert_eq!(order.value.number.sequence, 1);
}

async fn every_short_line_is_named(on: Backing) {
    let world = World::new(on).await;
    let none = world.product("NEVER", 100).await.id;
    let few = world.stocked("FEW", 1).await.id;
    let Err(Error::InsufficientStock(short)) = world.buy("k", &[(none, 1), (few, 2)]).await else {
        panic!("the order must be refused");
    };
    let named: BTreeSet<_> = short.iter().map(|level| level.place.product).collect();
    assert_eq!(named, BTreeSet::from([none, few]));
}

async fn lines_of_one_product_are_summed_before_the_check(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("SUM", 3).await.id;
    let refused = world.buy("two-lines", &[(product, 2), (product, 2)]).await;
    assert!(matches!(refused, Err(Error::InsufficientStock(short)) if short[0].available == -4));
    let order = world
        .buy("fits", &[(product, 2), (product, 1)])
        .await
        .unwrap()
        .value;
    assert_eq!(order.lines.len(), 1);
    assert_eq!(order.lines[0].quantity.units(), 3);
    assert_eq!(order.totals.total.minor(), 3 * 350_000);
}

async fn orders_that_share_products_in_opposite_order_all_come_through(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let (a, b) = (
        world.stocked("A", 100).await.id,
        world.stocked("B", 100).await.id,
    );
    let mut tasks = JoinSet::new();
    for index in 0..100 {
        let world = Arc::clone(&world);
        let items = if index % 2 == 0 {
            [(a, 1), (b, 1)]
        } else {
            [(b, 1), (a, 1)]
        };
        tasks.spawn(async move { world.buy(&format!("k{index}"), &items).await });
    }
    assert!(tasks.join_all().await.iter().all(Result::is_ok));
    assert_eq!(world.units(a).await, (0, 100));
    assert_eq!(world.units(b).await, (0, 100));
}

async fn twenty_requests_under_one_key_make_one_order(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let (a, b) = (
        world.stocked("A", 100).await.id,
        world.stocked("B", 100).await.id,
    );
    let mut tasks = JoinSet::new();
    for index in 0..20 {
        let world = Arc::clone(&world);
        // The order of lines, and one line in two halves, do not make the request new.
        let items: &[(_, i64)] = match index % 3 {
            0 => &[(a, 2), (b, 1)],
            1 => &[(b, 1), (a, 2)],
            _ => &[(a, 1), (b, 1), (a, 1)],
        };
        let items = items.to_vec();
        tasks.spawn(async move { world.buy("same", &items).await.unwrap() });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(
        outcomes.iter().filter(|outcome| !outcome.replayed).count(),
        1
    );
    let orders: BTreeSet<_> = outcomes.iter().map(|outcome| outcome.value.id).collect();
    assert_eq!(orders.len(), 1);
    assert!(
        outcomes
            .iter()
            .all(|outcome| outcome.value == outcomes[0].value)
    );
    assert_eq!(
        (world.units(a).await, world.units(b).await),
        ((98, 2), (99, 1))
    );
}

async fn a_key_with_other_content_does_nothing(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 100).await.id;
    world.buy("key", &[(product, 1)]).await.unwrap();
    let mut other = vec![world.order(&[(product, 2)])];
    let mut changed = world.order(&[(product, 1)]);
    changed.note = Some("ring twice".into());
    other.push(changed);
    let mut changed = world.order(&[(product, 1)]);
    changed.branch = world.medellin.id;
    other.push(changed);
    let mut changed = world.order(&[(product, 1)]);
    changed.customer = BuyerChoice::Unnamed;
    other.push(changed);
    for command in other {
        let outcome = world.engine.place_order(&world.owner, "key", command).await;
        assert!(matches!(outcome, Err(Error::KeyReused)));
    }
    assert_eq!(world.units(product).await, (99, 1));
}

async fn a_key_belongs_to_its_business(on: Backing) {
    let world = World::new(on).await;
    let other = World::on(Arc::clone(&world.store)).await;
    let (here, there) = (
        world.stocked("A", 5).await.id,
        other.stocked("A", 5).await.id,
    );
    let first = world.buy("key", &[(here, 1)]).await.unwrap();
    let second = other.buy("key", &[(there, 1)]).await.unwrap();
    assert!(!first.replayed && !second.replayed);
    assert_ne!(first.value.id, second.value.id);
}

async fn the_first_answer_comes_again_whatever_changed_since(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 5).await;
    let first = world.buy("key", &[(product.id, 1)]).await.unwrap();
    world
        .step(
            "confirm",
            &first.value,
            abasto_engine::order_action::OrderStep::Confirm,
        )
        .await
        .unwrap();
    let off = ChangeProduct {
        active: Some(false),
        ..ChangeProduct::default()
    };
    world
        .engine
        .change_product(&world.owner, product.id, 1, off)
        .await
        .unwrap();
    let again = world.buy("key", &[(product.id, 1)]).await.unwrap();
    assert!(again.replayed);
    assert_eq!(again.value, first.value);
}

async fn five_hundred_orders_in_two_branches_get_numbers_without_gaps(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("A", 1000).await.id;
    world.receive(world.medellin.id, product, 1000).await;
    let mut tasks = JoinSet::new();
    for index in 0..500 {
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            let mut command = world.order(&[(product, 1)]);
            command.branch = if index % 2 == 0 {
                world.bogota.id
            } else {
                world.medellin.id
            };
            let placed = world
                .engine
                .place_order(&world.owner, &format!("k{index}"), command)
                .await;
            placed.unwrap().value.number.clone()
        });
    }
    let numbers = tasks.join_all().await;
    for code in ["BOG", "MED"] {
        let series: BTreeSet<i64> = numbers
            .iter()
            .filter(|number| number.series.code.as_str() == code)
            .map(|number| number.sequence)
            .collect();
        assert_eq!(series, (1..=250).collect());
    }
}

async fn new_year_comes_to_each_branch_in_its_own_zone(on: Backing) {
    let world = World::new(on).await;
    let kiritimati = ChangeBranch {
        time_zone: Some("Pacific/Kiritimati".into()),
        ..ChangeBranch::default()
    };
    world
        .engine
        .change_branch(&world.owner, world.medellin.id, 1, kiritimati)
        .await
        .unwrap();
    let product = world.stocked("A", 100).await.id;
    world.receive(world.medellin.id, product, 100).await;
    // Noon of 31 December UTC: already the new year at UTC+14, still the old one at UTC-5.
    let now = jiff::Timestamp::from_millisecond(world.engine.clock().now().as_millis()).unwrap();
    let year = jiff::tz::TimeZone::UTC.to_datetime(now).year();
    let noon = jiff::civil::date(year, 12, 31).at(12, 0, 0, 0);
    let noon = jiff::tz::TimeZone::UTC.to_timestamp(noon).unwrap();
    world
        .engine
        .clock()
        .advance(noon.as_millisecond() - now.as_millisecond());
    let place = async |branch, key: &str| {
        let mut command = world.order(&[(product, 1)]);
        command.branch = branch;
        let order = world
            .engine
            .place_order(&world.owner, key, command)
            .await
            .unwrap()
            .value;
        order.number.to_string()
    };
    assert_eq!(
        place(world.bogota.id, "old").await,
        format!("BOG-{year}-000001")
    );
    assert_eq!(
        place(world.medellin.id, "new").await,
        format!("MED-{}-000001", year + 1)
    );
    world.engine.clock().advance(24 * 3600 * 1000);
    assert_eq!(
        place(world.bogota.id, "next").await,
        format!("BOG-{}-000001", year + 1)
    );
    assert_eq!(
        place(world.medellin.id, "same").await,
        format!("MED-{}-000002", year + 1)
    );
}

async fn a_product_that_changes_between_read_and_commit_is_decided_anew(on: Backing) {
    let world = World::new(on).await;
    let (seller, office) = (&world.engine, world.second_instance());
    let product = world.stocked("A", 100).await;
    world.buy("warm", &[(product.id, 1)]).await.unwrap();
    let change = |price, active| ChangeProduct {
        sale_price: Some(Amount::from_minor(price).unwrap()),
        active: Some(active),
        ..ChangeProduct::default()
    };
    // The seller's cache still has the old price; the order must carry the new one.
    office
        .change_product(&world.owner, product.id, 1, change(999, true))
        .await
        .unwrap();
    let order = seller
        .place_order(&world.owner, "priced", world.order(&[(product.id, 1)]))
        .await;
    assert_eq!(order.unwrap().value.lines[0].unit_price.minor(), 999);

    let mut expecting = world.order(&[(product.id, 1)]);
    expecting.expected_total = Some(Amount::from_minor(999).unwrap());
    office
        .change_product(&world.owner, product.id, 2, change(1000, true))
        .await
        .unwrap();
    let refused = seller
        .place_order(&world.owner, "expecting", expecting)
        .await;
    assert!(matches!(refused, Err(Error::PriceChanged { actual, .. }) if actual.minor() == 1000));

    office
        .change_product(&world.owner, product.id, 3, change(1000, false))
        .await
        .unwrap();
    let refused = world.buy("off", &[(product.id, 1)]).await;
    assert!(matches!(refused, Err(Error::ProductUnavailable(_))));
    office
        .change_product(&world.owner, product.id, 4, change(1000, true))
        .await
        .unwrap();
    world.buy("on", &[(product.id, 1)]).await.unwrap();
    office
        .delete_product(&world.owner, product.id, 5)
        .await
        .unwrap();
    let refused = world.buy("deleted", &[(product.id, 1)]).await;
    assert!(matches!(refused, Err(Error::ProductUnavailable(_))));

    let closed = ChangeBranch {
        active: Some(false),
        ..ChangeBranch::default()
    };
    office
        .change_branch(&world.owner, world.bogota.id, 1, closed)
        .await
        .unwrap();
    let refused = world.buy("closed", &[(product.id, 1)]).await;
    assert!(matches!(refused, Err(Error::BranchInactive)));
    assert_eq!(world.units(product.id).await, (97, 3));
}

async fn limits_per_order_and_branch_lists_hold(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 100).await;
    let limit = ChangeProduct {
        max_per_order: Some(Some(Quantity::new(3).unwrap())),
        branches: Some(Some(vec![world.medellin.id])),
        ..ChangeProduct::default()
    };
    world
        .engine
        .change_product(&world.owner, product.id, 1, limit)
        .await
        .unwrap();
    let refused = world.buy("elsewhere", &[(product.id, 1)]).await;
    assert!(matches!(refused, Err(Error::ProductUnavailable(_))));
    let everywhere = ChangeProduct {
        branches: Some(None),
        ..ChangeProduct::default()
    };
    world
        .engine
        .change_product(&world.owner, product.id, 2, everywhere)
        .await
        .unwrap();
    let refused = world.buy("four", &[(product.id, 2), (product.id, 2)]).await;
    assert!(matches!(refused, Err(Error::OverLimit(over)) if over[0].requested.units() == 4));
    world.buy("three", &[(product.id, 3)]).await.unwrap();
}

async fn ids_of_another_business_are_not_there(on: Backing) {
    let world = World::new(on).await;
    let other = World::on(Arc::clone(&world.store)).await;
    let (mine, theirs) = (
        world.stocked("A", 5).await.id,
        other.stocked("A", 5).await.id,
    );
    assert!(matches!(
        world.buy("k1", &[(theirs, 1)]).await,
        Err(Error::NotFound)
    ));
    let mut command = world.order(&[(mine, 1)]);
    command.branch = other.bogota.id;
    let refused = world.engine.place_order(&world.owner, "k2", command).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    let order = other.buy("k3", &[(theirs, 1)]).await.unwrap().value;
    assert!(matches!(
        world.engine.order(&world.owner, order.id).await,
        Err(Error::NotFound)
    ));
    let by_number = world
        .engine
        .order_by_number(&world.owner, &order.number)
        .await;
    assert!(matches!(by_number, Err(Error::NotFound)));
}

async fn a_sum_beyond_a_quantity_is_refused_at_its_item(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("A", 5).await.id;
    let mut command = world.order(&[(product, 1_000_000)]);
    command.items.push(Item {
        product,
        quantity: Quantity::new(1).unwrap(),
    });
    let Err(Error::Invalid(faults)) = world.engine.place_order(&world.owner, "k", command).await
    else {
        panic!("the order must be refused");
    };
    assert_eq!(faults[0].pointer, "/items/1/quantity");
}
