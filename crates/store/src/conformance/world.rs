//! The world in which a case plays: a store, ids and times that repeat, and what tests say of it.
//!
//! Owns the ways to commit and read that a case needs. Ids do not grow with time and several
//! records share a millisecond, so that nothing can lean on either.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::stock::{Movement, Place, StockLevel};
use abasto_domain::time::Timestamp;

use crate::event::Event;
use crate::invariants::{Report, audit};
use crate::query::{Page, Position, Query};
use crate::record::{Document, DocumentKey, Record};
use crate::unit::UnitOfWork;
use crate::verdict::{Reply, StockReply, Verdict};
use crate::{Store, StoreError};

/// How often a unit is sent again when the store is busy.
const TRIES_MAX: u32 = 10_000;
/// Most units under way at once.
const PARALLEL_MAX: usize = 128;
/// 2027-01-15T08:00:00Z.
const EPOCH_MS: i64 = 1_800_000_000_000;

/// A store with sources of ids and times. Cheap to clone.
#[derive(Clone)]
pub struct World {
    store: Arc<dyn Store>,
    sources: Sources,
}

/// Where ids and times come from; outlives a store that is closed and opened again.
#[derive(Debug, Clone)]
pub struct Sources {
    ids: Arc<AtomicU64>,
    clock: Arc<AtomicI64>,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            ids: Arc::default(),
            clock: Arc::new(AtomicI64::new(EPOCH_MS * 3)),
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

/// The value of an answer; a store that fails ends the test.
///
/// # Panics
/// When the store failed.
#[track_caller]
pub fn answer<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store failed: {error} ({error:?})"),
    }
}

/// The reply of a committed unit.
///
/// # Panics
/// When it did not commit.
#[track_caller]
pub fn committed(verdict: Verdict) -> Reply {
    match verdict {
        Verdict::Committed(reply) => reply,
        other => panic!("expected a commit, found {other:?}"),
    }
}

/// The document in a reply.
///
/// # Panics
/// When there is none.
#[track_caller]
pub fn document_in(reply: Reply) -> Document {
    match reply {
        Reply::Document(document) => document,
        other => panic!("expected a document, found {other:?}"),
    }
}

/// The movements and levels in a reply.
///
/// # Panics
/// When there are none.
#[track_caller]
pub fn stock_in(reply: Reply) -> Arc<StockReply> {
    match reply {
        Reply::Stock(stock) => stock,
        other => panic!("expected movements, found {other:?}"),
    }
}

impl World {
    /// A world over a store, with ids and times from their beginning.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with(store, Sources::default())
    }

    /// A world over a store, with ids and times that go on.
    pub const fn with(store: Arc<dyn Store>, sources: Sources) -> Self {
        Self { store, sources }
    }

    /// Its ids and times.
    pub fn sources(&self) -> Sources {
        self.sources.clone()
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// A new id: scattered, never given twice.
    pub fn id(&self) -> RawId {
        let number = self.sources.ids.fetch_add(1, Ordering::Relaxed);
        // An odd factor maps 64-bit numbers one to one.
        let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let mut id = [0x65; 12];
        id[4..].copy_from_slice(&scattered);
        RawId(id)
    }

    /// The present time: every third call is a millisecond later.
    pub fn now(&self) -> Timestamp {
        let ticks = self.sources.clock.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millis(ticks / 3)
    }

    /// Commits a unit; sends it again while the store is busy.
    pub async fn commit(&self, unit: UnitOfWork) -> Verdict {
        answer(self.try_commit(unit).await)
    }

    /// As [`Self::commit`], with the errors other than being busy.
    pub async fn try_commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        for _ in 0..TRIES_MAX {
            match self.store.commit(unit.clone()).await {
                Err(StoreError::Overloaded) => tokio::task::yield_now().await,
                result => return result,
            }
        }
        Err(StoreError::Overloaded)
    }

    /// Commits units at once, each in a task of its own; verdicts in the order of the units.
    ///
    /// # Panics
    /// When a task does.
    pub async fn commit_all(&self, units: Vec<UnitOfWork>) -> Vec<Verdict> {
        let gate = Arc::new(tokio::sync::Semaphore::new(PARALLEL_MAX));
        let tasks: Vec<_> = units
            .into_iter()
            .map(|unit| {
                let (world, gate) = (self.clone(), Arc::clone(&gate));
                tokio::spawn(async move {
                    let _turn = gate.acquire_owned().await;
                    world.commit(unit).await
                })
            })
            .collect();
        let mut verdicts = Vec::with_capacity(tasks.len());
        for task in tasks {
            match task.await {
                Ok(verdict) => verdicts.push(verdict),
                Err(error) => panic!("a commit did not end: {error}"),
            }
        }
        verdicts
    }

    /// One document.
    pub async fn document(&self, business: BusinessId, key: DocumentKey) -> Option<Document> {
        let found = answer(self.store.documents(business, &[key]).await);
        found.into_iter().next().flatten()
    }

    /// One level.
    pub async fn level(&self, business: BusinessId, place: Place) -> Option<StockLevel> {
        let found = answer(self.store.levels(business, &[place]).await);
        found.into_iter().next().flatten()
    }

    /// (available, reserved) of a level; zeros where none is.
    pub async fn units(&self, business: BusinessId, place: Place) -> (i64, i64) {
        let level = self.level(business, place).await;
        level.map_or((0, 0), |level| (level.available, level.reserved))
    }

    /// One page.
    pub async fn page(
        &self,
        business: BusinessId,
        query: &Query,
        after: Option<Position>,
        limit: u32,
    ) -> Vec<Record> {
        let page = Page { after, limit };
        answer(self.store.list(business, query, page).await)
    }

    /// All rows of a list, read in pages of `limit`.
    ///
    /// # Panics
    /// When a page is too long or does not go on.
    pub async fn list(&self, business: BusinessId, query: &Query, limit: u32) -> Vec<Record> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let page = self.page(business, query, after, limit).await;
            let size = u32::try_from(page.len()).unwrap_or(u32::MAX);
            assert!(size <= limit, "a page of {limit} has {size} rows");
            let Some(last) = page.last() else { return rows };
            let position = Some(Position::of(last));
            assert_ne!(position, after, "a page begins where it ended: {query:?}");
            after = position;
            rows.extend(page);
        }
    }

    /// The events of a document, oldest first.
    pub async fn history(&self, business: BusinessId, subject: DocumentKey) -> Vec<Event> {
        let rows = self.list(business, &Query::History(subject), 200).await;
        rows.into_iter()
            .filter_map(|row| match row {
                Record::Event(event) => Some(event),
                _ => None,
            })
            .collect()
    }

    /// The movements of a level, oldest first.
    pub async fn movements(&self, business: BusinessId, place: Place) -> Vec<Movement> {
        let rows = self.list(business, &Query::Movements(place), 200).await;
        rows.into_iter()
            .rev()
            .filter_map(|row| match row {
                Record::Movement(movement) => Some(movement),
                _ => None,
            })
            .collect()
    }

    /// Every record of a business, as a walk gives them.
    pub async fn walk(&self, business: BusinessId) -> Vec<Record> {
        let mut records = Vec::new();
        let mut keep = |record| {
            records.push(record);
            Ok(())
        };
        answer(self.store.walk(business, &mut keep).await);
        records
    }

    /// The audit of a business.
    pub async fn audit(&self, business: BusinessId) -> Report {
        answer(audit(self.store(), business).await)
    }

    /// All businesses.
    pub async fn businesses(&self) -> Vec<BusinessId> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit: 200 };
            let businesses = answer(self.store.businesses(page).await);
            let Some(last) = businesses.last() else {
                return found;
            };
            after = Some(Position {
                order: last.stamp.created_at.as_millis(),
                id: last.id.0,
            });
            found.extend(businesses.into_iter().map(|business| business.id));
        }
    }

    /// Audits every business.
    ///
    /// # Panics
    /// When an invariant does not hold.
    pub async fn must_hold(&self) {
        for business in self.businesses().await {
            let report = self.audit(business).await;
            assert!(report.is_clean(), "{report}");
        }
    }
}
