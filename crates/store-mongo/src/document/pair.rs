//! Free maps of text as lists of `{name, value}`.
//!
//! Owns the form: names that people choose may hold dots and dollars, which do not work as field
//! names, and a list can be indexed.

use std::collections::BTreeMap;

use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};

pub(crate) fn write(pairs: &BTreeMap<String, String>) -> impl Iterator<Item = RawDocumentBuf> + '_ {
    pairs.iter().map(|(name, value)| {
        Fields::new()
            .text(cstr!("name"), name)
            .text(cstr!("value"), value)
            .done()
    })
}

pub(crate) fn read(row: Row<'_>, key: &str) -> Result<BTreeMap<String, String>, Unreadable> {
    let pairs = row.rows(key, |pair| Ok((pair.text("name")?, pair.text("value")?)))?;
    let length = pairs.len();
    let map: BTreeMap<_, _> = pairs.into_iter().collect();
    if map.len() == length {
        Ok(map)
    } else {
        Err(row.unreadable(key, "a name appears twice"))
    }
}
