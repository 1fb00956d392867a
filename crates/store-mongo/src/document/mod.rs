//! Documents: domain values as BSON and back, by hand, one file per kind.
//!
//! Owns field names and BSON types, which are those that people would write: ObjectId ids,
//! Decimal128 money, dates, longs. Must not know queries or transactions.

pub(crate) mod actor;
mod api_key;
mod branch;
mod business;
pub(crate) mod cart;
pub(crate) mod counter;
mod customer;
mod decimal;
pub(crate) mod event;
pub(crate) mod field;
mod member;
pub(crate) mod name;
pub(crate) mod operation;
mod order;
mod pair;
mod product;
mod sale;
mod stamp;
pub(crate) mod stock;
pub(crate) mod tally;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use abasto_domain::currency::Currency;
use abasto_store::record::{Document, Kind};
use mongodb::bson::raw::RawDocumentBuf;

pub(crate) use event::Unstorable;
pub(crate) use field::{Fields, Row, Unreadable, date, object_id};

/// A versioned document as it is stored. Prices of products need the business's currency.
pub(crate) fn write_document(
    document: &Document,
    currency: Option<Currency>,
) -> Result<RawDocumentBuf, Unstorable> {
    Ok(match document {
        Document::Business(record) => business::write(record),
        Document::Branch(record) => branch::write(record),
        Document::Member(record) => member::write(record),
        Document::ApiKey(record) => api_key::write(record),
        Document::Customer(record) => customer::write(record),
        Document::Order(record) => order::write(record, document.due_at()),
        Document::Checkout(record) => sale::write(document, record)?,
        Document::Coupon(record) => sale::write(document, record)?,
        Document::Payment(record) => sale::write(document, record)?,
        Document::PaymentEvent(record) => sale::write(document, record)?,
        Document::OrderReturn(record) => sale::write(document, record)?,
        Document::Cart(record) => sale::write(document, record)?,
        Document::Product(record) => {
            let unknown = || Unstorable("a product of a business that does not exist".to_owned());
            product::write(record, currency.ok_or_else(unknown)?)
        }
    })
}

/// A versioned document of a kind.
pub(crate) fn read_document(kind: Kind, row: Row<'_>) -> Result<Document, Unreadable> {
    Ok(match kind {
        Kind::Business => Document::Business(Arc::new(business::read(row)?)),
        Kind::Branch => Document::Branch(Arc::new(branch::read(row)?)),
        Kind::Member => Document::Member(Arc::new(member::read(row)?)),
        Kind::ApiKey => Document::ApiKey(Arc::new(api_key::read(row)?)),
        Kind::Product => Document::Product(Arc::new(product::read(row)?)),
        Kind::Customer => Document::Customer(Arc::new(customer::read(row)?)),
        Kind::Order => Document::Order(Arc::new(order::read(row)?)),
        Kind::Checkout => Document::Checkout(Arc::new(sale::read(row)?)),
        Kind::Coupon => Document::Coupon(Arc::new(sale::read(row)?)),
        Kind::Payment => Document::Payment(Arc::new(sale::read(row)?)),
        Kind::PaymentEvent => Document::PaymentEvent(Arc::new(sale::read(row)?)),
        Kind::OrderReturn => Document::OrderReturn(Arc::new(sale::read(row)?)),
        Kind::Cart => Document::Cart(Arc::new(sale::read(row)?)),
    })
}
