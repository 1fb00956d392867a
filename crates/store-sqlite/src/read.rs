//! Reads by key.
//!
//! Owns the statements of the port's reads that are no lists. Every function runs inside one read
//! transaction of its caller.

use abasto_domain::business::Business;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::{ApiKeyId, BusinessId, RawId};
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_domain::product::Product;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::query::Page;
use abasto_store::record::{Claim, Document, DocumentKey, Kind};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Params, params, params_from_iter};
use serde::de::DeserializeOwned;

use crate::document;
use crate::error::store_error;
use crate::table::table;
use crate::{codec, head, level, shape};

/// Documents by key.
pub(crate) fn documents(
    connection: &Connection,
    business: BusinessId,
    keys: &[DocumentKey],
) -> Result<Vec<Option<Document>>, StoreError> {
    keys.iter()
        .map(|key| document::read(connection, business, *key))
        .collect()
}

/// Levels by place.
pub(crate) fn levels(
    connection: &Connection,
    business: BusinessId,
    places: &[Place],
) -> Result<Vec<Option<StockLevel>>, StoreError> {
    places
        .iter()
        .map(|place| {
            let read = level::read(connection, business, *place)?;
            Ok(read.map(|numbered| numbered.level))
        })
        .collect()
}

/// An order by its number.
pub(crate) fn order_by_number(
    connection: &Connection,
    business: BusinessId,
    number: &OrderNumber,
) -> Result<Option<Order>, StoreError> {
    const SQL: &str = "SELECT record FROM orders INDEXED BY uq_orders_number \
        WHERE business = ?1 AND code = ?2 AND year = ?3 AND sequence = ?4";
    let values = params![
        business.0.0,
        number.series.code.as_str(),
        number.series.year,
        number.sequence
    ];
    one(connection, SQL, values)
}

/// The holders of claims.
pub(crate) fn holders(
    connection: &Connection,
    business: BusinessId,
    claims: &[Claim],
) -> Result<Vec<Option<RawId>>, StoreError> {
    let holders = claims
        .iter()
        .map(|claim| head::holder(connection, business, claim));
    holders.collect::<Result<_, _>>().map_err(store_error)
}

/// The documents of a kind that are due, of one business or of all.
pub(crate) fn due(
    connection: &Connection,
    business: Option<BusinessId>,
    kind: Kind,
    at: Timestamp,
    limit: u32,
) -> Result<Vec<Document>, StoreError> {
    let name = match kind {
        Kind::Order | Kind::Checkout | Kind::Payment | Kind::PaymentEvent | Kind::Cart => {
            table(kind).name
        }
        _ => return Ok(Vec::new()),
    };
    let (index, filter) = match business {
        Some(_) => ("business_due", "business = ?3 AND "),
        None => ("due", ""),
    };
    let sql = format!(
        "SELECT record FROM {name} INDEXED BY {name}_{index} \
         WHERE {filter}due_at > 0 AND due_at <= ?1 ORDER BY due_at, id LIMIT ?2"
    );
    let mut values = vec![Value::Integer(at.as_millis()), Value::Integer(limit.into())];
    values.extend(business.map(|business| Value::Blob(business.0.0.to_vec())));
    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let mut rows = statement
        .query(params_from_iter(values))
        .map_err(store_error)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        found.push(document::decode(kind, document::text(row, 0)?)?);
    }
    Ok(found)
}

/// Products that are not deleted, by sku.
pub(crate) fn products_by_sku(
    connection: &Connection,
    business: BusinessId,
    skus: &[String],
) -> Result<Vec<Option<Document>>, StoreError> {
    const SQL: &str = "SELECT record FROM products INDEXED BY uq_products_sku \
        WHERE business = ?1 AND sku = ?2 AND deleted = 0";
    skus.iter()
        .map(|sku| {
            let product = one(connection, SQL, params![business.0.0, sku])?;
            Ok(product.map(|product: Product| product.into()))
        })
        .collect()
}

/// An API key of whatever business.
pub(crate) fn api_key(connection: &Connection, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
    const SQL: &str = "SELECT record FROM api_keys INDEXED BY uq_api_keys_id WHERE id = ?1";
    one(connection, SQL, params![id.0.0])
}

/// The active memberships of a user.
pub(crate) fn memberships(
    connection: &Connection,
    user_id: &str,
) -> Result<Vec<Member>, StoreError> {
    all(connection, shape::MEMBERSHIPS, params![user_id])
}

/// The businesses, newest first.
pub(crate) fn businesses(connection: &Connection, page: Page) -> Result<Vec<Business>, StoreError> {
    let [order, id]: [Value; 2] = shape::upper_bound(page);
    all(
        connection,
        shape::BUSINESSES,
        params![order, id, page.limit],
    )
}

fn one<T: DeserializeOwned>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Option<T>, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement
                .query_row(values, |row| row.get::<_, String>(0))
                .optional()
        })
        .map_err(store_error)?
        .map(|record| codec::decode(&record))
        .transpose()
}

fn all<T: DeserializeOwned>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut rows = statement.query(values).map_err(store_error)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        found.push(codec::decode(document::text(row, 0)?)?);
    }
    Ok(found)
}
