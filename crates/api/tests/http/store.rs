//! The store of these tests: the model, which keeps everything in memory.
//!
//! The tests of this folder run on the stores of the product as well, from `sim/tests/http_…`; a
//! file like this one is all in which they differ.

use std::sync::Arc;

use abasto_sim::model::ModelStore;
use abasto_store::Store;

/// What has to be kept as long as the store is used: nothing.
#[derive(Clone)]
pub(crate) struct Kept;

/// A store with nothing in it.
pub(crate) fn open() -> (Arc<dyn Store>, Kept) {
    (Arc::new(ModelStore::new()), Kept)
}
