//! `cartStates`, `cartAppends` and `cartLogs`: what is in carts.
//!
//! Owns their fields. The content is bytes of the cart type; an author is eight bytes, because it
//! uses all 64 bits and sorts as an unsigned number.

use std::sync::Arc;

use abasto_domain::id::{BusinessId, CartId};
use abasto_domain::money::Amount;
use abasto_store::cart::{CartAppend, CartLogEntry, CartState, DotKey, SeenPrice};
use mongodb::bson::raw::{RawDocumentBuf, cstr};
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, Document, doc};

use super::actor;
use super::event::{Unstorable, from_value, to_value};
use super::field::{Fields, Row, Unreadable, object_id};
use super::stamp::{Stamped, check_schema};

/// Bytes of one operation in the memory of a state.
const RECENT_BYTES: usize = 24;

pub(crate) fn write_state(state: &CartState) -> RawDocumentBuf {
    let recent: Vec<u8> = state
        .recent
        .iter()
        .flat_map(|&(rid, sequence, print)| [rid, sequence, print])
        .flat_map(u64::to_be_bytes)
        .collect();
    Fields::new()
        .id(cstr!("businessId"), state.business)
        .id(cstr!("cartId"), state.cart)
        .int(cstr!("version"), state.version)
        .bytes(cstr!("state"), &state.state)
        .bytes(cstr!("recent"), &recent)
        .docs(cstr!("prices"), state.prices.iter().map(write_price))
        .date(cstr!("editedAt"), state.edited_at)
        .versioned()
}

/// The filter of a state that is still at a version.
pub(crate) fn state_at(business: BusinessId, cart: CartId, version: i64) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("businessId"), business)
        .id(cstr!("cartId"), cart)
        .int(cstr!("version"), version)
        .done()
}

fn write_price(seen: &SeenPrice) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("productId"), seen.product)
        .date(cstr!("seenAt"), seen.at)
        .int(cstr!("minor"), seen.price.minor())
        .done()
}

pub(crate) fn write_append(append: &CartAppend) -> RawDocumentBuf {
    let fields = Fields::new()
        .id(cstr!("businessId"), append.business)
        .id(cstr!("cartId"), append.dot.cart)
        .bytes(cstr!("rid"), &append.dot.rid.to_be_bytes())
        .int(cstr!("sequence"), append.dot.sequence.cast_signed())
        .int(cstr!("fingerprint"), append.fingerprint.cast_signed())
        .bytes(cstr!("delta"), &append.delta);
    let fields = match &append.price {
        Some(seen) => fields.doc(cstr!("price"), write_price(seen)),
        None => fields.null(cstr!("price")),
    };
    fields.date(cstr!("occurredAt"), append.at).versioned()
}

/// The filter of one edit.
pub(crate) fn append_at(business: BusinessId, dot: DotKey) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("businessId"), business)
        .id(cstr!("cartId"), dot.cart)
        .bytes(cstr!("rid"), &dot.rid.to_be_bytes())
        .int(cstr!("sequence"), dot.sequence.cast_signed())
        .done()
}

/// The part of a filter that finds an edit.
pub(crate) fn named(dot: DotKey) -> Document {
    let rid = Binary {
        subtype: BinarySubtype::Generic,
        bytes: dot.rid.to_be_bytes().to_vec(),
    };
    doc! {
        "cartId": object_id(dot.cart),
        "rid": Bson::Binary(rid),
        "sequence": dot.sequence.cast_signed(),
    }
}

pub(crate) fn write_log(entry: &CartLogEntry) -> Result<RawDocumentBuf, Unstorable> {
    let fields = Fields::new()
        .id(cstr!("_id"), entry.id)
        .id(cstr!("businessId"), entry.business)
        .id(cstr!("cartId"), entry.cart)
        .date(cstr!("at"), entry.at)
        .doc(cstr!("actor"), actor::write(&entry.actor))
        .text(cstr!("requestId"), &entry.request)
        .value(cstr!("operation"), to_value(&entry.operation)?);
    let fields = match entry.dot {
        Some((rid, sequence)) => fields
            .bytes(cstr!("rid"), &rid.to_be_bytes())
            .int(cstr!("sequence"), sequence.cast_signed()),
        None => fields.null(cstr!("rid")).null(cstr!("sequence")),
    };
    Ok(fields.bytes(cstr!("delta"), &entry.delta).versioned())
}

pub(crate) fn read_state(row: Row<'_>) -> Result<CartState, Unreadable> {
    check_schema(row)?;
    let recent = row.blob("recent")?.chunks_exact(RECENT_BYTES).map(|one| {
        let part = |at: usize| word(&one[at..at + 8]);
        (part(0), part(8), part(16))
    });
    Ok(CartState {
        business: row.id("businessId")?,
        cart: row.id("cartId")?,
        version: row.int("version")?,
        state: row.blob("state")?.into(),
        recent: recent.collect(),
        prices: row.rows("prices", read_price)?.into(),
        edited_at: row.date("editedAt")?,
    })
}

fn read_price(row: Row<'_>) -> Result<SeenPrice, Unreadable> {
    let minor = row.int("minor")?;
    Ok(SeenPrice {
        product: row.id("productId")?,
        at: row.date("seenAt")?,
        price: Amount::from_minor(minor).map_err(|why| row.unreadable("minor", why))?,
    })
}

/// The name of an edit.
pub(crate) fn read_dot(row: Row<'_>) -> Result<DotKey, Unreadable> {
    Ok(DotKey {
        cart: row.id("cartId")?,
        rid: u64::from_be_bytes(row.bytes("rid")?),
        sequence: row.int("sequence")?.cast_unsigned(),
    })
}

pub(crate) fn read_append(row: Row<'_>) -> Result<CartAppend, Unreadable> {
    check_schema(row)?;
    Ok(CartAppend {
        business: row.id("businessId")?,
        dot: read_dot(row)?,
        fingerprint: row.int("fingerprint")?.cast_unsigned(),
        delta: row.blob("delta")?.into(),
        price: row.opt_row("price")?.map(read_price).transpose()?,
        at: row.date("occurredAt")?,
    })
}

pub(crate) fn read_log(row: Row<'_>) -> Result<CartLogEntry, Unreadable> {
    check_schema(row)?;
    let operation = match row.raw().get("operation") {
        Ok(Some(value)) => from_value(value),
        _ => None,
    };
    let dot = match row.is_there("rid") {
        true => Some((
            u64::from_be_bytes(row.bytes("rid")?),
            row.int("sequence")?.cast_unsigned(),
        )),
        false => None,
    };
    Ok(CartLogEntry {
        business: row.id("businessId")?,
        cart: row.id("cartId")?,
        id: row.id("_id")?,
        at: row.date("at")?,
        actor: actor::read(row.row("actor")?)?,
        request: row.text("requestId")?,
        operation: operation.ok_or_else(|| row.unreadable("operation", "is missing"))?,
        dot,
        delta: Arc::from(row.blob("delta")?),
    })
}

/// Eight bytes as a number; fewer never get here.
fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |word, byte| word << 8 | u64::from(*byte))
}
