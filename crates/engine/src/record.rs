//! Typed reads: one document of a known kind, or not found.
//!
//! Owns the step from [`Document`] to the type inside. Another tenant's id is simply not there.

use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::business::Business;
use abasto_domain::cart::Cart;
use abasto_domain::checkout::Checkout;
use abasto_domain::coupon::Coupon;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::customer::Customer;
use abasto_domain::id::{BusinessId, RawId};
use abasto_domain::order::Order;
use abasto_domain::order_return::OrderReturn;
use abasto_domain::payment::Payment;
use abasto_domain::payment_event::PaymentEvent;
use abasto_domain::product::Product;
use abasto_store::record::{Document, DocumentKey, Kind};

use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// A type that is stored as one kind of document.
pub(crate) trait Stored: Sized {
    /// Its kind.
    const KIND: Kind;
    /// The value inside, when the document is of the kind.
    fn of(document: Document) -> Option<Arc<Self>>;
}

macro_rules! stored {
    ($($type:ident),* $(,)?) => {$(
        impl Stored for $type {
            const KIND: Kind = Kind::$type;
            fn of(document: Document) -> Option<Arc<Self>> {
                match document {
                    Document::$type(value) => Some(value),
                    _ => None,
                }
            }
        }
    )*};
}

stored!(
    Business,
    Branch,
    Member,
    ApiKey,
    Product,
    Customer,
    Order,
    Checkout,
    Coupon,
    Payment,
    PaymentEvent,
    OrderReturn,
    Cart,
);

/// The value of a document that must be of one kind.
pub(crate) fn typed<T: Stored>(document: Document) -> Result<Arc<T>, Error> {
    T::of(document).ok_or_else(|| Error::defect("a document of another kind under this key"))
}

impl Engine {
    /// One document of a kind, or [`Error::NotFound`].
    pub(crate) async fn find<T: Stored>(
        &self,
        business: BusinessId,
        id: impl Into<RawId>,
        freshness: Freshness,
    ) -> Result<Arc<T>, Error> {
        let key = DocumentKey::new(T::KIND, id);
        let found = self.read(business, &[key], freshness).await?;
        typed(found.into_iter().next().flatten().ok_or(Error::NotFound)?)
    }

    /// Documents of a kind in the order of the ids; [`Error::NotFound`] when one is missing.
    pub(crate) async fn find_all<T: Stored>(
        &self,
        business: BusinessId,
        ids: impl Iterator<Item = RawId>,
        freshness: Freshness,
    ) -> Result<Vec<Arc<T>>, Error> {
        let keys: Vec<DocumentKey> = ids.map(|id| DocumentKey::new(T::KIND, id)).collect();
        let found = self.read(business, &keys, freshness).await?.into_iter();
        found
            .map(|document| typed(document.ok_or(Error::NotFound)?))
            .collect()
    }
}
