//! Writing what a group of units came to.
//!
//! Owns the order of the writes: table by table, so that each touches its pages together. Must
//! not decide anything, and must not begin or end a transaction.

use std::collections::BTreeMap;

use abasto_domain::id::BusinessId;
use abasto_domain::stock::Place;
use abasto_store::heads::Heads;
use abasto_store::resolve::Effects;
use rusqlite::{Connection, params};

use crate::cart;
use crate::document::{self, Answered};
use crate::event;
use crate::group::WriteError;
use crate::head::Memory;
use crate::level::{self, Numbered};
use crate::tally;
use crate::{movement, operation};

const COUNT: &str = "INSERT INTO counters (business, code, year, last) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (business, code, year) DO UPDATE SET last = excluded.last";

/// Writes the effects of a group and what its heads came to.
pub(crate) fn write(
    connection: &Connection,
    memory: &mut Memory,
    heads: &Heads,
    effects: &[Effects],
) -> Result<(), WriteError> {
    write_documents(connection, memory, effects)?;
    write_stock(connection, memory, heads, effects)?;
    cart::write(connection, effects.iter().map(|effect| &effect.carts))?;
    for (business, key, value) in heads.moved_tallies() {
        tally::write(connection, business, key, value)?;
    }
    for (business, series, last) in heads.counted_series() {
        let values = params![business.0.0, series.code.as_str(), series.year, last];
        connection.prepare_cached(COUNT)?.execute(values)?;
        memory.keep_series(business, series, last);
    }
    Ok(())
}

fn write_documents(
    connection: &Connection,
    memory: &mut Memory,
    effects: &[Effects],
) -> Result<(), WriteError> {
    for effect in effects {
        let answer = effect
            .operation
            .as_ref()
            .and_then(|operation| operation::answer(operation, &effect.puts));
        for (document, replaced) in &effect.puts {
            let answered = match answer {
                Some(answer) if answer.key() == document.key() => Answered::Yes,
                _ => Answered::No,
            };
            document::write(connection, document, *replaced, answered)?;
        }
        for event in &effect.events {
            memory.keep_version(event.business, event.subject, event.sequence);
        }
        if let Some(operation) = &effect.operation {
            operation::write(connection, operation, answer)?;
        }
    }
    for event in effects.iter().flat_map(|effect| &effect.events) {
        event::write(connection, event)?;
    }
    Ok(())
}

/// Appends the movements of the group and moves each level on once, by all of them together.
fn write_stock(
    connection: &Connection,
    memory: &mut Memory,
    heads: &Heads,
    effects: &[Effects],
) -> Result<(), WriteError> {
    let mut levels: BTreeMap<(BusinessId, Place), Numbered> = BTreeMap::new();
    for level in heads.moved_levels() {
        let (business, place) = (level.business, level.place);
        let before = match memory.level(connection, business, place)? {
            Some(before) => before,
            None => level::create(connection, business, place)?,
        };
        levels.insert((business, place), before);
    }
    for movement in effects.iter().flat_map(|effect| &effect.movements) {
        let level = levels
            .get_mut(&(movement.business, movement.place))
            .ok_or(WriteError::Lost("stock_levels"))?;
        level.last_movement = movement::append(connection, level, movement)?;
    }
    for (level, mut after) in heads.moved_levels().zip(levels.into_values()) {
        let before = after.level.version;
        after.level = *level;
        level::move_on(connection, before, &after)?;
        memory.keep_level(after);
    }
    Ok(())
}
