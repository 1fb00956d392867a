//! The store: the port over the writer and the readers.
//!
//! Owns their lives. Every method either asks the writer or a reader; nothing here touches the file
//! itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

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
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::checkpoint::Checkpoints;
use crate::error::{OpenError, store_error};
use crate::health::Standing;
use crate::lock::FileLock;
use crate::open::{self, Options};
use crate::pool::Pool;
use crate::queue::{Lane, Refused};
use crate::writer::{self, Job, Shared};
use crate::{cart, list, migration, operation, read, walk};

/// Walks at the same time; each holds a snapshot and with it the write-ahead log.
const WALKS_MAX: usize = 2;

/// Bytes of a page, as SQLite makes them by default.
const PAGE_BYTES: u64 = 4_096;

/// The embedded store.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    shared: Arc<Shared>,
    readers: Pool,
    walks: Semaphore,
    writer: Option<JoinHandle<()>>,
    lock: Option<FileLock>,
}

/// What the writer has done since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Transactions that wrote something.
    pub commits: u64,
    /// Units that were answered by them, refused ones included.
    pub units: u64,
    /// Groups that failed as a whole and were tried again unit by unit.
    pub broken: u64,
    /// Units that wait now.
    pub waiting: usize,
}

impl SqliteStore {
    /// Opens a file to serve it, making it when there is none. An older schema is refused:
    /// [`crate::migrate`] brings it up first.
    ///
    /// # Errors
    /// The file is served by another process, foreign, of another schema, or cannot be opened.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let path = options.path;
        let lock = FileLock::take(&path)?;
        let (mut connection, schema) = open::writing(&path)?;
        let known = migration::known();
        match schema {
            0 => migration::run(&mut connection, 0, known)
                .map_err(|error| open::database(&path, error))?,
            found if found < known => return Err(OpenError::Older { path, found, known }),
            _ => {}
        }
        let shared = Shared::new(options.limits, pages(options.file_bytes_max));
        let differences =
            migration::differences(&connection).map_err(|error| open::database(&path, error))?;
        judge(&shared.standing, &differences);
        let readers = readers(&path, options.readers, options.reads_waiting_max)?;
        let shared = Arc::new(shared);
        let (copying, _) = open::writing(&path)?;
        let writer = Checkpoints::start(copying)
            .and_then(|checkpoints| writer::start(connection, checkpoints, Arc::clone(&shared)))
            .map_err(|source| OpenError::Io {
                path: path.clone(),
                source,
            })?;
        Ok(Self {
            path,
            shared,
            readers,
            walks: Semaphore::new(WALKS_MAX),
            writer: Some(writer),
            lock: Some(lock),
        })
    }

    /// Opens a file only to read it, also beside the process that serves it.
    ///
    /// # Errors
    /// The file is missing, foreign, of another schema, or cannot be opened.
    pub fn open_read_only(path: &Path) -> Result<Self, OpenError> {
        let connection = open::reading(path)?;
        let known = migration::known();
        let found = migration::version(&connection, path)?;
        if found < known {
            return Err(OpenError::Older {
                path: path.to_owned(),
                found,
                known,
            });
        }
        let options = Options::new(path);
        let shared = Shared::new(options.limits, 0);
        shared.queue.close();
        Ok(Self {
            path: path.to_owned(),
            shared: Arc::new(shared),
            readers: readers(path, 1, options.reads_waiting_max)?,
            walks: Semaphore::new(WALKS_MAX),
            writer: None,
            lock: None,
        })
    }

    /// What the writer has done so far.
    pub fn counts(&self) -> Counts {
        let written = &self.shared.written;
        Counts {
            commits: written.commits.load(Ordering::Relaxed),
            units: written.units.load(Ordering::Relaxed),
            broken: written.broken.load(Ordering::Relaxed),
            waiting: self.shared.queue.waiting(),
        }
    }

    /// Changes [`Options::file_bytes_max`] of the running store, from the next group on.
    pub fn bound_file(&self, bytes_max: Option<u64>) {
        let pages = pages(bytes_max);
        self.shared.pages_max.store(pages, Ordering::Relaxed);
    }

    fn ask(&self, lane: Lane, job: Job) -> Result<(), StoreError> {
        self.shared.ask(lane, job).map_err(|why| match why {
            Refused::Full => StoreError::Overloaded,
            Refused::Closed if self.writer.is_none() => {
                StoreError::Unavailable("the store was opened only to read".to_owned())
            }
            Refused::Closed => closing(),
        })
    }

    /// Lets the writer find out whether the disk can be written again.
    async fn probe(&self, business: BusinessId) -> Result<(), StoreError> {
        let (done, finished) = oneshot::channel();
        let lane = Lane {
            business,
            branch: None,
        };
        self.ask(lane, Job::Probe { done })?;
        finished.await.map_err(|_| closing())
    }
}

fn closing() -> StoreError {
    StoreError::Unavailable("the store is closing".to_owned())
}

fn pages(bytes_max: Option<u64>) -> u64 {
    bytes_max.map_or(0, |bytes| (bytes / PAGE_BYTES).max(1))
}

fn readers(path: &Path, count: usize, waiting_max: usize) -> Result<Pool, OpenError> {
    let connections = (0..count.max(1))
        .map(|_| open::reading(path))
        .collect::<Result<_, _>>()?;
    Pool::start(connections, waiting_max).map_err(|source| OpenError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Refuses writes when something is missing without which a rule could be broken.
fn judge(standing: &Standing, differences: &[migration::Difference]) {
    let grave = differences.iter().find(|difference| difference.grave);
    standing.refuse(grave.map(|difference| difference.text.clone()));
}

impl Drop for SqliteStore {
    /// Serves what waits already, then gives the file back.
    fn drop(&mut self) {
        self.shared.queue.close();
        // Before the writer: the last connection to close empties the write-ahead log, and readers
        // cannot.
        self.readers.close();
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has dropped its answers, which says so to their askers.
            let _ = writer.join();
        }
        self.lock = None;
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        let lane = Lane {
            business: unit.business,
            branch: unit.branch,
        };
        let (answer, answered) = oneshot::channel();
        let unit = Box::new(unit);
        self.ask(lane, Job::Commit { unit, answer })?;
        // Without an answer the writer died somewhere in between.
        answered.await.unwrap_or(Err(StoreError::OutcomeUnknown))
    }

    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let keys = keys.to_vec();
        self.readers
            .read(move |connection| read::documents(connection, business, &keys))
            .await
    }

    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError> {
        let places = places.to_vec();
        self.readers
            .read(move |connection| read::levels(connection, business, &places))
            .await
    }

    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError> {
        let key = key.clone();
        self.readers
            .read(move |connection| operation::read(connection, business, &key))
            .await
    }

    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        let number = number.clone();
        self.readers
            .read(move |connection| read::order_by_number(connection, business, &number))
            .await
    }

    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError> {
        let claims = claims.to_vec();
        self.readers
            .read(move |connection| read::holders(connection, business, &claims))
            .await
    }

    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        self.readers
            .read(move |connection| read::due(connection, business, kind, at, limit))
            .await
    }

    async fn cart_content(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<CartContent, StoreError> {
        self.readers
            .read(move |connection| cart::content(connection, business, cart))
            .await
    }

    /// The file is locked for this process.
    fn is_shared(&self) -> bool {
        false
    }

    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let skus = skus.to_vec();
        self.readers
            .read(move |connection| read::products_by_sku(connection, business, &skus))
            .await
    }

    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError> {
        let query = query.clone();
        self.readers
            .read(move |connection| list::list(connection, business, &query, page))
            .await
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.readers
            .read(move |connection| read::api_key(connection, id))
            .await
    }

    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError> {
        let user_id = user_id.to_owned();
        self.readers
            .read(move |connection| read::memberships(connection, &user_id))
            .await
    }

    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError> {
        self.readers
            .read(move |connection| read::businesses(connection, page))
            .await
    }

    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError> {
        let _turn = self.walks.acquire().await.map_err(|_| closing())?;
        let unavailable = |error: OpenError| StoreError::Unavailable(error.to_string());
        let connection = open::reading(&self.path).map_err(unavailable)?;
        let (sender, mut batches) = mpsc::channel(walk::BATCHES);
        std::thread::Builder::new()
            .name("sqlite-walk".to_owned())
            .spawn(move || walk::walk(&connection, business, &sender))
            .map_err(|error| StoreError::Backend(Box::new(error)))?;
        while let Some(batch) = batches.recv().await {
            for record in batch? {
                visitor(record).map_err(|why| StoreError::Backend(why.into()))?;
            }
        }
        Ok(())
    }

    async fn health(&self) -> Result<Vec<String>, StoreError> {
        let differences = self
            .readers
            .read(|connection| migration::differences(connection).map_err(store_error))
            .await?;
        if self.writer.is_some() {
            judge(&self.shared.standing, &differences);
        }
        if self.shared.standing.disk().is_some() {
            self.probe(BusinessId::from(abasto_domain::id::RawId::default()))
                .await?;
        }
        let schema = differences.into_iter().map(|difference| difference.text);
        Ok(schema.chain(self.shared.standing.disk()).collect())
    }
}
