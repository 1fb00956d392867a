//! Committing what a lane took: one batch, one run, an answer for each unit.
//!
//! Owns what a caller is told for each end of a run. Must not know queues.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abasto_domain::idempotency::OperationKey;
use abasto_store::StoreError;
use abasto_store::meter::CommitMeter;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Operation, Reply, Verdict};
use async_trait::async_trait;
use mongodb::Database;
use tokio::sync::oneshot;

use crate::batch::{Batch, Decision};
use crate::currency::Currencies;
use crate::deadline::Deadline;
use crate::fault::{Fault, store_error};
use crate::lane::{Answer, TRY_TIME, Waiting, Work};
use crate::read;
use crate::runner::{Applied, Cause, End, Runner};

/// Kept back from a batch's deadline, to look up what became of it.
const LOOK_UP: Duration = Duration::from_millis(500);

/// Commits batches.
#[derive(Debug)]
pub(crate) struct Committer {
    runner: Runner,
    currencies: Currencies,
    meter: Arc<CommitMeter>,
}

struct Caller {
    deadline: Deadline,
    answer: oneshot::Sender<Answer>,
}

impl Caller {
    fn tell(self, answer: Answer) {
        drop(self.answer.send(answer));
    }

    fn again(self, unit: UnitOfWork) -> Waiting {
        Waiting {
            unit,
            deadline: self.deadline,
            answer: self.answer,
        }
    }
}

impl Committer {
    pub(crate) fn new(database: Database, meter: Arc<CommitMeter>) -> Self {
        Self {
            runner: Runner::new(database, Arc::clone(&meter)),
            currencies: Currencies::default(),
            meter,
        }
    }

    pub(crate) const fn database(&self) -> &Database {
        &self.runner.database
    }

    async fn batch(&self, units: Vec<UnitOfWork>, deadline: Deadline) -> Result<Batch, StoreError> {
        let database = self.database();
        let Some(first) = units.first() else {
            return Err(StoreError::Unavailable("an empty batch".to_owned()));
        };
        let business = first.business;
        let currency = self
            .currencies
            .needed(database, business, &units, deadline)
            .await;
        let currency = currency.map_err(store_error)?;
        Ok(Batch::new(database.clone(), business, currency, units))
    }
}

#[async_trait]
impl Work for Committer {
    async fn run(&self, taken: Vec<Waiting>, applied: Applied) -> Vec<Waiting> {
        let due = taken.iter().map(|waiting| waiting.deadline).min();
        let deadline = due
            .unwrap_or_else(|| Deadline::after(Duration::ZERO))
            .less(LOOK_UP);
        let (units, callers): (Vec<_>, Vec<_>) = taken.into_iter().map(apart).unzip();
        let mut batch = match self.batch(units, deadline).await {
            Ok(batch) => batch,
            Err(error) => return refuse(callers, &error),
        };
        let began = Instant::now();
        match self.runner.run(&mut batch, deadline, applied).await {
            End::Committed(decisions) => {
                if decisions.iter().any(|it| matches!(it, Decision::Wrote(_))) {
                    self.meter.committed(decisions.len(), began.elapsed());
                }
                self.runner.budget.succeeded(decisions.len());
                committed(batch, callers, decisions)
            }
            End::NotCommitted(cause) => not_committed(batch, callers, &cause),
            End::Unknown(decisions) => self.unknown(batch, callers, decisions).await,
        }
    }
}

fn apart(waiting: Waiting) -> (UnitOfWork, Caller) {
    let Waiting {
        unit,
        deadline,
        answer,
    } = waiting;
    (unit, Caller { deadline, answer })
}

fn refuse(callers: Vec<Caller>, error: &StoreError) -> Vec<Waiting> {
    for caller in callers {
        caller.tell(Err(StoreError::Unavailable(error.to_string())));
    }
    Vec::new()
}

/// Everybody that took part learns the verdict; who did not is tried again.
fn committed(batch: Batch, callers: Vec<Caller>, decisions: Vec<Decision>) -> Vec<Waiting> {
    let mut decisions = decisions.into_iter();
    let mut left = Vec::new();
    for (unit, caller) in batch.into_units().into_iter().zip(callers) {
        match decisions.next() {
            Some(Decision::Wrote(reply)) => caller.tell(Ok(Verdict::Committed(reply))),
            Some(Decision::Verdict(verdict)) => caller.tell(Ok(verdict)),
            Some(Decision::Broken(broken)) => caller.tell(Err(broken.into())),
            None => left.push(caller.again(unit)),
        }
    }
    left
}

/// Nothing was written. Who still has time is tried again, unless trying again is the trouble.
fn not_committed(batch: Batch, callers: Vec<Caller>, cause: &Cause) -> Vec<Waiting> {
    let alone = callers.len() == 1;
    let settled: Vec<_> = (0..callers.len())
        .map(|place| batch.settled(place).cloned())
        .collect();
    let mut left = Vec::new();
    let units = batch.into_units().into_iter().zip(settled);
    for ((unit, settled), caller) in units.zip(callers) {
        let in_time = caller.deadline.left() >= TRY_TIME;
        match (settled, cause) {
            (Some(Decision::Broken(broken)), _) => caller.tell(Err(broken.into())),
            (_, Cause::OutOfTime(_)) if in_time => left.push(caller.again(unit)),
            // One record that cannot be read must not stop those beside it: each alone, then.
            (_, Cause::Fault(Fault::Unreadable(_))) if !alone && in_time => {
                left.push(caller.again(unit));
            }
            (_, cause) => caller.tell(Err(why(cause))),
        }
    }
    left
}

fn why(cause: &Cause) -> StoreError {
    match cause {
        Cause::OutOfTime(last) | Cause::OutOfBudget(last) => StoreError::Unavailable(last.clone()),
        Cause::Fault(Fault::Driver(error)) => store_error(error.clone()),
        Cause::Fault(Fault::Unreadable(what)) => what.clone().into(),
        Cause::Fault(Fault::Refused(refusal)) => StoreError::Corrupt(refusal.detail.clone()),
        Cause::Fault(Fault::Missed(what)) => {
            StoreError::Unavailable(format!("{what} kept changing"))
        }
        Cause::Fault(Fault::Unstorable(_, what)) => StoreError::Corrupt(what.to_string()),
    }
}

impl Committer {
    /// Keys that are durable by now settle the matter for their units; the others stay unknown.
    /// What wrote nothing was surely not done.
    async fn unknown(
        &self,
        batch: Batch,
        callers: Vec<Caller>,
        decisions: Vec<Decision>,
    ) -> Vec<Waiting> {
        let found = self.look_up(&batch).await;
        let mut decisions = decisions.into_iter();
        let mut left = Vec::new();
        for (unit, caller) in batch.into_units().into_iter().zip(callers) {
            match decisions.next() {
                Some(Decision::Wrote(reply)) => caller.tell(known(&unit, &reply, &found)),
                Some(Decision::Broken(broken)) => caller.tell(Err(broken.into())),
                Some(Decision::Verdict(_)) | None if caller.deadline.left() >= TRY_TIME => {
                    left.push(caller.again(unit));
                }
                Some(Decision::Verdict(_)) | None => caller.tell(Err(StoreError::Unavailable(
                    "the database did not confirm in time".to_owned(),
                ))),
            }
        }
        left
    }

    async fn look_up(&self, batch: &Batch) -> BTreeMap<OperationKey, Operation> {
        let keys = batch
            .units()
            .iter()
            .filter_map(|unit| Some(unit.operation.as_ref()?.key.clone()));
        let business = batch.business();
        let deadline = Deadline::after(LOOK_UP);
        read::operations(self.database(), business, keys.collect(), deadline)
            .await
            .unwrap_or_default()
    }
}

fn known(unit: &UnitOfWork, reply: &Reply, found: &BTreeMap<OperationKey, Operation>) -> Answer {
    let draft = unit.operation.as_ref().ok_or(StoreError::OutcomeUnknown)?;
    match found.get(&draft.key) {
        Some(done) if done.fingerprint != draft.fingerprint => Ok(Verdict::KeyReused),
        Some(done) if done.reply == *reply => Ok(Verdict::Committed(reply.clone())),
        Some(done) => Ok(Verdict::Replayed(done.reply.clone())),
        None => Err(StoreError::OutcomeUnknown),
    }
}
