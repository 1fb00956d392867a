//! Every store answers as the model does, whatever it is sent.
//!
//! `TESTBED_SEEDS` plays so many seeds against SQLite when it names more than the usual three
//! hundred.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod sqlite;

use std::sync::Arc;

use abasto_sim::differential::{Tally, play};
use abasto_sim::faulty::{FaultyStore, Plan, Rates};
use abasto_sim::model::ModelStore;
use abasto_store::Store;

/// Commands of one run.
const STEPS: usize = 200;

/// Plays a seed on a store that is empty; counts its answers.
async fn play_on(store: &dyn Store, seed: u64, tally: &mut Tally) {
    let model = Arc::new(ModelStore::new());
    match play(seed, STEPS, model, store).await {
        Ok(answers) => {
            for (answer, count) in answers {
                *tally.entry(answer).or_default() += count;
            }
        }
        Err(divergence) => panic!("{divergence}"),
    }
}

/// Runs that meet no refusals would show little.
fn met_everything(tally: &Tally) {
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
        let met = tally.get(kind).is_some_and(|count| *count > 0);
        assert!(met, "{kind}: {tally:?}");
    }
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
