//! What is in carts, as rows: states, edits since, histories.
//!
//! Owns their statements. Must not know what an edit means: its change is bytes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use abasto_domain::id::{BusinessId, CartId, ProductId};
use abasto_domain::money::Amount;
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::cart::{
    CartAppend, CartContent, CartEffects, CartLogEntry, CartState, DotHead, DotKey, Heard,
    SeenPrice,
};
use abasto_store::record::SCHEMA_VERSION;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use crate::codec::{self, ActorBytes};
use crate::document::text;
use crate::error::store_error;
use crate::group::WriteError;

/// Bytes of one operation in the memory of a state.
const RECENT_BYTES: usize = 24;
/// Bytes of one price that was seen.
const PRICE_BYTES: usize = 28;

const INSERT_APPEND: &str = "INSERT INTO cart_appends \
    (business, cart_id, rid, sequence, fingerprint, delta, at, v, price) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const DELETE_APPEND: &str = "DELETE FROM cart_appends \
    WHERE business = ?1 AND cart_id = ?2 AND rid = ?3 AND sequence = ?4";
const READ_APPEND: &str = "SELECT delta FROM cart_appends \
    WHERE business = ?1 AND cart_id = ?2 AND rid = ?3 AND sequence = ?4";
const INSERT_STATE: &str = "INSERT INTO cart_states \
    (version, state, recent, edited_at, v, business, cart_id, prices) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const UPDATE_STATE: &str = "UPDATE cart_states \
    SET version = ?1, state = ?2, recent = ?3, edited_at = ?4, v = ?5, prices = ?8 \
    WHERE business = ?6 AND cart_id = ?7 AND version = ?1 - 1";
const INSERT_LOG: &str = "INSERT INTO cart_logs \
    (business, cart_id, at, id, actor, request, operation, dot, delta, v) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

macro_rules! append_columns {
    () => {
        "cart_id, rid, sequence, fingerprint, delta, at, v, price"
    };
}

macro_rules! state_columns {
    () => {
        "cart_id, version, state, recent, edited_at, v, prices"
    };
}

macro_rules! log_columns {
    () => {
        "cart_id, at, id, actor, request, operation, dot, delta, v"
    };
}

/// All states of a business by cart.
pub(crate) const WALK_STATES: &str = concat!(
    "SELECT ",
    state_columns!(),
    " FROM cart_states WHERE business = ?1 ORDER BY cart_id"
);
/// All edits of a business by dot.
pub(crate) const WALK_APPENDS: &str = concat!(
    "SELECT ",
    append_columns!(),
    " FROM cart_appends WHERE business = ?1 ORDER BY cart_id, rid, sequence"
);
/// All histories of a business.
pub(crate) const WALK_LOGS: &str = concat!(
    "SELECT ",
    log_columns!(),
    " FROM cart_logs WHERE business = ?1 ORDER BY cart_id, at, id"
);
/// A page of a history: business, cart, time and id to go on after, limit.
pub(crate) const LIST_LOG: &str = concat!(
    "SELECT ",
    log_columns!(),
    " FROM cart_logs WHERE business = ?1 AND cart_id = ?2 AND (at, id) > (?3, ?4) \
     ORDER BY at, id LIMIT ?5"
);

/// Writes what a group did to carts: new edits, then states and the edits that went into them.
pub(crate) fn write<'e>(
    connection: &Connection,
    effects: impl Iterator<Item = &'e CartEffects> + Clone,
) -> Result<(), WriteError> {
    for append in effects.clone().flat_map(|effects| &effects.appends) {
        insert_append(connection, append)?;
    }
    for entry in effects.clone().flat_map(|effects| &effects.log) {
        insert_log(connection, entry)?;
    }
    for fold in effects.flat_map(|effects| &effects.folds) {
        replace_state(connection, &fold.next)?;
        for dot in &fold.covers {
            let rid = dot.rid.to_be_bytes();
            let values = params![
                fold.next.business.0.0,
                dot.cart.0.0,
                rid,
                dot.sequence.cast_signed()
            ];
            connection.prepare_cached(DELETE_APPEND)?.execute(values)?;
        }
    }
    Ok(())
}

fn insert_append(connection: &Connection, append: &CartAppend) -> Result<(), WriteError> {
    connection.prepare_cached(INSERT_APPEND)?.execute(params![
        append.business.0.0,
        append.dot.cart.0.0,
        append.dot.rid.to_be_bytes(),
        append.dot.sequence.cast_signed(),
        append.fingerprint.cast_signed(),
        append.delta.as_ref(),
        append.at.as_millis(),
        SCHEMA_VERSION,
        append
            .price
            .iter()
            .flat_map(price_bytes)
            .collect::<Vec<u8>>()
    ])?;
    Ok(())
}

fn replace_state(connection: &Connection, state: &CartState) -> Result<(), WriteError> {
    let recent: Vec<u8> = state
        .recent
        .iter()
        .flat_map(|&(rid, sequence, print)| [rid, sequence, print])
        .flat_map(u64::to_be_bytes)
        .collect();
    let prices: Vec<u8> = state.prices.iter().flat_map(price_bytes).collect();
    let values: [&dyn ToSql; 8] = [
        &state.version,
        &state.state.as_ref(),
        &recent,
        &state.edited_at.as_millis(),
        &SCHEMA_VERSION,
        &state.business.0.0,
        &state.cart.0.0,
        &prices,
    ];
    let sql = if state.version == 1 {
        INSERT_STATE
    } else {
        UPDATE_STATE
    };
    match connection.prepare_cached(sql)?.execute(values)? {
        1 => Ok(()),
        _ => Err(WriteError::Lost("cart_states")),
    }
}

fn price_bytes(seen: &SeenPrice) -> [u8; PRICE_BYTES] {
    let mut bytes = [0; PRICE_BYTES];
    bytes[..12].copy_from_slice(&seen.product.0.0);
    bytes[12..20].copy_from_slice(&seen.at.as_millis().to_be_bytes());
    bytes[20..].copy_from_slice(&seen.price.minor().to_be_bytes());
    bytes
}

fn prices(bytes: &[u8]) -> Result<Vec<SeenPrice>, StoreError> {
    let one = |bytes: &[u8]| {
        let minor = word(&bytes[20..])?.cast_signed();
        let damaged = |_| StoreError::Corrupt("a price of a cart".to_owned());
        Ok(SeenPrice {
            product: ProductId(codec::id(&bytes[..12])?),
            at: Timestamp::from_millis(word(&bytes[12..20])?.cast_signed()),
            price: Amount::from_minor(minor).map_err(damaged)?,
        })
    };
    bytes.chunks_exact(PRICE_BYTES).map(one).collect()
}

fn insert_log(connection: &Connection, entry: &CartLogEntry) -> Result<(), WriteError> {
    let dot = entry.dot.map(|(rid, sequence)| [rid, sequence]);
    let dot: Vec<u8> = dot
        .iter()
        .flatten()
        .flat_map(|half| half.to_be_bytes())
        .collect();
    connection.prepare_cached(INSERT_LOG)?.execute(params![
        entry.business.0.0,
        entry.cart.0.0,
        entry.at.as_millis(),
        entry.id.0,
        ActorBytes::new(entry.actor).as_slice(),
        entry.request,
        serde_json::to_string(&entry.operation)?,
        dot,
        entry.delta.as_ref(),
        SCHEMA_VERSION
    ])?;
    Ok(())
}

/// What a group has read of carts so far.
#[derive(Debug, Default)]
pub(crate) struct ReadStates(BTreeMap<(BusinessId, CartId), (i64, Heard)>);

impl ReadStates {
    /// The version of a cart's state; 0 when there is none.
    pub(crate) fn version(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        cart: CartId,
    ) -> Result<i64, StoreError> {
        Ok(self.state(connection, business, cart)?.0)
    }

    /// What is known of a dot.
    pub(crate) fn dot(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        dot: DotKey,
    ) -> Result<DotHead, StoreError> {
        let rid = dot.rid.to_be_bytes();
        let values = params![business.0.0, dot.cart.0.0, rid, dot.sequence.cast_signed()];
        let kept: Option<Vec<u8>> = connection
            .prepare_cached(READ_APPEND)
            .and_then(|mut statement| statement.query_row(values, |row| row.get(0)).optional())
            .map_err(store_error)?;
        match kept {
            Some(delta) => Ok(DotHead::Kept(delta.into())),
            None => Ok(self.state(connection, business, dot.cart)?.1.head(dot)),
        }
    }

    fn state(
        &mut self,
        connection: &Connection,
        business: BusinessId,
        cart: CartId,
    ) -> Result<&(i64, Heard), StoreError> {
        const SQL: &str =
            "SELECT version, state FROM cart_states WHERE business = ?1 AND cart_id = ?2";
        match self.0.entry((business, cart)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let found: Option<(i64, Vec<u8>)> = connection
                    .prepare_cached(SQL)
                    .and_then(|mut statement| {
                        let values = params![business.0.0, cart.0.0];
                        let row = statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)));
                        row.optional()
                    })
                    .map_err(store_error)?;
                Ok(unknown.insert(match found {
                    Some((version, state)) => (version, Heard::of(&state)?),
                    None => (0, Heard::default()),
                }))
            }
        }
    }
}

/// Everything that is in a cart.
pub(crate) fn content(
    connection: &Connection,
    business: BusinessId,
    cart: CartId,
) -> Result<CartContent, StoreError> {
    const STATE: &str = concat!(
        "SELECT ",
        state_columns!(),
        " FROM cart_states WHERE business = ?1 AND cart_id = ?2"
    );
    const TAIL: &str = concat!(
        "SELECT ",
        append_columns!(),
        " FROM cart_appends WHERE business = ?1 AND cart_id = ?2 ORDER BY rid, sequence"
    );
    let states = rows(connection, STATE, business, cart, |row| {
        state(business, row)
    })?;
    Ok(CartContent {
        state: states.into_iter().next(),
        tail: rows(connection, TAIL, business, cart, |row| {
            append(business, row)
        })?,
    })
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    business: BusinessId,
    cart: CartId,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut rows = statement
        .query(params![business.0.0, cart.0.0])
        .map_err(store_error)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// A state from a row of [`WALK_STATES`].
pub(crate) fn state(business: BusinessId, row: &Row<'_>) -> Result<CartState, StoreError> {
    codec::check_version(number(row, 5)?)?;
    let recent = blob(row, 3)?.chunks_exact(RECENT_BYTES).map(|one| {
        let part = |at: usize| word(&one[at..at + 8]);
        Ok((part(0)?, part(8)?, part(16)?))
    });
    Ok(CartState {
        business,
        cart: CartId(codec::id(blob(row, 0)?)?),
        version: number(row, 1)?,
        state: blob(row, 2)?.into(),
        recent: recent.collect::<Result<_, StoreError>>()?,
        prices: prices(blob(row, 6)?)?.into(),
        edited_at: Timestamp::from_millis(number(row, 4)?),
    })
}

/// An edit from a row of [`WALK_APPENDS`].
pub(crate) fn append(business: BusinessId, row: &Row<'_>) -> Result<CartAppend, StoreError> {
    codec::check_version(number(row, 6)?)?;
    Ok(CartAppend {
        business,
        dot: DotKey {
            cart: CartId(codec::id(blob(row, 0)?)?),
            rid: word(blob(row, 1)?)?,
            sequence: number(row, 2)?.cast_unsigned(),
        },
        fingerprint: number(row, 3)?.cast_unsigned(),
        delta: blob(row, 4)?.into(),
        price: prices(blob(row, 7)?)?.first().copied(),
        at: Timestamp::from_millis(number(row, 5)?),
    })
}

/// An entry from a row of [`WALK_LOGS`].
pub(crate) fn log(business: BusinessId, row: &Row<'_>) -> Result<CartLogEntry, StoreError> {
    codec::check_version(number(row, 8)?)?;
    let dot = match blob(row, 6)? {
        [] => None,
        bytes => {
            let (rid, sequence) = bytes.split_at_checked(8).unwrap_or((bytes, &[]));
            Some((word(rid)?, word(sequence)?))
        }
    };
    let operation = serde_json::from_str(text(row, 5)?);
    Ok(CartLogEntry {
        business,
        cart: CartId(codec::id(blob(row, 0)?)?),
        id: codec::id(blob(row, 2)?)?,
        at: Timestamp::from_millis(number(row, 1)?),
        actor: codec::actor(blob(row, 3)?)?,
        request: text(row, 4)?.to_owned(),
        operation: operation.map_err(|error| StoreError::Corrupt(error.to_string()))?,
        dot,
        delta: Arc::from(blob(row, 7)?),
    })
}

fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], StoreError> {
    row.get_ref(column)
        .map_err(store_error)?
        .as_blob()
        .map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn number(row: &Row<'_>, column: usize) -> Result<i64, StoreError> {
    crate::level::integer(row, column)
}

fn word(bytes: &[u8]) -> Result<u64, StoreError> {
    let bytes = bytes.try_into();
    let bytes = bytes.map_err(|_| StoreError::Corrupt("a part of a dot".to_owned()))?;
    Ok(u64::from_be_bytes(bytes))
}
