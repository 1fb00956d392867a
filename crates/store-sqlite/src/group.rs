//! A group of units as one transaction.
//!
//! Owns the poison rule: an error of any statement rolls the whole transaction back (SQLite alone
//! would undo only the statement and commit the rest). Must not know threads or queues.

use abasto_store::StoreError;
use abasto_store::heads::Heads;
use abasto_store::resolve::resolve;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::Verdict;
use rusqlite::{Connection, TransactionBehavior};

use crate::effect;
use crate::error::{Trouble, store_error, trouble};
use crate::head::Memory;

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// SQLite refused a statement.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// A record cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A row that was read before is not there any more.
    #[error("a row of {0} is not as it was read")]
    Lost(&'static str),
    /// A head cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a group failed as a whole; nothing of it was written, unless said otherwise.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The disk is full or cannot be written: no other unit would fare better.
    Storage(String),
    /// Making the commit durable failed: it may survive a crash or not.
    Unknown(String),
    /// One of its units, a defect, or damage.
    Units(StoreError),
}

/// What became of a group.
pub(crate) struct Decided {
    /// One verdict per unit, in order.
    pub(crate) verdicts: Vec<Verdict>,
    /// How many units wrote something.
    pub(crate) written: usize,
}

/// Decides the units in order and commits once.
pub(crate) fn commit<'u>(
    connection: &mut Connection,
    memory: &mut Memory,
    units: impl Iterator<Item = &'u UnitOfWork>,
) -> Result<Decided, Failure> {
    let result = attempt(connection, memory, units);
    if result.is_err() {
        memory.forget();
    }
    result
}

fn attempt<'u>(
    connection: &mut Connection,
    memory: &mut Memory,
    units: impl Iterator<Item = &'u UnitOfWork>,
) -> Result<Decided, Failure> {
    // Dropping the transaction rolls it back.
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| Failure::from(WriteError::from(error)))?;
    let decided = decide(&transaction, memory, units).map_err(Failure::from)?;
    if decided.written > 0 {
        transaction.commit().map_err(commit_failure)?;
    }
    Ok(decided)
}

fn decide<'u>(
    connection: &Connection,
    memory: &mut Memory,
    units: impl Iterator<Item = &'u UnitOfWork>,
) -> Result<Decided, WriteError> {
    memory.revalidate(connection)?;
    let mut heads = Heads::default();
    let mut verdicts = Vec::with_capacity(units.size_hint().0);
    let mut effects = Vec::with_capacity(units.size_hint().0);
    for unit in units {
        memory.read(connection, &mut heads, unit)?;
        verdicts.push(match resolve(&mut heads, unit) {
            Ok(effect) => {
                let verdict = Verdict::Committed(effect.reply.clone());
                effects.push(effect);
                verdict
            }
            Err(verdict) => verdict,
        });
    }
    effect::write(connection, memory, &heads, &effects)?;
    Ok(Decided {
        verdicts,
        written: effects.len(),
    })
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Database(error) if trouble(&error) == Trouble::Storage => {
                Self::Storage(error.to_string())
            }
            WriteError::Database(error) => Self::Units(store_error(error)),
            WriteError::Store(StoreError::Unavailable(why)) => Self::Storage(why),
            WriteError::Store(error) => Self::Units(error),
            error => Self::Units(StoreError::Backend(Box::new(error))),
        }
    }
}

/// A full disk leaves the commit record unwritten; any other failure of the disk may strike after
/// it was.
fn commit_failure(error: rusqlite::Error) -> Failure {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::SystemIoFailure) => Failure::Unknown(error.to_string()),
        _ => Failure::from(WriteError::from(error)),
    }
}
