//! One of the stores that are walked over, and how a client insists on an answer from it.

use std::future::Future;
use std::sync::Arc;

use abasto_engine::Error;
use abasto_sim::faulty::{FaultyStore, Plan, Rates};
use abasto_store::Store;
use abasto_store::invariants::audit;

use crate::bakery::Bakery;
use crate::canon::{Names, state_of};
use crate::command::Walker;

/// How often a client asks before it gives up. Forty faults in a row do not come by chance.
const TRIES_MAX: u32 = 40;
/// Five in a hundred commits meet a fault, and two in a hundred reads.
const RATES: Rates = Rates {
    commit_per_mille: 8,
    read_per_mille: 10,
    stale_per_mille: 0,
    delay_max_ms: 1,
};

/// No faults.
const NONE: Rates = Rates {
    commit_per_mille: 0,
    read_per_mille: 0,
    stale_per_mille: 0,
    delay_max_ms: 0,
};

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Its name and its whole answer.
    pub(crate) answer: String,
    /// What only the first of several tries is told, such as that it is no repetition.
    pub(crate) first: String,
    /// Whether a try ended with an unknown outcome.
    pub(crate) was_unknown: bool,
}

/// How a caller goes on after a fault.
#[derive(Clone)]
pub(crate) enum Patience {
    /// It does not: the fault is the answer.
    None,
    /// It asks again until there is an answer.
    Endless(Arc<FaultyStore>),
}

impl Patience {
    /// Asks until there is an answer; whether it may have been done before the last try.
    pub(crate) async fn insist<T, F>(&self, ask: impl Fn() -> F) -> (Result<T, Error>, bool)
    where
        F: Future<Output = Result<T, Error>>,
    {
        let Self::Endless(faulty) = self else {
            return (ask().await, false);
        };
        let mut was_unknown = false;
        for _ in 0..TRIES_MAX {
            match ask().await {
                Err(Error::Unavailable(_) | Error::Overloaded) => {}
                Err(Error::OutcomeUnknown) => was_unknown = true,
                answer => {
                    // What is late must not come between later commands.
                    faulty.quiet().await;
                    return (answer, was_unknown);
                }
            }
        }
        panic!("no answer after {TRIES_MAX} tries");
    }

    /// Asks once, without faults: whoever asks cannot tell whether it was done.
    pub(crate) async fn once<T>(&self, ask: impl Future<Output = T>) -> T {
        if let Self::Endless(faulty) = self {
            faulty.calm();
            let answer = ask.await;
            faulty.rage();
            return answer;
        }
        ask.await
    }
}

/// A store, who walks over it, and what they were told.
pub(crate) struct Side {
    name: &'static str,
    store: Arc<dyn Store>,
    faulty: Arc<FaultyStore>,
    walker: Walker,
    names: Names,
    seed: u64,
    rates: Rates,
}

impl Side {
    /// A store that does not fail.
    pub(crate) async fn sound(name: &'static str, store: Arc<dyn Store>, seed: u64) -> Self {
        Self::new(name, store, seed, NONE).await
    }

    /// A store that fails now and then, and whose clients insist.
    pub(crate) async fn failing(name: &'static str, store: Arc<dyn Store>, seed: u64) -> Self {
        Self::new(name, store, seed, RATES).await
    }

    async fn new(name: &'static str, store: Arc<dyn Store>, seed: u64, rates: Rates) -> Self {
        let bakery = Bakery::open(Arc::clone(&store)).await;
        let faulty = FaultyStore::new(Arc::clone(&store), Plan::seeded(seed, rates));
        let faulty = Arc::new(faulty);
        let mut walker = Walker::new(bakery, Patience::Endless(Arc::clone(&faulty)), seed);
        walker.work_on(Arc::clone(&faulty) as Arc<dyn Store>);
        Self {
            name,
            store,
            faulty,
            walker,
            names: Names::default(),
            seed,
            rates,
        }
    }

    /// Does one command.
    pub(crate) async fn step(&mut self, number: u64) -> Outcome {
        // The faults of a command do not depend on those of the ones before it.
        let seed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.faulty.plan(Plan::seeded(seed, self.rates));
        let reclaims = self.faulty.reclaims();
        let outcome = self.walker.step(number).await;
        if self.faulty.reclaims() > reclaims {
            // Whoever finds too few units ends what is over. How much of that a fault cut short is
            // its own matter; from here on it is the same everywhere.
            self.walker.expire().await;
        }
        Outcome {
            answer: self.names.learn(&outcome.answer),
            first: self.names.learn(&outcome.first),
            ..outcome
        }
    }

    /// How many faults were injected.
    pub(crate) fn faults(&self) -> u64 {
        let done = self.faulty.done();
        done.commits.values().sum::<u64>() + done.reads.values().sum::<u64>()
    }

    /// Everything comes to its end, without faults.
    pub(crate) async fn settle(&mut self) {
        self.faulty.quiet().await;
        self.faulty.calm();
        self.walker.settle().await;
    }

    /// What must always hold does.
    pub(crate) async fn must_hold(&self, when: &str) {
        let report = audit(&*self.store, self.walker.business()).await.unwrap();
        assert!(report.is_clean(), "{}, {when}: {report}", self.name);
    }

    /// What is stored is the same as on the other side.
    pub(crate) async fn must_equal(&self, other: &Self, when: &str) {
        let mine = state_of(&*self.store, self.walker.business(), &self.names).await;
        let theirs = state_of(&*other.store, other.walker.business(), &other.names).await;
        let differs = mine
            .iter()
            .zip(&theirs)
            .find(|(mine, theirs)| mine != theirs);
        if let Some((mine, theirs)) = differs {
            panic!(
                "{when}: a record\nof {}: {mine}\nof {}: {theirs}",
                self.name, other.name
            );
        }
        assert_eq!(mine.len(), theirs.len(), "{when}: the number of records");
    }

    /// Both were told the same.
    pub(crate) fn must_agree(&self, mine: &Outcome, other: &Self, theirs: &Outcome, when: &str) {
        let is_first = !mine.was_unknown && !theirs.was_unknown;
        let is_same = mine.answer == theirs.answer && (!is_first || mine.first == theirs.first);
        assert!(
            is_same,
            "{when}: an answer\nof {}: {mine:?}\nof {}: {theirs:?}",
            self.name, other.name
        );
        assert!(!mine.answer.contains("Internal("), "{when}: {mine:?}");
    }

    /// One unit comes in that comes in nowhere else.
    pub(crate) async fn receive_one(&self) {
        let bakery = &self.walker.bakery;
        bakery.receive(bakery.products[0], 1, "one-more").await;
    }
}
