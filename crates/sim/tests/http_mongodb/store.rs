//! A database of its own for each installation, in the set that tests share.

use std::sync::{Arc, OnceLock};
use std::thread;

use abasto_sim::mongo_cluster::Scratch;
use abasto_store::Store;
use abasto_store_mongo::MongoStore;
use tokio::runtime::{Builder, Runtime};

/// The database; it goes away with this value.
pub(crate) type Kept = Arc<Scratch>;

/// A migrated store with nothing in it.
pub(crate) fn open() -> (Arc<dyn Store>, Kept) {
    let database = Scratch::new("http").unwrap();
    let address = database.uri().to_owned();
    // The tests open their stores in the middle of a runtime, which cannot wait.
    let opening = thread::spawn(move || runtime().block_on(migrated(&address)));
    (Arc::new(opening.join().unwrap()), Arc::new(database))
}

async fn migrated(address: &str) -> MongoStore {
    let store = MongoStore::connect(address).await.unwrap();
    store.migrate().await.unwrap();
    store
}

/// Where the driver's own tasks run, as long as the process.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let build = || {
        Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
    };
    RUNTIME.get_or_init(|| build().unwrap())
}
