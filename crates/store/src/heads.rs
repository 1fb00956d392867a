//! Heads: the small present state that a group of units is decided against.
//!
//! Owns the table that an adapter fills before [`crate::resolve::resolve`] and whose changes it
//! writes after. Must not do IO.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::id::{BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::Series;
use abasto_domain::stock::{Place, StockLevel};

use crate::cart::{DotHead, DotKey};
use crate::record::{Claim, DocumentKey, HeadKey};
use crate::tally::TallyKey;
use crate::unit::UnitOfWork;
use crate::verdict::Operation;

type Scoped<K> = (BusinessId, K);

/// What is known of the heads that a group touches. Absent means not read yet.
#[derive(Debug, Default)]
pub struct Heads {
    pub(crate) documents: BTreeMap<Scoped<DocumentKey>, i64>,
    pub(crate) levels: BTreeMap<Scoped<Place>, Option<StockLevel>>,
    pub(crate) claims: BTreeMap<Scoped<Claim>, Option<RawId>>,
    pub(crate) series: BTreeMap<Scoped<Series>, i64>,
    pub(crate) operations: BTreeMap<Scoped<OperationKey>, Option<Arc<Operation>>>,
    pub(crate) dots: BTreeMap<Scoped<DotKey>, DotHead>,
    pub(crate) cart_states: BTreeMap<Scoped<CartId>, i64>,
    pub(crate) moved: BTreeSet<Scoped<Place>>,
    pub(crate) counted: BTreeSet<Scoped<Series>>,
    pub(crate) tallies: BTreeMap<Scoped<TallyKey>, i64>,
    pub(crate) tallied: BTreeSet<Scoped<TallyKey>>,
}

impl Heads {
    /// The heads of a unit that were not read yet, each once.
    pub fn missing(&self, unit: &UnitOfWork) -> BTreeSet<HeadKey> {
        unit.heads()
            .filter(|key| !self.knows(unit.business, key))
            .collect()
    }

    fn knows(&self, business: BusinessId, key: &HeadKey) -> bool {
        match key {
            HeadKey::Document(key) => self.documents.contains_key(&(business, *key)),
            HeadKey::Level(place) => self.levels.contains_key(&(business, *place)),
            HeadKey::Claim(claim) => self.claims.contains_key(&(business, claim.clone())),
            HeadKey::Series(series) => self.series.contains_key(&(business, series.clone())),
            HeadKey::Tally(key) => self.tallies.contains_key(&(business, *key)),
            HeadKey::Dot(dot) => self.dots.contains_key(&(business, *dot)),
            HeadKey::CartState(cart) => self.cart_states.contains_key(&(business, *cart)),
            HeadKey::Operation(key) => self.operations.contains_key(&(business, key.clone())),
        }
    }

    /// Notes a document's version; 0 when there is none.
    pub fn set_document(&mut self, business: BusinessId, key: DocumentKey, version: i64) {
        self.documents.insert((business, key), version);
    }

    /// Notes a level; `None` when no movement ever touched it.
    pub fn set_level(&mut self, business: BusinessId, place: Place, level: Option<StockLevel>) {
        self.levels.insert((business, place), level);
    }

    /// Notes who holds a claim.
    pub fn set_claim(&mut self, business: BusinessId, claim: Claim, holder: Option<RawId>) {
        self.claims.insert((business, claim), holder);
    }

    /// Notes the last number of a series; 0 when none was given.
    pub fn set_series(&mut self, business: BusinessId, series: Series, last: i64) {
        self.series.insert((business, series), last);
    }

    /// Notes a contended number; 0 when it was never changed.
    pub fn set_tally(&mut self, business: BusinessId, key: TallyKey, value: i64) {
        self.tallies.insert((business, key), value);
    }

    /// Notes what is known of a dot.
    pub fn set_dot(&mut self, business: BusinessId, dot: DotKey, head: DotHead) {
        self.dots.insert((business, dot), head);
    }

    /// Notes the version of a cart's state; 0 when there is none.
    pub fn set_cart_state(&mut self, business: BusinessId, cart: CartId, version: i64) {
        self.cart_states.insert((business, cart), version);
    }

    /// Notes the finished operation under a key, if there is one.
    pub fn set_operation(
        &mut self,
        business: BusinessId,
        key: OperationKey,
        operation: Option<Arc<Operation>>,
    ) {
        self.operations.insert((business, key), operation);
    }

    /// The levels that the group moved, each with its net result: write these.
    pub fn moved_levels(&self) -> impl Iterator<Item = &StockLevel> {
        self.moved
            .iter()
            .filter_map(|key| self.levels.get(key).and_then(Option::as_ref))
    }

    /// The contended numbers that the group changed, each with its net result: write these.
    pub fn moved_tallies(&self) -> impl Iterator<Item = (BusinessId, TallyKey, i64)> {
        self.tallied
            .iter()
            .filter_map(|key| self.tallies.get(key).map(|value| (key.0, key.1, *value)))
    }

    /// The series that the group counted on, each with its last number: write these.
    pub fn counted_series(&self) -> impl Iterator<Item = (BusinessId, &Series, i64)> {
        self.counted
            .iter()
            .filter_map(|key| self.series.get(key).map(|last| (key.0, &key.1, *last)))
    }
}
