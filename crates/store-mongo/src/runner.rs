//! The transaction runner: attempts, commits, and what each error means for them.
//!
//! Owns the whole table. Must not know what a body does.
//!
//! | where | error | what the server holds | what happens here |
//! |---|---|---|---|
//! | body | transient label (112, 251, 24, network) | nothing | back off, run the body again |
//! | body | refused statement (11000, 121 …) | nothing, already aborted | the body decides: again, or end |
//! | body | a conditional write missed | open transaction | abort, the body again |
//! | body | 50, no time left | nothing | again while the deadline allows |
//! | body | anything else | nothing | end: a defect |
//! | commit | none, for the first time | applied by the primary | the next batch may begin; commit again |
//! | commit | none, once more | committed by a majority | done |
//! | commit | transient label (251, 112) | nothing | back off, run the body again |
//! | commit | 225 | unknown to us: the session was used again | end: unknown, a defect |
//! | commit | anything else, or no answer | unknown | commit again on the same session |
//!
//! A commit is sent twice. The first asks the primary alone, so that the next batch of the lane can
//! read what this one wrote; the second, which the driver sends with write concern majority, is what
//! callers wait for. A batch that read what a majority never gets cannot commit either: its entry
//! comes later in the same log.
//!
//! A commit that is still unknown at the deadline is answered as such, and goes on being committed
//! in the background for as long as the server may keep the transaction open. A future of the
//! driver is dropped only here, at a time limit of ours, never because a caller went away: a
//! dropped body loses its session, which aborts it; a dropped commit is sent again on its session.

use std::sync::Arc;
use std::time::Duration;

use abasto_store::meter::CommitMeter;
use async_trait::async_trait;
use mongodb::error::Error;
use mongodb::options::{
    Acknowledgment, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern,
};
use mongodb::{Client, ClientSession, Database};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::budget::Budget;
use crate::deadline::Deadline;
use crate::fault::{self, Fault, brief, code, is_transient};
use crate::transaction::Transaction;

/// Longest wait between two attempts, in milliseconds.
const BACKOFF_MS_MAX: u64 = 50;
/// Longest wait for the answer of one commit before it is sent again.
const COMMIT_ANSWER: Duration = Duration::from_millis(1500);
/// How long an unknown commit is pursued: the longest that a server keeps a transaction by default.
const SETTLE: Duration = Duration::from_secs(60);
const SETTLE_PAUSE: Duration = Duration::from_millis(500);
/// How long an abort is waited for; without it the server aborts by itself, later.
const ABORT_ANSWER: Duration = Duration::from_millis(500);

/// What runs inside a transaction. It may run many times, so whatever it reads or decides must come
/// from the transaction alone.
#[async_trait]
pub(crate) trait Body: Send {
    /// What an attempt comes to.
    type Out: Send;

    /// One attempt.
    async fn attempt(&mut self, transaction: &mut Transaction<'_>) -> Result<Self::Out, Fault>;

    /// Whether to run again after a fault that is about what was written, not about the server.
    async fn after(&mut self, fault: Fault) -> Result<(), Fault>;

    /// Called when attempts keep conflicting: do less at once if possible.
    fn shrink(&mut self);
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum End<T> {
    /// Committed by a majority.
    Committed(T),
    /// Surely not committed.
    NotCommitted(Cause),
    /// It may be committed, now or later.
    Unknown(T),
}

/// Why nothing was committed.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The deadline passed; the text names the last error.
    OutOfTime(String),
    /// The process-wide budget of retries is spent; the text names the last error.
    OutOfBudget(String),
    /// The body ended it.
    Fault(Fault),
}

/// Told when a batch is applied, so that the next one may begin. Dropped, it says that the batch is
/// over.
#[derive(Debug)]
pub(crate) struct Applied(Option<oneshot::Sender<()>>);

impl Applied {
    /// One, and what waits for it.
    pub(crate) fn channel() -> (Self, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Some(sender)), receiver)
    }

    fn tell(&mut self) {
        if let Some(waiting) = self.0.take() {
            // Nobody has to wait for it.
            let _ = waiting.send(());
        }
    }
}

/// Runs bodies in transactions.
#[derive(Debug)]
pub(crate) struct Runner {
    pub(crate) database: Database,
    pub(crate) budget: Budget,
    meter: Arc<CommitMeter>,
}

enum Attempt<T> {
    Committed(T),
    Again(String),
    Unknown(T, Box<ClientSession>),
    Failed(Fault),
}

impl Runner {
    pub(crate) const fn new(database: Database, meter: Arc<CommitMeter>) -> Self {
        Self {
            database,
            budget: Budget::full(),
            meter,
        }
    }

    /// Runs a body until it commits, cannot, or the deadline passes.
    ///
    /// Tells once when the primary has applied it, before a majority has.
    pub(crate) async fn run<B: Body>(
        &self,
        body: &mut B,
        deadline: Deadline,
        mut applied: Applied,
    ) -> End<B::Out> {
        for attempt in 1u32.. {
            match self.attempt(body, deadline, &mut applied).await {
                Attempt::Committed(out) => return End::Committed(out),
                Attempt::Failed(fault) => return End::NotCommitted(Cause::Fault(fault)),
                Attempt::Unknown(out, session) => {
                    tracing::warn!(attempt, "commit outcome unknown at the deadline");
                    tokio::spawn(settle(session));
                    return End::Unknown(out);
                }
                Attempt::Again(why) => {
                    tracing::debug!(attempt, why, "transaction runs again");
                    if deadline.has_passed() {
                        return End::NotCommitted(Cause::OutOfTime(why));
                    }
                    if !self.budget.take() {
                        return End::NotCommitted(Cause::OutOfBudget(why));
                    }
                    self.meter.retried();
                    if attempt > 2 {
                        body.shrink();
                    }
                    sleep(backoff(attempt).min(deadline.left())).await;
                }
            }
        }
        End::NotCommitted(Cause::OutOfTime("too many attempts".to_owned()))
    }

    async fn attempt<B: Body>(
        &self,
        body: &mut B,
        deadline: Deadline,
        applied: &mut Applied,
    ) -> Attempt<B::Out> {
        let mut session = match self.start(deadline).await {
            Ok(session) => session,
            Err(error) if fault::is_away(&error) => return Attempt::Again(brief(&error)),
            Err(error) => return Attempt::Failed(Fault::Driver(error)),
        };
        let mut transaction = Transaction {
            database: &self.database,
            session: &mut session,
            deadline,
        };
        let ran = timeout(deadline.left(), body.attempt(&mut transaction)).await;
        match ran {
            Ok(Ok(out)) => self.commit(session, out, deadline, applied).await,
            Ok(Err(fault)) => {
                abort(&mut session).await;
                after_body(body, fault).await
            }
            Err(_) => Attempt::Again("the database did not answer in time".to_owned()),
        }
    }

    async fn start(&self, deadline: Deadline) -> Result<ClientSession, Error> {
        let client: &Client = self.database.client();
        let mut session = client.start_session().await?;
        // Of the first commit; the driver sends every further one with majority.
        let primary = WriteConcern::builder().w(Acknowledgment::Nodes(1)).build();
        session
            .start_transaction()
            .read_concern(ReadConcern::snapshot())
            .write_concern(primary)
            .selection_criteria(SelectionCriteria::ReadPreference(ReadPreference::Primary))
            .max_commit_time(deadline.max_time())
            .await?;
        Ok(session)
    }

    async fn commit<T>(
        &self,
        mut session: ClientSession,
        out: T,
        deadline: Deadline,
        applied: &mut Applied,
    ) -> Attempt<T> {
        let mut confirmed = 0;
        loop {
            let answer = COMMIT_ANSWER.min(deadline.left());
            match timeout(answer, session.commit_transaction()).await {
                Ok(Ok(())) if confirmed == 0 => {
                    confirmed += 1;
                    applied.tell();
                }
                Ok(Ok(())) => return Attempt::Committed(out),
                Ok(Err(error)) if is_transient(&error) => return Attempt::Again(brief(&error)),
                Ok(Err(error)) => {
                    let (code, label) = (code(&error), fault::label(&error));
                    tracing::warn!(code, label, "commit not confirmed: {}", brief(&error));
                    if code == Some(fault::TRANSACTION_TOO_OLD) {
                        tracing::error!("a session was used again before its commit was known");
                        return Attempt::Unknown(out, Box::new(session));
                    }
                    sleep(Duration::from_millis(5).min(deadline.left())).await;
                }
                Err(_) => tracing::warn!("a commit was not answered in time"),
            }
            if deadline.has_passed() {
                return Attempt::Unknown(out, Box::new(session));
            }
        }
    }
}

/// What a fault of the body means.
async fn after_body<B: Body>(body: &mut B, fault: Fault) -> Attempt<B::Out> {
    match fault {
        Fault::Driver(error) if is_transient(&error) || fault::is_away(&error) => {
            Attempt::Again(brief(&error))
        }
        Fault::Driver(error) => {
            let (code, label) = (code(&error), fault::label(&error));
            tracing::error!(code, label, "transaction failed: {}", brief(&error));
            Attempt::Failed(Fault::Driver(error))
        }
        fault => {
            let why = format!("{fault:?}");
            match body.after(fault).await {
                Ok(()) => Attempt::Again(why),
                Err(fault) => Attempt::Failed(fault),
            }
        }
    }
}

async fn abort(session: &mut ClientSession) {
    // The server has aborted already after most faults, and does it by itself otherwise.
    if timeout(ABORT_ANSWER, session.abort_transaction())
        .await
        .is_err()
    {
        tracing::debug!("an abort was not answered in time");
    }
}

/// Commits an unknown session until the server has an answer for it, so that its locks and its
/// outcome settle without the client.
async fn settle(mut session: Box<ClientSession>) {
    let deadline = Deadline::after(SETTLE);
    while !deadline.has_passed() {
        match timeout(COMMIT_ANSWER, session.commit_transaction()).await {
            Ok(Ok(())) => return tracing::info!("an unknown commit settled: committed"),
            Ok(Err(error)) if is_transient(&error) => {
                return tracing::info!("an unknown commit settled: not committed");
            }
            Ok(Err(error)) if code(&error) == Some(fault::TRANSACTION_TOO_OLD) => return,
            Ok(Err(_)) | Err(_) => sleep(SETTLE_PAUSE).await,
        }
    }
    tracing::error!("an unknown commit did not settle");
}

/// Full jitter below a bound that doubles up to [`BACKOFF_MS_MAX`].
fn backoff(attempt: u32) -> Duration {
    let most = BACKOFF_MS_MAX.min(1u64.checked_shl(attempt).unwrap_or(BACKOFF_MS_MAX));
    let random = getrandom::u64().unwrap_or(u64::MAX / 2);
    Duration::from_micros(random % (most * 1_000 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_is_jittered_and_bounded() {
        for attempt in [1, 2, 5, 6, 31, 32, 64, u32::MAX] {
            let waits: Vec<_> = (0..200).map(|_| backoff(attempt)).collect();
            let most = BACKOFF_MS_MAX.min(1u64.checked_shl(attempt).unwrap_or(u64::MAX));
            assert!(
                waits
                    .iter()
                    .all(|wait| *wait <= Duration::from_millis(most)),
                "{attempt}"
            );
            assert!(waits.iter().any(|wait| *wait != waits[0]), "{attempt}");
        }
    }
}
