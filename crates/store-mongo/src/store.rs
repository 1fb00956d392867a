//! The store itself: the port, method by method.
//!
//! Owns nothing but the wiring of lanes, reads and migration.

use std::sync::Arc;

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartContent;
use abasto_store::meter::CommitMeter;
use abasto_store::port::Visitor;
use abasto_store::query::{Page, Query};
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Record};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Operation, Verdict};
use abasto_store::{Store, StoreError};
use async_trait::async_trait;
use mongodb::Database;

use crate::commit::Committer;
use crate::connect::{self, ConnectError};
use crate::lane::Lanes;
use crate::migrate::{self, Difference, MigrateError};
use crate::readiness::Readiness;
use crate::{cart, list, read, walk};

/// Abasto's store on a MongoDB replica set.
#[derive(Debug)]
pub struct MongoStore {
    database: Database,
    readiness: Readiness,
    lanes: Arc<Lanes<Committer>>,
}

impl MongoStore {
    /// Connects and checks the deployment. Nothing is created: see [`Self::migrate`]. The database
    /// is the one that the address names, else `abasto`.
    pub async fn connect(uri: &str) -> Result<Self, ConnectError> {
        let database = connect::connect(uri).await?;
        let meter = Arc::new(CommitMeter::new("mongodb"));
        let committer = Committer::new(database.clone(), Arc::clone(&meter));
        Ok(Self {
            readiness: Readiness::unknown(database.clone()),
            lanes: Arc::new(Lanes::new(committer, meter)),
            database,
        })
    }

    /// What is different from what must be; nothing when all is well. This is `migrate --check`.
    pub async fn differences(&self) -> Result<Vec<Difference>, StoreError> {
        self.readiness.look().await
    }

    /// Creates collections, validators and indexes that are missing. Idempotent; answers what was
    /// done in sentences. Stored documents that break a rule are reported, never changed.
    pub async fn migrate(&self) -> Result<Vec<String>, MigrateError> {
        let done = migrate::migrate(&self.database).await;
        self.readiness.look().await?;
        done
    }
}

#[async_trait]
impl Store for MongoStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        self.readiness.check().await?;
        self.lanes.commit(unit).await
    }

    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        read::documents(&self.database, business, keys).await
    }

    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError> {
        read::levels(&self.database, business, places).await
    }

    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError> {
        read::operation(&self.database, business, key).await
    }

    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        read::order_by_number(&self.database, business, number).await
    }

    async fn cart_content(
        &self,
        business: BusinessId,
        id: CartId,
    ) -> Result<CartContent, StoreError> {
        cart::content(&self.database, business, id).await
    }

    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError> {
        read::holders(&self.database, business, claims).await
    }

    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        read::due(&self.database, business, kind, at, limit).await
    }

    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        read::products_by_sku(&self.database, business, skus).await
    }

    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError> {
        list::list(&self.database, business, query, page).await
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        read::api_key(&self.database, id).await
    }

    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError> {
        read::memberships(&self.database, user_id).await
    }

    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError> {
        list::businesses(&self.database, page).await
    }

    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError> {
        walk::walk(&self.database, business, visitor).await
    }

    async fn health(&self) -> Result<Vec<String>, StoreError> {
        match self.readiness.look().await {
            Ok(differences) => Ok(differences.iter().map(ToString::to_string).collect()),
            Err(StoreError::Unavailable(why)) => {
                Ok(vec![format!("MongoDB cannot be reached: {why}")])
            }
            Err(other) => Err(other),
        }
    }
}
