//! `carts`, `checkouts`, `coupons`, `payments`, `paymentEvents` and `orderReturns`: the fields that indexes
//! need beside the record in its stored JSON form, as BSON.
//!
//! Owns which field carries what. Amounts inside the record are whole minor units.

use abasto_domain::checkout::CheckoutStatus;
use abasto_store::record::{Document, provider_claim_value};
use mongodb::bson::raw::{RawDocumentBuf, cstr};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::event::{Unstorable, from_value, to_value};
use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, check_schema};

/// A record with its fields beside it.
pub(crate) fn write<T: Serialize>(
    document: &Document,
    record: &T,
) -> Result<RawDocumentBuf, Unstorable> {
    let fields = Fields::new()
        .id(cstr!("_id"), document.key().id)
        .id(cstr!("businessId"), document.business());
    let fields = match document {
        Document::Checkout(it) => {
            let open = it.status == CheckoutStatus::Open;
            fields
                .opt_id(cstr!("openCartId"), it.cart.filter(|_| open))
                .opt_date(cstr!("dueAt"), document.due_at())
        }
        Document::Coupon(it) => fields.text(cstr!("code"), it.code.as_str()),
        Document::Payment(it) => {
            let reference = it.provider_ref.as_deref();
            let key = reference.map(|it_is| provider_claim_value(it.provider, it_is));
            fields
                .id(cstr!("orderId"), it.order)
                .opt_text(cstr!("providerKey"), key.as_deref())
                .opt_date(cstr!("dueAt"), document.due_at())
        }
        Document::PaymentEvent(it) => {
            let key = provider_claim_value(it.message.provider, &it.message.event_id);
            fields
                .text(cstr!("providerKey"), &key)
                .opt_date(cstr!("dueAt"), document.due_at())
        }
        Document::Cart(_) => {
            let active = document.claims().pop();
            fields
                .opt_text(
                    cstr!("activeFor"),
                    active.as_ref().map(|it| it.value.as_str()),
                )
                .opt_date(cstr!("dueAt"), document.due_at())
                .null(cstr!("editedAt"))
        }
        Document::OrderReturn(it) => fields.id(cstr!("orderId"), it.order),
        _ => fields,
    };
    let unstorable = |error: serde_json::Error| Unstorable(error.to_string());
    let record = serde_json::to_value(record).map_err(unstorable)?;
    Ok(fields
        .value(cstr!("record"), to_value(&record)?)
        .stamped(document.stamp()))
}

/// A record back.
pub(crate) fn read<T: DeserializeOwned>(row: Row<'_>) -> Result<T, Unreadable> {
    check_schema(row)?;
    let record = match row.raw().get("record") {
        Ok(Some(value)) => from_value(value),
        _ => None,
    };
    let record = record.ok_or_else(|| row.unreadable("record", "is missing"))?;
    serde_json::from_value(record).map_err(|error| row.unreadable("record", error))
}
