//! `operations`: finished operations under their idempotency keys, each with its first answer.

use std::sync::Arc;

use abasto_domain::currency::Currency;
use abasto_domain::id::ProductId;
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_store::record::Kind;
use abasto_store::verdict::{Operation, Reply, Skus, StockReply};
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::event::{Unstorable, from_value, to_value};
use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, check_schema};
use super::{read_document, stock, write_document};

pub(crate) fn write(
    operation: &Operation,
    currency: Option<Currency>,
) -> Result<RawDocumentBuf, Unstorable> {
    Ok(Fields::new()
        .id(cstr!("businessId"), operation.business)
        .opt_id(cstr!("customerId"), operation.key.customer)
        .text(cstr!("key"), &operation.key.key)
        .bytes(cstr!("fingerprint"), &operation.fingerprint.0)
        .doc(cstr!("reply"), write_reply(&operation.reply, currency)?)
        .date(cstr!("createdAt"), operation.at)
        .versioned())
}

fn write_reply(reply: &Reply, currency: Option<Currency>) -> Result<RawDocumentBuf, Unstorable> {
    Ok(match reply {
        Reply::Document(document) => Fields::new()
            .text(cstr!("type"), "document")
            .name(cstr!("kind"), document.key().kind)
            .doc(cstr!("document"), write_document(document, currency)?)
            .done(),
        Reply::View(view) => Fields::new()
            .text(cstr!("type"), "view")
            .value(cstr!("view"), to_value(view)?)
            .done(),
        Reply::Stock(reply) => {
            let movements = reply.movements.iter().map(stock::write_movement);
            let fields = Fields::new()
                .text(cstr!("type"), "stock")
                .docs(cstr!("movements"), movements)
                .docs(cstr!("levels"), reply.levels.iter().map(stock::write_level));
            let skus = reply.skus.iter().map(write_sku);
            // None were kept at first, and then the field is not there.
            if reply.skus.is_empty() {
                fields.done()
            } else {
                fields.docs(cstr!("skus"), skus).done()
            }
        }
    })
}

pub(crate) fn read(row: Row<'_>) -> Result<Operation, Unreadable> {
    check_schema(row)?;
    Ok(Operation {
        business: row.id("businessId")?,
        key: OperationKey {
            customer: row.opt_id("customerId")?,
            key: row.text("key")?,
        },
        fingerprint: Fingerprint(row.bytes("fingerprint")?),
        reply: read_reply(row.row("reply")?)?,
        at: row.date("createdAt")?,
    })
}

fn read_reply(row: Row<'_>) -> Result<Reply, Unreadable> {
    match row.str("type")? {
        "document" => {
            let kind = row.name::<Kind>("kind")?;
            Ok(Reply::Document(read_document(kind, row.row("document")?)?))
        }
        "view" => {
            let view = match row.raw().get("view") {
                Ok(Some(value)) => from_value(value),
                _ => None,
            };
            let view = view.ok_or_else(|| row.unreadable("reply.view", "is missing"))?;
            Ok(Reply::View(Arc::new(view)))
        }
        "stock" => Ok(Reply::Stock(Arc::new(StockReply {
            movements: row.rows("movements", stock::read_movement)?,
            levels: row.rows("levels", stock::read_level)?,
            skus: read_skus(row)?,
        }))),
        other => Err(row.unreadable("reply.type", format!("unknown value {other:?}"))),
    }
}

fn write_sku((product, sku): (&ProductId, &String)) -> RawDocumentBuf {
    let fields = Fields::new().id(cstr!("productId"), *product);
    fields.text(cstr!("sku"), sku).done()
}

/// Answers from before they had skus have none.
fn read_skus(row: Row<'_>) -> Result<Skus, Unreadable> {
    if !row.is_there("skus") {
        return Ok(Skus::new());
    }
    let skus = row.rows("skus", |row| Ok((row.id("productId")?, row.text("sku")?)));
    Ok(skus?.into_iter().collect())
}
