//! The model store: the port in memory, one mutex, no cleverness. It is what the port means.
//!
//! Owns the reference semantics of commits, reads and walks; every adapter must answer the same.
//! Must not know files, drivers or groups: each unit is decided and applied alone.

mod cart;
mod tenant;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartContent;
use abasto_store::heads::Heads;
use abasto_store::port::Visitor;
use abasto_store::query::{Page, Position, Query};
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Record};
use abasto_store::resolve::resolve;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Operation, Verdict};
use abasto_store::{Store, StoreError};
use async_trait::async_trait;

use self::tenant::Tenant;

/// Most memberships that [`Store::memberships`] gives.
const MEMBERSHIPS_MAX: usize = 100;

/// A store in memory. Everything is gone when it is dropped.
#[derive(Debug, Default)]
pub struct ModelStore {
    tenants: Mutex<BTreeMap<BusinessId, Tenant>>,
}

impl ModelStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// All tenants. A panic under the lock comes before anything is written, so the tables are
    /// whole even then.
    fn tenants(&self) -> MutexGuard<'_, BTreeMap<BusinessId, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from one business; from nothing when there is none.
    fn read<T>(&self, business: BusinessId, read: impl FnOnce(&Tenant) -> T) -> T {
        match self.tenants().get(&business) {
            Some(tenant) => read(tenant),
            None => read(&Tenant::default()),
        }
    }
}

#[async_trait]
impl Store for ModelStore {
    async fn commit(&self, unit: UnitOfWork) -> Result<Verdict, StoreError> {
        let mut tenants = self.tenants();
        let tenant = tenants.entry(unit.business).or_default();
        let mut heads = Heads::default();
        for key in heads.missing(&unit) {
            tenant.read_head(&mut heads, unit.business, key)?;
        }
        match resolve(&mut heads, &unit) {
            Ok(effects) => {
                let reply = effects.reply.clone();
                tenant
                    .apply(effects, &heads)
                    .map_err(|defect| StoreError::Backend(defect.into()))?;
                Ok(Verdict::Committed(reply))
            }
            Err(verdict) => Ok(verdict),
        }
    }

    async fn documents(
        &self,
        business: BusinessId,
        keys: &[DocumentKey],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        Ok(self.read(business, |tenant| {
            let found = keys.iter().map(|key| tenant.documents.get(key).cloned());
            found.collect()
        }))
    }

    async fn levels(
        &self,
        business: BusinessId,
        places: &[Place],
    ) -> Result<Vec<Option<StockLevel>>, StoreError> {
        Ok(self.read(business, |tenant| {
            let found = places.iter().map(|place| tenant.levels.get(place).copied());
            found.collect()
        }))
    }

    async fn operation(
        &self,
        business: BusinessId,
        key: &OperationKey,
    ) -> Result<Option<Operation>, StoreError> {
        Ok(self.read(business, |tenant| {
            let operation = tenant.operations.get(key);
            operation.map(|operation| Operation::clone(operation))
        }))
    }

    async fn order_by_number(
        &self,
        business: BusinessId,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        Ok(self.read(business, |tenant| {
            let mut orders = tenant.of_kind(Kind::Order);
            orders.find_map(|document| match document {
                Document::Order(order) if order.number == *number => Some(Order::clone(order)),
                _ => None,
            })
        }))
    }

    async fn holders(
        &self,
        business: BusinessId,
        claims: &[Claim],
    ) -> Result<Vec<Option<RawId>>, StoreError> {
        Ok(self.read(business, |tenant| {
            let holders = claims.iter().map(|claim| tenant.holder(claim));
            holders.collect()
        }))
    }

    async fn due(
        &self,
        business: Option<BusinessId>,
        kind: Kind,
        at: Timestamp,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        let tenants = self.tenants();
        let asked = tenants
            .iter()
            .filter(|(id, _)| business.is_none_or(|business| business == **id));
        let due = asked.flat_map(|(_, tenant)| tenant.due(kind, at));
        let mut due: Vec<Document> = due.cloned().collect();
        due.sort_by_key(|document| (document.due_at(), document.key().id));
        due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(due)
    }

    async fn cart_content(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<CartContent, StoreError> {
        Ok(self.read(business, |tenant| tenant.carts.content(cart)))
    }

    async fn products_by_sku(
        &self,
        business: BusinessId,
        skus: &[String],
    ) -> Result<Vec<Option<Document>>, StoreError> {
        let live = |document: &&Document, sku: &str| match document {
            Document::Product(product) => product.deleted_at.is_none() && product.sku == sku,
            _ => false,
        };
        Ok(self.read(business, |tenant| {
            let find = |sku: &String| {
                let mut products = tenant.of_kind(Kind::Product);
                products.find(|document| live(document, sku)).cloned()
            };
            skus.iter().map(find).collect()
        }))
    }

    async fn list(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Record>, StoreError> {
        let rows = self.read(business, |tenant| tenant.listed(query));
        Ok(cut(rows, page, query.ascends()))
    }

    async fn api_key(&self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let key = DocumentKey::new(Kind::ApiKey, id);
        let tenants = self.tenants();
        let mut found = tenants
            .values()
            .filter_map(|tenant| tenant.documents.get(&key));
        Ok(found.find_map(|document| match document {
            Document::ApiKey(key) => Some(ApiKey::clone(key)),
            _ => None,
        }))
    }

    async fn memberships(&self, user_id: &str) -> Result<Vec<Member>, StoreError> {
        let tenants = self.tenants();
        let members = tenants
            .values()
            .flat_map(|tenant| tenant.of_kind(Kind::Member));
        let active = members.filter_map(|document| match document {
            Document::Member(member) if member.active && member.user_id == user_id => {
                Some(Member::clone(member))
            }
            _ => None,
        });
        Ok(active.take(MEMBERSHIPS_MAX).collect())
    }

    async fn businesses(&self, page: Page) -> Result<Vec<Business>, StoreError> {
        let tenants = self.tenants();
        let documents = tenants
            .values()
            .flat_map(|tenant| tenant.of_kind(Kind::Business));
        let rows = documents.cloned().map(Record::Document).collect();
        let page = cut(rows, page, false).into_iter();
        Ok(page
            .filter_map(|record| match record {
                Record::Document(Document::Business(business)) => {
                    Some(Arc::unwrap_or_clone(business))
                }
                _ => None,
            })
            .collect())
    }

    async fn walk(&self, business: BusinessId, visitor: Visitor<'_>) -> Result<(), StoreError> {
        let records = self.read(business, Tenant::records);
        for record in records {
            visitor(record).map_err(|why| StoreError::Backend(why.into()))?;
        }
        Ok(())
    }

    async fn health(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

/// Sorts rows by their position and cuts out the page.
fn cut(mut rows: Vec<Record>, page: Page, ascends: bool) -> Vec<Record> {
    rows.sort_by_cached_key(Position::of);
    if !ascends {
        rows.reverse();
    }
    if let Some(after) = page.after {
        rows.retain(|record| {
            let position = Position::of(record);
            if ascends {
                position > after
            } else {
                position < after
            }
        });
    }
    rows.truncate(usize::try_from(page.limit).unwrap_or(usize::MAX));
    rows
}
