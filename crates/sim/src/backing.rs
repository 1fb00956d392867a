//! The three stores that one case runs on: the model, the embedded one, a replica set.
//!
//! Owns their life: a file in memory, a database of its own in the shared set, both gone at the
//! end. Must not know what is kept there.

use std::path::Path;
use std::sync::Arc;

use abasto_store::Store;
use abasto_store_mongo::MongoStore;
use abasto_store_sqlite::{Options, SqliteStore};
use abasto_testbed::mongo_cluster::Scratch;
use anyhow::Context as _;
use tempfile::TempDir;

use crate::model::ModelStore;

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// The reference semantics, in memory.
    Model,
    /// The embedded store.
    Sqlite,
    /// The replica set of `TESTBED_MONGO_URI`, or one that this process starts.
    Mongo,
}

/// An open, empty store; dropping it removes what was kept.
pub struct Backed {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Goes after the store.
    _kept: Kept,
}

impl std::fmt::Debug for Backed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backed").finish_non_exhaustive()
    }
}

#[expect(dead_code, reason = "held for what they do when they are dropped")]
enum Kept {
    Nothing,
    Folder(TempDir),
    Database(Scratch),
}

impl Backing {
    /// Opens an empty store of this kind.
    ///
    /// # Errors
    /// When there is no folder, no set or no database to be had.
    pub async fn open(self) -> anyhow::Result<Backed> {
        match self {
            Self::Model => Ok(backed(ModelStore::new(), Kept::Nothing)),
            Self::Sqlite => {
                let folder = folder()?;
                let store = SqliteStore::open(Options::new(folder.path().join("abasto.db")))?;
                Ok(backed(store, Kept::Folder(folder)))
            }
            Self::Mongo => {
                let database = Scratch::new("case").context("a replica set")?;
                let store = MongoStore::connect(database.uri())
                    .await
                    .context("connect")?;
                store.migrate().await.context("migrate")?;
                Ok(backed(store, Kept::Database(database)))
            }
        }
    }
}

fn backed(store: impl Store + 'static, kept: Kept) -> Backed {
    Backed {
        store: Arc::new(store),
        _kept: kept,
    }
}

/// In memory where there is such a place: what is shown here does not depend on the disk.
fn folder() -> std::io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    }
}
