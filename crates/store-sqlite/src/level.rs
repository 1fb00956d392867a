//! Levels as rows.
//!
//! Owns the columns of a level, which hold all of it: there is no JSON beside. Must not know what
//! a change of stock means.

use abasto_domain::id::BusinessId;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::record::SCHEMA_VERSION;
use rusqlite::{Connection, Row, params};

use crate::codec;
use crate::error::store_error;
use crate::group::WriteError;

/// The columns of a level, as [`from_row`] reads them.
macro_rules! level_columns {
    () => {
        "number, branch, product, available, reserved, version, last_movement, updated_at, v"
    };
}
pub(crate) use level_columns;

const READ: &str = concat!(
    "SELECT ",
    level_columns!(),
    " FROM stock_levels WHERE business = ?1 AND branch = ?2 AND product = ?3"
);

const INSERT: &str = "INSERT INTO stock_levels \
    (business, branch, product, available, reserved, version, last_movement, updated_at, v) \
    VALUES (?1, ?2, ?3, 0, 0, 0, 0, 0, ?4)";

const UPDATE: &str = "UPDATE stock_levels SET available = ?3, reserved = ?4, version = ?5, \
    last_movement = ?6, updated_at = ?7, v = ?8 WHERE number = ?1 AND version = ?2";

/// A level, the number under which its movements are kept, and that of the last of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbered {
    pub(crate) number: i64,
    pub(crate) last_movement: i64,
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

/// A level from its columns.
pub(crate) fn from_row(business: BusinessId, row: &Row<'_>) -> Result<Numbered, StoreError> {
    codec::check_version(integer(row, 8)?)?;
    Ok(Numbered {
        number: integer(row, 0)?,
        last_movement: integer(row, 6)?,
        level: StockLevel {
            business,
            place: Place {
                branch: codec::id(blob(row, 1)?)?.into(),
                product: codec::id(blob(row, 2)?)?.into(),
            },
            available: integer(row, 3)?,
            reserved: integer(row, 4)?,
            version: integer(row, 5)?,
            updated_at: Timestamp::from_millis(integer(row, 7)?),
        },
    })
}

/// Makes the level of a place that no movement has touched; [`move_on`] follows in the same
/// transaction.
pub(crate) fn create(
    connection: &Connection,
    business: BusinessId,
    place: Place,
) -> Result<Numbered, WriteError> {
    let number = connection.prepare_cached(INSERT)?.insert(params![
        business.0.0,
        place.branch.0.0,
        place.product.0.0,
        SCHEMA_VERSION
    ])?;
    Ok(Numbered {
        number,
        last_movement: 0,
        level: StockLevel::empty(business, place),
    })
}

/// Writes a level over the version it had: two writers could never both move it on from there.
pub(crate) fn move_on(
    connection: &Connection,
    before: i64,
    after: &Numbered,
) -> Result<(), WriteError> {
    let level = &after.level;
    let changed = connection.prepare_cached(UPDATE)?.execute(params![
        after.number,
        before,
        level.available,
        level.reserved,
        level.version,
        after.last_movement,
        level.updated_at.as_millis(),
        SCHEMA_VERSION
    ])?;
    if changed == 1 {
        Ok(())
    } else {
        Err(WriteError::Lost("stock_levels"))
    }
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
