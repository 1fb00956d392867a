//! The walk over everything of a business, as of one point in time.
//!
//! Owns the order of a walk and its batches: the thread that reads stays a few batches ahead of
//! the one that looks. Must not hold more than those in memory.

use abasto_domain::branch::BranchCode;
use abasto_domain::id::BusinessId;
use abasto_domain::number::Series;
use abasto_store::StoreError;
use abasto_store::record::{Counter, Kind, Record};
use rusqlite::{Connection, Row, params};
use tokio::sync::mpsc;

use crate::document::{self, text};
use crate::error::store_error;
use crate::event::event_columns;
use crate::level::{self, Numbered, integer, level_columns};
use crate::movement::{self, MILESTONE};
use crate::table::table;
use crate::{cart, event, operation, tally};

/// Records of one batch.
const BATCH: usize = 256;

/// Batches that may wait to be looked at.
pub(crate) const BATCHES: usize = 4;

/// A batch, or why the walk ended early.
pub(crate) type Batch = Result<Vec<Record>, StoreError>;

/// Sends every record of the business. Ends early, without a word, when nobody takes them.
pub(crate) fn walk(connection: &Connection, business: BusinessId, batches: &mpsc::Sender<Batch>) {
    let mut out = Out {
        batches,
        batch: Vec::with_capacity(BATCH),
    };
    let ended = connection
        .unchecked_transaction()
        .map_err(|error| Stop::Failed(store_error(error)))
        .and_then(|snapshot| everything(&snapshot, business, &mut out))
        .and_then(|()| out.flush());
    if let Err(Stop::Failed(error)) = ended {
        let _ = batches.blocking_send(Err(error));
    }
}

enum Stop {
    /// Nobody looks any more.
    Left,
    Failed(StoreError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

struct Out<'a> {
    batches: &'a mpsc::Sender<Batch>,
    batch: Vec<Record>,
}

impl Out<'_> {
    fn push(&mut self, record: Record) -> Result<(), Stop> {
        self.batch.push(record);
        if self.batch.len() < BATCH {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Stop> {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        self.batches
            .blocking_send(Ok(batch))
            .map_err(|_| Stop::Left)
    }
}

fn everything(
    connection: &Connection,
    business: BusinessId,
    out: &mut Out<'_>,
) -> Result<(), Stop> {
    for kind in Kind::ALL {
        let sql = format!(
            "SELECT record FROM {} WHERE business = ?1 ORDER BY id",
            table(kind).name
        );
        each(connection, &sql, business, out, |row| {
            document::decode(kind, text(row, 0)?).map(Record::Document)
        })?;
    }
    each(connection, LEVELS, business, out, |row| {
        level::from_row(business, row).map(|numbered| Record::Level(numbered.level))
    })?;
    // A second time through the levels, because all of them come before the first movement.
    each_row(connection, LEVELS, business, |row| {
        history(connection, &level::from_row(business, row)?, out)
    })?;
    each(connection, EVENTS, business, out, |row| {
        event::from_row(business, row).map(Record::Event)
    })?;
    each(connection, COUNTERS, business, out, counter)?;
    each(connection, tally::WALK, business, out, |row| {
        tally::from_row(row).map(Record::Tally)
    })?;
    each(connection, operation::WALK, business, out, |row| {
        operation::from_row(connection, business, row).map(Record::Operation)
    })?;
    each(connection, cart::WALK_STATES, business, out, |row| {
        cart::state(business, row).map(Record::CartState)
    })?;
    each(connection, cart::WALK_APPENDS, business, out, |row| {
        cart::append(business, row).map(Record::CartAppend)
    })?;
    each(connection, cart::WALK_LOGS, business, out, |row| {
        cart::log(business, row).map(Record::CartLog)
    })
}

const LEVELS: &str = concat!(
    "SELECT ",
    level_columns!(),
    " FROM stock_levels WHERE business = ?1 ORDER BY branch, product"
);

const EVENTS: &str = concat!(
    "SELECT ",
    event_columns!(),
    " FROM events WHERE business = ?1 ORDER BY kind, subject, sequence"
);

const COUNTERS: &str =
    "SELECT code, year, last FROM counters WHERE business = ?1 ORDER BY code, year";

fn counter(row: &Row<'_>) -> Result<Record, StoreError> {
    let damaged = |what: &str| StoreError::Corrupt(format!("the {what} of a counter"));
    Ok(Record::Counter(Counter {
        series: Series {
            code: BranchCode::parse(text(row, 0)?).map_err(|_| damaged("code"))?,
            year: i16::try_from(integer(row, 1)?).map_err(|_| damaged("year"))?,
        },
        last: integer(row, 2)?,
    }))
}

/// The movements of a level, oldest first: the chain in pieces that end at its milestones.
fn history(connection: &Connection, level: &Numbered, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut first = 1;
    while first <= level.level.version {
        let below = first.saturating_add(MILESTONE).min(level.level.version + 1);
        let rows = usize::try_from(below - first).unwrap_or_default();
        let newest = movement::newest(connection, level, below, rows)?;
        first = below;
        for movement in newest.into_iter().rev() {
            out.push(Record::Movement(movement))?;
        }
    }
    Ok(())
}

fn each(
    connection: &Connection,
    sql: &str,
    business: BusinessId,
    out: &mut Out<'_>,
    record: impl Fn(&Row<'_>) -> Result<Record, StoreError>,
) -> Result<(), Stop> {
    each_row(connection, sql, business, |row| out.push(record(row)?))
}

fn each_row(
    connection: &Connection,
    sql: &str,
    business: BusinessId,
    mut visit: impl FnMut(&Row<'_>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut statement = connection.prepare(sql).map_err(store_error)?;
    let mut rows = statement
        .query(params![business.0.0])
        .map_err(store_error)?;
    while let Some(row) = rows.next().map_err(store_error)? {
        visit(row)?;
    }
    Ok(())
}
