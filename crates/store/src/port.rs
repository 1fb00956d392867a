//! The port itself: what an adapter offers.
//!
//! Owns the trait and its errors. Driver types never cross it.

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use async_trait::async_trait;

use crate::cart::CartContent;
use crate::query::{Page, Query};
use crate::record::{Claim, Document, DocumentKey, Kind, Record};
use crate::unit::UnitOfWork;
use crate::verdict::{Operation, Verdict};

/// Why an adapter could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Too much waits already; nothing was done.
    #[error("too many units wait for the store")]
    Overloaded,
    /// The store cannot be used now (disk full, no primary, closing); nothing was done.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The unit may or may not be durable: the same key finds out.
    #[error("the outcome of the commit is unknown")]
    OutcomeUnknown,
    /// What is stored cannot be read.
    #[error("the store holds a record that cannot be read: {0}")]
    Corrupt(String),
    /// Anything else: a defect of ours or of the machine.
    #[error("the store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a walk over a business calls for each record; an `Err` ends it with that message.
pub type Visitor<'a> = &'a mut (dyn FnMut(Record) -> Result<(), String> + Send);

/// Where Abasto keeps everything.
///
/// Reads see every unit whose verdict was given before they began.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Decides and writes a unit; when this returns [`Verdict::Committed`] it is durable.
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError>;

    /// Documents by key, in the order of the keys.
    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError>;

    /// Levels by place, in the order of the places; `None` where no movement ever was.
    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError>;

    /// The finished operation under a key.
    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError>;

    /// An order by its number.
    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError>;

    /// The holders of claims, in the order of the claims.
    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError>;

    /// Documents of one kind that are due (see [`Document::due_at`]) at or before a time, the
    /// longest due first, at most `limit` of them: of one business, or of all.
    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError>;

    /// Products by sku, deleted ones left out, in the order of the skus.
    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError>;

    /// What is stored of a cart's content. An edit that was committed before this began is in the
    /// state, in the tail, or in both.
    async fn cart_content(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<CartContent, StoreError>;

    /// Whether somebody beside this process may write to the store.
    fn is_shared(&self) -> bool {
        true
    }

    /// One page of a list, in the order that the query names.
    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError>;

    /// An API key, whatever its business: the only way from a credential to a tenant, with
    /// [`Self::memberships`].
    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// The active memberships of a user in all businesses, at most 100.
    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError>;

    /// The businesses, newest first.
    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError>;

    /// Calls the visitor for every record of a business, as of one point in time, in this order:
    /// documents by (kind, id), levels by place, movements by (place, sequence), events by
    /// (subject, sequence), counters by series, contended numbers by key, operations by key,
    /// states of carts by cart, their edits by (cart, author, sequence), their histories by
    /// (cart, time, id).
    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError>;

    /// Why the store is not ready to serve; empty when it is.
    async fn health(&self) -> Result<Vec<String>, StoreError>;
}
