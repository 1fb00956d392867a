//! Named queries: every shape in which the product lists records.
//!
//! Owns the closed set of shapes, each served by an index of the catalogue, and the position from
//! which a page goes on. Must not know cursors (the API seals positions into them).

use abasto_domain::id::{BranchId, CustomerId, MemberId, RawId};
use abasto_domain::order_state::Status;
use abasto_domain::stock::Place;
use abasto_domain::time::Timestamp;

use crate::record::DocumentKey;

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
    /// The events of one document, oldest first.
    History(DocumentKey),
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
    /// Most rows, 1 to 200.
    pub limit: u32,
}

/// The sort key of a row: a number (creation time, sequence) and an id that breaks ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Creation time in milliseconds, or a sequence; 0 where rows are sorted by id alone.
    pub order: i64,
    /// The id.
    pub id: RawId,
}
