//! Writing what a batch decided: statements per collection, in an order that unique rules accept.
//!
//! Owns the conditional filters by version and the order of writes: the most contended first, so
//! that a conflict shows before much was sent.

use std::collections::BTreeMap;

use abasto_domain::currency::Currency;
use abasto_domain::id::BusinessId;
use abasto_domain::stock::{Place, StockLevel};
use abasto_store::index::Collection;
use abasto_store::record::{Document, Kind};
use abasto_store::resolve::Effects;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use crate::cart;
use crate::collection;
use crate::document::{
    Fields, Unstorable, counter, event, operation, stock, tally, write_document,
};
use crate::fault::Fault;
use crate::heads::Read;
use crate::transaction::{Statement, Transaction, Verb};

/// What the units of a batch write, each with the place of its unit in the batch.
pub(crate) type Decided = Vec<(usize, Effects)>;

/// Writes everything.
pub(crate) async fn write(
    transaction: &mut Transaction<'_>,
    business: BusinessId,
    currency: Option<Currency>,
    read: &Read,
    decided: &Decided,
) -> Result<(), Fault> {
    for (collection, verb, statements) in heads(business, read, decided) {
        transaction.write(collection, verb, statements).await?;
    }
    for (collection, verb, statements) in documents(business, currency, decided)? {
        transaction.write(collection, verb, statements).await?;
    }
    for (collection, verb, statements) in cart::commands(business, decided)? {
        transaction.write(collection, verb, statements).await?;
    }
    for (collection, statements) in records(currency, decided)? {
        transaction
            .write(collection, Verb::Insert, statements)
            .await?;
    }
    Ok(())
}

/// Statements of one kind for one collection.
pub(crate) type Command = (Collection, Verb, Vec<Statement>);

/// Levels and series: present ones where the version is still the one read, new ones as they are.
fn heads(business: BusinessId, read: &Read, decided: &Decided) -> Vec<Command> {
    let movers = movers(decided);
    let (mut moved, mut made, mut counted, mut begun) = (vec![], vec![], vec![], vec![]);
    for level in read.heads.moved_levels() {
        let unit = movers.get(&level.place).copied().unwrap_or_default();
        match read.levels.get(&level.place) {
            Some(version) => moved.push(Statement {
                unit,
                body: conditional(level_at(business, level.place, *version), level_set(level)),
            }),
            None => made.push(Statement {
                unit,
                body: stock::write_level(level),
            }),
        }
    }
    for (business, series, last) in read.heads.counted_series() {
        let unit = decided.first().map(|(unit, _)| *unit).unwrap_or_default();
        let next = counter::write(business, series, last);
        match read.series.get(series) {
            Some(before) => counted.push(Statement {
                unit,
                body: conditional(counter::at(business, series, *before), next),
            }),
            None => begun.push(Statement { unit, body: next }),
        }
    }
    let (mut changed, mut new) = (vec![], vec![]);
    for (business, key, value) in read.heads.moved_tallies() {
        let unit = decided.first().map(|(unit, _)| *unit).unwrap_or_default();
        let next = tally::write(business, key, value);
        match read.tallies.get(&key) {
            Some(before) => changed.push(Statement {
                unit,
                body: conditional(tally::at(business, key, *before), next),
            }),
            None => new.push(Statement { unit, body: next }),
        }
    }
    vec![
        (Collection::Tallies, Verb::Update, changed),
        (Collection::Tallies, Verb::Insert, new),
        (Collection::StockLevels, Verb::Update, moved),
        (Collection::Counters, Verb::Update, counted),
        (Collection::StockLevels, Verb::Insert, made),
        (Collection::Counters, Verb::Insert, begun),
    ]
}

/// The last unit that moved each level.
fn movers(decided: &Decided) -> BTreeMap<Place, usize> {
    let moves = decided.iter().flat_map(|(unit, effects)| {
        effects
            .movements
            .iter()
            .map(|movement| (movement.place, *unit))
    });
    moves.collect()
}

fn level_at(business: BusinessId, place: Place, version: i64) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("businessId"), business)
        .id(cstr!("branchId"), place.branch)
        .id(cstr!("productId"), place.product)
        .int(cstr!("version"), version)
        .done()
}

fn level_set(level: &StockLevel) -> RawDocumentBuf {
    let changed = Fields::new()
        .int(cstr!("available"), level.available)
        .int(cstr!("reserved"), level.reserved)
        .int(cstr!("version"), level.version)
        .date(cstr!("updatedAt"), level.updated_at);
    Fields::new().doc(cstr!("$set"), changed.done()).done()
}

/// A statement of an update.
pub(crate) fn conditional(filter: RawDocumentBuf, update: RawDocumentBuf) -> RawDocumentBuf {
    Fields::new()
        .doc(cstr!("q"), filter)
        .doc(cstr!("u"), update)
        .done()
}

/// Versioned documents, collection by collection.
///
/// Kinds with unique claims are written in the order of the units by one command of upserts: a
/// value that one unit frees may be taken by the next. For the others new documents come first, in
/// plain inserts.
fn documents(
    business: BusinessId,
    currency: Option<Currency>,
    decided: &Decided,
) -> Result<Vec<Command>, Fault> {
    let mut commands: BTreeMap<(Collection, u8), (Verb, Vec<Statement>)> = BTreeMap::new();
    for (unit, effects) in decided {
        for (document, expected) in &effects.puts {
            let stored =
                write_document(document, currency).map_err(|why| Fault::Unstorable(*unit, why))?;
            let kind = document.key().kind;
            let (turn, verb, body) = match (has_claims(kind), *expected) {
                (false, 0) => (0, Verb::Insert, stored),
                (false, version) => (
                    1,
                    Verb::Update,
                    replace(business, document, version, stored),
                ),
                (true, 0) => (1, Verb::Update, upsert(business, document, stored)),
                (true, version) => (
                    1,
                    Verb::Update,
                    replace(business, document, version, stored),
                ),
            };
            let command = commands
                .entry((collection::of(kind), turn))
                .or_insert_with(|| (verb, Vec::new()));
            command.1.push(Statement { unit: *unit, body });
        }
    }
    let commands = commands.into_iter();
    Ok(commands
        .map(|((collection, _), (verb, statements))| (collection, verb, statements))
        .collect())
}

const fn has_claims(kind: Kind) -> bool {
    match kind {
        Kind::Branch
        | Kind::Member
        | Kind::Product
        | Kind::Customer
        | Kind::Checkout
        | Kind::Coupon
        | Kind::Payment
        | Kind::Cart => true,
        Kind::Business | Kind::ApiKey | Kind::Order | Kind::PaymentEvent | Kind::OrderReturn => {
            false
        }
    }
}

fn replace(
    business: BusinessId,
    document: &Document,
    version: i64,
    stored: RawDocumentBuf,
) -> RawDocumentBuf {
    conditional(document_at(business, document, version), stored)
}

fn upsert(business: BusinessId, document: &Document, stored: RawDocumentBuf) -> RawDocumentBuf {
    Fields::new()
        .doc(cstr!("q"), document_at(business, document, 0))
        .doc(cstr!("u"), stored)
        .flag(cstr!("upsert"), true)
        .done()
}

fn document_at(business: BusinessId, document: &Document, version: i64) -> RawDocumentBuf {
    let key = document.key();
    let fields = Fields::new().id(cstr!("_id"), key.id);
    let fields = match key.kind {
        Kind::Business => fields,
        _ => fields.id(cstr!("businessId"), business),
    };
    fields.int(cstr!("version"), version).done()
}

/// Movements, events and operations: only ever added.
fn records(
    currency: Option<Currency>,
    decided: &Decided,
) -> Result<Vec<(Collection, Vec<Statement>)>, Fault> {
    let (mut movements, mut events, mut operations) = (vec![], vec![], vec![]);
    for (unit, effects) in decided {
        let unit = *unit;
        let unstorable = |why: Unstorable| Fault::Unstorable(unit, why);
        for movement in &effects.movements {
            let body = stock::write_movement(movement);
            movements.push(Statement { unit, body });
        }
        for happened in &effects.events {
            let body = event::write(happened).map_err(unstorable)?;
            events.push(Statement { unit, body });
        }
        if let Some(done) = &effects.operation {
            let body = operation::write(done, currency).map_err(unstorable)?;
            operations.push(Statement { unit, body });
        }
    }
    Ok(vec![
        (Collection::StockMovements, movements),
        (Collection::Events, events),
        (Collection::Operations, operations),
    ])
}
