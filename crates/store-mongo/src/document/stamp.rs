//! Version, times and schema version: the tail of every versioned document.
//!
//! Owns these four fields.

use abasto_domain::stamp::Stamp;
use abasto_store::record::SCHEMA_VERSION;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};

pub(crate) trait Stamped {
    /// Adds the tail and ends the document.
    fn stamped(self, stamp: &Stamp) -> RawDocumentBuf;

    /// Adds the schema version and ends the document.
    fn versioned(self) -> RawDocumentBuf;
}

impl Stamped for Fields {
    fn stamped(self, stamp: &Stamp) -> RawDocumentBuf {
        self.int(cstr!("version"), stamp.version)
            .date(cstr!("createdAt"), stamp.created_at)
            .date(cstr!("updatedAt"), stamp.updated_at)
            .versioned()
    }

    fn versioned(self) -> RawDocumentBuf {
        self.int(cstr!("schemaVersion"), i64::from(SCHEMA_VERSION))
            .done()
    }
}

/// Refuses a document of a version that this code does not know.
pub(crate) fn check_schema(row: Row<'_>) -> Result<(), Unreadable> {
    let known = 1..=i64::from(SCHEMA_VERSION);
    match row.int("schemaVersion")? {
        version if known.contains(&version) => Ok(()),
        version => Err(row.unreadable(
            "schemaVersion",
            format!("{version} is newer than this program"),
        )),
    }
}

/// The tail of a versioned document.
pub(crate) fn stamp(row: Row<'_>) -> Result<Stamp, Unreadable> {
    check_schema(row)?;
    Ok(Stamp {
        version: row.int("version")?,
        created_at: row.date("createdAt")?,
        updated_at: row.date("updatedAt")?,
    })
}
