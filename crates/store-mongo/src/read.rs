//! Reads by key: documents, levels, operations, credentials.
//!
//! Owns their filters. Every read goes to the primary with read concern majority, says how long it
//! may take and what it is, and runs in a task of its own: who stops waiting cancels nothing.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::time::Duration;

use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::index::Collection;
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Unique};
use abasto_store::verdict::Operation;
use mongodb::Database;
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{Bson, Document as Filter, doc};
use mongodb::error::Error;
use tokio::time::timeout;

use crate::collection::{self, comment};
use crate::deadline::{Deadline, INTERACTIVE};
use crate::document::{Row, Unreadable, date, object_id, operation, read_document, stock};
use crate::fault::store_error;
use crate::{claim, heads};

/// How much longer than the server we wait before we believe that no answer comes.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);
/// Most memberships of one user that are looked at.
const MEMBERSHIPS_MAX: i64 = 100;

/// A find, as a value.
#[derive(Debug, Clone)]
pub(crate) struct Find {
    pub(crate) collection: Collection,
    pub(crate) name: &'static str,
    pub(crate) filter: Filter,
    pub(crate) sort: Option<Filter>,
    pub(crate) limit: Option<i64>,
}

impl Find {
    pub(crate) const fn new(collection: Collection, name: &'static str, filter: Filter) -> Self {
        Self {
            collection,
            name,
            filter,
            sort: None,
            limit: None,
        }
    }

    /// Runs it and reads each row.
    pub(crate) async fn run(
        self,
        database: &Database,
        deadline: Deadline,
    ) -> Result<Vec<RawDocumentBuf>, StoreError> {
        let database = database.clone();
        in_own_task(deadline, async move {
            let handle = database.collection::<RawDocumentBuf>(self.collection.name());
            let mut find = handle
                .find(self.filter)
                .max_time(deadline.max_time())
                .comment(Bson::String(comment("read", self.name)));
            if let Some(sort) = self.sort {
                find = find.sort(sort);
            }
            if let Some(limit) = self.limit {
                find = find.limit(limit);
            }
            let mut cursor = find.await?;
            let mut found = Vec::new();
            while cursor.advance().await? {
                found.push(cursor.current().to_owned());
            }
            Ok(found)
        })
        .await
    }
}

/// Runs a read in a task of its own, no longer than its deadline and a margin.
async fn in_own_task<T: Send + 'static>(
    deadline: Deadline,
    read: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, StoreError> {
    let task = tokio::spawn(timeout(deadline.left() + ANSWER_MARGIN, read));
    match task.await {
        Ok(Ok(read)) => read.map_err(store_error),
        Ok(Err(_)) => Err(StoreError::Unavailable(
            "the database did not answer in time".to_owned(),
        )),
        Err(failed) => Err(StoreError::Backend(Box::new(failed))),
    }
}

pub(crate) fn interactive() -> Deadline {
    Deadline::after(INTERACTIVE - ANSWER_MARGIN)
}

pub(crate) async fn documents(
    database: &Database,
    business: BusinessId,
    keys: &[DocumentKey],
) -> Result<Vec<Option<Document>>, StoreError> {
    let mut kinds: BTreeMap<Kind, Vec<RawId>> = BTreeMap::new();
    for key in keys {
        kinds.entry(key.kind).or_default().push(key.id);
    }
    let deadline = interactive();
    let mut found: HashMap<DocumentKey, Document> = HashMap::new();
    for (kind, ids) in kinds {
        let collection = collection::of(kind);
        let find = Find::new(collection, "documents", heads::by_ids(business, kind, &ids));
        for row in find.run(database, deadline).await? {
            let document = read_document(kind, Row::new(collection.name(), &row))?;
            found.insert(document.key(), document);
        }
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

pub(crate) async fn levels(
    database: &Database,
    business: BusinessId,
    places: &[Place],
) -> Result<Vec<Option<StockLevel>>, StoreError> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let filter = heads::by_places(business, places);
    let find = Find::new(Collection::StockLevels, "levels", filter);
    let mut found: HashMap<Place, StockLevel> = HashMap::new();
    for row in find.run(database, interactive()).await? {
        let level = stock::read_level(Row::new(Collection::StockLevels.name(), &row))?;
        found.insert(level.place, level);
    }
    Ok(places
        .iter()
        .map(|place| found.get(place).copied())
        .collect())
}

pub(crate) async fn operation(
    database: &Database,
    business: BusinessId,
    key: &OperationKey,
) -> Result<Option<Operation>, StoreError> {
    let mut found = operations(database, business, vec![key.clone()], interactive()).await?;
    Ok(found.remove(key))
}

/// The finished operations among keys.
pub(crate) async fn operations(
    database: &Database,
    business: BusinessId,
    keys: Vec<OperationKey>,
    deadline: Deadline,
) -> Result<BTreeMap<OperationKey, Operation>, StoreError> {
    let mut customers: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for key in keys {
        customers.entry(key.customer).or_default().push(key.key);
    }
    let Some(filter) = heads::by_keys(business, &customers) else {
        return Ok(BTreeMap::new());
    };
    let find = Find::new(Collection::Operations, "operation", filter);
    let mut found = BTreeMap::new();
    for row in find.run(database, deadline).await? {
        let operation = operation::read(Row::new(Collection::Operations.name(), &row))?;
        found.insert(operation.key.clone(), operation);
    }
    Ok(found)
}

pub(crate) async fn order_by_number(
    database: &Database,
    business: BusinessId,
    number: &OrderNumber,
) -> Result<Option<Order>, StoreError> {
    let filter = doc! { "businessId": object_id(business), "number": number.to_string() };
    let find = Find::new(Collection::Orders, "order-by-number", filter);
    let rows = find.run(database, interactive()).await?;
    let orders = decoded(&rows, Kind::Order)?;
    Ok(orders.into_iter().find_map(|document| match document {
        Document::Order(order) => Some((*order).clone()),
        _ => None,
    }))
}

/// The holders of claims.
pub(crate) async fn holders(
    database: &Database,
    business: BusinessId,
    claims: &[Claim],
) -> Result<Vec<Option<RawId>>, StoreError> {
    let mut rules: BTreeMap<Unique, Vec<&str>> = BTreeMap::new();
    for claim in claims {
        rules.entry(claim.rule).or_default().push(&claim.value);
    }
    let deadline = interactive();
    let mut found: BTreeMap<Claim, RawId> = BTreeMap::new();
    for (rule, values) in rules {
        let (collection, _) = claim::field(rule);
        let find = Find::new(collection, "holders", claim::filter(business, rule, values));
        for row in find.run(database, deadline).await? {
            let (claim, holder) = claim::holder(rule, &row)?;
            found.insert(claim, holder);
        }
    }
    Ok(claims
        .iter()
        .map(|claim| found.get(claim).copied())
        .collect())
}

/// Documents of a kind that are due, of one business or of all.
pub(crate) async fn due(
    database: &Database,
    business: Option<BusinessId>,
    kind: Kind,
    at: Timestamp,
    limit: u32,
) -> Result<Vec<Document>, StoreError> {
    let mut filter = doc! { "dueAt": { "$lte": date(at), "$type": "date" } };
    if let Some(business) = business {
        filter.insert("businessId", object_id(business));
    }
    let find = Find {
        sort: Some(doc! { "dueAt": 1, "_id": 1 }),
        limit: Some(i64::from(limit)),
        ..Find::new(collection::of(kind), "due", filter)
    };
    let rows = find.run(database, interactive()).await?;
    Ok(decoded(&rows, kind)?)
}

pub(crate) async fn products_by_sku(
    database: &Database,
    business: BusinessId,
    skus: &[String],
) -> Result<Vec<Option<Document>>, StoreError> {
    let filter = claim::filter(business, Unique::Sku, skus.iter().map(String::as_str));
    let find = Find::new(Collection::Products, "products-by-sku", filter);
    let rows = find.run(database, interactive()).await?;
    let mut found: HashMap<String, Document> = HashMap::new();
    for document in decoded(&rows, Kind::Product)? {
        if let Document::Product(product) = &document {
            found.insert(product.sku.clone(), document.clone());
        }
    }
    Ok(skus.iter().map(|sku| found.get(sku).cloned()).collect())
}

pub(crate) async fn api_key(
    database: &Database,
    id: ApiKeyId,
) -> Result<Option<ApiKey>, StoreError> {
    let find = Find::new(
        Collection::ApiKeys,
        "api-key",
        doc! { "_id": object_id(id) },
    );
    let rows = find.run(database, interactive()).await?;
    let keys = decoded(&rows, Kind::ApiKey)?;
    Ok(keys.into_iter().find_map(|document| match document {
        Document::ApiKey(key) => Some((*key).clone()),
        _ => None,
    }))
}

pub(crate) async fn memberships(
    database: &Database,
    user: &str,
) -> Result<Vec<Member>, StoreError> {
    let filter = doc! { "userId": user, "active": true };
    let mut find = Find::new(Collection::Members, "memberships", filter);
    find.sort = Some(doc! { "userId": 1, "businessId": 1 });
    find.limit = Some(MEMBERSHIPS_MAX);
    let rows = find.run(database, interactive()).await?;
    let members = decoded(&rows, Kind::Member)?;
    let members = members.into_iter().filter_map(|document| match document {
        Document::Member(member) => Some((*member).clone()),
        _ => None,
    });
    Ok(members.collect())
}

/// Rows of one kind as documents.
pub(crate) fn decoded(rows: &[RawDocumentBuf], kind: Kind) -> Result<Vec<Document>, Unreadable> {
    let collection = collection::of(kind).name();
    let rows = rows
        .iter()
        .map(|row| read_document(kind, Row::new(collection, row)));
    rows.collect()
}
