//! The tables of one business in the model store, and the writing of decided units.
//!
//! Owns the uniqueness that stands behind the decisions: a unit that would break it is a defect
//! of its maker, is refused as an error and leaves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::{OrderNumber, Series};
use abasto_domain::stock::{Movement, OperationId, Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::event::Event;
use abasto_store::heads::Heads;
use abasto_store::query::Query;
use abasto_store::record::{Claim, Counter, Document, DocumentKey, HeadKey, Kind, Record};
use abasto_store::resolve::Effects;
use abasto_store::tally::{Tally, TallyKey};
use abasto_store::verdict::Operation;

use super::cart::Carts;

/// Everything that is stored of one business.
#[derive(Debug, Default)]
pub(super) struct Tenant {
    pub(super) documents: BTreeMap<DocumentKey, Document>,
    pub(super) levels: BTreeMap<Place, StockLevel>,
    pub(super) operations: BTreeMap<OperationKey, Arc<Operation>>,
    claims: BTreeMap<Claim, RawId>,
    numbers: BTreeSet<String>,
    movements: BTreeMap<(Place, i64), Movement>,
    effects: BTreeSet<OperationId>,
    events: BTreeMap<(DocumentKey, i64), Event>,
    series: BTreeMap<Series, i64>,
    tallies: BTreeMap<TallyKey, i64>,
    pub(super) carts: Carts,
}

/// Why decided effects cannot be written: a defect of whoever made the unit.
#[derive(Debug, thiserror::Error)]
pub(super) enum Defect {
    #[error("the effect {0} on stock was already written")]
    RepeatedEffect(OperationId),
    #[error("the order number {0} was already given")]
    RepeatedNumber(OrderNumber),
}

impl Tenant {
    /// The documents of one kind, by id.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Document> {
        let first = DocumentKey::new(kind, RawId::default());
        self.documents
            .range(first..)
            .take_while(move |(key, _)| key.kind == kind)
            .map(|(_, document)| document)
    }

    /// The holder of a claim.
    pub(super) fn holder(&self, claim: &Claim) -> Option<RawId> {
        self.claims.get(claim).copied()
    }

    /// The documents of one kind that are due at a time.
    pub(super) fn due(&self, kind: Kind, at: Timestamp) -> impl Iterator<Item = &Document> {
        let due = move |document: &&Document| document.due_at().is_some_and(|due| due <= at);
        self.of_kind(kind).filter(due)
    }

    /// Every record in the order of a walk.
    pub(super) fn records(&self) -> Vec<Record> {
        let counter = |(series, last): (&Series, &i64)| {
            Record::Counter(Counter {
                series: series.clone(),
                last: *last,
            })
        };
        let tally = |(key, value): (&TallyKey, &i64)| {
            Record::Tally(Tally {
                key: *key,
                value: *value,
            })
        };
        let operation = |operation: &Arc<Operation>| Record::Operation((**operation).clone());
        let documents = self.documents.values().cloned().map(Record::Document);
        let levels = self.levels.values().copied().map(Record::Level);
        let movements = self.movements.values().cloned().map(Record::Movement);
        documents
            .chain(levels)
            .chain(movements)
            .chain(self.events.values().cloned().map(Record::Event))
            .chain(self.series.iter().map(counter))
            .chain(self.tallies.iter().map(tally))
            .chain(self.operations.values().map(operation))
            .chain(self.carts.records())
            .collect()
    }

    /// The records that a list holds, in no order.
    pub(super) fn listed(&self, query: &Query) -> Vec<Record> {
        let documents = |kind| self.of_kind(kind).cloned().map(Record::Document).collect();
        let mut records: Vec<Record> = match query {
            Query::Branches => documents(Kind::Branch),
            Query::Members => documents(Kind::Member),
            Query::ApiKeys => documents(Kind::ApiKey),
            Query::Products(_) => documents(Kind::Product),
            Query::Customers => documents(Kind::Customer),
            Query::Orders(_) => documents(Kind::Order),
            Query::Coupons => documents(Kind::Coupon),
            Query::Payments(_) => documents(Kind::Payment),
            Query::Returns(_) => documents(Kind::OrderReturn),
            Query::History(subject) => {
                let events = self.events.range((*subject, 0)..=(*subject, i64::MAX));
                events
                    .map(|(_, event)| Record::Event(event.clone()))
                    .collect()
            }
            Query::CartLog(cart) => self.carts.log(*cart),
            Query::Levels(_) => self.levels.values().copied().map(Record::Level).collect(),
            Query::Movements(place) => {
                let movements = self.movements.range((*place, 0)..=(*place, i64::MAX));
                movements
                    .map(|(_, movement)| Record::Movement(movement.clone()))
                    .collect()
            }
        };
        records.retain(|record| query.matches(record));
        records
    }

    /// Sets one head as it is now.
    pub(super) fn read_head(
        &self,
        heads: &mut Heads,
        business: BusinessId,
        key: HeadKey,
    ) -> Result<(), StoreError> {
        match key {
            HeadKey::Document(key) => {
                let version = self.documents.get(&key).map_or(0, Document::version);
                heads.set_document(business, key, version);
            }
            HeadKey::Level(place) => {
                heads.set_level(business, place, self.levels.get(&place).copied());
            }
            HeadKey::Claim(claim) => {
                let holder = self.claims.get(&claim).copied();
                heads.set_claim(business, claim, holder);
            }
            HeadKey::Series(series) => {
                let last = self.series.get(&series).copied().unwrap_or(0);
                heads.set_series(business, series, last);
            }
            HeadKey::Tally(key) => {
                let value = self.tallies.get(&key).copied().unwrap_or(0);
                heads.set_tally(business, key, value);
            }
            HeadKey::Dot(dot) => heads.set_dot(business, dot, self.carts.dot(dot)?),
            HeadKey::CartState(cart) => {
                heads.set_cart_state(business, cart, self.carts.version(cart));
            }
            HeadKey::Operation(key) => {
                let operation = self.operations.get(&key).cloned();
                heads.set_operation(business, key, operation);
            }
        }
        Ok(())
    }

    /// Writes what was decided: all of it, or nothing.
    pub(super) fn apply(&mut self, effects: Effects, heads: &Heads) -> Result<(), Defect> {
        self.check(&effects)?;
        for (document, _) in effects.puts {
            self.put(document);
        }
        for movement in effects.movements {
            self.effects.insert(movement.operation);
            let key = (movement.place, movement.sequence);
            self.movements.insert(key, movement);
        }
        for event in effects.events {
            self.events.insert((event.subject, event.sequence), event);
        }
        for level in heads.moved_levels() {
            self.levels.insert(level.place, *level);
        }
        for (_, series, last) in heads.counted_series() {
            self.series.insert(series.clone(), last);
        }
        for (_, key, value) in heads.moved_tallies() {
            self.tallies.insert(key, value);
        }
        self.carts.apply(effects.carts);
        if let Some(operation) = effects.operation {
            self.operations.insert(operation.key.clone(), operation);
        }
        Ok(())
    }

    fn check(&self, effects: &Effects) -> Result<(), Defect> {
        let mut own = BTreeSet::new();
        for movement in &effects.movements {
            let effect = movement.operation;
            if !own.insert(effect) || self.effects.contains(&effect) {
                return Err(Defect::RepeatedEffect(effect));
            }
        }
        let numbers = effects
            .puts
            .iter()
            .filter_map(|(next, _)| first_number(next));
        for number in numbers {
            if self.numbers.contains(&number.to_string()) {
                return Err(Defect::RepeatedNumber(number.clone()));
            }
        }
        Ok(())
    }

    fn put(&mut self, document: Document) {
        let key = document.key();
        if let Some(number) = first_number(&document) {
            self.numbers.insert(number.to_string());
        }
        for claim in self
            .documents
            .get(&key)
            .into_iter()
            .flat_map(Document::claims)
        {
            self.claims.remove(&claim);
        }
        for claim in document.claims() {
            self.claims.insert(claim, key.id);
        }
        self.documents.insert(key, document);
    }
}

/// The number that a document brings into the business: that of a new order.
fn first_number(document: &Document) -> Option<&OrderNumber> {
    match document {
        Document::Order(order) if order.stamp.version == 1 => Some(&order.number),
        _ => None,
    }
}
