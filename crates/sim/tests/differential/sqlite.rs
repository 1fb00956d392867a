//! The embedded store against the model: three hundred seeds, or more when asked for.

use std::path::Path;

use abasto_sim::differential::Tally;
use abasto_store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

use crate::{met_everything, play_on};

/// Runs of each test below, when nothing else is asked for.
const SEEDS: u64 = 25;
/// The tests below.
const TESTS: u64 = 12;

/// A folder in memory where there is one: what is compared here does not depend on the disk.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).expect("a folder in memory")
    } else {
        tempfile::tempdir().expect("a folder")
    }
}

/// The number of seeds of one test: the usual one, or more.
fn seeds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var("TESTBED_SEEDS").ok();
    let wanted = wanted.map(|text| text.parse::<u64>().expect("TESTBED_SEEDS is a number"));
    wanted.map_or(SEEDS, |wanted| SEEDS.max(wanted.div_ceil(TESTS)))
}

/// Every twelfth seed, from the given one.
async fn runs(first: u64) {
    let mut tally = Tally::new();
    for number in 0..seeds() {
        let folder = folder();
        let store = SqliteStore::open(Options::new(folder.path().join("abasto.db")));
        let store = store.expect("the store opens");
        play_on(&store, first + number * TESTS, &mut tally).await;
    }
    met_everything(&tally);
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
