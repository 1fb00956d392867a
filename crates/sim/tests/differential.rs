//! The embedded store answers as the model does, whatever it is sent.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;

use abasto_sim::differential::{Tally, play};
use abasto_sim::faulty::{FaultyStore, Plan, Rates};
use abasto_sim::model::ModelStore;
use abasto_store_sqlite::{Options, SqliteStore};

/// Commands of one run.
const STEPS: usize = 200;
/// Runs of each test below, when nothing else is asked for.
const SEEDS: u64 = 25;
/// The tests below.
const TESTS: u64 = 12;

/// A folder in memory where there is one: what is compared here does not depend on the disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).expect("a folder in memory")
    } else {
        tempfile::tempdir().expect("a folder")
    }
}

async fn run(seed: u64) -> Tally {
    let folder = folder();
    let sqlite = SqliteStore::open(Options::new(folder.path().join("abasto.db")));
    let sqlite = sqlite.expect("the store opens");
    match play(seed, STEPS, Arc::new(ModelStore::new()), &sqlite).await {
        Ok(tally) => tally,
        Err(divergence) => panic!("{divergence}"),
    }
}

/// The number of seeds: `ABASTO_SEEDS` for all tests together, or the usual ones.
fn seeds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var("ABASTO_SEEDS").ok();
    let wanted = wanted.map(|text| text.parse::<u64>().expect("ABASTO_SEEDS is a number"));
    wanted.map_or(SEEDS, |wanted| wanted.div_ceil(TESTS))
}

/// Every twelfth seed, from the given one.
async fn runs(first: u64) {
    let mut tally = Tally::new();
    for number in 0..seeds() {
        for (answer, count) in run(first + number * TESTS).await {
            *tally.entry(answer).or_default() += count;
        }
    }
    // Runs that meet no refusals would show little.
    let kinds = [
        "committed",
        "replayed",
        "key reused",
        "short",
        "taken",
        "stale document",
        "stale level",
        "defect",
    ];
    for kind in kinds {
        assert!(
            tally.get(kind).is_some_and(|count| *count >= 10),
            "{kind}: {tally:?}"
        );
    }
}

macro_rules! seeds_from {
    ($($name:ident: $first:literal),* $(,)?) => {$(
        #[tokio::test]
        async fn $name() {
            runs($first).await;
        }
    )*};
}

seeds_from! {
    seeds_from_0: 0,
    seeds_from_1: 1,
    seeds_from_2: 2,
    seeds_from_3: 3,
    seeds_from_4: 4,
    seeds_from_5: 5,
    seeds_from_6: 6,
    seeds_from_7: 7,
    seeds_from_8: 8,
    seeds_from_9: 9,
    seeds_from_10: 10,
    seeds_from_11: 11,
}

/// A comparison that cannot fail would prove nothing: a store that sometimes answers with what was
/// true earlier is found out.
#[tokio::test]
async fn a_store_with_old_answers_is_found_out() {
    let rates = Rates {
        commit_per_mille: 0,
        read_per_mille: 0,
        stale_per_mille: 300,
        delay_max_ms: 0,
    };
    let mut found = 0;
    for seed in 0..5 {
        let aged = FaultyStore::new(Arc::new(ModelStore::new()), Plan::seeded(seed, rates));
        let played = play(seed, STEPS, Arc::new(ModelStore::new()), &aged).await;
        found += usize::from(played.is_err());
    }
    assert_eq!(found, 5);
}
