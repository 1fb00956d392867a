//! `apiKeys`: the hash of the secret is binary data, the secret is nowhere.

use abasto_domain::credential::ApiKey;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, stamp};

pub(crate) fn write(key: &ApiKey) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("_id"), key.id)
        .id(cstr!("businessId"), key.business)
        .text(cstr!("name"), &key.name)
        .name(cstr!("role"), key.role)
        .opt_ids(cstr!("branchIds"), key.branches.as_deref())
        .opt_id(cstr!("customerId"), key.customer)
        .bytes(cstr!("secretHash"), &key.secret_hash)
        .opt_date(cstr!("revokedAt"), key.revoked_at)
        .stamped(&key.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<ApiKey, Unreadable> {
    Ok(ApiKey {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        name: row.text("name")?,
        role: row.name("role")?,
        branches: row.opt_ids("branchIds")?,
        customer: row.opt_id("customerId")?,
        secret_hash: row.bytes("secretHash")?,
        revoked_at: row.opt_date("revokedAt")?,
        stamp: stamp(row)?,
    })
}
