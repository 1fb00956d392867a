//! `customers`. `verifiedEmailKey` is the form in which verified addresses are compared, null while
//! the address is not verified.

use abasto_domain::customer::Customer;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, stamp};

pub(crate) fn write(customer: &Customer) -> RawDocumentBuf {
    let verified = customer.verified_email_key();
    Fields::new()
        .id(cstr!("_id"), customer.id)
        .id(cstr!("businessId"), customer.business)
        .text(cstr!("name"), &customer.name)
        .opt_text(cstr!("phone"), customer.phone.as_deref())
        .opt_text(cstr!("email"), customer.email.as_deref())
        .opt_text(cstr!("verifiedEmailKey"), verified.as_deref())
        .opt_date(cstr!("emailVerifiedAt"), customer.email_verified_at)
        .stamped(&customer.stamp)
}

pub(crate) fn read(row: Row<'_>) -> Result<Customer, Unreadable> {
    Ok(Customer {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        name: row.text("name")?,
        phone: row.opt_text("phone")?,
        email: row.opt_text("email")?,
        email_verified_at: row.opt_date("emailVerifiedAt")?,
        stamp: stamp(row)?,
    })
}
