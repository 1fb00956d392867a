//! The store on MongoDB answers as the model does, whatever it is sent, and ends with the same records.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use abasto_sim::differential::{Tally, play};
use abasto_sim::model::ModelStore;
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster;
use abasto_testbed::wire::Connection;
use bson::doc;

/// Commands of one run.
const STEPS: usize = 200;
/// Runs of all tests below together, when nothing else is asked for.
const SEEDS: u64 = 24;
/// The tests below.
const TESTS: u64 = 4;

async fn run(seed: u64) -> Tally {
    let set = mongo_cluster::shared_uri().expect("a replica set");
    let database = format!("differ_{}_{seed}", std::process::id());
    let uri = set.replacen("/?", &format!("/{database}?"), 1);
    let store = MongoStore::connect(&uri).await.expect("connects");
    store.migrate().await.expect("migrates");
    let played = play(seed, STEPS, Arc::new(ModelStore::new()), &store).await;
    drop_database(&database);
    match played {
        Ok(tally) => tally,
        Err(divergence) => panic!("{divergence}"),
    }
}

/// Thousands of databases would need as many open files.
fn drop_database(name: &str) {
    let primary = mongo_cluster::shared_primary().expect("a primary");
    let connection = Connection::open(primary, Duration::from_secs(30));
    let dropped = connection.and_then(|mut open| open.run(name, doc! { "dropDatabase": 1 }));
    dropped.expect("dropped");
}

/// How many runs each test plays: `TESTBED_SEEDS` for all tests together, or the usual ones.
fn seeds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var("TESTBED_SEEDS").ok();
    let wanted = wanted.map(|text| text.parse::<u64>().expect("TESTBED_SEEDS is a number"));
    wanted.unwrap_or(SEEDS).div_ceil(TESTS)
}

/// Every fourth seed, from the given one.
async fn runs(first: u64) {
    let mut tally = Tally::new();
    for number in 0..seeds() {
        for (answer, count) in run(first + number * TESTS).await {
            *tally.entry(answer).or_default() += count;
        }
    }
    // Runs that meet no refusals would show little.
    for kind in [
        "committed",
        "replayed",
        "key reused",
        "short",
        "taken",
        "stale document",
        "stale level",
    ] {
        assert!(
            tally.get(kind).is_some_and(|count| *count >= 5),
            "{kind}: {tally:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_from_0() {
    runs(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_from_1() {
    runs(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_from_2() {
    runs(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn seeds_from_3() {
    runs(3).await;
}

/// Runs that once differed: an order sent again without a key is stale, even where stock or a sku
/// would refuse it as well.
#[tokio::test(flavor = "multi_thread")]
async fn seeds_that_once_differed() {
    for seed in [28, 31, 50, 113] {
        run(seed).await;
    }
}
