//! Records: everything that is stored, under one enum, each found by its key.
//!
//! Owns keys, versions and unique claims of records. The stored form is the serde form of the
//! domain types plus [`SCHEMA_VERSION`]; fixtures of old forms stay readable.

use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::business::Business;
use abasto_domain::cart::Cart;
use abasto_domain::checkout::Checkout;
use abasto_domain::coupon::Coupon;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::customer::Customer;
use abasto_domain::id::{BusinessId, CartId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::number::Series;
use abasto_domain::order::Order;
use abasto_domain::order_return::OrderReturn;
use abasto_domain::payment::Payment;
use abasto_domain::payment_event::PaymentEvent;
use abasto_domain::product::Product;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::{Movement, Place, StockLevel};
use abasto_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cart::{CartAppend, CartLogEntry, CartState, DotKey};
use crate::event::Event;
use crate::tally::{Tally, TallyKey};
use crate::verdict::Operation;

pub use crate::claim::{Claim, Unique, provider_claim_value};

/// The version of the stored form that this code writes.
pub const SCHEMA_VERSION: u16 = 1;

/// A record that is replaced as a whole under a version: one party owns it. Shared, so that a clone
/// is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "record")]
pub enum Document {
    /// A tenant.
    Business(Arc<Business>),
    /// A branch.
    Branch(Arc<Branch>),
    /// A membership.
    Member(Arc<Member>),
    /// An API key.
    ApiKey(Arc<ApiKey>),
    /// A product.
    Product(Arc<Product>),
    /// A customer.
    Customer(Arc<Customer>),
    /// An order.
    Order(Arc<Order>),
    /// A checkout.
    Checkout(Arc<Checkout>),
    /// A coupon.
    Coupon(Arc<Coupon>),
    /// An attempt to pay.
    Payment(Arc<Payment>),
    /// A message of a payment provider.
    PaymentEvent(Arc<PaymentEvent>),
    /// A return.
    OrderReturn(Arc<OrderReturn>),
    /// A cart.
    Cart(Arc<Cart>),
}

macro_rules! from_shared {
    ($($kind:ident),* $(,)?) => {$(
        impl From<Arc<$kind>> for Document {
            fn from(record: Arc<$kind>) -> Self {
                Self::$kind(record)
            }
        }

        impl From<$kind> for Document {
            fn from(record: $kind) -> Self {
                Self::$kind(Arc::new(record))
            }
        }
    )*};
}

from_shared!(
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

/// The kinds of [`Document`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A tenant.
    Business,
    /// A branch.
    Branch,
    /// A membership.
    Member,
    /// An API key.
    ApiKey,
    /// A product.
    Product,
    /// A customer.
    Customer,
    /// An order.
    Order,
    /// A checkout.
    Checkout,
    /// A coupon.
    Coupon,
    /// An attempt to pay.
    Payment,
    /// A message of a payment provider.
    PaymentEvent,
    /// A return.
    OrderReturn,
    /// A cart.
    Cart,
}

impl Kind {
    /// All kinds, in the order of their stored numbers.
    pub const ALL: [Self; 13] = [
        Self::Business,
        Self::Branch,
        Self::Member,
        Self::ApiKey,
        Self::Product,
        Self::Customer,
        Self::Order,
        Self::Checkout,
        Self::Coupon,
        Self::Payment,
        Self::PaymentEvent,
        Self::OrderReturn,
        Self::Cart,
    ];

    /// The name, singular.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Business => "business",
            Self::Branch => "branch",
            Self::Member => "member",
            Self::ApiKey => "apiKey",
            Self::Product => "product",
            Self::Customer => "customer",
            Self::Order => "order",
            Self::Checkout => "checkout",
            Self::Coupon => "coupon",
            Self::Payment => "payment",
            Self::PaymentEvent => "paymentEvent",
            Self::OrderReturn => "orderReturn",
            Self::Cart => "cart",
        }
    }
}

/// Which document, within a business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentKey {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: RawId,
}

impl DocumentKey {
    /// A key.
    pub fn new(kind: Kind, id: impl Into<RawId>) -> Self {
        Self {
            kind,
            id: id.into(),
        }
    }
}

impl Document {
    /// Its key.
    pub fn key(&self) -> DocumentKey {
        let (kind, id) = match self {
            Self::Business(record) => (Kind::Business, record.id.0),
            Self::Branch(record) => (Kind::Branch, record.id.0),
            Self::Member(record) => (Kind::Member, record.id.0),
            Self::ApiKey(record) => (Kind::ApiKey, record.id.0),
            Self::Product(record) => (Kind::Product, record.id.0),
            Self::Customer(record) => (Kind::Customer, record.id.0),
            Self::Order(record) => (Kind::Order, record.id.0),
            Self::Checkout(record) => (Kind::Checkout, record.id.0),
            Self::Coupon(record) => (Kind::Coupon, record.id.0),
            Self::Payment(record) => (Kind::Payment, record.id.0),
            Self::PaymentEvent(record) => (Kind::PaymentEvent, record.id.0),
            Self::OrderReturn(record) => (Kind::OrderReturn, record.id.0),
            Self::Cart(record) => (Kind::Cart, record.id.0),
        };
        DocumentKey { kind, id }
    }

    /// The tenant.
    pub fn business(&self) -> BusinessId {
        match self {
            Self::Business(record) => record.id,
            Self::Branch(record) => record.business,
            Self::Member(record) => record.business,
            Self::ApiKey(record) => record.business,
            Self::Product(record) => record.business,
            Self::Customer(record) => record.business,
            Self::Order(record) => record.business,
            Self::Checkout(record) => record.business,
            Self::Coupon(record) => record.business,
            Self::Payment(record) => record.business,
            Self::PaymentEvent(record) => record.business,
            Self::OrderReturn(record) => record.business,
            Self::Cart(record) => record.business,
        }
    }

    /// Its version and times.
    pub fn stamp(&self) -> &Stamp {
        match self {
            Self::Business(record) => &record.stamp,
            Self::Branch(record) => &record.stamp,
            Self::Member(record) => &record.stamp,
            Self::ApiKey(record) => &record.stamp,
            Self::Product(record) => &record.stamp,
            Self::Customer(record) => &record.stamp,
            Self::Order(record) => &record.stamp,
            Self::Checkout(record) => &record.stamp,
            Self::Coupon(record) => &record.stamp,
            Self::Payment(record) => &record.stamp,
            Self::PaymentEvent(record) => &record.stamp,
            Self::OrderReturn(record) => &record.stamp,
            Self::Cart(record) => &record.stamp,
        }
    }

    /// Its version.
    pub fn version(&self) -> i64 {
        self.stamp().version
    }

    /// When it came to be.
    pub fn created_at(&self) -> Timestamp {
        self.stamp().created_at
    }
}

/// A count that a series of order numbers has come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// The series.
    pub series: Series,
    /// The last number given.
    pub last: i64,
}

/// Anything stored, as the full walk of a business yields it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", content = "value")]
pub enum Record {
    /// A versioned document.
    Document(Document),
    /// A stock level.
    Level(StockLevel),
    /// A movement.
    Movement(Movement),
    /// An event.
    Event(Event),
    /// A finished operation under an idempotency key.
    Operation(Operation),
    /// The state of a cart.
    CartState(CartState),
    /// An edit of a cart that is not in its state yet.
    CartAppend(CartAppend),
    /// An entry in the history of a cart.
    CartLog(CartLogEntry),
    /// A series.
    Counter(Counter),
    /// A contended number.
    Tally(Tally),
}

/// The identity of a record within its business; its order is the order of a walk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKey {
    /// A document.
    Document(DocumentKey),
    /// A level.
    Level(Place),
    /// A movement, by level and sequence.
    Movement(Place, i64),
    /// An event, by subject and sequence.
    Event(DocumentKey, i64),
    /// A counter.
    Counter(Series),
    /// A contended number.
    Tally(TallyKey),
    /// A finished operation.
    Operation(OperationKey),
    /// The state of a cart.
    CartState(CartId),
    /// An edit of a cart.
    CartAppend(DotKey),
    /// An entry in the history of a cart.
    CartLog(CartId, Timestamp, RawId),
}

impl Record {
    /// Its identity.
    pub fn key(&self) -> RecordKey {
        match self {
            Self::Document(document) => RecordKey::Document(document.key()),
            Self::Level(level) => RecordKey::Level(level.place),
            Self::Movement(movement) => RecordKey::Movement(movement.place, movement.sequence),
            Self::Event(event) => RecordKey::Event(event.subject, event.sequence),
            Self::Counter(counter) => RecordKey::Counter(counter.series.clone()),
            Self::Tally(tally) => RecordKey::Tally(tally.key),
            Self::Operation(operation) => RecordKey::Operation(operation.key.clone()),
            Self::CartState(state) => RecordKey::CartState(state.cart),
            Self::CartAppend(append) => RecordKey::CartAppend(append.dot),
            Self::CartLog(entry) => RecordKey::CartLog(entry.cart, entry.at, entry.id),
        }
    }
}

/// The identity of a head, as units name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeadKey {
    /// A document's version.
    Document(DocumentKey),
    /// A stock level.
    Level(Place),
    /// Who holds a claim.
    Claim(Claim),
    /// A series of order numbers.
    Series(Series),
    /// A contended number.
    Tally(TallyKey),
    /// A finished operation.
    Operation(OperationKey),
    /// What is known of a dot.
    Dot(DotKey),
    /// The version of a cart's state.
    CartState(CartId),
}
