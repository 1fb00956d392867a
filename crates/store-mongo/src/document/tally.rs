//! `tallies`: contended numbers.

use abasto_domain::id::BusinessId;
use abasto_store::tally::{Tally, TallyKey};
use mongodb::bson::raw::{RawDocumentBuf, cstr};
use mongodb::bson::{Document, doc};

use super::field::{Fields, Row, Unreadable, object_id};
use super::name::Named;
use super::stamp::{Stamped, check_schema};

pub(crate) fn write(business: BusinessId, key: TallyKey, value: i64) -> RawDocumentBuf {
    fields(business, key, value).versioned()
}

/// The filter of a number that is still at a value.
pub(crate) fn at(business: BusinessId, key: TallyKey, value: i64) -> RawDocumentBuf {
    fields(business, key, value).done()
}

fn fields(business: BusinessId, key: TallyKey, value: i64) -> Fields {
    Fields::new()
        .id(cstr!("businessId"), business)
        .name(cstr!("kind"), key.kind)
        .id(cstr!("subjectId"), key.subject)
        .id(cstr!("byId"), key.by)
        .int(cstr!("value"), value)
}

/// The part of a filter that finds the number.
pub(crate) fn named(key: TallyKey) -> Document {
    doc! {
        "kind": Named::name(key.kind),
        "subjectId": object_id(key.subject),
        "byId": object_id(key.by),
    }
}

pub(crate) fn read(row: Row<'_>) -> Result<Tally, Unreadable> {
    check_schema(row)?;
    Ok(Tally {
        key: TallyKey {
            kind: row.name("kind")?,
            subject: row.id("subjectId")?,
            by: row.id("byId")?,
        },
        value: row.int("value")?,
    })
}
