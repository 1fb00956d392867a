//! The store on a real replica set: what is particular to this adapter beside the suite that every
//! store passes.
#![cfg(test)]

mod support;

use abasto_domain::stock::Shortage;
use abasto_store::Store;
use abasto_store::record::{Document, Record};
use abasto_store::verdict::{Rejection, Reply, Verdict};
use metrics_exporter_prometheus::PrometheusBuilder;
use support::{NOW, Shop, assert_committed, store};

fn order_number(reply: &Reply) -> String {
    match reply {
        Reply::Document(Document::Order(order)) => order.number.to_string(),
        other => panic!("no order: {other:?}"),
    }
}

#[tokio::test]
async fn an_order_is_placed_replayed_and_found() {
    let store = store("orders").await;
    let shop = Shop::open(&store, 2, 2).await;
    let unit = shop.order(&[0, 1], "first");
    let reply = assert_committed(store.commit(unit.clone()).await);
    assert_eq!(order_number(&reply), "BOG-2026-000001");
    let again = store.commit(unit).await.expect("an answer");
    assert_eq!(again, Verdict::Replayed(reply.clone()));
    let Reply::Document(Document::Order(order)) = &reply else {
        panic!("no order");
    };
    let found = store
        .order_by_number(shop.business, &order.number)
        .await
        .expect("read");
    assert_eq!(found.as_ref(), Some(&**order));
    let places = [shop.place(shop.products[0].id)];
    let levels = store.levels(shop.business, &places).await.expect("read");
    let level = levels[0].expect("a level");
    assert_eq!((level.available, level.reserved, level.version), (1, 1, 2));
    assert_eq!(level.updated_at, NOW);
}

#[tokio::test]
async fn many_at_once_sell_exactly_the_stock() {
    let store = std::sync::Arc::new(store("hot").await);
    let shop = Shop::open(&*store, 1, 100).await;
    let buyers = (0..300).map(|buyer| {
        let (store, unit) = (store.clone(), shop.order(&[0], &format!("buyer-{buyer}")));
        tokio::spawn(async move { store.commit(unit).await })
    });
    let (mut sold, mut short) = (0, 0);
    for buyer in buyers.collect::<Vec<_>>() {
        match buyer.await.expect("ran").expect("an answer") {
            Verdict::Committed(_) => sold += 1,
            Verdict::Rejected(Rejection::Short(levels)) => {
                assert_eq!(levels[0].why, Shortage::Available);
                short += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((sold, short), (100, 200));
    let mut kinds = std::collections::BTreeMap::new();
    store
        .walk(shop.business, &mut |record| {
            let kind = match record {
                Record::Document(document) => document.key().kind.name(),
                Record::Level(_) => "level",
                Record::Movement(_) => "movement",
                Record::Event(_) => "event",
                Record::Operation(_) => "operation",
                Record::Tally(_) => "tally",
                Record::CartState(_) => "cart state",
                Record::CartAppend(_) => "cart append",
                Record::CartLog(_) => "cart log",
                Record::Counter(counter) => {
                    assert_eq!(counter.last, 100);
                    "counter"
                }
            };
            *kinds.entry(kind).or_insert(0) += 1;
            Ok(())
        })
        .await
        .expect("walked");
    let expected = [
        ("branch", 1),
        ("business", 1),
        ("counter", 1),
        ("event", 103),
        ("level", 1),
        ("movement", 101),
        ("operation", 100),
        ("order", 100),
        ("product", 1),
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_store_that_was_not_migrated_refuses_units_and_says_why() {
    let set = abasto_testbed::mongo_cluster::shared_uri().expect("a replica set");
    let name = format!("bare_{}", std::process::id());
    let store = abasto_store_mongo::MongoStore::connect(&support::address(set, &name))
        .await
        .expect("connects");
    let shop = Shop::new(1);
    let refused = store
        .commit(shop.order(&[0], "k"))
        .await
        .expect_err("refused");
    assert!(refused.to_string().contains("abasto migrate"), "{refused}");
    let reasons = store.health().await.expect("read");
    assert!(
        reasons
            .iter()
            .any(|reason| reason.contains("uq_orders_number")),
        "{reasons:?}"
    );
    let done = store.migrate().await.expect("migrates");
    assert!(!done.is_empty());
    assert_eq!(
        store.migrate().await.expect("migrates"),
        Vec::<String>::new()
    );
    assert_eq!(store.health().await.expect("read"), Vec::<String>::new());
}

#[test]
fn commits_are_measured_under_the_names_that_every_store_has() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    // The meters are made on this thread, with the store; what they are used on later is the same.
    let store = metrics::with_local_recorder(&recorder, || runtime.block_on(store("metered")));
    let says = |line: &str| {
        let text = metrics.render();
        assert!(
            text.lines().any(|it| it == line),
            "{line} is not in:\n{text}"
        );
    };
    says("abasto_commit_retries_total{store=\"mongodb\"} 0");
    says("abasto_commit_overloaded_total{store=\"mongodb\"} 0");
    runtime.block_on(async {
        let shop = Shop::open(&store, 1, 1).await;
        assert_committed(store.commit(shop.order(&[0], "sold")).await);
        let refused = store.commit(shop.order(&[0], "refused")).await;
        let refused = refused.expect("an answer");
        assert!(matches!(refused, Verdict::Rejected(Rejection::Short(_))));
    });
    says("abasto_commit_queue_depth{store=\"mongodb\"} 0");
    let text = metrics.render();
    for name in [
        "abasto_commit_duration_seconds_count{store=\"mongodb\"}",
        "abasto_commit_group_size_count{store=\"mongodb\"}",
        "abasto_commit_group_size_sum{store=\"mongodb\"}",
    ] {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let value: f64 = line.expect(name).trim().parse().expect("a number");
        assert!(value >= 1.0, "{name} {value}");
    }
}
