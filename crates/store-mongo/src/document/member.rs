//! `members`.

use abasto_domain::credential::Member;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, stamp};

pub(crate) fn write(member: &Member) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("_id"), member.id)
        .id(cstr!("businessId"), member.business)
        .text(cstr!("userId"), &member.user_id)
        .name(cstr!("role"), member.role)
        .opt_ids(cstr!("branchIds"), member.branches.as_deref())
        .opt_id(cstr!("customerId"), member.customer)
        .flag(cstr!("active"), member.active)
        .stamped(&member.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<Member, Unreadable> {
    Ok(Member {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        user_id: row.text("userId")?,
        role: row.name("role")?,
        branches: row.opt_ids("branchIds")?,
        customer: row.opt_id("customerId")?,
        active: row.flag("active")?,
        stamp: stamp(row)?,
    })
}
