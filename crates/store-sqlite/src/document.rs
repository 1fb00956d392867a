//! Documents as rows: one table per kind, the record as JSON and the columns beside it.
//!
//! Owns the statements that write and read a document. Must not know which versions are right:
//! that was decided before.

use std::sync::Arc;

use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::order::Order;
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::record::{Document, DocumentKey, Kind};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::codec;
use crate::error::store_error;
use crate::group::WriteError;
use crate::table::table;

/// A value of a column, borrowed from the document where it can be.
enum Cell<'a> {
    Borrowed(ValueRef<'a>),
    Owned(Value),
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Borrowed(value) => ToSqlOutput::Borrowed(*value),
            Self::Owned(value) => ToSqlOutput::Borrowed(value.into()),
        })
    }
}

impl<'a> Cell<'a> {
    const fn number(value: i64) -> Self {
        Self::Borrowed(ValueRef::Integer(value))
    }

    fn flag(value: bool) -> Self {
        Self::number(i64::from(value))
    }

    const fn text(value: &'a str) -> Self {
        Self::Borrowed(ValueRef::Text(value.as_bytes()))
    }

    const fn bytes(value: &'a [u8]) -> Self {
        Self::Borrowed(ValueRef::Blob(value))
    }
}

/// What a write needs of a document beside its own columns.
struct Head<'a> {
    business: BusinessId,
    id: RawId,
    version: i64,
    created_at: Timestamp,
    cells: Vec<Cell<'a>>,
    record: String,
}

fn head(document: &Document) -> Result<Head<'_>, serde_json::Error> {
    let (business, stamp, cells, record) = match document {
        Document::Business(it) => (it.id, it.stamp, Vec::new(), codec::encode(it)?),
        Document::Branch(it) => {
            let cells = vec![Cell::text(it.code.as_str())];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Member(it) => {
            let cells = vec![Cell::text(&it.user_id), Cell::flag(it.active)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::ApiKey(it) => (it.business, it.stamp, Vec::new(), codec::encode(it)?),
        Document::Product(it) => {
            let cells = vec![
                Cell::flag(it.active),
                Cell::flag(it.deleted_at.is_some()),
                Cell::text(&it.sku),
                Cell::text(&it.name),
            ];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Customer(it) => {
            let email = it.verified_email_key().unwrap_or_default();
            let cells = vec![
                Cell::text(it.phone.as_deref().unwrap_or_default()),
                Cell::Owned(Value::Text(email)),
            ];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Order(it) => (
            it.business,
            it.stamp,
            order_cells(it, document),
            codec::encode(it)?,
        ),
        Document::Checkout(it) => {
            let cells = vec![claim(document), due(document)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Coupon(it) => {
            let cells = vec![claim(document)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Payment(it) => {
            let cells = vec![claim(document), Cell::bytes(&it.order.0.0), due(document)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::PaymentEvent(it) => {
            let cells = vec![claim(document), due(document)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::Cart(it) => {
            let cells = vec![claim(document), due(document)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
        Document::OrderReturn(it) => {
            let cells = vec![Cell::bytes(&it.order.0.0)];
            (it.business, it.stamp, cells, codec::encode(it)?)
        }
    };
    Ok(Head {
        business,
        id: document.key().id,
        version: stamp.version,
        created_at: stamp.created_at,
        cells,
        record,
    })
}

fn order_cells<'a>(it: &'a Order, document: &Document) -> Vec<Cell<'a>> {
    vec![
        Cell::bytes(&it.branch.0.0),
        Cell::number(it.status as i64),
        Cell::bytes(codec::id_bytes(it.customer.id.as_ref().map(|id| &id.0))),
        Cell::bytes(codec::id_bytes(
            it.fulfilment.courier.as_ref().map(|id| &id.0),
        )),
        Cell::text(it.number.series.code.as_str()),
        Cell::number(i64::from(it.number.series.year)),
        Cell::number(it.number.sequence),
        Cell::bytes(codec::id_bytes(it.checkout.as_ref().map(|id| &id.0))),
        Cell::bytes(codec::id_bytes(it.cart.as_ref().map(|id| &id.0))),
        due(document),
    ]
}

/// The one value that the document claims; empty when there is none.
fn claim(document: &Document) -> Cell<'static> {
    let value = document.claims().pop().map(|claim| claim.value);
    Cell::Owned(Value::Text(value.unwrap_or_default()))
}

/// When the document is due; 0 for never.
fn due(document: &Document) -> Cell<'static> {
    Cell::number(document.due_at().map_or(0, |due| due.as_millis().max(1)))
}

/// Writes a document over the version it replaces (0: none). `answered` says whether an operation
/// answers with it.
pub(crate) fn write(
    connection: &Connection,
    document: &Document,
    replaced: i64,
    answered: Answered,
) -> Result<(), WriteError> {
    let kind = document.key().kind;
    let table = table(kind);
    let head = head(document)?;
    let created_at = head.created_at.as_millis();
    let answered = answered as i64;
    let mut values: Vec<&dyn ToSql> = vec![
        &head.business.0.0,
        &head.id.0,
        &head.version,
        &created_at,
        &answered,
        &head.record,
    ];
    values.extend(head.cells.iter().map(|cell| cell as &dyn ToSql));
    if replaced == 0 {
        connection
            .prepare_cached(table.insert)?
            .execute(values.as_slice())?;
        return Ok(());
    }
    connection.prepare_cached(table.keep)?.execute(params![
        head.business.0.0,
        head.id.0,
        codec::kind_number(kind)
    ])?;
    values.push(&replaced);
    let changed = connection
        .prepare_cached(table.update)?
        .execute(values.as_slice())?;
    if changed == 1 {
        Ok(())
    } else {
        Err(WriteError::Lost(table.name))
    }
}

/// Whether an operation answers with a version of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    No = 0,
    Yes = 1,
}

/// The version of a document; 0 when there is none.
pub(crate) fn version(
    connection: &Connection,
    business: BusinessId,
    key: DocumentKey,
) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(table(key.kind).version)?
        .query_row(params![business.0.0, key.id.0], |row| row.get(0))
        .optional()
        .map(Option::unwrap_or_default)
}

/// A document.
pub(crate) fn read(
    connection: &Connection,
    business: BusinessId,
    key: DocumentKey,
) -> Result<Option<Document>, StoreError> {
    let mut statement = connection
        .prepare_cached(table(key.kind).record)
        .map_err(store_error)?;
    let mut rows = statement
        .query(params![business.0.0, key.id.0])
        .map_err(store_error)?;
    match rows.next().map_err(store_error)? {
        Some(row) => decode(key.kind, text(row, 0)?).map(Some),
        None => Ok(None),
    }
}

/// A document as it was at a version that an operation answered with.
pub(crate) fn read_at(
    connection: &Connection,
    business: BusinessId,
    key: DocumentKey,
    version: i64,
) -> Result<Option<Document>, StoreError> {
    const PAST: &str = "SELECT record FROM past_documents \
         WHERE business = ?1 AND id = ?2 AND version = ?3 AND kind = ?4";
    let present = connection
        .prepare_cached(table(key.kind).record_at)
        .and_then(|mut statement| {
            let values = params![business.0.0, key.id.0, version];
            statement
                .query_row(values, |row| row.get::<_, String>(0))
                .optional()
        })
        .map_err(store_error)?;
    let record = match present {
        Some(record) => Some(record),
        None => connection
            .prepare_cached(PAST)
            .and_then(|mut statement| {
                let kind = codec::kind_number(key.kind);
                let values = params![business.0.0, key.id.0, version, kind];
                statement.query_row(values, |row| row.get(0)).optional()
            })
            .map_err(store_error)?,
    };
    record.map(|record| decode(key.kind, &record)).transpose()
}

/// The text of a column.
pub(crate) fn text<'r>(row: &'r rusqlite::Row<'_>, column: usize) -> Result<&'r str, StoreError> {
    row.get_ref(column)
        .map_err(store_error)?
        .as_str()
        .map_err(|error| StoreError::Corrupt(error.to_string()))
}

/// A document from its stored text.
pub(crate) fn decode(kind: Kind, record: &str) -> Result<Document, StoreError> {
    Ok(match kind {
        Kind::Business => Document::Business(Arc::new(codec::decode(record)?)),
        Kind::Branch => Document::Branch(Arc::new(codec::decode(record)?)),
        Kind::Member => Document::Member(Arc::new(codec::decode(record)?)),
        Kind::ApiKey => Document::ApiKey(Arc::new(codec::decode(record)?)),
        Kind::Product => Document::Product(Arc::new(codec::decode(record)?)),
        Kind::Customer => Document::Customer(Arc::new(codec::decode(record)?)),
        Kind::Order => Document::Order(Arc::new(codec::decode(record)?)),
        Kind::Checkout => Document::Checkout(Arc::new(codec::decode(record)?)),
        Kind::Coupon => Document::Coupon(Arc::new(codec::decode(record)?)),
        Kind::Payment => Document::Payment(Arc::new(codec::decode(record)?)),
        Kind::PaymentEvent => Document::PaymentEvent(Arc::new(codec::decode(record)?)),
        Kind::Cart => Document::Cart(Arc::new(codec::decode(record)?)),
        Kind::OrderReturn => Document::OrderReturn(Arc::new(codec::decode(record)?)),
    })
}

/// The stored text of a document.
#[cfg(test)]
pub(crate) fn encode(document: &Document) -> Result<String, serde_json::Error> {
    head(document).map(|head| head.record)
}
