//! The adapter passes the suite that every store passes, restarts included.
#![cfg(test)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use abasto_store::Store;
use abasto_store::conformance::{Backend, Durable};
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster;
use async_trait::async_trait;

/// A store in a database of its own on the shared set.
struct Mongo {
    database: String,
    store: Arc<MongoStore>,
}

#[async_trait]
impl Backend for Mongo {
    async fn fresh() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let set = mongo_cluster::shared_uri().expect("a replica set");
        let database = support::address(set, &format!("suite_{}_{number}", std::process::id()));
        let store = Arc::new(support::migrated(&database).await);
        Self { database, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    async fn clean(self) {
        support::drop_database(&self.database).await;
    }
}

#[async_trait]
impl Durable for Mongo {
    async fn reopen(self) -> Self {
        let Self { database, store } = self;
        drop(store);
        let store = MongoStore::connect(&database).await.expect("connects");
        Self {
            database,
            store: Arc::new(store),
        }
    }
}

abasto_store::conformance!(Mongo);
abasto_store::durability!(Mongo);
