//! The embedded store passes the suite that every store passes, restarts included.
#![expect(clippy::expect_used, reason = "a test may fail")]

use std::sync::Arc;

use abasto_store::Store;
use abasto_store::conformance::{Backend, Durable};
use abasto_store_sqlite::{Options, SqliteStore};
use async_trait::async_trait;
use tempfile::TempDir;

/// A store in a folder of its own, which goes away with it.
struct Sqlite {
    folder: TempDir,
    store: Arc<SqliteStore>,
}

impl Sqlite {
    fn open(folder: TempDir) -> Self {
        let options = Options::new(folder.path().join("abasto.db"));
        let store = Arc::new(SqliteStore::open(options).expect("the store opens"));
        Self { folder, store }
    }
}

#[async_trait]
impl Backend for Sqlite {
    async fn fresh() -> Self {
        Self::open(tempfile::tempdir().expect("a folder"))
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }
}

#[async_trait]
impl Durable for Sqlite {
    async fn reopen(self) -> Self {
        let Self { folder, store } = self;
        assert_eq!(
            Arc::strong_count(&store),
            1,
            "somebody still holds the store"
        );
        drop(store);
        Self::open(folder)
    }
}

abasto_store::conformance!(Sqlite);
abasto_store::durability!(Sqlite);
