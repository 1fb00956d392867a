//! A long walk of chance over checkouts, payments, messages, expiry, cancellations and returns,
//! with a clock that moves. The embedded store and the model take the same walk and answer the
//! same; over a store that fails, everything that must always hold still does at the end.
//!
//! `TESTBED_WALK` sets the number of commands, `TESTBED_WALK_SEED` the seed; a failure names both.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod bakery;
mod command;

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_sim::faulty::{FaultyStore, Plan, Rates};
use abasto_sim::model::ModelStore;
use abasto_store::Store;
use abasto_store::invariants::audit;
use abasto_store_sqlite::{Options, SqliteStore};

use crate::bakery::Bakery;
use crate::command::Walker;

const COMMANDS: u64 = 3_000;
const SEED: u64 = 20_260;

fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var(name).ok();
    wanted.map(|text| text.parse().expect("a number"))
}

/// Five in a hundred calls meet a fault.
const RATES: Rates = Rates {
    commit_per_mille: 8,
    read_per_mille: 10,
    stale_per_mille: 30,
    delay_max_ms: 1,
};

async fn must_hold(bakery: &Bakery, store: &dyn Store, seed: u64) {
    let report = audit(store, bakery.owner.business()).await.unwrap();
    assert!(report.is_clean(), "seed {seed}: {report}");
}

/// Walks, and answers what became of each command.
async fn walk(store: Arc<dyn Store>, commands: u64, seed: u64) -> (Bakery, Vec<String>) {
    let bakery = Bakery::open(store).await;
    let mut walker = Walker::new(&bakery, seed);
    let mut trace = Vec::new();
    for number in 0..commands {
        trace.push(walker.step(number).await);
    }
    walker.settle().await;
    (bakery, trace)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_store_walks_as_the_model_does() {
    let commands = wanted("TESTBED_WALK").unwrap_or(COMMANDS);
    let seed = wanted("TESTBED_WALK_SEED").unwrap_or(SEED);
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(Options::new(folder.path().join("abasto.db"))).unwrap();
    let sqlite: Arc<dyn Store> = Arc::new(sqlite);
    let model: Arc<dyn Store> = Arc::new(ModelStore::new());
    let (of_model, expected) = walk(Arc::clone(&model), commands, seed).await;
    let (of_sqlite, found) = walk(Arc::clone(&sqlite), commands, seed).await;
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(expected, found, "seed {seed}, command {number}");
    }
    must_hold(&of_model, &*model, seed).await;
    must_hold(&of_sqlite, &*sqlite, seed).await;
    let mut met: BTreeMap<&str, u64> = BTreeMap::new();
    for outcome in &expected {
        *met.entry(outcome).or_default() += 1;
    }
    // A walk that meets few kinds of answers shows little.
    assert!(met.len() >= 20, "{met:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_on_the_way_leave_nothing_wrong() {
    let commands = wanted("TESTBED_WALK").unwrap_or(COMMANDS);
    let seed = wanted("TESTBED_WALK_SEED").unwrap_or(SEED);
    let model: Arc<dyn Store> = Arc::new(ModelStore::new());
    let bakery = Bakery::open(Arc::clone(&model)).await;
    let faulty = FaultyStore::new(Arc::clone(&model), Plan::seeded(seed, RATES));
    let faulty = Arc::new(faulty);
    let mut walker = Walker::new(&bakery, seed);
    walker.work_on(Arc::clone(&faulty) as Arc<dyn Store>);
    let mut faults = 0u64;
    for number in 0..commands {
        let outcome = walker.step(number).await;
        faults +=
            u64::from(outcome.ends_with("Unavailable") || outcome.ends_with("OutcomeUnknown"));
    }
    assert!(faults > commands / 100, "{faults} faults were met");
    // Late commits land.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    walker.work_on(Arc::clone(&model));
    walker.settle().await;
    must_hold(&bakery, &*model, seed).await;
}
