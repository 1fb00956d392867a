//! A cache of documents that decisions only read: products, branches, businesses, customers.
//!
//! Owns how old a cached document may be. A stale one costs another decision, never a wrong sale:
//! every decision guards the versions it read, and a refusal is decided again upon fresh reads.

use std::time::Duration;

use abasto_domain::id::BusinessId;
use abasto_store::record::{Document, DocumentKey};
use moka::sync::Cache;

/// Whether a decision may use cached documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// Cached documents will do.
    Cached,
    /// Everything is read from the store.
    Fresh,
}

const DOCUMENTS_MAX: u64 = 50_000;
const AGE_MAX: Duration = Duration::from_secs(5);

/// Documents by business and key.
#[derive(Debug)]
pub(crate) struct DocumentCache(Cache<(BusinessId, DocumentKey), Document>);

impl DocumentCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(DOCUMENTS_MAX)
            .time_to_live(AGE_MAX);
        Self(cache.build())
    }

    pub(crate) fn get(&self, business: BusinessId, key: DocumentKey) -> Option<Document> {
        self.0.get(&(business, key))
    }

    pub(crate) fn put(&self, business: BusinessId, document: &Document) {
        self.0.insert((business, document.key()), document.clone());
    }

    pub(crate) fn forget(&self, business: BusinessId, key: DocumentKey) {
        self.0.invalidate(&(business, key));
    }
}
