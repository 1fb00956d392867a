//! Contended numbers as rows.
//!
//! Owns their statements. Must not decide what a number may come to.

use abasto_domain::id::{BusinessId, RawId};
use abasto_store::StoreError;
use abasto_store::tally::{Tally, TallyKey, TallyKind};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::codec;
use crate::error::store_error;
use crate::level::{blob, integer};

/// Every number of a business, in the order of a walk.
pub(crate) const WALK: &str = "SELECT kind, subject_id, by_id, value FROM tallies WHERE business = ?1 ORDER BY kind, subject_id, by_id";

/// A number; 0 when it was never changed.
pub(crate) fn read(
    connection: &Connection,
    business: BusinessId,
    key: TallyKey,
) -> rusqlite::Result<i64> {
    const SQL: &str = "SELECT value FROM tallies \
        WHERE business = ?1 AND kind = ?2 AND subject_id = ?3 AND by_id = ?4";
    let values = params![business.0.0, key.kind as i64, key.subject.0, key.by.0];
    let value = connection
        .prepare_cached(SQL)?
        .query_row(values, |row| row.get(0))
        .optional()?;
    Ok(value.unwrap_or_default())
}

/// Writes a number.
pub(crate) fn write(
    connection: &Connection,
    business: BusinessId,
    key: TallyKey,
    value: i64,
) -> rusqlite::Result<()> {
    const SQL: &str = "INSERT INTO tallies (business, kind, subject_id, by_id, value) \
        VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT (business, kind, subject_id, by_id) DO UPDATE SET value = excluded.value";
    let values = params![
        business.0.0,
        key.kind as i64,
        key.subject.0,
        key.by.0,
        value
    ];
    connection.prepare_cached(SQL)?.execute(values)?;
    Ok(())
}

/// A number from a row of [`WALK`].
pub(crate) fn from_row(row: &Row<'_>) -> Result<Tally, StoreError> {
    let kind = usize::try_from(integer(row, 0)?).ok();
    let kind = kind.and_then(|number| TallyKind::ALL.get(number).copied());
    let kind = kind.ok_or_else(|| StoreError::Corrupt("the kind of a number".to_owned()))?;
    let id = |column| -> Result<RawId, StoreError> { codec::id(blob(row, column)?) };
    Ok(Tally {
        key: TallyKey {
            kind,
            subject: id(1)?,
            by: id(2)?,
        },
        value: row.get(3).map_err(store_error)?,
    })
}
