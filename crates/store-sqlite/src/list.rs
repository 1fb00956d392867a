//! Running lists.
//!
//! Owns how the rows of several statements become one page. Must not know SQL.

use abasto_domain::id::BusinessId;
use abasto_domain::stock::Place;
use abasto_store::StoreError;
use abasto_store::query::{Page, Position, Query};
use abasto_store::record::Record;
use rusqlite::{Connection, params_from_iter};

use crate::document::{self, text};
use crate::error::store_error;
use crate::shape::{Rows, Scan, scans};
use crate::{cart, event, level, movement};

/// One page of a list.
pub(crate) fn list(
    connection: &Connection,
    business: BusinessId,
    query: &Query,
    page: Page,
) -> Result<Vec<Record>, StoreError> {
    if let Query::Movements(place) = query {
        return movements(connection, business, *place, page);
    }
    let scans = scans(business, query, page);
    let mut records = Vec::new();
    for scan in &scans {
        run(connection, business, scan, &mut records)?;
    }
    // Only lists that are newest first are made of several statements.
    if scans.len() > 1 {
        records.sort_by_key(|record| std::cmp::Reverse(Position::of(record)));
        records.truncate(usize::try_from(page.limit).unwrap_or(usize::MAX));
    }
    Ok(records)
}

fn movements(
    connection: &Connection,
    business: BusinessId,
    place: Place,
    page: Page,
) -> Result<Vec<Record>, StoreError> {
    let Some(level) = level::read(connection, business, place)? else {
        return Ok(Vec::new());
    };
    let below = page.after.map_or(i64::MAX, |position| position.order);
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let movements = movement::newest(connection, &level, below, limit)?;
    Ok(movements.into_iter().map(Record::Movement).collect())
}

fn run(
    connection: &Connection,
    business: BusinessId,
    scan: &Scan,
    records: &mut Vec<Record>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(&scan.sql).map_err(store_error)?;
    let mut rows = statement
        .query(params_from_iter(&scan.values))
        .map_err(store_error)?;
    while let Some(row) = rows.next().map_err(store_error)? {
        records.push(match scan.rows {
            Rows::Documents(kind) => Record::Document(document::decode(kind, text(row, 0)?)?),
            Rows::Events => Record::Event(event::from_row(business, row)?),
            Rows::CartLog => Record::CartLog(cart::log(business, row)?),
            Rows::Levels => Record::Level(level::from_row(business, row)?.level),
        });
    }
    Ok(())
}
