//! The store that a URL names.
//!
//! Owns the choice of the adapter, the only place that knows more than one. Must not use a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abasto_store::Store;
use abasto_store_sqlite::{OpenError, Options, SqliteStore};

use crate::config::StoreUrl;
use crate::exit::{Exit, Failure};

/// Opens the store to serve it.
pub(crate) fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open(Options::new(path))?)),
        StoreUrl::Mongo(_) => Err(no_mongo()),
    }
}

/// Opens the store only to read it, also beside the process that serves it.
pub(crate) fn open_read_only(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open_read_only(path)?)),
        StoreUrl::Mongo(_) => Err(no_mongo()),
    }
}

/// Brings the store to the newest schema; says what was done.
pub(crate) fn migrate(url: &StoreUrl) -> Result<String, Failure> {
    match url {
        StoreUrl::Sqlite(path) => {
            let done = abasto_store_sqlite::migrate(path)?;
            Ok(match (done.from, done.to) {
                (0, to) => format!("A new store with schema {to}."),
                (from, to) if from == to => format!("Already at schema {to}."),
                (from, to) => format!("From schema {from} to schema {to}."),
            })
        }
        StoreUrl::Mongo(_) => Err(no_mongo()),
    }
}

/// What the store lacks of the newest schema; empty when nothing.
pub(crate) fn lacks(url: &StoreUrl) -> Result<Vec<String>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(abasto_store_sqlite::check(path)?),
        StoreUrl::Mongo(_) => Err(no_mongo()),
    }
}

/// A file beside the store's own; nothing where the store is no file.
pub(crate) fn beside(url: &StoreUrl, suffix: &str) -> Option<PathBuf> {
    match url {
        StoreUrl::Sqlite(path) => Some(with_suffix(path, suffix)),
        StoreUrl::Mongo(_) => None,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn no_mongo() -> Failure {
    Failure::new(
        Exit::Config,
        "this version keeps everything in sqlite:PATH; MongoDB is not in it",
    )
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = match error {
            OpenError::Missing(_) | OpenError::Foreign(_) => Exit::Config,
            OpenError::Newer { .. } | OpenError::Older { .. } => Exit::Failure,
            OpenError::Locked { .. } | OpenError::Io { .. } | OpenError::Database { .. } => {
                Exit::Unavailable
            }
        };
        Self::new(exit, error)
    }
}

impl From<abasto_store::StoreError> for Failure {
    fn from(error: abasto_store::StoreError) -> Self {
        use abasto_store::StoreError as E;
        let exit = match error {
            E::Overloaded | E::Unavailable(_) | E::OutcomeUnknown => Exit::Unavailable,
            E::Corrupt(_) | E::Backend(_) => Exit::Failure,
        };
        Self::new(exit, error)
    }
}
