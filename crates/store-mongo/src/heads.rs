//! Reading heads: everything a batch of units is decided against, in one command.
//!
//! Owns the filters and projections of its finds. Must not decide.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::id::{BusinessId, CartId, CustomerId, RawId};
use abasto_domain::number::Series;
use abasto_domain::stock::Place;
use abasto_store::cart::{DotHead, DotKey};
use abasto_store::heads::Heads;
use abasto_store::index::Collection;
use abasto_store::record::{Claim, DocumentKey, HeadKey, Kind, Unique};
use abasto_store::tally::TallyKey;
use mongodb::bson::{Bson, Document, doc};

use crate::document::{Row, Unreadable, counter, object_id, operation, stock, tally};
use crate::fault::Fault;
use crate::transaction::{Find, Transaction};
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

/// What a find looks for, and so how its rows are read.
#[derive(Debug, Clone, Copy)]
enum Sought {
    Operations,
    Documents(Kind),
    Holders(Unique),
    Series,
    Tallies,
    Levels,
    CartStates,
    CartEdits,
}

/// Reads the heads within the transaction.
pub(crate) async fn read(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    keys: BTreeSet<HeadKey>,
) -> Result<Read, Fault> {
    let mut read = Read::default();
    for key in &keys {
        read.nothing_at(business, key);
    }
    let wanted = Wanted::of(keys);
    let (sought, finds): (Vec<Sought>, Vec<Find>) = wanted.finds(business).into_iter().unzip();
    for (place, row) in transaction.gather(&finds).await? {
        if let (Some(sought), Some(find)) = (sought.get(place), finds.get(place)) {
            let row = Row::new(find.collection.name(), &row);
            read.take(business, *sought, row, &wanted.dots)?;
        }
    }
    Ok(read)
}

impl Wanted {
    /// One find for each sort of head. States of carts come before their edits, which override
    /// what states know.
    fn finds(&self, business: BusinessId) -> Vec<(Sought, Find)> {
        let mut finds = Vec::new();
        let mut add = |sought, collection, filter, fields| {
            let find = Find {
                collection,
                filter,
                fields,
            };
            finds.push((sought, find));
        };
        if let Some(filter) = by_keys(business, &self.operations) {
            add(Sought::Operations, Collection::Operations, filter, None);
        }
        for (kind, ids) in &self.documents {
            let filter = by_ids(business, *kind, ids);
            let fields = Some(doc! { "version": 1 });
            add(
                Sought::Documents(*kind),
                collection::of(*kind),
                filter,
                fields,
            );
        }
        for (rule, claims) in &self.claims {
            let (collection, name) = claim::field(*rule);
            let values = claims.iter().map(|claim| claim.value.as_str());
            let filter = claim::filter(business, *rule, values);
            add(
                Sought::Holders(*rule),
                collection,
                filter,
                Some(doc! { name: 1 }),
            );
        }
        if !self.series.is_empty() {
            let filter = by_series(business, &self.series);
            add(Sought::Series, Collection::Counters, filter, None);
        }
        if !self.tallies.is_empty() {
            let each: Vec<Document> = self.tallies.iter().map(|key| tally::named(*key)).collect();
            let filter = doc! { "businessId": object_id(business), "$or": each };
            add(Sought::Tallies, Collection::Tallies, filter, None);
        }
        if !self.places.is_empty() {
            let filter = by_places(business, &self.places);
            add(Sought::Levels, Collection::StockLevels, filter, None);
        }
        let carts = self.dots.iter().map(|dot| dot.cart);
        let carts = carts.chain(self.states.iter().copied());
        if !self.dots.is_empty() || !self.states.is_empty() {
            finds.push((Sought::CartStates, cart::states(business, carts)));
        }
        if !self.dots.is_empty() {
            finds.push((Sought::CartEdits, cart::edits(business, &self.dots)));
        }
        finds
    }
}

impl Read {
    /// A head as it is when nothing is found.
    fn nothing_at(&mut self, business: BusinessId, key: &HeadKey) {
        let heads = &mut self.heads;
        match key.clone() {
            HeadKey::Document(key) => heads.set_document(business, key, 0),
            HeadKey::Level(place) => heads.set_level(business, place, None),
            HeadKey::Claim(claim) => heads.set_claim(business, claim, None),
            HeadKey::Series(series) => heads.set_series(business, series, 0),
            HeadKey::Tally(key) => heads.set_tally(business, key, 0),
            HeadKey::Operation(key) => heads.set_operation(business, key, None),
            HeadKey::Dot(dot) => heads.set_dot(business, dot, DotHead::Unheard),
            HeadKey::CartState(cart) => heads.set_cart_state(business, cart, 0),
        }
    }

    /// A head as it was found.
    fn take(
        &mut self,
        business: BusinessId,
        sought: Sought,
        row: Row<'_>,
        dots: &[DotKey],
    ) -> Result<(), Unreadable> {
        let heads = &mut self.heads;
        match sought {
            Sought::Operations => {
                let operation = operation::read(row)?;
                heads.set_operation(business, operation.key.clone(), Some(Arc::new(operation)));
            }
            Sought::Documents(kind) => {
                let key = DocumentKey::new(kind, row.id::<RawId>("_id")?);
                heads.set_document(business, key, row.int("version")?);
            }
            Sought::Holders(rule) => {
                let (claim, holder) = claim::holder(rule, row.raw())?;
                heads.set_claim(business, claim, Some(holder));
            }
            Sought::Series => {
                let counter = counter::read(row)?;
                self.series.insert(counter.series.clone(), counter.last);
                heads.set_series(business, counter.series, counter.last);
            }
            Sought::Tallies => {
                let tally = tally::read(row)?;
                self.tallies.insert(tally.key, tally.value);
                heads.set_tally(business, tally.key, tally.value);
            }
            Sought::Levels => {
                let level = stock::read_level(row)?;
                self.levels.insert(level.place, level.version);
                heads.set_level(business, level.place, Some(level));
            }
            Sought::CartStates => {
                let (cart, version, heard) = cart::heard(row)?;
                heads.set_cart_state(business, cart, version);
                for dot in dots.iter().filter(|dot| dot.cart == cart) {
                    heads.set_dot(business, *dot, heard.head(*dot));
                }
            }
            Sought::CartEdits => {
                let (dot, kept) = cart::kept(row)?;
                heads.set_dot(business, dot, kept);
            }
        }
        Ok(())
    }
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

/// The filter of counters by series.
fn by_series(business: BusinessId, wanted: &[Series]) -> Document {
    let each = wanted.iter().map(|series| {
        doc! { "code": series.code.as_str(), "year": i64::from(series.year) }
    });
    doc! { "businessId": object_id(business), "$or": each.collect::<Vec<_>>() }
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
