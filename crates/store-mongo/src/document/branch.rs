//! `branches`.

use abasto_domain::branch::{Branch, BranchCode};
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, stamp};

pub(crate) fn write(branch: &Branch) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("_id"), branch.id)
        .id(cstr!("businessId"), branch.business)
        .text(cstr!("code"), branch.code.as_str())
        .text(cstr!("name"), &branch.name)
        .text(cstr!("timeZone"), &branch.time_zone)
        .flag(cstr!("active"), branch.active)
        .stamped(&branch.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<Branch, Unreadable> {
    Ok(Branch {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        code: row.parsed("code", BranchCode::parse)?,
        name: row.text("name")?,
        time_zone: row.text("timeZone")?,
        active: row.flag("active")?,
        stamp: stamp(row)?,
    })
}
