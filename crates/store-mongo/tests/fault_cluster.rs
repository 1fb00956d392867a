//! Members of a set of three die, freeze and come back under load.
#![cfg(test)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use abasto_store::{Store, StoreError};
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster::MongoCluster;
use support::load::{Load, Seen, insist, verify};
use support::{Shop, migrated};

async fn begin() -> (MongoCluster, Arc<MongoStore>, Shop) {
    let set = MongoCluster::start(3).expect("a set");
    let store = Arc::new(migrated(&set.uri()).await);
    let shop = Shop::open(&*store, 3, 1_000_000).await;
    (set, store, shop)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_dies_three_times_under_load() {
    let (mut set, store, shop) = begin().await;
    let load = Load::start(&[Arc::clone(&store)], &shop, 16, &[0, 1]);
    for _ in 0..3 {
        load.more(200).await;
        let primary = set.wait_primary().expect("a primary");
        set.kill(primary).expect("killed");
        load.more(200).await;
        set.restart(primary).expect("restarted");
        set.settle().expect("settled");
    }
    let seen = load.finish().await;
    verify(&*store, &shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_freezes_under_load() {
    let (set, store, shop) = begin().await;
    let load = Load::start(&[Arc::clone(&store)], &shop, 16, &[0, 1]);
    load.more(200).await;
    let primary = set.wait_primary().expect("a primary");
    set.freeze(primary).expect("frozen");
    load.more(200).await;
    set.thaw(primary).expect("thawed");
    load.more(200).await;
    let seen = load.finish().await;
    set.settle().expect("settled");
    verify(&*store, &shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_majority_is_lost_and_comes_back() {
    let (mut set, store, shop) = begin().await;
    let load = Load::start(&[Arc::clone(&store)], &shop, 8, &[0]);
    load.more(100).await;
    let primary = set.wait_primary().expect("a primary");
    let secondaries: Vec<usize> = (0..3).filter(|node| *node != primary).collect();
    for node in &secondaries {
        set.kill(*node).expect("killed");
    }
    tokio::time::sleep(Duration::from_secs(8)).await;
    for node in &secondaries {
        set.restart(*node).expect("restarted");
    }
    load.more(100).await;
    let seen = load.finish().await;
    assert!(seen.unknown + seen.unavailable > 0, "{seen:?}");
    set.settle().expect("settled");
    verify(&*store, &shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_both_secondaries_dead_no_order_is_acknowledged() {
    let (mut set, store, shop) = begin().await;
    let primary = set.wait_primary().expect("a primary");
    for node in (0..3).filter(|node| *node != primary) {
        set.kill(node).expect("killed");
    }
    let unit = shop.order(&[0], "alone");
    let answer = store.commit(unit.clone()).await;
    let refused = matches!(
        answer,
        Err(StoreError::OutcomeUnknown | StoreError::Unavailable(_))
    );
    assert!(refused, "acknowledged without a majority: {answer:?}");
    for node in (0..3).filter(|node| *node != primary) {
        set.restart(node).expect("restarted");
    }
    let mut seen = Seen::default();
    insist(&*store, unit, &mut seen).await;
    set.settle().expect("settled");
    verify(&*store, &shop, &seen).await;
}
