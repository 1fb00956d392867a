//! Parts of which the validators are made: types of fields, and what every document has.
//!
//! Owns how a domain type looks in a `$jsonSchema`. Must not name a collection.

use abasto_domain::limits::{AMOUNT_MINOR_MAX, BRANCH_LIST_MAX};
use mongodb::bson::{Bson, Decimal128, Document, doc};

use crate::document::name::Named;

/// A document with exactly these fields. With no others allowed, their number says that all are
/// there; a list of required names would have the server look for each of them once more.
pub(super) fn closed(properties: Document) -> Document {
    doc! {
        "bsonType": "object",
        "minProperties": bound(properties.len()),
        "additionalProperties": false,
        "properties": properties,
    }
}

pub(super) fn with(mut properties: Document, more: Document) -> Document {
    properties.extend(more);
    properties
}

pub(super) fn id() -> Document {
    doc! { "bsonType": "objectId" }
}

pub(super) fn opt_id() -> Document {
    doc! { "bsonType": ["objectId", "null"] }
}

pub(super) fn text() -> Document {
    doc! { "bsonType": "string", "minLength": 1 }
}

pub(super) fn opt_text() -> Document {
    doc! { "bsonType": ["string", "null"], "minLength": 1 }
}

pub(super) fn date() -> Document {
    doc! { "bsonType": "date" }
}

pub(super) fn opt_date() -> Document {
    doc! { "bsonType": ["date", "null"] }
}

pub(super) fn flag() -> Document {
    doc! { "bsonType": "bool" }
}

pub(super) fn whole(least: i64, most: i64) -> Document {
    doc! { "bsonType": "long", "minimum": least, "maximum": most }
}

pub(super) fn one_of<T: Named>() -> Document {
    doc! { "bsonType": "string", "enum": T::names() }
}

/// An amount: from zero to the largest in the currency with no decimals.
pub(super) fn money() -> Document {
    doc! { "bsonType": "decimal", "minimum": decimal(0), "maximum": decimal(AMOUNT_MINOR_MAX) }
}

pub(super) fn decimal(value: i64) -> Bson {
    let parsed = value.to_string().parse::<Decimal128>();
    parsed.map_or(Bson::Int64(value), Bson::Decimal128)
}

pub(super) fn ids_or_null() -> Document {
    doc! {
        "bsonType": ["array", "null"],
        "maxItems": bound(BRANCH_LIST_MAX),
        "uniqueItems": true,
        "items": id(),
    }
}

pub(super) fn pairs(most: usize) -> Document {
    let pair = closed(doc! { "name": { "bsonType": "string" }, "value": { "bsonType": "string" } });
    doc! { "bsonType": "array", "maxItems": bound(most), "items": pair }
}

pub(super) fn bound(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

pub(super) fn version() -> Document {
    whole(1, i64::MAX)
}

/// What every versioned document begins and ends with.
pub(super) fn versioned(properties: Document) -> Document {
    let tail = doc! {
        "version": version(),
        "createdAt": date(),
        "updatedAt": date(),
        "schemaVersion": version(),
    };
    with(with(doc! { "_id": id() }, properties), tail)
}

/// The same, within a business.
pub(super) fn owned(properties: Document) -> Document {
    versioned(with(doc! { "businessId": id() }, properties))
}

/// What every record that is not versioned begins and ends with.
pub(super) fn appended(properties: Document) -> Document {
    let head = doc! { "_id": id(), "businessId": id() };
    with(with(head, properties), doc! { "schemaVersion": version() })
}

/// The fields that indexes need beside a record in its stored form.
pub(super) fn sale(fields: Document) -> Document {
    owned(with(fields, doc! { "record": { "bsonType": "object" } }))
}

pub(super) fn seen_price() -> Document {
    closed(doc! { "productId": id(), "seenAt": date(), "minor": whole(0, AMOUNT_MINOR_MAX) })
}
