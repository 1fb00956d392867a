//! The writer: one thread that takes what waits and commits it as a group.
//!
//! Owns the write connection and the answers. When a group fails, each of its units is tried once
//! more alone, so that a bad one cannot hurt its neighbours. There is no timer: while one commit is
//! being made durable the next group gathers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use abasto_store::StoreError;
use abasto_store::meter::CommitMeter;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::Verdict;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::checkpoint::Checkpoints;
use crate::group::{self, Decided, Failure};
use crate::head::Memory;
use crate::health::Standing;
use crate::queue::{Lane, Limits, Queue, Refused};

/// What is asked of the writer.
#[derive(Debug)]
pub(crate) enum Job {
    /// Decide and write a unit.
    Commit {
        unit: Box<UnitOfWork>,
        answer: oneshot::Sender<Result<Verdict, StoreError>>,
    },
    /// Find out whether the disk can be written again.
    Probe { done: oneshot::Sender<()> },
}

/// What the writer has done since it began.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Transactions that wrote something.
    pub(crate) commits: AtomicU64,
    /// Units that were answered by them, refused ones included.
    pub(crate) units: AtomicU64,
    /// Groups that had to be tried again unit by unit.
    pub(crate) broken: AtomicU64,
}

/// Everything that the thread shares with the store.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) queue: Queue<Job>,
    pub(crate) standing: Standing,
    pub(crate) written: Written,
    pub(crate) meter: CommitMeter,
    /// Most pages of the file; 0 means no bound but the disk's.
    pub(crate) pages_max: AtomicU64,
}

impl Shared {
    /// Before anything waits; 0 pages are no bound.
    pub(crate) fn new(limits: Limits, pages_max: u64) -> Self {
        Self {
            queue: Queue::new(limits),
            standing: Standing::default(),
            written: Written::default(),
            meter: CommitMeter::new("sqlite"),
            pages_max: AtomicU64::new(pages_max),
        }
    }

    /// Lets a job wait for the writer.
    pub(crate) fn ask(&self, lane: Lane, job: Job) -> Result<(), Refused> {
        // Before it can be taken, so that the depth is never below zero.
        self.meter.waiting(1);
        let asked = self.queue.push(lane, job);
        if let Err(why) = asked {
            self.meter.taken(1);
            if why == Refused::Full {
                self.meter.overloaded();
            }
        }
        asked
    }
}

/// Starts the thread. It ends when the queue is closed and empty.
pub(crate) fn start(
    connection: Connection,
    checkpoints: Checkpoints,
    shared: Arc<Shared>,
) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || Writer::new(connection, checkpoints, shared).run())
}

/// The thread's own.
pub(crate) struct Writer {
    // Dropped before the connection, which is then the last one and empties the log.
    checkpoints: Checkpoints,
    connection: Connection,
    shared: Arc<Shared>,
    memory: Memory,
    pages_max: u64,
}

struct Waiting {
    unit: Box<UnitOfWork>,
    answer: oneshot::Sender<Result<Verdict, StoreError>>,
}

impl Waiting {
    /// The asker may have gone; what was done stays done.
    fn answer(self, result: Result<Verdict, StoreError>) {
        let _ = self.answer.send(result);
    }
}

impl Writer {
    pub(crate) fn new(
        connection: Connection,
        checkpoints: Checkpoints,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            connection,
            checkpoints,
            shared,
            memory: Memory::default(),
            pages_max: 0,
        }
    }

    fn run(mut self) {
        loop {
            let jobs = self.shared.queue.take();
            if jobs.is_empty() {
                break;
            }
            self.shared.meter.taken(jobs.len());
            self.bound_file();
            self.serve(jobs);
        }
        // Statistics for the planner, from what was learnt while it ran; nothing depends on them.
        let _ = self.connection.execute_batch("PRAGMA optimize");
    }

    /// Serves what was taken from the queue as one group.
    pub(crate) fn serve(&mut self, jobs: Vec<Job>) {
        let mut group = Vec::with_capacity(jobs.len());
        for job in jobs {
            match job {
                Job::Commit { unit, answer } => group.push(Waiting { unit, answer }),
                Job::Probe { done } => {
                    self.probe();
                    let _ = done.send(());
                }
            }
        }
        if group.is_empty() {
            return;
        }
        match self.shared.standing.refusal() {
            Some(why) => refuse(group, &StoreError::Unavailable(why)),
            None => self.serve_group(group),
        }
    }

    fn serve_group(&mut self, group: Vec<Waiting>) {
        match self.commit(&group) {
            Ok(decided) => {
                let written = decided.written > 0;
                answer_all(group, decided);
                if written {
                    self.checkpoints.committed(&self.connection);
                }
            }
            Err(Failure::Units(_)) if group.len() > 1 => {
                self.shared.written.broken.fetch_add(1, Ordering::Relaxed);
                self.shared.meter.retried();
                for waiting in group {
                    self.serve_group(vec![waiting]);
                }
            }
            Err(Failure::Units(error)) => refuse(group, &error),
            Err(Failure::Storage(why)) => refuse(group, &StoreError::Unavailable(why)),
            Err(Failure::Unknown(_)) => refuse(group, &StoreError::OutcomeUnknown),
        }
    }

    fn commit(&mut self, group: &[Waiting]) -> Result<Decided, Failure> {
        let units = group.iter().map(|waiting| &*waiting.unit);
        let began = Instant::now();
        let result = group::commit(&mut self.connection, &mut self.memory, units);
        match &result {
            Ok(decided) if decided.written > 0 => {
                let written = &self.shared.written;
                written.commits.fetch_add(1, Ordering::Relaxed);
                let answered = u64::try_from(group.len()).unwrap_or(u64::MAX);
                written.units.fetch_add(answered, Ordering::Relaxed);
                self.shared.meter.committed(group.len(), began.elapsed());
                self.shared.standing.written();
            }
            Ok(_) | Err(Failure::Units(_)) => {}
            Err(Failure::Storage(why) | Failure::Unknown(why)) => {
                self.shared.standing.cannot_write(why);
            }
        }
        result
    }

    /// Writes as much as a group may need and takes it away again.
    fn probe(&mut self) {
        const PROBE: &str = "BEGIN IMMEDIATE; \
            CREATE TABLE probe (filler BLOB NOT NULL) STRICT; \
            INSERT INTO probe (filler) VALUES (zeroblob(262144)); \
            DROP TABLE probe; \
            COMMIT;";
        match self.connection.execute_batch(PROBE) {
            Ok(()) => self.shared.standing.written(),
            Err(error) => {
                // Nothing to roll back when it was BEGIN that failed.
                let _ = self.connection.execute_batch("ROLLBACK");
                self.shared.standing.cannot_write(&error.to_string());
            }
        }
    }

    fn bound_file(&mut self) {
        let wanted = self.shared.pages_max.load(Ordering::Relaxed);
        if wanted != self.pages_max {
            let most = if wanted == 0 {
                i64::from(u32::MAX - 1)
            } else {
                i64::try_from(wanted).unwrap_or(i64::MAX)
            };
            let set = self.connection.pragma_update(None, "max_page_count", most);
            if set.is_ok() {
                self.pages_max = wanted;
            }
        }
    }
}

fn answer_all(group: Vec<Waiting>, decided: Decided) {
    for (waiting, verdict) in group.into_iter().zip(decided.verdicts) {
        waiting.answer(Ok(verdict));
    }
}

fn refuse(group: Vec<Waiting>, error: &StoreError) {
    for waiting in group {
        waiting.answer(Err(copy(error)));
    }
}

/// The same error for one more asker.
fn copy(error: &StoreError) -> StoreError {
    match error {
        StoreError::Overloaded => StoreError::Overloaded,
        StoreError::Unavailable(why) => StoreError::Unavailable(why.clone()),
        StoreError::OutcomeUnknown => StoreError::OutcomeUnknown,
        StoreError::Corrupt(what) => StoreError::Corrupt(what.clone()),
        StoreError::Backend(source) => StoreError::Backend(source.to_string().into()),
    }
}

#[cfg(test)]
impl Writer {
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}
