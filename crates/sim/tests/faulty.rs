//! The faulty store: each fault is what it says, and what clients do about faults keeps every
//! promise.

use std::sync::Arc;

use abasto_sim::faulty::{CommitFault, FaultyStore, Plan, Rates, ReadFault};
use abasto_sim::model::ModelStore;
use abasto_store::conformance::tenant::{Tenant, place};
use abasto_store::conformance::world::{World, committed};
use abasto_store::record::{DocumentKey, Kind, Record};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Reply, Verdict};
use abasto_store::{Store, StoreError};

/// A business with a branch, a product and stock, and the store it is in.
async fn shop() -> (Arc<ModelStore>, Tenant, impl Fn(&str) -> UnitOfWork) {
    let store = Arc::new(ModelStore::new());
    let tenant = World::new(Arc::clone(&store) as Arc<dyn Store>)
        .tenant()
        .await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN").await;
    tenant.receive(place(&branch, &product), 1_000).await;
    let seller = tenant.clone();
    let sale = move |key: &str| UnitOfWork {
        operation: Some(Tenant::operation(key, 1)),
        ..seller.sale(&branch, &product, 1)
    };
    (store, tenant, sale)
}

async fn orders(tenant: &Tenant) -> usize {
    let records = tenant.world.walk(tenant.business()).await;
    let keys = records.iter().map(Record::key);
    let orders = keys.filter(|key| {
        matches!(key, abasto_store::record::RecordKey::Document(key) if key.kind == Kind::Order)
    });
    orders.count()
}

#[tokio::test]
async fn each_fault_is_what_it_says() {
    // What the caller learns; whether it is done at once; whether it is done in the end.
    let table = [
        (CommitFault::Overloaded, "overloaded", 0, 0),
        (CommitFault::Unavailable, "unavailable", 0, 0),
        (CommitFault::RequestLost, "unknown", 0, 0),
        (CommitFault::ReplyLost, "unknown", 1, 1),
        (CommitFault::Late, "unknown", 0, 1),
        (CommitFault::Slow, "committed", 1, 1),
    ];
    assert_eq!(table.map(|row| row.0), CommitFault::ALL);
    for (fault, learns, at_once, at_last) in table {
        let (store, tenant, sale) = shop().await;
        let faulty = FaultyStore::new(store, Plan::script([(0, fault)]));
        let learned = match faulty.commit(sale("k")).await {
            Ok(Verdict::Committed(_)) => "committed",
            Err(StoreError::Overloaded) => "overloaded",
            Err(StoreError::Unavailable(_)) => "unavailable",
            Err(StoreError::OutcomeUnknown) => "unknown",
            other => panic!("{fault:?}: {other:?}"),
        };
        assert_eq!(learned, learns, "{fault:?}");
        if fault != CommitFault::Late {
            assert_eq!(orders(&tenant).await, at_once, "{fault:?}");
        }
        faulty.quiet().await;
        assert_eq!(orders(&tenant).await, at_last, "{fault:?}");
        assert_eq!(faulty.done().commits[&fault], 1);
        // The script is over: the next commit goes through.
        committed(faulty.commit(sale("next")).await.unwrap());
    }
}

#[tokio::test]
async fn a_stale_read_is_an_earlier_answer() {
    let (store, tenant, _) = shop().await;
    let rates = Rates {
        commit_per_mille: 0,
        read_per_mille: 0,
        stale_per_mille: 500,
        delay_max_ms: 0,
    };
    let faulty = FaultyStore::new(store, Plan::seeded(1, rates));
    let mut product = tenant.draft_product("TORTA");
    tenant.save(product.clone()).await;
    let key = [DocumentKey::new(Kind::Product, product.id)];
    let (mut last, mut old) = (0, 0);
    for version in 1..=60 {
        let read = faulty.documents(tenant.business(), &key).await.unwrap();
        let read = read[0].as_ref().unwrap().version();
        assert!(
            read <= version && read >= last.min(version),
            "{read} after {last}"
        );
        old += usize::from(read < version);
        last = last.max(read);
        let mut next = product.clone();
        next.stamp = tenant.next(next.stamp);
        tenant.update(product, next.clone()).await;
        product = next;
    }
    assert!(old > 10, "only {old} reads were old");
    assert!(faulty.done().reads[&ReadFault::Stale] > 10);
}

/// What a careful client does: the same unit under the same key until there is an answer.
async fn insist(store: &FaultyStore, unit: &UnitOfWork) -> Reply {
    for _ in 0..1_000 {
        match store.commit(unit.clone()).await {
            Ok(Verdict::Committed(reply) | Verdict::Replayed(reply)) => return reply,
            Ok(other) => panic!("{other:?}"),
            Err(_) => tokio::task::yield_now().await,
        }
    }
    panic!("no answer after a thousand tries");
}

#[tokio::test]
async fn whoever_insists_under_a_key_gets_one_order() {
    let rates = Rates {
        commit_per_mille: 120,
        read_per_mille: 0,
        stale_per_mille: 0,
        delay_max_ms: 2,
    };
    let mut met = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let (store, tenant, sale) = shop().await;
        let faulty = FaultyStore::new(store, Plan::seeded(seed, rates));
        let mut replies = Vec::new();
        let mut units = Vec::new();
        for number in 0..30 {
            let unit = sale(&format!("k{number}"));
            replies.push(insist(&faulty, &unit).await);
            units.push(unit);
        }
        assert_eq!(orders(&tenant).await, 30, "seed {seed}");
        // What the client was told stays true, also when late commits have come.
        faulty.quiet().await;
        for (unit, reply) in units.iter().zip(&replies) {
            assert_eq!(insist(&faulty, unit).await, *reply, "seed {seed}");
        }
        assert_eq!(orders(&tenant).await, 30, "seed {seed}");
        tenant.world.must_hold().await;
        met.extend(faulty.done().commits.into_keys());
    }
    assert_eq!(met, std::collections::BTreeSet::from(CommitFault::ALL));
}
