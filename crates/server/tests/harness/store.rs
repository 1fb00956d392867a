//! Where the servers of a test keep everything.
//!
//! Owns the choice of the store, and that a test is written once for both.

use std::path::Path;

use abasto_testbed::mongo_cluster::Scratch;

use super::{abasto, run};

/// The store that a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    /// A file in the setup's folder.
    Sqlite,
    /// A database of its own in the replica set that tests share.
    Mongo,
}

impl StoreKind {
    /// Its name in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Mongo => "mongodb",
        }
    }
}

/// A store that is there as long as a setup or a server of it is.
#[derive(Debug)]
pub(super) enum Kept {
    /// What stands behind `--store`; whoever made it removes it.
    Elsewhere(String),
    /// A database that goes away with this value.
    Database(Scratch),
}

impl Kept {
    pub(super) fn new(kind: StoreKind, folder: &Path) -> Self {
        match kind {
            StoreKind::Sqlite => {
                Self::Elsewhere(format!("sqlite:{}", folder.join("abasto.db").display()))
            }
            StoreKind::Mongo => {
                let database = Self::empty_database();
                migrate(database.url());
                database
            }
        }
    }

    /// A database of the shared set as nobody has migrated it.
    pub(super) fn empty_database() -> Self {
        Self::Database(Scratch::new("black_box").expect("a replica set"))
    }

    /// The store as `--store` takes it.
    pub(super) fn url(&self) -> &str {
        match self {
            Self::Elsewhere(url) => url,
            Self::Database(database) => database.uri(),
        }
    }
}

/// `abasto migrate`, which an operator runs before the first instance.
pub(super) fn migrate(url: &str) {
    let migrated = run(abasto().args(["migrate", "--store", url]));
    assert_eq!(migrated.code, Some(0), "{migrated:?}");
}

/// Runs each test, an `async fn(StoreKind)`, on both stores: `name::sqlite` and `name::mongodb`.
macro_rules! on_both_stores {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            use crate::harness::StoreKind;

            #[tokio::test]
            async fn sqlite() {
                super::$name(StoreKind::Sqlite).await;
            }

            #[tokio::test]
            async fn mongodb() {
                super::$name(StoreKind::Mongo).await;
            }
        }
    )+};
}

pub(crate) use on_both_stores;
