//! A long walk of chance over carts, checkouts, payments, messages, expiry, cancellations and
//! returns, with a clock that moves. Every store takes the same walk, also when it fails now and
//! then and its clients insist: each answer and all that is stored at the end is the same, and
//! what must always hold does.
//!
//! `TESTBED_WALK` sets the number of commands, `TESTBED_WALK_MONGO` that on MongoDB,
//! `TESTBED_WALK_SEED` the seed; a failure names both.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod bakery;
mod canon;
mod command;
mod shopping;
mod side;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use abasto_sim::faulty::{FaultyStore, Plan, Rates};
use abasto_sim::model::ModelStore;
use abasto_store::Store;
use abasto_store::invariants::audit;
use abasto_store_mongo::MongoStore;
use abasto_store_sqlite::{Options, SqliteStore};
use abasto_testbed::mongo_cluster;
use futures_util::future::join_all;
use tempfile::TempDir;

use crate::bakery::Bakery;
use crate::command::{Walker, name_of};
use crate::side::{Patience, Side};

const COMMANDS: u64 = 1_500;
const COMMANDS_ON_MONGO: u64 = 300;
const SEED: u64 = 20_260;
/// How often a walk stops for an audit.
const AUDITS: u64 = 5;

fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var(name).ok();
    wanted.map(|text| text.parse().expect("a number"))
}

fn seed() -> u64 {
    wanted("TESTBED_WALK_SEED").unwrap_or(SEED)
}

fn commands() -> u64 {
    wanted("TESTBED_WALK").unwrap_or(COMMANDS)
}

/// A folder in memory where there is one: what is compared here does not depend on the disk.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn sqlite(folder: &TempDir) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(Options::new(folder.path().join("abasto.db"))).unwrap())
}

/// All sides walk in step; the first is what the others are held against. Says what was met.
async fn walk(sides: &mut [Side], commands: u64, seed: u64) -> BTreeMap<String, u64> {
    let mut met: BTreeMap<String, u64> = BTreeMap::new();
    for number in 0..commands {
        let when = format!("TESTBED_WALK={commands} TESTBED_WALK_SEED={seed}, command {number}");
        let outcomes = join_all(sides.iter_mut().map(|side| side.step(number))).await;
        for (side, outcome) in sides.iter().zip(&outcomes).skip(1) {
            side.must_agree(outcome, &sides[0], &outcomes[0], &when);
        }
        *met.entry(name_of(&outcomes[0])).or_default() += 1;
        if (number + 1) % (commands / AUDITS).max(1) == 0 {
            for side in sides.iter() {
                side.must_hold(&when).await;
            }
        }
    }
    let when = format!("TESTBED_WALK={commands} TESTBED_WALK_SEED={seed}, at the end");
    for side in sides.iter_mut() {
        side.settle().await;
        side.must_hold(&when).await;
    }
    for side in &sides[1..] {
        side.must_equal(&sides[0], &when).await;
    }
    met
}

/// A walk that meets few kinds of answers, or few faults, shows little.
fn met_enough(met: &BTreeMap<String, u64>, kinds: usize, failing: &Side, commands: u64) {
    assert!(met.len() >= kinds, "{} kinds: {met:?}", met.len());
    let faults = failing.faults();
    assert!(faults > commands / 20, "{faults} faults");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stores_that_fail_answer_as_the_model_does() {
    let (commands, seed) = (commands(), seed());
    let folder = folder();
    let mut sides = [
        Side::sound("the model", Arc::new(ModelStore::new()), seed).await,
        Side::failing("the model with faults", Arc::new(ModelStore::new()), seed).await,
        Side::failing("SQLite with faults", sqlite(&folder), seed).await,
    ];
    let met = walk(&mut sides, commands, seed).await;
    met_enough(&met, 40, &sides[1], commands);
    met_enough(&met, 40, &sides[2], commands);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mongodb_answers_as_the_model_does() {
    let commands = wanted("TESTBED_WALK_MONGO").unwrap_or(COMMANDS_ON_MONGO);
    let seed = seed();
    let set = mongo_cluster::shared_uri().expect("a replica set");
    let database = format!("walk_{}", std::process::id());
    let uri = set.replacen("/?", &format!("/{database}?"), 1);
    let store = MongoStore::connect(&uri).await.expect("connects");
    store.migrate().await.expect("migrates");
    let mut sides = [
        Side::sound("the model", Arc::new(ModelStore::new()), seed).await,
        Side::failing("MongoDB with faults", Arc::new(store), seed).await,
    ];
    let met = walk(&mut sides, commands, seed).await;
    met_enough(&met, 25, &sides[1], commands);
}

/// Old answers are no store's, so nothing is compared here; what must always hold does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_and_old_answers_leave_nothing_wrong() {
    const RATES: Rates = Rates {
        commit_per_mille: 8,
        read_per_mille: 10,
        stale_per_mille: 30,
        delay_max_ms: 1,
    };
    let (commands, seed) = (commands(), seed());
    let model: Arc<dyn Store> = Arc::new(ModelStore::new());
    let bakery = Bakery::open(Arc::clone(&model)).await;
    let faulty = Arc::new(FaultyStore::new(
        Arc::clone(&model),
        Plan::seeded(seed, RATES),
    ));
    let mut walker = Walker::new(bakery, Patience::None, seed);
    walker.work_on(Arc::clone(&faulty) as Arc<dyn Store>);
    let mut faults = 0u64;
    for number in 0..commands {
        let name = name_of(&walker.step(number).await);
        faults += u64::from(name.ends_with("Unavailable") || name.ends_with("OutcomeUnknown"));
    }
    assert!(faults > commands / 100, "{faults} faults were met");
    faulty.quiet().await;
    walker.work_on(Arc::clone(&model));
    walker.settle().await;
    let report = audit(&*model, walker.business()).await.unwrap();
    assert!(report.is_clean(), "TESTBED_WALK_SEED={seed}: {report}");
}

/// A comparison that cannot fail would prove nothing: one unit too many on one side is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_unit_more_is_found() {
    let seed = seed();
    let mut sides = [
        Side::sound("the model", Arc::new(ModelStore::new()), seed).await,
        Side::sound("the other model", Arc::new(ModelStore::new()), seed).await,
    ];
    sides[1].receive_one().await;
    let walked = tokio::spawn(async move { walk(&mut sides, 50, seed).await });
    assert!(walked.await.unwrap_err().is_panic());
}
