//! Deciding a unit against the heads: the one place where blanks are filled.
//!
//! Owns order numbers, movement sequences and balances, event sequences, and the order in which
//! reasons are found: key, guards, versions of documents, unique values, carts, stock, contended
//! numbers. Pure: both adapters and the model call it.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::stock::{Movement, Place, StockChange, StockLevel};

use crate::cart::{CartEffects, DotHead};
use crate::event::Event;
use crate::heads::Heads;
use crate::record::{Claim, Document, DocumentKey, HeadKey};
use crate::tally::TallyKey;
use crate::unit::{Answer, Guard, Put, UnitOfWork};
use crate::verdict::{Operation, Rejection, Reply, ShortLevel, Skus, StockReply, Verdict};

/// What a decided unit writes besides the net levels and series that [`Heads`] keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effects {
    /// Documents, blanks filled, each with the version it replaces (0: none).
    pub puts: Vec<(Document, i64)>,
    /// Movements, in order.
    pub movements: Vec<Movement>,
    /// Events, one per put.
    pub events: Vec<Event>,
    /// Edits and states of carts.
    pub carts: CartEffects,
    /// The record of the key.
    pub operation: Option<Arc<Operation>>,
    /// What the caller is told.
    pub reply: Reply,
}

/// Decides a unit. On success the heads move on, so that the next unit of the group is decided
/// against the state this one leaves; otherwise they stay as they were.
///
/// Every head that [`UnitOfWork::heads`] names must have been set; one that was not counts as
/// stale, never as absent.
pub fn resolve(heads: &mut Heads, unit: &UnitOfWork) -> Result<Effects, Verdict> {
    check_operation(heads, unit)?;
    check_guards(heads, unit)?;
    check_versions(heads, unit)?;
    check_claims(heads, unit)?;
    let carts = judge_carts(heads, unit)?;
    let (movements, levels) = move_stock(heads, unit)?;
    let tallies = count(heads, unit)?;
    let puts = fill_puts(heads, unit)?;
    let events = unit
        .puts
        .iter()
        .zip(&puts)
        .map(|(put, (next, _))| event(unit, put, next));
    let events = events.collect();
    let reply = reply(unit, &puts, &movements, &levels);
    let operation = unit.operation.as_ref().map(|draft| {
        Arc::new(Operation {
            business: unit.business,
            key: draft.key.clone(),
            fingerprint: draft.fingerprint,
            reply: reply.clone(),
            at: unit.at,
        })
    });
    advance(heads, unit, &puts, operation.clone());
    move_heads(heads, unit.business, levels, tallies);
    advance_carts(heads, unit.business, &carts);
    Ok(Effects {
        puts,
        movements,
        events,
        carts,
        operation,
        reply,
    })
}

fn check_operation(heads: &Heads, unit: &UnitOfWork) -> Result<(), Verdict> {
    let Some(draft) = &unit.operation else {
        return Ok(());
    };
    match heads.operations.get(&(unit.business, draft.key.clone())) {
        None => Err(Verdict::Stale(HeadKey::Operation(draft.key.clone()))),
        Some(None) => Ok(()),
        Some(Some(done)) if done.fingerprint == draft.fingerprint => {
            Err(Verdict::Replayed(done.reply.clone()))
        }
        Some(Some(_)) => Err(Verdict::KeyReused),
    }
}

fn check_guards(heads: &Heads, unit: &UnitOfWork) -> Result<(), Verdict> {
    for guard in &unit.guards {
        let (found, wanted, key) = match *guard {
            Guard::Document(key, version) => {
                let found = heads.documents.get(&(unit.business, key)).copied();
                (found, version, HeadKey::Document(key))
            }
            Guard::Level(place, version) => {
                let level = heads.levels.get(&(unit.business, place));
                let found = level.map(|level| level.map_or(0, |level| level.version));
                (found, version, HeadKey::Level(place))
            }
        };
        if found != Some(wanted) {
            return Err(Verdict::Stale(key));
        }
    }
    Ok(())
}

/// Judges the puts one after the other, each against what the ones before it leave: a claim can
/// move within a unit, and two documents of a unit cannot both have one.
/// Every version before any value: whoever decided on an old record learns that first, not what came
/// of it.
fn check_versions(heads: &Heads, unit: &UnitOfWork) -> Result<(), Verdict> {
    let mut versions: BTreeMap<DocumentKey, i64> = BTreeMap::new();
    for put in &unit.puts {
        let key = put.next.key();
        let expected = put.base.as_ref().map_or(0, Document::version);
        let stored = || heads.documents.get(&(unit.business, key));
        if versions.get(&key).or_else(stored) != Some(&expected) {
            return Err(Verdict::Stale(HeadKey::Document(key)));
        }
        versions.insert(key, put.next.version());
    }
    Ok(())
}

fn check_claims(heads: &Heads, unit: &UnitOfWork) -> Result<(), Verdict> {
    let mut holders: BTreeMap<Claim, Option<RawId>> = BTreeMap::new();
    for put in &unit.puts {
        let key = put.next.key();
        let claims = put.next.claims();
        for claim in &claims {
            let stored = || heads.claims.get(&(unit.business, claim.clone()));
            match holders.get(claim).or_else(stored) {
                None => return Err(Verdict::Stale(HeadKey::Claim(claim.clone()))),
                Some(Some(holder)) if *holder != key.id => {
                    return Err(Verdict::Rejected(Rejection::Taken(claim.clone())));
                }
                Some(_) => {}
            }
        }
        let released = put.base.iter().flat_map(Document::claims);
        holders.extend(released.map(|claim| (claim, None)));
        holders.extend(claims.into_iter().map(|claim| (claim, Some(key.id))));
    }
    Ok(())
}

/// An edit that is there already has no effect; another one under its dot is refused. A state that
/// was replaced since it was read is stale.
fn judge_carts(heads: &Heads, unit: &UnitOfWork) -> Result<CartEffects, Verdict> {
    let mut effects = CartEffects::default();
    let mut own = BTreeMap::new();
    for edit in &unit.carts.edits {
        let (dot, delta) = (edit.append.dot, &edit.append.delta);
        let stored = || heads.dots.get(&(unit.business, dot));
        match own.get(&dot).or_else(stored) {
            None => return Err(Verdict::Stale(HeadKey::Dot(dot))),
            Some(DotHead::Kept(bytes)) if bytes == delta => continue,
            Some(DotHead::Unheard) => {}
            Some(_) => return Err(Verdict::Rejected(Rejection::DotTaken(dot))),
        }
        own.insert(dot, DotHead::Kept(Arc::clone(delta)));
        effects.appends.push(edit.append.clone());
        effects.log.extend(edit.log.clone());
    }
    for fold in &unit.carts.folds {
        let cart = fold.next.cart;
        if heads.cart_states.get(&(unit.business, cart)) != Some(&(fold.next.version - 1)) {
            return Err(Verdict::Stale(HeadKey::CartState(cart)));
        }
    }
    effects.folds.clone_from(&unit.carts.folds);
    effects.log.extend(unit.carts.log.iter().cloned());
    Ok(effects)
}

fn advance_carts(heads: &mut Heads, business: BusinessId, carts: &CartEffects) {
    for append in &carts.appends {
        let kept = DotHead::Kept(Arc::clone(&append.delta));
        heads.dots.insert((business, append.dot), kept);
    }
    for fold in &carts.folds {
        let state = (business, fold.next.cart);
        heads.cart_states.insert(state, fold.next.version);
        for dot in &fold.covers {
            heads.dots.insert((business, *dot), DotHead::Folded);
        }
    }
}

type Moved = (Vec<Movement>, BTreeMap<Place, StockLevel>);

/// Applies the changes level by level. Changes that add units to a level come before those that
/// take some, so that only the sum decides whether a level can take them all.
fn move_stock(heads: &Heads, unit: &UnitOfWork) -> Result<Moved, Verdict> {
    let mut changes: Vec<&StockChange> = unit.stock.iter().collect();
    changes.sort_by_key(|change| (change.place, change.available < 0));
    let mut levels = BTreeMap::new();
    let mut movements = Vec::with_capacity(changes.len());
    let mut short: Vec<ShortLevel> = Vec::new();
    for change in changes {
        let place = change.place;
        let Some(stored) = heads.levels.get(&(unit.business, place)) else {
            return Err(Verdict::Stale(HeadKey::Level(place)));
        };
        let before = levels
            .get(&place)
            .copied()
            .or(*stored)
            .unwrap_or_else(|| StockLevel::empty(unit.business, place));
        match before.after(change, unit.at) {
            Ok(after) => {
                levels.insert(place, after);
                movements.push(movement(unit, change, &after));
            }
            Err(_) if short.last().is_some_and(|last| last.place == place) => {}
            Err(why) => short.push(short_level(unit, place, why, *stored)),
        }
    }
    if short.is_empty() {
        Ok((movements, levels))
    } else {
        Err(Verdict::Rejected(Rejection::Short(short)))
    }
}

/// Applies the changes of contended numbers one after the other.
fn count(heads: &Heads, unit: &UnitOfWork) -> Result<BTreeMap<TallyKey, i64>, Verdict> {
    let mut tallies = BTreeMap::new();
    for change in &unit.tallies {
        let key = change.key;
        let stored = || heads.tallies.get(&(unit.business, key)).copied();
        let Some(value) = tallies.get(&key).copied().or_else(stored) else {
            return Err(Verdict::Stale(HeadKey::Tally(key)));
        };
        let Some(next) = change.apply(value) else {
            return Err(Verdict::Rejected(Rejection::Bound(key)));
        };
        tallies.insert(key, next);
    }
    Ok(tallies)
}

fn short_level(
    unit: &UnitOfWork,
    place: Place,
    why: abasto_domain::stock::Shortage,
    level: Option<StockLevel>,
) -> ShortLevel {
    let changes = || unit.stock.iter().filter(|change| change.place == place);
    ShortLevel {
        place,
        why,
        level,
        available: changes()
            .map(|change| change.available)
            .fold(0, i64::saturating_add),
        reserved: changes()
            .map(|change| change.reserved)
            .fold(0, i64::saturating_add),
    }
}

fn movement(unit: &UnitOfWork, change: &StockChange, after: &StockLevel) -> Movement {
    Movement {
        business: unit.business,
        id: change.id,
        place: change.place,
        sequence: after.version,
        kind: change.kind,
        available: change.available,
        reserved: change.reserved,
        available_after: after.available,
        reserved_after: after.reserved,
        operation: change.operation,
        cause: change.cause.clone(),
        actor: unit.actor,
        at: unit.at,
    }
}

fn fill_puts(heads: &Heads, unit: &UnitOfWork) -> Result<Vec<(Document, i64)>, Verdict> {
    let mut given = BTreeMap::new();
    let mut filled = Vec::with_capacity(unit.puts.len());
    for put in &unit.puts {
        let mut next = put.next.clone();
        if let Document::Order(order) = &mut next
            && order.number.is_blank()
        {
            let series = order.number.series.clone();
            let Some(stored) = heads.series.get(&(unit.business, series.clone())) else {
                return Err(Verdict::Stale(HeadKey::Series(series)));
            };
            let last = given.entry(series).or_insert(*stored);
            *last += 1;
            Arc::make_mut(order).number.sequence = *last;
        }
        filled.push((next, put.base.as_ref().map_or(0, Document::version)));
    }
    Ok(filled)
}

fn event(unit: &UnitOfWork, put: &Put, next: &Document) -> Event {
    Event {
        business: unit.business,
        id: put.event.id,
        subject: next.key(),
        sequence: next.version(),
        name: put.event.name.to_owned(),
        actor: unit.actor,
        request: unit.request.clone(),
        at: unit.at,
        data: put.event.data.clone(),
    }
}

fn reply(
    unit: &UnitOfWork,
    puts: &[(Document, i64)],
    movements: &[Movement],
    levels: &BTreeMap<Place, StockLevel>,
) -> Reply {
    match &unit.answer {
        Answer::Unchanged(document) => Reply::Document(document.clone()),
        Answer::View(view) => Reply::View(Arc::clone(view)),
        Answer::Put(index) if *index < puts.len() => Reply::Document(puts[*index].0.clone()),
        Answer::Put(_) => stock_reply(Skus::new(), movements, levels),
        Answer::Stock(skus) => stock_reply(skus.clone(), movements, levels),
    }
}

fn stock_reply(skus: Skus, movements: &[Movement], levels: &BTreeMap<Place, StockLevel>) -> Reply {
    Reply::Stock(Arc::new(StockReply {
        movements: movements.to_vec(),
        levels: levels.values().copied().collect(),
        skus,
    }))
}

fn advance(
    heads: &mut Heads,
    unit: &UnitOfWork,
    puts: &[(Document, i64)],
    operation: Option<Arc<Operation>>,
) {
    let business: BusinessId = unit.business;
    for (put, (next, _)) in unit.puts.iter().zip(puts) {
        let key = next.key();
        heads.documents.insert((business, key), next.version());
        for claim in put.base.iter().flat_map(Document::claims) {
            heads.claims.insert((business, claim), None);
        }
        for claim in next.claims() {
            heads.claims.insert((business, claim), Some(key.id));
        }
        if let Document::Order(order) = next
            && matches!(&put.next, Document::Order(draft) if draft.number.is_blank())
        {
            let series = (business, order.number.series.clone());
            heads.series.insert(series.clone(), order.number.sequence);
            heads.counted.insert(series);
        }
    }
    if let Some(operation) = operation {
        heads
            .operations
            .insert((business, operation.key.clone()), Some(operation));
    }
}

fn move_heads(
    heads: &mut Heads,
    business: BusinessId,
    levels: BTreeMap<Place, StockLevel>,
    tallies: BTreeMap<TallyKey, i64>,
) {
    for (place, level) in levels {
        heads.levels.insert((business, place), Some(level));
        heads.moved.insert((business, place));
    }
    for (key, value) in tallies {
        heads.tallies.insert((business, key), value);
        heads.tallied.insert((business, key));
    }
}
