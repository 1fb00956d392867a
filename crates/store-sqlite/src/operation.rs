//! Finished operations as rows.
//!
//! Owns how an answer is kept: as the version of a document where it is one, else as JSON. Must
//! not know when a key is used again.

use abasto_domain::id::BusinessId;
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::record::{Document, DocumentKey};
use abasto_store::verdict::{Operation, Reply};
use rusqlite::{Connection, Row, params};

use crate::codec;
use crate::document;
use crate::error::store_error;
use crate::group::WriteError;

const INSERT: &str = "INSERT INTO operations \
    (business, customer, key, fingerprint, at, kind, document, version, reply) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

pub(crate) const READ: &str = "SELECT customer, key, fingerprint, at, kind, document, version, reply \
    FROM operations WHERE business = ?1 AND customer = ?2 AND key = ?3";

/// All operations of a business by key.
pub(crate) const WALK: &str = "SELECT customer, key, fingerprint, at, kind, document, version, reply \
    FROM operations WHERE business = ?1 ORDER BY customer, key";

/// The document that answers an operation, if it is one of those that the unit wrote. It is kept
/// as its version instead of a second time as a whole.
pub(crate) fn answer<'a>(
    operation: &Operation,
    puts: &'a [(Document, i64)],
) -> Option<&'a Document> {
    let Reply::Document(reply) = &operation.reply else {
        return None;
    };
    // Cheap: they are the same shared value.
    let mut written = puts.iter().map(|(document, _)| document);
    written.find(|written| *written == reply)
}

/// Writes an operation, answered by the document given or else by its own reply.
pub(crate) fn write(
    connection: &Connection,
    operation: &Operation,
    answer: Option<&Document>,
) -> Result<(), WriteError> {
    let key = answer.map(Document::key);
    let kind = key.map_or(0, |key| codec::kind_number(key.kind));
    let id = key.map(|key| key.id);
    let version = answer.map_or(0, Document::version);
    let reply = match answer {
        Some(_) => String::new(),
        None => codec::encode(&operation.reply)?,
    };
    connection.prepare_cached(INSERT)?.execute(params![
        operation.business.0.0,
        customer_bytes(&operation.key),
        operation.key.key,
        operation.fingerprint.0,
        operation.at.as_millis(),
        kind,
        codec::id_bytes(id.as_ref()),
        version,
        reply
    ])?;
    Ok(())
}

fn customer_bytes(key: &OperationKey) -> &[u8] {
    codec::id_bytes(key.customer.as_ref().map(|id| &id.0))
}

/// The operation under a key.
pub(crate) fn read(
    connection: &Connection,
    business: BusinessId,
    key: &OperationKey,
) -> Result<Option<Operation>, StoreError> {
    let mut statement = connection.prepare_cached(READ).map_err(store_error)?;
    let mut rows = statement
        .query(params![business.0.0, customer_bytes(key), key.key])
        .map_err(store_error)?;
    match rows.next().map_err(store_error)? {
        Some(row) => from_row(connection, business, row).map(Some),
        None => Ok(None),
    }
}

/// An operation from a row of [`WALK`].
pub(crate) fn from_row(
    connection: &Connection,
    business: BusinessId,
    row: &Row<'_>,
) -> Result<Operation, StoreError> {
    let get = |column: usize| row.get_ref(column).map_err(store_error);
    let damaged = |error: rusqlite::types::FromSqlError| StoreError::Corrupt(error.to_string());
    let customer = codec::optional_id(get(0)?.as_blob().map_err(damaged)?)?;
    let fingerprint = get(2)?.as_blob().map_err(damaged)?.try_into();
    let version = get(6)?.as_i64().map_err(damaged)?;
    let reply = if version == 0 {
        codec::decode(document::text(row, 7)?)?
    } else {
        let kind = codec::kind(get(4)?.as_i64().map_err(damaged)?)?;
        let id = codec::id(get(5)?.as_blob().map_err(damaged)?)?;
        let key = DocumentKey { kind, id };
        let document = document::read_at(connection, business, key, version)?;
        let missing = || StoreError::Corrupt(format!("an answer is gone: {} {id}", kind.name()));
        Reply::Document(document.ok_or_else(missing)?)
    };
    Ok(Operation {
        business,
        key: OperationKey {
            customer: customer.map(Into::into),
            key: document::text(row, 1)?.to_owned(),
        },
        fingerprint: Fingerprint(
            fingerprint.map_err(|_| StoreError::Corrupt("a fingerprint's length".to_owned()))?,
        ),
        reply,
        at: Timestamp::from_millis(get(3)?.as_i64().map_err(damaged)?),
    })
}
