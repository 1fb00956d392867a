//! Levels and movements as rows.
//!
//! Owns the columns of both, which hold all of them: there is no JSON beside. Must not know what
//! a change of stock means.

use std::borrow::Cow;

use abasto_domain::id::{BusinessId, MovementId, RawId};
use abasto_domain::stock::{Cause, Movement, OperationId, Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::record::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::codec::{self, ActorBytes};
use crate::document;
use crate::error::store_error;
use crate::group::WriteError;

const READ: &str = "SELECT number, branch, product, available, reserved, version, updated_at, v \
    FROM stock_levels WHERE business = ?1 AND branch = ?2 AND product = ?3";

const INSERT: &str = "INSERT INTO stock_levels \
    (business, branch, product, available, reserved, version, updated_at, v) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const UPDATE: &str = "UPDATE stock_levels SET available = ?2, reserved = ?3, version = ?4, \
    updated_at = ?5, v = ?6 WHERE number = ?1";

const INSERT_MOVEMENT: &str = "INSERT INTO stock_movements \
    (level, sequence, business, id, kind, available, reserved, available_after, reserved_after, \
     operation, order_id, checkout, why, actor, at, v) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

/// The columns of a level, as [`from_row`] reads them.
macro_rules! level_columns {
    () => {
        "number, branch, product, available, reserved, version, updated_at, v"
    };
}
pub(crate) use level_columns;

/// The columns of a movement, as [`movement_from_row`] reads them.
macro_rules! movement_columns {
    () => {
        "sequence, id, kind, stock_movements.available, stock_movements.reserved, available_after, \
         reserved_after, operation, order_id, checkout, why, actor, at, stock_movements.v"
    };
}
pub(crate) use movement_columns;

/// A level and the number under which its movements are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered {
    pub(crate) number: i64,
    pub(crate) level: StockLevel,
}

/// The level of a place.
pub(crate) fn read(
    connection: &Connection,
    business: BusinessId,
    place: Place,
) -> Result<Option<Numbered>, StoreError> {
    let mut statement = connection.prepare_cached(READ).map_err(store_error)?;
    let mut rows = statement
        .query(params![business.0.0, place.branch.0.0, place.product.0.0])
        .map_err(store_error)?;
    match rows.next().map_err(store_error)? {
        Some(row) => from_row(business, row).map(Some),
        None => Ok(None),
    }
}

/// The number of the level of a place.
pub(crate) fn number(
    connection: &Connection,
    business: BusinessId,
    place: Place,
) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached(READ)
        .and_then(|mut statement| {
            let values = params![business.0.0, place.branch.0.0, place.product.0.0];
            statement.query_row(values, |row| row.get(0)).optional()
        })
        .map_err(store_error)
}

/// A level from its columns.
pub(crate) fn from_row(business: BusinessId, row: &Row<'_>) -> Result<Numbered, StoreError> {
    codec::check_version(integer(row, 7)?)?;
    Ok(Numbered {
        number: integer(row, 0)?,
        level: StockLevel {
            business,
            place: Place {
                branch: codec::id(blob(row, 1)?)?.into(),
                product: codec::id(blob(row, 2)?)?.into(),
            },
            available: integer(row, 3)?,
            reserved: integer(row, 4)?,
            version: integer(row, 5)?,
            updated_at: Timestamp::from_millis(integer(row, 6)?),
        },
    })
}

/// Writes a level; gives its number. `number` is that of a level that is already there.
pub(crate) fn write(
    connection: &Connection,
    level: &StockLevel,
    number: Option<i64>,
) -> Result<i64, WriteError> {
    let updated_at = level.updated_at.as_millis();
    let Some(number) = number else {
        return Ok(connection.prepare_cached(INSERT)?.insert(params![
            level.business.0.0,
            level.place.branch.0.0,
            level.place.product.0.0,
            level.available,
            level.reserved,
            level.version,
            updated_at,
            SCHEMA_VERSION
        ])?);
    };
    let changed = connection.prepare_cached(UPDATE)?.execute(params![
        number,
        level.available,
        level.reserved,
        level.version,
        updated_at,
        SCHEMA_VERSION
    ])?;
    if changed == 1 {
        Ok(number)
    } else {
        Err(WriteError::Lost("stock_levels"))
    }
}

/// The part of a cause that is text.
#[derive(Serialize, Deserialize)]
struct Why<'a> {
    reason: Option<Cow<'a, str>>,
    reference: Option<Cow<'a, str>>,
}

/// Appends a movement to the history of the level with this number.
pub(crate) fn write_movement(
    connection: &Connection,
    number: i64,
    movement: &Movement,
) -> Result<(), WriteError> {
    let cause = &movement.cause;
    let why = if cause.reason.is_none() && cause.reference.is_none() {
        String::new()
    } else {
        serde_json::to_string(&Why {
            reason: cause.reason.as_deref().map(Cow::Borrowed),
            reference: cause.reference.as_deref().map(Cow::Borrowed),
        })?
    };
    connection
        .prepare_cached(INSERT_MOVEMENT)?
        .execute(params![
            number,
            movement.sequence,
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
        ])?;
    Ok(())
}

/// A movement from its columns.
pub(crate) fn movement_from_row(
    business: BusinessId,
    place: Place,
    row: &Row<'_>,
) -> Result<Movement, StoreError> {
    codec::check_version(integer(row, 13)?)?;
    let why = match document::text(row, 10)? {
        "" => Why {
            reason: None,
            reference: None,
        },
        text => {
            serde_json::from_str(text).map_err(|error| StoreError::Corrupt(error.to_string()))?
        }
    };
    let operation: Option<[u8; 15]> = blob(row, 7)?.try_into().ok();
    let order: Option<RawId> = codec::optional_id(blob(row, 8)?)?;
    let checkout: Option<RawId> = codec::optional_id(blob(row, 9)?)?;
    Ok(Movement {
        business,
        id: MovementId(codec::id(blob(row, 1)?)?),
        place,
        sequence: integer(row, 0)?,
        kind: codec::movement_kind(integer(row, 2)?)?,
        available: integer(row, 3)?,
        reserved: integer(row, 4)?,
        available_after: integer(row, 5)?,
        reserved_after: integer(row, 6)?,
        operation: operation
            .and_then(OperationId::from_bytes)
            .ok_or_else(|| StoreError::Corrupt("the operation of a movement".to_owned()))?,
        cause: Cause {
            order: order.map(Into::into),
            checkout: checkout.map(Into::into),
            reason: why.reason.map(Cow::into_owned),
            reference: why.reference.map(Cow::into_owned),
        },
        actor: codec::actor(blob(row, 11)?)?,
        at: Timestamp::from_millis(integer(row, 12)?),
    })
}

/// An integer column.
pub(crate) fn integer(row: &Row<'_>, column: usize) -> Result<i64, StoreError> {
    row.get(column).map_err(store_error)
}

/// The bytes of a column.
pub(crate) fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], StoreError> {
    row.get_ref(column)
        .map_err(store_error)?
        .as_blob()
        .map_err(|error| StoreError::Corrupt(error.to_string()))
}
