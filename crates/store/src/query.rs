//! Named queries: every shape in which the product lists records.
//!
//! Owns the closed set of shapes, each served by an index of the catalogue, and the position from
//! which a page goes on. Must not know cursors (the API seals positions into them).

use abasto_domain::id::{BranchId, CartId, CustomerId, MemberId, OrderId, RawId};
use abasto_domain::order::Order;
use abasto_domain::order_state::Status;
use abasto_domain::product::Product;
use abasto_domain::stock::{Place, StockLevel};
use abasto_domain::time::Timestamp;

use crate::record::{Document, DocumentKey, Record};

/// A list of one kind of record within a business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Branches, newest first.
    Branches,
    /// Memberships, newest first.
    Members,
    /// API keys, newest first, revoked ones included.
    ApiKeys,
    /// Products, newest first.
    Products(ProductFilter),
    /// Customers, newest first.
    Customers,
    /// Orders, newest first.
    Orders(OrderFilter),
    /// Coupons, newest first.
    Coupons,
    /// The attempts to pay an order, newest first.
    Payments(OrderId),
    /// The returns of an order, newest first.
    Returns(OrderId),
    /// The events of one document, oldest first.
    History(DocumentKey),
    /// The history of one cart, oldest first.
    CartLog(CartId),
    /// The levels of one branch, by product id.
    Levels(LevelFilter),
    /// The movements of one level, newest first.
    Movements(Place),
}

/// Which products.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProductFilter {
    /// Only these whose sku or name contains the text (case of ASCII letters ignored).
    pub text: Option<String>,
    /// Only active, or only inactive ones.
    pub active: Option<bool>,
    /// Whether deleted ones are listed too.
    pub deleted: Deleted,
}

/// Whether deleted records are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Deleted {
    /// Not.
    #[default]
    Hidden,
    /// Beside the others.
    Shown,
}

/// Which orders. All conditions hold at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderFilter {
    /// Of these branches (a caller's sight, or the one asked for); `None` means all.
    pub branches: Option<Vec<BranchId>>,
    /// In this state.
    pub status: Option<Status>,
    /// Of this customer.
    pub customer: Option<CustomerId>,
    /// Assigned to this courier.
    pub courier: Option<MemberId>,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub to: Option<Timestamp>,
}

/// Which levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelFilter {
    /// Of this branch.
    pub branch: BranchId,
    /// With fewer available units than this.
    pub below_available: Option<i64>,
}

/// Where a list goes on and how much of it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The position of the last row seen; `None` starts at the beginning.
    pub after: Option<Position>,
    /// Most rows, 1 to 201: a page of the API, and one that tells whether another follows.
    pub limit: u32,
}

/// The sort key of a row: a number (creation time, sequence) and an id that breaks ties. Made by
/// [`Position::of`]; movements and events of one subject are told apart by the sequence alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Creation time in milliseconds, or a sequence; 0 where rows are sorted by id alone.
    pub order: i64,
    /// The id.
    pub id: RawId,
}

impl Position {
    /// The position of a listed record: what the next page goes on after.
    pub fn of(record: &Record) -> Self {
        let (order, id) = match record {
            Record::Document(document) => (document.created_at().as_millis(), document.key().id),
            Record::Level(level) => (0, level.place.product.0),
            Record::Movement(movement) => (movement.sequence, movement.id.0),
            Record::Event(event) => (event.sequence, event.id.0),
            Record::Operation(operation) => (operation.at.as_millis(), RawId::default()),
            Record::Counter(counter) => (counter.last, RawId::default()),
            Record::Tally(tally) => (tally.value, tally.key.subject),
            Record::CartLog(entry) => (entry.at.as_millis(), entry.id),
            Record::CartState(state) => (state.version, state.cart.0),
            Record::CartAppend(append) => (append.at.as_millis(), append.dot.cart.0),
        };
        Self { order, id }
    }
}

impl Query {
    /// Whether a record belongs to the list: the meaning of every filter, stated once.
    pub fn matches(&self, record: &Record) -> bool {
        match (self, record) {
            (Self::Branches, Record::Document(Document::Branch(_)))
            | (Self::Members, Record::Document(Document::Member(_)))
            | (Self::ApiKeys, Record::Document(Document::ApiKey(_)))
            | (Self::Customers, Record::Document(Document::Customer(_)))
            | (Self::Coupons, Record::Document(Document::Coupon(_))) => true,
            (Self::Payments(order), Record::Document(Document::Payment(payment))) => {
                payment.order == *order
            }
            (Self::Returns(order), Record::Document(Document::OrderReturn(record))) => {
                record.order == *order
            }
            (Self::Products(filter), Record::Document(Document::Product(product))) => {
                filter.matches(product)
            }
            (Self::Orders(filter), Record::Document(Document::Order(order))) => {
                filter.matches(order)
            }
            (Self::History(subject), Record::Event(event)) => event.subject == *subject,
            (Self::CartLog(cart), Record::CartLog(entry)) => entry.cart == *cart,
            (Self::Levels(filter), Record::Level(level)) => filter.matches(level),
            (Self::Movements(place), Record::Movement(movement)) => movement.place == *place,
            _ => false,
        }
    }

    /// Whether the list begins with the oldest or lowest position; otherwise with the newest.
    pub const fn ascends(&self) -> bool {
        matches!(self, Self::History(_) | Self::CartLog(_) | Self::Levels(_))
    }
}

impl ProductFilter {
    /// Whether the product is listed.
    pub fn matches(&self, product: &Product) -> bool {
        let found = |text: &str| {
            let holds = |field: &str| contains_ignoring_ascii_case(field, text);
            holds(&product.sku) || holds(&product.name)
        };
        self.text.as_deref().is_none_or(found)
            && self.active.is_none_or(|active| product.active == active)
            && (self.deleted == Deleted::Shown || product.deleted_at.is_none())
    }
}

fn contains_ignoring_ascii_case(field: &str, text: &str) -> bool {
    field
        .to_ascii_lowercase()
        .contains(&text.to_ascii_lowercase())
}

impl OrderFilter {
    /// Whether the order is listed.
    pub fn matches(&self, order: &Order) -> bool {
        let created_at = order.stamp.created_at;
        let branches = self.branches.as_ref();
        branches.is_none_or(|branches| branches.contains(&order.branch))
            && self.status.is_none_or(|status| order.status == status)
            && self
                .customer
                .is_none_or(|customer| order.customer.id == Some(customer))
            && self
                .courier
                .is_none_or(|courier| order.fulfilment.courier == Some(courier))
            && self.from.is_none_or(|from| created_at >= from)
            && self.to.is_none_or(|to| created_at < to)
    }
}

impl LevelFilter {
    /// Whether the level is listed.
    pub fn matches(&self, level: &StockLevel) -> bool {
        let below = |bound: i64| level.available < bound;
        level.place.branch == self.branch && self.below_available.is_none_or(below)
    }
}
