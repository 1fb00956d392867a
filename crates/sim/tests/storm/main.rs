//! A storm: two instances of the engine over a store that fails, eight clients who insist. When it
//! is over, all that a client was told is true and the audit finds nothing.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod client;
mod shop;

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::idempotency::OperationKey;
use abasto_engine::Engine;
use abasto_sim::faulty::{CommitFault, FaultyStore, Plan, Rates, ReadFault};
use abasto_store::invariants::audit;
use abasto_store::record::{Kind, Record, RecordKey};
use abasto_store::{Store, verdict::Reply};

use crate::client::{Client, Told};
use crate::shop::Shop;

const CLIENTS: u64 = 8;

const RATES: Rates = Rates {
    commit_per_mille: 40,
    read_per_mille: 15,
    stale_per_mille: 150,
    delay_max_ms: 2,
};

/// Plays a seed; what every client was told.
async fn storm(shop: &Shop, seed: u64) -> (Vec<Told>, FaultyStore) {
    let store = Arc::new(FaultyStore::new(
        Arc::clone(&shop.store) as Arc<dyn Store>,
        Plan::seeded(seed, RATES),
    ));
    let instances = [0, 1].map(|_| Engine::new(Arc::clone(&store) as Arc<dyn Store>).unwrap());
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        let engine = instances[usize::try_from(number % 2).unwrap()].clone();
        let client = Client::new(number, seed, engine, shop);
        tasks.push(tokio::spawn(client.day()));
    }
    let mut told = Vec::new();
    for task in tasks {
        told.extend(task.await.unwrap());
    }
    drop(instances);
    // Commits that come late do so within a few milliseconds; none is under way after this.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    (
        told,
        Arc::try_unwrap(store).expect("nobody else holds the store"),
    )
}

/// What was acknowledged is there and answers again; what was refused left nothing.
async fn holds(shop: &Shop, told: &[Told], seed: u64) {
    let business = shop.owner.business();
    let mut orders = BTreeSet::new();
    for told in told {
        let key = OperationKey {
            customer: None,
            key: told.key.clone(),
        };
        let stored = shop.store.operation(business, &key).await.unwrap();
        match &told.reply {
            Some(reply) => {
                let stored = stored.map(|operation| operation.reply);
                assert_eq!(
                    stored.as_ref(),
                    Some(reply),
                    "seed {seed}, key {}",
                    told.key
                );
                if let Reply::Document(document) = reply {
                    orders.insert(document.key().id);
                }
            }
            // After an unknown outcome a refusal may have been overtaken by a late commit.
            None if told.once_unknown => {
                if let Some(Reply::Document(document)) = stored.map(|operation| operation.reply) {
                    orders.insert(document.key().id);
                }
            }
            None => assert_eq!(stored, None, "seed {seed}: the refused key {}", told.key),
        }
    }
    let mut stored = BTreeSet::new();
    let mut visitor = |record: Record| {
        if let RecordKey::Document(key) = record.key()
            && key.kind == Kind::Order
        {
            stored.insert(key.id);
        }
        Ok(())
    };
    shop.store.walk(business, &mut visitor).await.unwrap();
    assert_eq!(
        stored, orders,
        "seed {seed}: orders that nobody was told of, or that are gone"
    );
    let report = audit(&*shop.store, business).await.unwrap();
    assert!(report.is_clean(), "seed {seed}: {report}");
}

async fn weathered(seeds: std::ops::Range<u64>) {
    let (mut commits, mut reads) = (BTreeSet::new(), BTreeSet::new());
    let (mut done, mut refused) = (0, 0);
    for seed in seeds {
        let shop = Shop::open().await;
        let (told, store) = storm(&shop, seed).await;
        holds(&shop, &told, seed).await;
        done += told.iter().filter(|told| told.reply.is_some()).count();
        refused += told.iter().filter(|told| told.reply.is_none()).count();
        commits.extend(store.done().commits.into_keys());
        reads.extend(store.done().reads.into_keys());
    }
    // A storm that brings nothing shows nothing.
    assert_eq!(commits, BTreeSet::from(CommitFault::ALL));
    let kinds = [ReadFault::Unavailable, ReadFault::Stale, ReadFault::Slow];
    assert_eq!(reads, BTreeSet::from(kinds));
    assert!(done > 200 && refused > 20, "{done} done, {refused} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_storms() {
    weathered(0..6).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_storms() {
    weathered(6..12).await;
}
