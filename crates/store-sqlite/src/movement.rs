//! Movements as rows, and the history of a level as a chain of them.
//!
//! Owns the columns of a movement, which hold all of it, and how any place of a chain is found.
//! Movements lie in the order of arrival: sorted by level, three lines of an order would touch
//! three pages of their own, most of what an order writes.

use std::borrow::Cow;

use abasto_domain::id::{BusinessId, MovementId, RawId};
use abasto_domain::stock::{Cause, Movement, OperationId};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::record::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::codec::{self, ActorBytes};
use crate::document::text;
use crate::error::store_error;
use crate::group::WriteError;
use crate::level::{Numbered, blob, integer};

/// Every so many movements of a level one is in the index; the migrations say it too.
pub(crate) const MILESTONE: i64 = 16;

const INSERT: &str = "INSERT INTO stock_movements \
    (level, sequence, previous, business, id, kind, available, reserved, available_after, \
     reserved_after, operation, order_id, checkout, why, actor, at, v) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

pub(crate) const READ: &str = "SELECT level, sequence, previous, id, kind, available, reserved, \
    available_after, reserved_after, operation, order_id, checkout, why, actor, at, v \
    FROM stock_movements WHERE number = ?1";

pub(crate) const FIND: &str = "SELECT number FROM stock_movements \
    INDEXED BY uq_stock_movements_milestone \
    WHERE level = ?1 AND sequence = ?2 AND sequence % 16 = 0";

/// The part of a cause that is text.
#[derive(Serialize, Deserialize)]
struct Why<'a> {
    reason: Option<Cow<'a, str>>,
    reference: Option<Cow<'a, str>>,
}

/// Appends a movement to the history of a level; gives its number.
pub(crate) fn append(
    connection: &Connection,
    level: &Numbered,
    movement: &Movement,
) -> Result<i64, WriteError> {
    let cause = &movement.cause;
    let why = if cause.reason.is_none() && cause.reference.is_none() {
        String::new()
    } else {
        serde_json::to_string(&Why {
            reason: cause.reason.as_deref().map(Cow::Borrowed),
            reference: cause.reference.as_deref().map(Cow::Borrowed),
        })?
    };
    Ok(connection.prepare_cached(INSERT)?.insert(params![
        level.number,
        movement.sequence,
        level.last_movement,
        movement.business.0.0,
        movement.id.0.0,
        codec::movement_kind_number(movement.kind),
        movement.available,
        movement.reserved,
        movement.available_after,
        movement.reserved_after,
        movement.operation.to_bytes(),
        codec::id_bytes(cause.order.as_ref().map(|id| &id.0)),
        codec::id_bytes(cause.checkout.as_ref().map(|id| &id.0)),
        why,
        ActorBytes::new(movement.actor).as_slice(),
        movement.at.as_millis(),
        SCHEMA_VERSION
    ])?)
}

/// The movements of a level with sequences below a bound, the newest first, at most `limit`.
pub(crate) fn newest(
    connection: &Connection,
    level: &Numbered,
    below: i64,
    limit: usize,
) -> Result<Vec<Movement>, StoreError> {
    let wanted = below.min(level.level.version.saturating_add(1)) - 1;
    let (mut number, mut sequence) = known_at_or_above(connection, level, wanted)?;
    let mut found = Vec::new();
    while found.len() < limit && sequence >= 1 {
        let (movement, previous) = read(connection, level, number, sequence)?;
        if sequence <= wanted {
            found.push(movement);
        }
        (number, sequence) = (previous, sequence - 1);
    }
    Ok(found)
}

/// The number and the sequence of a movement from which a wanted one is at most fifteen steps.
pub(crate) fn known_at_or_above(
    connection: &Connection,
    level: &Numbered,
    sequence: i64,
) -> Result<(i64, i64), StoreError> {
    let milestone = sequence.saturating_add(MILESTONE - 1) / MILESTONE * MILESTONE;
    if milestone >= level.level.version || milestone < 1 {
        return Ok((level.last_movement, level.level.version));
    }
    let number = connection
        .prepare_cached(FIND)
        .and_then(|mut statement| {
            let values = params![level.number, milestone];
            statement.query_row(values, |row| row.get(0)).optional()
        })
        .map_err(store_error)?;
    number
        .map(|number| (number, milestone))
        .ok_or_else(|| broken(level, milestone))
}

fn broken(level: &Numbered, sequence: i64) -> StoreError {
    let place = level.level.place;
    StoreError::Corrupt(format!(
        "the history of product {} at branch {} is broken at {sequence}",
        place.product, place.branch
    ))
}

/// The movement with this number, which must be the one with this sequence of the level, and the
/// number of the one before it.
fn read(
    connection: &Connection,
    level: &Numbered,
    number: i64,
    sequence: i64,
) -> Result<(Movement, i64), StoreError> {
    let mut statement = connection.prepare_cached(READ).map_err(store_error)?;
    let mut rows = statement.query(params![number]).map_err(store_error)?;
    let row = rows.next().map_err(store_error)?;
    let row = row.ok_or_else(|| broken(level, sequence))?;
    if integer(row, 0)? != level.number || integer(row, 1)? != sequence {
        return Err(broken(level, sequence));
    }
    Ok((from_row(level, row)?, integer(row, 2)?))
}

fn from_row(level: &Numbered, row: &Row<'_>) -> Result<Movement, StoreError> {
    codec::check_version(integer(row, 15)?)?;
    let why = match text(row, 12)? {
        "" => Why {
            reason: None,
            reference: None,
        },
        text => {
            serde_json::from_str(text).map_err(|error| StoreError::Corrupt(error.to_string()))?
        }
    };
    let operation: Option<[u8; 15]> = blob(row, 9)?.try_into().ok();
    let order: Option<RawId> = codec::optional_id(blob(row, 10)?)?;
    let checkout: Option<RawId> = codec::optional_id(blob(row, 11)?)?;
    let business: BusinessId = level.level.business;
    Ok(Movement {
        business,
        id: MovementId(codec::id(blob(row, 3)?)?),
        place: level.level.place,
        sequence: integer(row, 1)?,
        kind: codec::movement_kind(integer(row, 4)?)?,
        available: integer(row, 5)?,
        reserved: integer(row, 6)?,
        available_after: integer(row, 7)?,
        reserved_after: integer(row, 8)?,
        operation: operation
            .and_then(OperationId::from_bytes)
            .ok_or_else(|| StoreError::Corrupt("the operation of a movement".to_owned()))?,
        cause: Cause {
            order: order.map(Into::into),
            checkout: checkout.map(Into::into),
            reason: why.reason.map(Cow::into_owned),
            reference: why.reference.map(Cow::into_owned),
        },
        actor: codec::actor(blob(row, 13)?)?,
        at: Timestamp::from_millis(integer(row, 14)?),
    })
}
