//! Lanes: units of one business and branch wait here and go into transactions together.
//!
//! Owns the queues, their bounds and how much goes into one batch. There is no timer: a lane takes
//! whatever waits when its last batch is applied, while that one becomes durable. A lane is a task
//! that lives while it has work.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use abasto_domain::id::{BranchId, BusinessId};
use abasto_store::StoreError;
use abasto_store::meter::CommitMeter;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::Verdict;
use async_trait::async_trait;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::deadline::{Deadline, INTERACTIVE};
use crate::runner::Applied;

/// Most units of one transaction.
const UNITS_MAX: usize = 256;
/// Most lines (movements and documents) of one transaction, beyond its first unit: a batch of
/// large orders must not keep small ones waiting for long.
const LINES_MAX: usize = 2_000;
/// Most units that wait in one lane.
const LANE_WAITING_MAX: usize = 4_096;
/// Most units that wait in all lanes together.
const WAITING_MAX: usize = 16_384;
/// Most transactions at once.
const TRANSACTIONS_MAX: usize = 48;

/// A unit with less time left is not tried any more.
pub(crate) const TRY_TIME: Duration = Duration::from_secs(1);

pub(crate) type Answer = Result<Verdict, StoreError>;

/// A unit that waits for its verdict.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) unit: UnitOfWork,
    pub(crate) deadline: Deadline,
    pub(crate) answer: oneshot::Sender<Answer>,
}

impl Waiting {
    fn lines(&self) -> usize {
        self.unit.stock.len() + self.unit.puts.len()
    }

    /// Tells the caller, who may have gone away.
    pub(crate) fn tell(self, answer: Answer) {
        drop(self.answer.send(answer));
    }
}

/// What a lane does with the units it takes.
#[async_trait]
pub(crate) trait Work: Send + Sync + 'static {
    /// Answers all units but those it gives back, which go first into the next batch. Tells when the
    /// next batch may begin.
    async fn run(&self, units: Vec<Waiting>, applied: Applied) -> Vec<Waiting>;
}

type LaneKey = (BusinessId, Option<BranchId>);

#[derive(Debug)]
struct Lane {
    waiting: VecDeque<Waiting>,
    /// How many units the next batch takes at most: halved when a batch had to shrink.
    units_max: usize,
}

/// All lanes.
pub(crate) struct Lanes<W> {
    lanes: Mutex<HashMap<LaneKey, Lane>>,
    waiting: AtomicUsize,
    transactions: Arc<Semaphore>,
    work: Arc<W>,
    meter: Arc<CommitMeter>,
}

impl<W> std::fmt::Debug for Lanes<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = self.waiting.load(Ordering::Relaxed);
        f.debug_struct("Lanes")
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}

impl<W: Work> Lanes<W> {
    pub(crate) fn new(work: W, meter: Arc<CommitMeter>) -> Self {
        Self {
            lanes: Mutex::default(),
            waiting: AtomicUsize::new(0),
            transactions: Arc::new(Semaphore::new(TRANSACTIONS_MAX)),
            work: Arc::new(work),
            meter,
        }
    }

    /// Puts a unit in its lane and waits for its verdict. What was put in is decided even when the
    /// caller stops waiting.
    pub(crate) async fn commit(self: &Arc<Self>, unit: UnitOfWork) -> Answer {
        let (answer, verdict) = oneshot::channel();
        let key = (unit.business, unit.branch);
        let deadline = Deadline::after(INTERACTIVE);
        self.enqueue(
            key,
            Waiting {
                unit,
                deadline,
                answer,
            },
        )?;
        verdict.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }

    fn enqueue(self: &Arc<Self>, key: LaneKey, waiting: Waiting) -> Result<(), StoreError> {
        let mut lanes = self.lock();
        if self.waiting.load(Ordering::Relaxed) >= WAITING_MAX {
            self.meter.overloaded();
            return Err(StoreError::Overloaded);
        }
        let lane = self.lane(&mut lanes, key);
        if lane.waiting.len() >= LANE_WAITING_MAX {
            self.meter.overloaded();
            return Err(StoreError::Overloaded);
        }
        lane.waiting.push_back(waiting);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.meter.waiting(1);
        Ok(())
    }

    /// The lane, which begins to be served when it is new. Something must be put in it.
    fn lane<'a>(
        self: &Arc<Self>,
        lanes: &'a mut HashMap<LaneKey, Lane>,
        key: LaneKey,
    ) -> &'a mut Lane {
        lanes.entry(key).or_insert_with(|| {
            tokio::spawn(Self::serve(Arc::clone(self), key));
            Lane {
                waiting: VecDeque::new(),
                units_max: UNITS_MAX,
            }
        })
    }

    async fn serve(self: Arc<Self>, key: LaneKey) {
        // The batch before, which may still become durable: no more than this one goes on ahead.
        let mut before: Option<JoinHandle<()>> = None;
        loop {
            // Closed never: the semaphore lives as long as the lanes.
            let turn = Arc::clone(&self.transactions).acquire_owned().await;
            let Some(units) = self.take(key) else {
                return;
            };
            let in_time = |waiting: &Waiting| waiting.deadline.left() >= TRY_TIME;
            let (due, late): (Vec<_>, Vec<_>) = units.into_iter().partition(in_time);
            for waiting in late {
                self.meter.overloaded();
                waiting.tell(Err(StoreError::Overloaded));
            }
            if due.is_empty() {
                continue;
            }
            let (applied, may_go_on) = Applied::channel();
            let lanes = Arc::clone(&self);
            let batch = tokio::spawn(async move {
                lanes.work_on(key, due, applied).await;
                drop(turn);
            });
            // Told, or over.
            drop(may_go_on.await);
            if let Some(before) = before.replace(batch) {
                drop(before.await);
            }
        }
    }

    /// Runs a batch in a task of its own, so that a panic ends the batch and not the lane: the
    /// callers then learn that the outcome is unknown.
    async fn work_on(self: &Arc<Self>, key: LaneKey, units: Vec<Waiting>, applied: Applied) {
        let taken = units.len();
        let work = Arc::clone(&self.work);
        let run = tokio::spawn(async move { work.run(units, applied).await });
        self.give_back(key, taken, run.await.unwrap_or_default());
    }

    /// The next batch; nothing, and the end of the lane, when nothing waits.
    fn take(&self, key: LaneKey) -> Option<Vec<Waiting>> {
        let mut lanes = self.lock();
        let lane = lanes.get_mut(&key)?;
        let count = batch_length(lane.waiting.iter().map(Waiting::lines), lane.units_max);
        if count == 0 {
            lanes.remove(&key);
            return None;
        }
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        self.meter.taken(count);
        Some(lane.waiting.drain(..count).collect())
    }

    fn give_back(self: &Arc<Self>, key: LaneKey, taken: usize, left: Vec<Waiting>) {
        let mut lanes = self.lock();
        if left.is_empty() {
            if let Some(lane) = lanes.get_mut(&key) {
                lane.units_max = UNITS_MAX.min(lane.units_max * 2);
            }
            return;
        }
        let lane = self.lane(&mut lanes, key);
        lane.units_max = (taken - left.len()).max(1);
        self.waiting.fetch_add(left.len(), Ordering::Relaxed);
        self.meter.waiting(left.len());
        for waiting in left.into_iter().rev() {
            lane.waiting.push_front(waiting);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LaneKey, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many of the waiting units go together: at least one, at most so many, and no more lines
/// than [`LINES_MAX`] beyond the first.
fn batch_length(lines: impl Iterator<Item = usize>, units_max: usize) -> usize {
    let mut total = 0usize;
    let fitting = lines
        .take(units_max)
        .enumerate()
        .take_while(|(place, lines)| {
            total += lines;
            *place == 0 || total <= LINES_MAX
        });
    fitting.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_bounded_by_units_and_by_lines() {
        let length = |lines: &[usize], most| batch_length(lines.iter().copied(), most);
        assert_eq!(length(&[], 256), 0);
        assert_eq!(length(&[2; 300], 256), 256);
        assert_eq!(length(&[151; 300], 256), 13);
        assert_eq!(length(&[5_000, 1], 256), 1);
        assert_eq!(length(&[2; 300], 1), 1);
    }
}
