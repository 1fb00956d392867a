//! Whether the database is as it must be for writes.
//!
//! Owns the remembered answer. A store without one of its unique indexes refuses every unit.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use abasto_store::StoreError;
use mongodb::Database;

use crate::migrate::{self, Difference};

/// How long a refusal stands before the database is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What the last look found.
#[derive(Debug)]
pub(crate) struct Readiness {
    database: Database,
    state: Mutex<State>,
}

#[derive(Debug, Clone)]
struct State {
    /// Why writes are refused; empty when they are not.
    refusals: Vec<String>,
    looked_at: Option<Instant>,
}

impl Readiness {
    /// Unknown yet: the first unit has to look.
    pub(crate) fn unknown(database: Database) -> Self {
        let refusals = vec!["not looked at yet".to_owned()];
        let state = State {
            refusals,
            looked_at: None,
        };
        Self {
            database,
            state: Mutex::new(state),
        }
    }

    /// Looks at collections and indexes and says everything that is different.
    pub(crate) async fn look(&self) -> Result<Vec<Difference>, StoreError> {
        let differences = migrate::differences(&self.database).await?;
        let refusing = differences
            .iter()
            .filter(|difference| difference.refuses_writes());
        let refusals: Vec<String> = refusing.map(ToString::to_string).collect();
        *self.lock() = State {
            refusals,
            looked_at: Some(Instant::now()),
        };
        Ok(differences)
    }

    /// Refuses writes while a rule of uniqueness would not hold.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        if self.lock().refusals.is_empty() {
            return Ok(());
        }
        let fresh = |at: Instant| at.elapsed() < LOOK_AGAIN;
        if !self.lock().looked_at.is_some_and(fresh) {
            self.look().await?;
        }
        match self.lock().refusals.first() {
            None => Ok(()),
            Some(first) => Err(StoreError::Unavailable(format!(
                "{first}; run `abasto migrate`"
            ))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
