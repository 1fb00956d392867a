//! Broken wires and conflicts before one server: every outcome becomes known, no order is lost or
//! made twice.
#![cfg(test)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use abasto_store::{Store, StoreError};
use abasto_store_mongo::MongoStore;
use abasto_testbed::fail_point::{FailPoint, Mode};
use abasto_testbed::mongo_cluster::MongoCluster;
use abasto_testbed::wire_proxy::{Fault, Rule, WireProxy};
use support::load::{Load, Seen, insist, verify};
use support::{Shop, migrated};

/// A set of one behind a proxy, with a stocked shop.
struct Broken {
    proxy: WireProxy,
    store: Arc<MongoStore>,
    shop: Shop,
    set: MongoCluster,
}

async fn begin() -> Broken {
    let set = MongoCluster::start(1).expect("a set");
    let proxy = WireProxy::start(set.address(0).expect("a node")).expect("a proxy");
    let store = Arc::new(migrated(&proxy.uri()).await);
    let shop = Shop::open(&*store, 3, 100_000).await;
    Broken {
        proxy,
        store,
        shop,
        set,
    }
}

/// Orders under a fault on the commit; the store may answer "unknown", and the same key finds out.
async fn orders_under(rule: Rule, struck: u32) -> Seen {
    let broken = begin().await;
    let fault = broken.proxy.script(rule);
    let mut seen = Seen::default();
    for number in 0..3 {
        insist(
            &*broken.store,
            broken.shop.order(&[0, 1], &format!("k{number}")),
            &mut seen,
        )
        .await;
    }
    fault
        .wait(struck, Duration::from_secs(10))
        .expect("the fault struck");
    assert_eq!(seen.orders.len(), 3);
    verify(&*broken.store, &broken.shop, &seen).await;
    drop(broken.set);
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_reply_is_no_trouble() {
    let seen = orders_under(Rule::reply("commitTransaction", Fault::Drop), 1).await;
    assert_eq!((seen.unknown, seen.unavailable), (0, 0), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_reply_lost_twice_is_asked_for_again() {
    let seen = orders_under(Rule::reply("commitTransaction", Fault::Drop).times(2), 2).await;
    assert_eq!((seen.unknown, seen.unavailable), (0, 0), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_reply_that_never_comes_is_asked_for_again() {
    let seen = orders_under(Rule::reply("commitTransaction", Fault::BlackHole), 1).await;
    assert_eq!((seen.unknown, seen.unavailable), (0, 0), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_commit_request_is_sent_again() {
    let seen = orders_under(Rule::request("commitTransaction", Fault::Drop).times(2), 2).await;
    assert_eq!((seen.unknown, seen.unavailable), (0, 0), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_lost_until_past_the_deadline_end_in_a_known_outcome() {
    let seen = orders_under(
        Rule::reply("commitTransaction", Fault::BlackHole).times(5),
        4,
    )
    .await;
    assert!(seen.slowest <= Duration::from_millis(7_500), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_never_answered_leaves_nothing() {
    let broken = begin().await;
    let fault = broken.proxy.script(Rule::reply("insert", Fault::BlackHole));
    let unit = broken.shop.order(&[0], "hung");
    let answer = broken.store.commit(unit.clone()).await;
    assert!(
        matches!(answer, Err(StoreError::Unavailable(_))),
        "{answer:?}"
    );
    fault
        .wait(1, Duration::from_secs(10))
        .expect("the fault struck");
    let mut seen = Seen::default();
    insist(&*broken.store, unit, &mut seen).await;
    verify(&*broken.store, &broken.shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_in_ten_writes_conflicts_and_all_orders_come_through() {
    let broken = begin().await;
    let load = Load::start(&[Arc::clone(&broken.store)], &broken.shop, 16, &[0, 1]);
    let point = FailPoint::new("WTWriteConflictException").mode(Mode::Probability(0.1));
    let on = point
        .switch_on(broken.set.address(0).expect("a node"))
        .expect("on");
    load.more(20).await;
    on.switch_off().expect("off");
    let seen = load.finish().await;
    verify(&*broken.store, &broken.shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_hot_branch_agree() {
    let broken = begin().await;
    let second = Arc::new(migrated(&broken.set.uri()).await);
    let stores = [Arc::clone(&broken.store), second];
    let load = Load::start(&stores, &broken.shop, 32, &[0]);
    load.more(2_000).await;
    let seen = load.finish().await;
    assert_eq!(seen.unknown, 0, "{seen:?}");
    verify(&*broken.store, &broken.shop, &seen).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_behind_its_orders_is_healed_once() {
    let broken = begin().await;
    let mut seen = Seen::default();
    for number in 0..5 {
        insist(
            &*broken.store,
            broken.shop.order(&[0], &format!("a{number}")),
            &mut seen,
        )
        .await;
    }
    let client = mongodb::Client::with_uri_str(broken.proxy.uri())
        .await
        .expect("connects");
    let counters = client
        .database("abasto")
        .collection::<mongodb::bson::Document>("counters");
    let back = mongodb::bson::doc! { "$set": { "lastNumber": 1i64 } };
    counters
        .update_one(mongodb::bson::doc! {}, back)
        .await
        .expect("set back");
    for number in 0..5 {
        insist(
            &*broken.store,
            broken.shop.order(&[0], &format!("b{number}")),
            &mut seen,
        )
        .await;
    }
    assert!(
        seen.orders
            .values()
            .any(|number| number == "BOG-2026-000010"),
        "{seen:?}"
    );
    verify(&*broken.store, &broken.shop, &seen).await;
}
