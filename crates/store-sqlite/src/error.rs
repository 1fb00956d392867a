//! What can go wrong with the file, and what it means for callers.
//!
//! Owns the reading of SQLite's result codes. No other module looks at them.

use std::path::PathBuf;

use abasto_store::StoreError;
use rusqlite::ErrorCode;

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process serves the file.
    #[error("{path} is already being served by another process ({holder})")]
    Locked {
        /// The file.
        path: PathBuf,
        /// What is known of the other process.
        holder: String,
    },
    /// There is no such file.
    #[error("{0} does not exist")]
    Missing(PathBuf),
    /// The file is no store of Abasto.
    #[error("{0} is not a store of Abasto")]
    Foreign(PathBuf),
    /// A newer version of Abasto wrote the file.
    #[error("{path} has schema {found}, but this version of Abasto knows only up to {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The newest schema that this code knows.
        known: i64,
    },
    /// An older version of Abasto wrote the file.
    #[error(
        "{path} has schema {found}, this version of Abasto needs {known}: run `abasto migrate`"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: i64,
        /// The schema that this code needs.
        known: i64,
    },
    /// The system refused something.
    #[error("{path} cannot be opened: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite refused something.
    #[error("{path} cannot be opened: {source}")]
    Database {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What a failed statement says about the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is no room, or the disk cannot be written: no unit can be.
    Storage,
    /// Only this statement: a constraint, a defect of ours.
    Statement,
    /// The file is damaged.
    Damage,
}

/// Reads a result code.
pub(crate) fn trouble(error: &rusqlite::Error) -> Trouble {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory,
        ) => Trouble::Storage,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Trouble::Damage,
        _ => Trouble::Statement,
    }
}

/// What a caller is told.
pub(crate) fn store_error(error: rusqlite::Error) -> StoreError {
    match trouble(&error) {
        Trouble::Storage => StoreError::Unavailable(error.to_string()),
        Trouble::Damage => StoreError::Corrupt(error.to_string()),
        Trouble::Statement => StoreError::Backend(Box::new(error)),
    }
}
