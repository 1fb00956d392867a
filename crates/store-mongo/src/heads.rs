//! Reading heads: everything a batch of units is decided against, in a handful of finds.
//!
//! Owns the filters and projections of these finds. Must not decide.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::id::{BusinessId, CartId, CustomerId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::Series;
use abasto_domain::stock::Place;
use abasto_store::cart::DotKey;
use abasto_store::heads::Heads;
use abasto_store::index::Collection;
use abasto_store::record::{Claim, DocumentKey, HeadKey, Kind, Unique};
use abasto_store::tally::TallyKey;
use mongodb::bson::{Bson, Document, doc};

use crate::document::{Row, counter, object_id, operation, stock, tally};
use crate::fault::Fault;
use crate::transaction::Transaction;
use crate::{cart, claim, collection};

/// Heads as they were read, with the versions that conditional writes name.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) heads: Heads,
    /// Versions of levels that exist.
    pub(crate) levels: BTreeMap<Place, i64>,
    /// Last numbers of series that exist.
    pub(crate) series: BTreeMap<Series, i64>,
    /// Values of contended numbers that exist.
    pub(crate) tallies: BTreeMap<TallyKey, i64>,
}

/// Heads by sort.
#[derive(Debug, Default)]
struct Wanted {
    documents: BTreeMap<Kind, Vec<RawId>>,
    places: Vec<Place>,
    claims: BTreeMap<Unique, Vec<Claim>>,
    series: Vec<Series>,
    tallies: Vec<TallyKey>,
    operations: BTreeMap<Option<CustomerId>, Vec<String>>,
    dots: Vec<DotKey>,
    states: Vec<CartId>,
}

impl Wanted {
    fn of(keys: BTreeSet<HeadKey>) -> Self {
        let mut wanted = Self::default();
        for key in keys {
            match key {
                HeadKey::Document(key) => {
                    wanted.documents.entry(key.kind).or_default().push(key.id)
                }
                HeadKey::Level(place) => wanted.places.push(place),
                HeadKey::Claim(claim) => wanted.claims.entry(claim.rule).or_default().push(claim),
                HeadKey::Series(series) => wanted.series.push(series),
                HeadKey::Tally(key) => wanted.tallies.push(key),
                HeadKey::Dot(dot) => wanted.dots.push(dot),
                HeadKey::CartState(cart) => wanted.states.push(cart),
                HeadKey::Operation(key) => {
                    wanted
                        .operations
                        .entry(key.customer)
                        .or_default()
                        .push(key.key);
                }
            }
        }
        wanted
    }
}

/// Reads the heads within the transaction.
pub(crate) async fn read(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    keys: BTreeSet<HeadKey>,
) -> Result<Read, Fault> {
    let mut read = Read::default();
    let wanted = Wanted::of(keys);
    operations(transaction, business, &wanted, &mut read).await?;
    for (kind, ids) in &wanted.documents {
        documents(transaction, business, *kind, ids, &mut read).await?;
    }
    for (rule, claims) in &wanted.claims {
        holders(transaction, business, *rule, claims, &mut read).await?;
    }
    series(transaction, business, &wanted.series, &mut read).await?;
    tallies(transaction, business, &wanted.tallies, &mut read).await?;
    levels(transaction, business, &wanted.places, &mut read).await?;
    cart::heads(
        transaction,
        business,
        &wanted.dots,
        &wanted.states,
        &mut read,
    )
    .await?;
    Ok(read)
}

async fn documents(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    kind: Kind,
    ids: &[RawId],
    read: &mut Read,
) -> Result<(), Fault> {
    for id in ids {
        read.heads
            .set_document(business, DocumentKey { kind, id: *id }, 0);
    }
    let collection = collection::of(kind);
    let filter = by_ids(business, kind, ids);
    let fields = Some(doc! { "version": 1 });
    for found in transaction.find(collection, filter, fields).await? {
        let row = Row::new(collection.name(), &found);
        let key = DocumentKey {
            kind,
            id: row.id("_id")?,
        };
        read.heads.set_document(business, key, row.int("version")?);
    }
    Ok(())
}

/// The filter of documents by id. A business is found only as itself.
pub(crate) fn by_ids(business: BusinessId, kind: Kind, ids: &[RawId]) -> Document {
    let own = |id: &&RawId| kind != Kind::Business || **id == business.0;
    let ids: Vec<Bson> = ids
        .iter()
        .filter(own)
        .map(|id| object_id(*id).into())
        .collect();
    let filter = doc! { "_id": { "$in": ids } };
    match kind {
        Kind::Business => filter,
        _ => {
            let mut scoped = doc! { "businessId": object_id(business) };
            scoped.extend(filter);
            scoped
        }
    }
}

async fn holders(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    rule: Unique,
    claims: &[Claim],
    read: &mut Read,
) -> Result<(), Fault> {
    for claim in claims {
        read.heads.set_claim(business, claim.clone(), None);
    }
    let (collection, name) = claim::field(rule);
    let values = claims.iter().map(|claim| claim.value.as_str());
    let filter = claim::filter(business, rule, values);
    let fields = Some(doc! { name: 1 });
    for found in transaction.find(collection, filter, fields).await? {
        let (claim, holder) = claim::holder(rule, &found)?;
        read.heads.set_claim(business, claim, Some(holder));
    }
    Ok(())
}

async fn levels(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    places: &[Place],
    read: &mut Read,
) -> Result<(), Fault> {
    if places.is_empty() {
        return Ok(());
    }
    for place in places {
        read.heads.set_level(business, *place, None);
    }
    let filter = by_places(business, places);
    for found in transaction
        .find(Collection::StockLevels, filter, None)
        .await?
    {
        let level = stock::read_level(Row::new(Collection::StockLevels.name(), &found))?;
        read.levels.insert(level.place, level.version);
        read.heads.set_level(business, level.place, Some(level));
    }
    Ok(())
}

/// The filter of levels by place: one scan per branch.
pub(crate) fn by_places(business: BusinessId, places: &[Place]) -> Document {
    let mut branches: BTreeMap<_, Vec<Bson>> = BTreeMap::new();
    for place in places {
        let products = branches.entry(place.branch).or_default();
        products.push(object_id(place.product).into());
    }
    let mut one_each = branches.into_iter().map(|(branch, products)| {
        doc! { "branchId": object_id(branch), "productId": { "$in": products } }
    });
    let mut filter = doc! { "businessId": object_id(business) };
    match (one_each.next(), one_each.next()) {
        (Some(only), None) => filter.extend(only),
        (first, second) => {
            let all: Vec<Document> = first.into_iter().chain(second).chain(one_each).collect();
            filter.insert("$or", all);
        }
    }
    filter
}

async fn series(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    wanted: &[Series],
    read: &mut Read,
) -> Result<(), Fault> {
    if wanted.is_empty() {
        return Ok(());
    }
    for series in wanted {
        read.heads.set_series(business, series.clone(), 0);
    }
    let each = wanted.iter().map(|series| {
        doc! { "code": series.code.as_str(), "year": i64::from(series.year) }
    });
    let filter = doc! { "businessId": object_id(business), "$or": each.collect::<Vec<_>>() };
    for found in transaction.find(Collection::Counters, filter, None).await? {
        let counter = counter::read(Row::new(Collection::Counters.name(), &found))?;
        read.series.insert(counter.series.clone(), counter.last);
        read.heads
            .set_series(business, counter.series, counter.last);
    }
    Ok(())
}

async fn tallies(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    wanted: &[TallyKey],
    read: &mut Read,
) -> Result<(), Fault> {
    if wanted.is_empty() {
        return Ok(());
    }
    for key in wanted {
        read.heads.set_tally(business, *key, 0);
    }
    let each: Vec<Document> = wanted.iter().map(|key| tally::named(*key)).collect();
    let filter = doc! { "businessId": object_id(business), "$or": each };
    for found in transaction.find(Collection::Tallies, filter, None).await? {
        let tally = tally::read(Row::new(Collection::Tallies.name(), &found))?;
        read.tallies.insert(tally.key, tally.value);
        read.heads.set_tally(business, tally.key, tally.value);
    }
    Ok(())
}

async fn operations(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    wanted: &Wanted,
    read: &mut Read,
) -> Result<(), Fault> {
    for (customer, keys) in &wanted.operations {
        for key in keys {
            let key = OperationKey {
                customer: *customer,
                key: key.clone(),
            };
            read.heads.set_operation(business, key, None);
        }
    }
    let Some(filter) = by_keys(business, &wanted.operations) else {
        return Ok(());
    };
    for found in transaction
        .find(Collection::Operations, filter, None)
        .await?
    {
        let operation = operation::read(Row::new(Collection::Operations.name(), &found))?;
        let key = operation.key.clone();
        read.heads
            .set_operation(business, key, Some(Arc::new(operation)));
    }
    Ok(())
}

/// The filter of operations by key: one scan per customer.
pub(crate) fn by_keys(
    business: BusinessId,
    keys: &BTreeMap<Option<CustomerId>, Vec<String>>,
) -> Option<Document> {
    let mut one_each = keys.iter().map(|(customer, keys)| {
        let customer = customer.map_or(Bson::Null, |id| object_id(id).into());
        doc! { "customerId": customer, "key": { "$in": keys.as_slice() } }
    });
    let mut filter = doc! { "businessId": object_id(business) };
    match (one_each.next()?, one_each.next()) {
        (only, None) => filter.extend(only),
        (first, Some(second)) => {
            let all: Vec<Document> = [first, second].into_iter().chain(one_each).collect();
            filter.insert("$or", all);
        }
    }
    Some(filter)
}
