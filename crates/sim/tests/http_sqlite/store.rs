//! A file of its own for each installation.

use std::sync::Arc;

use abasto_store::Store;
use abasto_store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

/// The folder of the file; it goes away with this value.
pub(crate) type Kept = Arc<TempDir>;

/// A store with nothing in it.
pub(crate) fn open() -> (Arc<dyn Store>, Kept) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Options::new(folder.path().join("abasto.db"))).unwrap();
    (Arc::new(store), Arc::new(folder))
}
