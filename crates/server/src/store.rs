//! The store that a URL names.
//!
//! Owns the choice of the adapter, the only place that knows more than one. Must not use a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use abasto_store::Store;
use abasto_store_mongo::{ConnectError, MigrateError, MongoStore};
use abasto_store_sqlite::{OpenError, Options, SqliteStore};
use secrecy::{ExposeSecret, SecretString};

use crate::config::StoreUrl;
use crate::exit::{Exit, Failure};
use crate::output::say;

/// Opens the store to serve it. What a replica set lacks is said and shows in readiness: another
/// instance may be migrating it just now.
pub(crate) async fn open(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open(Options::new(path))?)),
        StoreUrl::Mongo(address) => {
            let store = connect(address).await?;
            if !store.differences().await?.is_empty() {
                say("abasto: warning: the database needs `abasto migrate`; /readyz says why");
            }
            Ok(Arc::new(store))
        }
    }
}

/// Opens the store only to read it, also beside the process that serves it.
pub(crate) async fn open_read_only(url: &StoreUrl) -> Result<Arc<dyn Store>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open_read_only(path)?)),
        StoreUrl::Mongo(address) => Ok(Arc::new(connect(address).await?)),
    }
}

/// Brings the store to the newest schema; says what was done.
pub(crate) async fn migrate(url: &StoreUrl) -> Result<Vec<String>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => {
            let done = abasto_store_sqlite::migrate(path)?;
            Ok(match (done.from, done.to) {
                (0, to) => vec![format!("A new store with schema {to}.")],
                (from, to) if from == to => Vec::new(),
                (from, to) => vec![format!("From schema {from} to schema {to}.")],
            })
        }
        StoreUrl::Mongo(address) => Ok(connect(address).await?.migrate().await?),
    }
}

/// What the store lacks of the newest schema; empty when nothing.
pub(crate) async fn lacks(url: &StoreUrl) -> Result<Vec<String>, Failure> {
    match url {
        StoreUrl::Sqlite(path) => Ok(abasto_store_sqlite::check(path)?),
        StoreUrl::Mongo(address) => {
            let differences = connect(address).await?.differences().await?;
            Ok(differences.iter().map(ToString::to_string).collect())
        }
    }
}

async fn connect(address: &SecretString) -> Result<MongoStore, Failure> {
    Ok(MongoStore::connect(address.expose_secret()).await?)
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

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let exit = match error {
            ConnectError::Unreachable(_) => Exit::Unavailable,
            _ => Exit::Config,
        };
        Self::new(exit, error)
    }
}

impl From<MigrateError> for Failure {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Store(error) => error.into(),
            other => Self::new(Exit::Failure, other),
        }
    }
}
