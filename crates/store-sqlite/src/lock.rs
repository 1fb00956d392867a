//! The lock that keeps a second server away from a file.
//!
//! Owns the file beside the store that is locked. Not the store's own file: closing a second handle
//! of that would drop the locks that SQLite itself holds on it. The system drops the lock with the
//! process, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::OpenError;

/// The lock, held as long as this lives.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

/// The file that is locked for a store.
fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    PathBuf::from(name)
}

impl FileLock {
    /// Takes the lock of a store, or says who holds it.
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let io = |source| OpenError::Io {
            path: path.to_owned(),
            source,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(lock_path(path))
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Only for the message.
                let _ = file.read_to_string(&mut holder);
                return Err(OpenError::Locked {
                    path: path.to_owned(),
                    holder: holder.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let holder = format!("process {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(io)?;
        Ok(Self { _file: file })
    }
}
