//! Differential runs: the same seeded commands against two stores, the same answers from both.
//!
//! Owns the comparison of verdicts, reads and final walks. What is sent is chosen in `workload`,
//! what is read in `reading`. A failure names its seed and step; the same seed plays the same run.

mod catalogue;
mod reading;
mod sale;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::id::BusinessId;
use abasto_store::conformance::world::{World, answer};
use abasto_store::record::HeadKey;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Rejection, Verdict};
use abasto_store::{Store, StoreError};
use futures_util::future::join_all;

use self::workload::Workload;

/// Every so many steps both stores are read.
const READ_EVERY: usize = 8;

/// Where two stores differ.
#[derive(Debug, thiserror::Error)]
#[error("seed {seed}, step {step}: {what}\n left: {left}\nright: {right}")]
pub struct Divergence {
    seed: u64,
    step: usize,
    what: String,
    left: String,
    right: String,
}

/// How often each kind of answer came: a run that meets few kinds shows little.
pub type Tally = BTreeMap<&'static str, u64>;

/// A run over two stores that were empty before it.
pub struct Run<'a> {
    seed: u64,
    step: usize,
    left: &'a dyn Store,
    right: &'a dyn Store,
    tally: Tally,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("seed", &self.seed)
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}

/// Plays a seed of so many steps. The left store is the reference that the commands are made from.
pub async fn play(
    seed: u64,
    steps: usize,
    left: Arc<dyn Store>,
    right: &dyn Store,
) -> Result<Tally, Divergence> {
    let world = World::new(Arc::clone(&left));
    let mut workload = Workload::new(seed, world.clone());
    let mut run = Run {
        seed,
        step: 0,
        left: &*left,
        right,
        tally: Tally::new(),
    };
    for unit in workload.openings() {
        run.commit(&mut workload, vec![unit]).await?;
    }
    while run.step < steps {
        let units = workload.next_units();
        run.step += units.len();
        run.commit(&mut workload, units).await?;
        if run.step % READ_EVERY < 2 {
            run.read(&mut workload).await?;
        }
    }
    run.finish(&workload.businesses()).await?;
    Ok(run.tally)
}

impl Run<'_> {
    /// Fails when both sides are not the same.
    fn same<T: PartialEq + std::fmt::Debug>(
        &self,
        what: impl FnOnce() -> String,
        left: &T,
        right: &T,
    ) -> Result<(), Divergence> {
        if left == right {
            return Ok(());
        }
        Err(Divergence {
            seed: self.seed,
            step: self.step,
            what: what(),
            left: format!("{left:?}"),
            right: format!("{right:?}"),
        })
    }

    /// Sends units of one lane at once to each store; they arrive in their order.
    async fn commit(
        &mut self,
        workload: &mut Workload,
        units: Vec<UnitOfWork>,
    ) -> Result<(), Divergence> {
        let left = join_all(units.iter().map(|unit| self.left.commit(unit.clone()))).await;
        let right = join_all(units.iter().map(|unit| self.right.commit(unit.clone()))).await;
        for ((unit, left), right) in units.into_iter().zip(left).zip(right) {
            let (left, right) = (comparable(left), comparable(right));
            self.same(|| format!("the verdict of {unit:?}"), &left, &right)?;
            *self.tally.entry(name(&left)).or_default() += 1;
            if let Ok(Verdict::Committed(reply)) = left {
                workload.learn(unit, &reply);
            }
        }
        Ok(())
    }

    /// Equal walks, and nothing to find for the audit.
    async fn finish(&self, businesses: &[BusinessId]) -> Result<(), Divergence> {
        for business in businesses {
            let mut walks = Vec::new();
            for store in [self.left, self.right] {
                let mut records = Vec::new();
                let mut keep = |record| {
                    records.push(record);
                    Ok(())
                };
                answer(store.walk(*business, &mut keep).await);
                walks.push(records);
            }
            let (left, right) = (&walks[0], &walks[1]);
            for (left, right) in left.iter().zip(right) {
                self.same(|| format!("a record of {business}"), left, right)?;
            }
            let what = || format!("the number of records of {business}");
            self.same(what, &left.len(), &right.len())?;
            let report = answer(abasto_store::invariants::audit(self.right, *business).await);
            let what = || format!("the audit of {business}");
            self.same(what, &String::new(), &complaints(&report))?;
        }
        Ok(())
    }
}

fn complaints(report: &abasto_store::invariants::Report) -> String {
    let differences = report.differences.iter().map(ToString::to_string);
    differences.collect::<Vec<_>>().join("\n")
}

/// Errors are compared by their kind: their words are each store's own.
fn comparable(result: Result<Verdict, StoreError>) -> Result<Verdict, &'static str> {
    result.map_err(|error| match error {
        StoreError::Overloaded => "overloaded",
        StoreError::Unavailable(_) => "unavailable",
        StoreError::OutcomeUnknown => "outcome unknown",
        StoreError::Corrupt(_) => "corrupt",
        StoreError::Backend(_) => "defect",
    })
}

const fn name(result: &Result<Verdict, &'static str>) -> &'static str {
    match result {
        Ok(Verdict::Committed(_)) => "committed",
        Ok(Verdict::Replayed(_)) => "replayed",
        Ok(Verdict::KeyReused) => "key reused",
        Ok(Verdict::Rejected(Rejection::Short(_))) => "short",
        Ok(Verdict::Rejected(Rejection::Taken(_))) => "taken",
        Ok(Verdict::Rejected(Rejection::Bound(_))) => "bound",
        Ok(Verdict::Rejected(Rejection::DotTaken(_))) => "dot-taken",
        Ok(Verdict::Stale(HeadKey::Document(_))) => "stale document",
        Ok(Verdict::Stale(HeadKey::Level(_))) => "stale level",
        Ok(Verdict::Stale(_)) => "stale otherwise",
        Err(kind) => kind,
    }
}
