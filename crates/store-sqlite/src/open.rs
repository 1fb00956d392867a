//! Opening the file: connections and what they are told first.
//!
//! Owns every PRAGMA. Must not know what is stored.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::OpenError;
use crate::migration;
use crate::queue::Limits;

/// How long a statement waits for another connection. With one writer only a migration, a backup
/// or a foreign tool can be in the way.
const BUSY: Duration = Duration::from_secs(5);

/// Bytes that the write-ahead log keeps when it begins anew.
const LOG_KEPT: i64 = 64 << 20;

/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 128;

/// How to open a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The file.
    pub path: PathBuf,
    /// Threads that read.
    pub readers: usize,
    /// Reads that may wait for them.
    pub reads_waiting_max: usize,
    /// Units that may wait for the writer.
    pub limits: Limits,
    /// Largest size of the file in bytes; `None` leaves it to the disk.
    pub file_bytes_max: Option<u64>,
}

impl Options {
    /// The defaults, for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 4,
            reads_waiting_max: 4_096,
            limits: Limits::default(),
            file_bytes_max: None,
        }
    }
}

/// The connection that writes, and the schema of its file (0: empty). Makes the file when there is
/// none.
pub(crate) fn writing(path: &Path) -> Result<(Connection, i64), OpenError> {
    let connect = || {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        Ok(connection)
    };
    let connection = connect().map_err(|error| database(path, error))?;
    // Before anything is changed: the file may be somebody else's.
    let schema = migration::version(&connection, path)?;
    let prepare = || {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", -32_768)?;
        // See `crate::checkpoint`.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.pragma_update(None, "journal_size_limit", LOG_KEPT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(())
    };
    prepare().map_err(|error| database(path, error))?;
    Ok((connection, schema))
}

/// A connection that only reads; the file must be there.
pub(crate) fn reading(path: &Path) -> Result<Connection, OpenError> {
    if !path.exists() {
        return Err(OpenError::Missing(path.to_owned()));
    }
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "cache_size", -4_096)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| database(path, error))
}

/// An error of SQLite while opening.
pub(crate) fn database(path: &Path, source: rusqlite::Error) -> OpenError {
    if source.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
        return OpenError::Foreign(path.to_owned());
    }
    OpenError::Database {
        path: path.to_owned(),
        source: Box::new(source),
    }
}
