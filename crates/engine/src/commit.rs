//! Decide, commit, decide again when stale: the loop that every writing use case runs in.
//!
//! Owns retries and their bound, the detachment of a command from its caller, and the rule that a
//! finished key is answered before any refusal. Must not know what is decided.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use abasto_store::record::{Document, HeadKey};
use abasto_store::unit::{OperationDraft, UnitOfWork};
use abasto_store::verdict::{Rejection, Reply, StockReply, Verdict};

use crate::Engine;
use crate::cache::Freshness;
use crate::counter::{SHORTAGES, STALE};
use crate::error::Error;

/// How often a decision is made anew before the caller is told that others are in the way.
const DECISIONS_MAX: u32 = 10;
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Counts a command that is refused for lack of units.
pub(crate) fn count_shortage<T>(of: &'static str, outcome: Result<T, Error>) -> Result<T, Error> {
    if let Err(Error::InsufficientStock(_)) = &outcome {
        metrics::counter!(SHORTAGES, "of" => of).increment(1);
    }
    outcome
}

/// A committed or replayed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done<T> {
    /// What was done, then or now.
    pub value: T,
    /// Whether it was done by an earlier request under the same key.
    pub replayed: bool,
}

impl<T> Done<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> Result<U, Error>) -> Result<Done<U>, Error> {
        Ok(Done {
            value: f(self.value)?,
            replayed: self.replayed,
        })
    }
}

/// Takes the document out of an answer.
pub(crate) fn document(reply: Reply) -> Result<Document, Error> {
    match reply {
        Reply::Document(document) => Ok(document),
        _ => Err(Error::defect("a document was expected as answer")),
    }
}

/// Takes the movements out of an answer.
pub(crate) fn stock(reply: Reply) -> Result<Arc<StockReply>, Error> {
    match reply {
        Reply::Stock(stock) => Ok(stock),
        _ => Err(Error::defect("movements were expected as answer")),
    }
}

impl Engine {
    /// Runs a command in a task of its own: a caller that goes away cancels nothing.
    pub(crate) async fn detached<T, F>(&self, command: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        match tokio::spawn(command).await {
            Ok(result) => result,
            Err(error) => Err(Error::Internal(Box::new(error))),
        }
    }

    /// Decides and commits until there is a verdict. `decide` is called with
    /// [`Freshness::Cached`] first and with [`Freshness::Fresh`] after that.
    pub(crate) async fn settle<D, F>(
        &self,
        business: abasto_domain::id::BusinessId,
        operation: Option<&OperationDraft>,
        decide: D,
    ) -> Result<Done<Reply>, Error>
    where
        D: Fn(Freshness) -> F + Send,
        F: Future<Output = Result<UnitOfWork, Error>> + Send,
    {
        let mut freshness = Freshness::Cached;
        for attempt in 0..DECISIONS_MAX {
            let unit = match decide(freshness).await {
                Ok(unit) => unit,
                Err(error) if freshness == Freshness::Cached && error.may_be_stale() => {
                    freshness = Freshness::Fresh;
                    continue;
                }
                Err(error) => return self.finished(business, operation, error).await,
            };
            let touched: Vec<_> = unit.puts.iter().map(|put| put.next.key()).collect();
            let verdict = self.store.commit(unit).await;
            // Committed now or before, or nobody knows: what is remembered of these is not what is
            // stored.
            if matches!(
                verdict,
                Ok(Verdict::Committed(_) | Verdict::Replayed(_)) | Err(_)
            ) {
                for key in touched {
                    self.documents.forget(business, key);
                }
            }
            match verdict? {
                Verdict::Committed(reply) => {
                    return Ok(Done {
                        value: reply,
                        replayed: false,
                    });
                }
                Verdict::Replayed(reply) => {
                    return Ok(Done {
                        value: reply,
                        replayed: true,
                    });
                }
                Verdict::KeyReused => return Err(Error::KeyReused),
                Verdict::Rejected(Rejection::Short(short)) => {
                    return Err(Error::InsufficientStock(short));
                }
                Verdict::Rejected(Rejection::Taken(claim)) => return Err(Error::Taken(claim)),
                Verdict::Rejected(Rejection::Bound(key)) => return Err(Error::Exhausted(key)),
                Verdict::Rejected(Rejection::DotTaken(_)) => return Err(Error::Contended),
                Verdict::Stale(key) => {
                    metrics::counter!(STALE).increment(1);
                    self.note_stale(business, &key);
                    freshness = Freshness::Fresh;
                    self.pause(attempt).await;
                }
            }
        }
        Err(Error::Contended)
    }

    pub(crate) fn note_stale(&self, business: abasto_domain::id::BusinessId, key: &HeadKey) {
        if let HeadKey::Document(key) = key {
            self.documents.forget(business, *key);
        }
    }

    /// Full jitter; the first repetition comes at once.
    pub(crate) async fn pause(&self, attempt: u32) {
        if attempt == 0 {
            return;
        }
        let ceiling = Duration::from_millis(1 << attempt.min(6)).min(PAUSE_MAX);
        let mut random = [0; 1];
        let share = getrandom::fill(&mut random).map_or(1.0, |()| f64::from(random[0]) / 255.0);
        tokio::time::sleep(ceiling.mul_f64(share)).await;
    }

    /// A refusal of a command whose key already finished is that key's business: the first answer
    /// again, or the news that the key stands for something else.
    async fn finished(
        &self,
        business: abasto_domain::id::BusinessId,
        operation: Option<&OperationDraft>,
        refusal: Error,
    ) -> Result<Done<Reply>, Error> {
        let Some(draft) = operation else {
            return Err(refusal);
        };
        match self.store.operation(business, &draft.key).await? {
            None => Err(refusal),
            Some(done) if done.fingerprint == draft.fingerprint => Ok(Done {
                value: done.reply,
                replayed: true,
            }),
            Some(_) => Err(Error::KeyReused),
        }
    }
}
