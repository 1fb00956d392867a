//! A store that fails as real ones do: before and after the commit, late, slow, with old answers.
//!
//! Owns what each fault does to a call. Which one comes when is the plan's. It changes nothing
//! that the store behind it decides.

mod plan;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartContent;
use abasto_store::port::Visitor;
use abasto_store::query::{Page, Query};
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Record};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Operation, Verdict};
use abasto_store::{Store, StoreError};
use async_trait::async_trait;
use tokio::task::JoinHandle;

pub use self::plan::{CommitFault, Plan, Rates, ReadFault};

/// Most earlier answers kept for stale reads; beyond it they are forgotten all at once.
const REMEMBERED_MAX: usize = 100_000;

/// Faults in front of another store.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    plan: Mutex<Plan>,
    is_calm: AtomicBool,
    reclaims: AtomicU64,
    done: Mutex<Done>,
    late: Mutex<Vec<JoinHandle<()>>>,
    documents: Mutex<Remembered<DocumentKey, Document>>,
    levels: Mutex<Remembered<Place, StockLevel>>,
}

type Remembered<K, V> = BTreeMap<(BusinessId, K), Option<V>>;

/// How many faults of each kind were injected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// At commits.
    pub commits: BTreeMap<CommitFault, u64>,
    /// At reads.
    pub reads: BTreeMap<ReadFault, u64>,
}

impl std::fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyStore")
            .field("plan", &self.plan)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn gone() -> StoreError {
    StoreError::Unavailable("injected".to_owned())
}

impl FaultyStore {
    /// Puts a plan of faults in front of a store.
    pub fn new(inner: Arc<dyn Store>, plan: Plan) -> Self {
        Self {
            inner,
            plan: Mutex::new(plan),
            is_calm: AtomicBool::new(false),
            reclaims: AtomicU64::new(0),
            done: Mutex::default(),
            late: Mutex::default(),
            documents: Mutex::default(),
            levels: Mutex::default(),
        }
    }

    /// What was injected so far: a test that meant to meet faults asks whether it did.
    pub fn done(&self) -> Done {
        lock(&self.done).clone()
    }

    /// Another plan from here on. A test that begins every step with a plan of its own can repeat a
    /// step, whatever the tasks of the steps before it did.
    pub fn plan(&self, plan: Plan) {
        *lock(&self.plan) = plan;
    }

    /// Injects nothing until [`FaultyStore::rage`]: what follows cannot be repeated by its caller.
    pub fn calm(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    /// Injects faults again.
    pub fn rage(&self) {
        self.is_calm.store(false, Ordering::Relaxed);
    }

    /// How often somebody asked what is over in one business: how often units were missing.
    pub fn reclaims(&self) -> u64 {
        self.reclaims.load(Ordering::Relaxed)
    }

    fn next_commit(&self) -> Option<CommitFault> {
        if self.is_calm.load(Ordering::Relaxed) {
            return None;
        }
        let fault = lock(&self.plan).commit()?;
        *lock(&self.done).commits.entry(fault).or_default() += 1;
        Some(fault)
    }

    fn next_read(&self) -> Option<ReadFault> {
        if self.is_calm.load(Ordering::Relaxed) {
            return None;
        }
        let fault = lock(&self.plan).read()?;
        *lock(&self.done).reads.entry(fault).or_default() += 1;
        Some(fault)
    }

    /// Waits until every late commit has come, so that a test can look at what is left.
    pub async fn quiet(&self) {
        let late = std::mem::take(&mut *lock(&self.late));
        for commit in late {
            // One that panicked is over too.
            let _ = commit.await;
        }
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(lock(&self.plan).delay_ms())
    }

    /// Lets a read fail, wait or ask for an old answer.
    async fn before_read(&self) -> Result<Option<ReadFault>, StoreError> {
        let fault = self.next_read();
        match fault {
            Some(ReadFault::Unavailable) => Err(gone()),
            Some(ReadFault::Slow) => {
                tokio::time::sleep(self.delay()).await;
                Ok(fault)
            }
            Some(ReadFault::Stale) | None => Ok(fault),
        }
    }
}

/// Gives earlier answers where `fault` asks for them, and remembers fresh ones otherwise.
fn age<K: Ord + Copy, V: Clone>(
    remembered: &Mutex<Remembered<K, V>>,
    business: BusinessId,
    keys: &[K],
    fresh: Vec<Option<V>>,
    fault: Option<ReadFault>,
) -> Vec<Option<V>> {
    let mut remembered = lock(remembered);
    if remembered.len() > REMEMBERED_MAX {
        remembered.clear();
    }
    let answers = keys.iter().zip(fresh).map(|(key, fresh)| {
        let key = (business, *key);
        if fault == Some(ReadFault::Stale) {
            return remembered.get(&key).cloned().unwrap_or(fresh);
        }
        remembered.insert(key, fresh.clone());
        fresh
    });
    answers.collect()
}

#[async_trait]
impl Store for FaultyStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        let fault = self.next_commit();
        match fault {
            None => self.inner.commit(unit).await,
            Some(CommitFault::Overloaded) => Err(StoreError::Overloaded),
            Some(CommitFault::Unavailable) => Err(gone()),
            Some(CommitFault::RequestLost) => Err(StoreError::OutcomeUnknown),
            Some(CommitFault::ReplyLost) => {
                self.inner.commit(unit).await?;
                Err(StoreError::OutcomeUnknown)
            }
            Some(CommitFault::Late) => {
                let (inner, delay) = (Arc::clone(&self.inner), self.delay());
                lock(&self.late).push(tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    // Nobody waits for the verdict any more.
                    let _ = inner.commit(unit).await;
                }));
                Err(StoreError::OutcomeUnknown)
            }
            Some(CommitFault::Slow) => {
                // Whatever is late overtakes it.
                self.quiet().await;
                tokio::time::sleep(self.delay()).await;
                self.inner.commit(unit).await
            }
        }
    }

    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let fault = self.before_read().await?;
        let fresh = self.inner.documents(business, keys).await?;
        Ok(age(&self.documents, business, keys, fresh, fault))
    }

    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError> {
        let fault = self.before_read().await?;
        let fresh = self.inner.levels(business, places).await?;
        Ok(age(&self.levels, business, places, fresh, fault))
    }

    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError> {
        self.before_read().await?;
        self.inner.operation(business, key).await
    }

    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        self.before_read().await?;
        self.inner.order_by_number(business, number).await
    }

    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError> {
        self.before_read().await?;
        self.inner.holders(business, claims).await
    }

    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        if business.is_some() {
            self.reclaims.fetch_add(1, Ordering::Relaxed);
        }
        self.before_read().await?;
        self.inner.due(business, kind, at, limit).await
    }

    async fn cart_content(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<CartContent, StoreError> {
        self.before_read().await?;
        self.inner.cart_content(business, cart).await
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        self.before_read().await?;
        self.inner.products_by_sku(business, skus).await
    }

    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError> {
        self.before_read().await?;
        self.inner.list(business, query, page).await
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.before_read().await?;
        self.inner.api_key(id).await
    }

    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError> {
        self.before_read().await?;
        self.inner.memberships(user_id).await
    }

    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError> {
        self.before_read().await?;
        self.inner.businesses(page).await
    }

    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError> {
        self.inner.walk(business, visitor).await
    }

    async fn health(&self) -> Result<Vec<String>, StoreError> {
        self.inner.health().await
    }
}
