//! The use cases: read, decide with the pure rules, commit, decide again when stale.
//!
//! Owns who may do what when, the clock, the ids and the caches. Must not know HTTP, a driver or
//! the environment. One file per noun.
#![warn(missing_docs)]

use std::sync::Arc;

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::payment::Provider;
use abasto_domain::time::Timestamp;
use abasto_store::Store;
use abasto_store::record::{Document, DocumentKey};

pub mod api_key;
pub mod branch;
pub mod business;
mod cache;
pub mod cart;
pub mod checkout;
pub mod checkout_cart;
pub mod clock;
pub mod commit;
pub mod context;
mod counter;
pub mod coupon;
pub mod customer;
mod document;
pub mod error;
pub mod expiry;
mod fingerprint;
pub mod ids;
mod last_owner;
pub mod level;
mod limit;
pub mod member;
pub mod order;
pub mod order_action;
pub mod order_checkout;
pub mod order_return;
pub mod payment;
pub mod payment_call;
pub mod payment_event;
pub mod product;
pub mod product_import;
mod record;
pub mod stock;
pub mod zone;

pub use cache::Freshness;
pub use commit::Done;
pub use context::Context;
pub use error::Error;

/// The use cases over one store. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    clock: Arc<clock::Clock>,
    ids: Arc<ids::IdSource>,
    documents: Arc<cache::DocumentCache>,
    carts: Arc<cart::Cells>,
    authors: Arc<cart::Authors>,
    /// Stamps edits of carts whose callers do not.
    hlc: Arc<abasto_cart::Clock>,
    keys: api_key::KeyCache,
    memberships: member::MembershipCache,
    /// Who moves money; the first is the sandbox where it is not switched off.
    providers: Arc<[Provider]>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// The use cases over a store; fails when the system has no randomness.
    pub fn new(store: Arc<dyn Store>) -> Result<Self, Error> {
        counter::show();
        let ids = ids::IdSource::new();
        let ids = ids.map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Self {
            store,
            clock: Arc::default(),
            ids: Arc::new(ids),
            documents: Arc::new(cache::DocumentCache::new()),
            carts: Arc::new(cart::Cells::new()),
            authors: Arc::new(cart::Authors::new()),
            hlc: Arc::default(),
            keys: api_key::key_cache(),
            memberships: member::membership_cache(),
            providers: Arc::new([Provider::Sandbox]),
        })
    }

    /// The same use cases with these payment providers; without the call only the sandbox is there.
    #[must_use]
    pub fn with_providers(self, providers: &[Provider]) -> Self {
        Self {
            providers: providers.into(),
            ..self
        }
    }

    /// The same use cases by another clock than the system's.
    #[must_use]
    pub fn with_clock(self, clock: clock::Clock) -> Self {
        Self {
            clock: Arc::new(clock),
            ..self
        }
    }

    /// The clock, for the tests' route that moves it.
    pub fn clock(&self) -> &clock::Clock {
        &self.clock
    }

    /// Why the store is not ready to serve; empty when it is.
    pub async fn health(&self) -> Result<Vec<String>, Error> {
        Ok(self.store.health().await?)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn new_id(&self, now: Timestamp) -> RawId {
        self.ids.next(now)
    }

    /// Documents by key, from the cache where that will do.
    async fn read(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
        freshness: Freshness,
    ) -> Result<Vec<Option<Document>>, Error> {
        let cached = |key: &DocumentKey| match freshness {
            Freshness::Cached => self.documents.get(business, *key),
            Freshness::Fresh => None,
        };
        let mut found: Vec<Option<Document>> = keys.iter().map(cached).collect();
        let gaps: Vec<usize> = (0..keys.len())
            .filter(|&index| found[index].is_none())
            .collect();
        if gaps.is_empty() {
            return Ok(found);
        }
        let wanted: Vec<DocumentKey> = gaps.iter().map(|&index| keys[index]).collect();
        let read = self.store.documents(business, &wanted).await?;
        for (index, document) in gaps.into_iter().zip(read) {
            if let Some(document) = document.as_ref().filter(|document| cacheable(document)) {
                self.documents.put(business, document);
            }
            found[index] = document;
        }
        Ok(found)
    }
}

/// What changes too often or is read too rarely is not kept.
fn cacheable(document: &Document) -> bool {
    !matches!(
        document,
        Document::Order(_)
            | Document::Checkout(_)
            | Document::Payment(_)
            | Document::PaymentEvent(_)
            | Document::OrderReturn(_)
    )
}
