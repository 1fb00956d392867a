//! The index catalogue: what every store keeps sorted or unique, and the rule or query behind it.
//!
//! Owns the one table that adapters create from or are checked against. Field names are those of
//! the documents as people would write them; an adapter with columns maps them by its own rule.
//! Must not know a driver. The tenant comes first in every key, except where a credential or the
//! platform looks for tenants.

mod cart;
mod catalogue;
mod sale;

use crate::query::{Deleted, Query};
use crate::record::Unique;

use self::cart::CART;
use self::catalogue::BASE;
use self::sale::SALE;

const PARTS: [&[Index]; 3] = [BASE, SALE, CART];
const COUNT: usize = BASE.len() + SALE.len() + CART.len();

const ALL: [Index; COUNT] = {
    let mut all = [BASE[0]; COUNT];
    let (mut part, mut at, mut index) = (0, 0, 0);
    while index < COUNT {
        if at == PARTS[part].len() {
            (part, at) = (part + 1, 0);
        }
        all[index] = PARTS[part][at];
        (at, index) = (at + 1, index + 1);
    }
    all
};

/// Every index of Abasto.
pub const CATALOGUE: &[Index] = &ALL;

/// One index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Where.
    pub collection: Collection,
    /// Its name, the same in every store; unique ones begin with `uq_`. Error texts of drivers
    /// carry it.
    pub name: &'static str,
    /// What it is sorted by.
    pub keys: &'static [Key],
    /// Whether two records may have the same keys.
    pub kind: IndexKind,
    /// Which records it holds; `None` means all.
    pub only: Option<Condition>,
    /// What needs it.
    pub serves: &'static [Purpose],
    /// The module whose rule or list it is.
    pub owner: &'static str,
}

/// Whether an index only sorts or also refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Two records may have the same keys.
    Sorted,
    /// They may not: a store without it must refuse writes.
    Unique,
}

/// One field of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The field, dotted inside a document.
    pub field: &'static str,
    /// Which end comes first.
    pub direction: Direction,
}

/// Which end of a field comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The lowest.
    Ascending,
    /// The highest.
    Descending,
}

/// Which records a partial index holds. The types of the fields are pinned, so that no other
/// empty value escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// The field is null.
    Null(&'static str),
    /// The field is there and not null.
    Present(&'static str),
    /// The field is true.
    True(&'static str),
}

/// What an index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A rule of uniqueness that callers can run into.
    Claim(Unique),
    /// A rule that holds by the way things are decided; the index stands behind it.
    Rule(&'static str),
    /// A list.
    List(Shape),
    /// A read by key.
    Read(&'static str),
}

/// The tables or collections of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collection {
    /// Tenants.
    Businesses,
    /// Branches.
    Branches,
    /// Memberships.
    Members,
    /// API keys.
    ApiKeys,
    /// Products.
    Products,
    /// Customers.
    Customers,
    /// Orders.
    Orders,
    /// Stock levels.
    StockLevels,
    /// Stock movements.
    StockMovements,
    /// Events.
    Events,
    /// Checkouts.
    Checkouts,
    /// Coupons.
    Coupons,
    /// Attempts to pay.
    Payments,
    /// Messages of payment providers.
    PaymentEvents,
    /// Returns.
    OrderReturns,
    /// Contended numbers.
    Tallies,
    /// Carts.
    Carts,
    /// States of carts.
    CartStates,
    /// Edits of carts that are not in their states yet.
    CartAppends,
    /// Histories of carts.
    CartLogs,
    /// Series of order numbers.
    Counters,
    /// Finished operations.
    Operations,
}

impl Collection {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::Businesses,
        Self::Branches,
        Self::Members,
        Self::ApiKeys,
        Self::Products,
        Self::Customers,
        Self::Orders,
        Self::StockLevels,
        Self::StockMovements,
        Self::Events,
        Self::Checkouts,
        Self::Coupons,
        Self::Payments,
        Self::PaymentEvents,
        Self::OrderReturns,
        Self::Tallies,
        Self::Carts,
        Self::CartStates,
        Self::CartAppends,
        Self::CartLogs,
        Self::Counters,
        Self::Operations,
    ];

    /// The name, plural, camelCase.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Businesses => "businesses",
            Self::Branches => "branches",
            Self::Members => "members",
            Self::ApiKeys => "apiKeys",
            Self::Products => "products",
            Self::Customers => "customers",
            Self::Orders => "orders",
            Self::StockLevels => "stockLevels",
            Self::StockMovements => "stockMovements",
            Self::Events => "events",
            Self::Checkouts => "checkouts",
            Self::Coupons => "coupons",
            Self::Payments => "payments",
            Self::PaymentEvents => "paymentEvents",
            Self::OrderReturns => "orderReturns",
            Self::Tallies => "tallies",
            Self::Carts => "carts",
            Self::CartStates => "cartStates",
            Self::CartAppends => "cartAppends",
            Self::CartLogs => "cartLogs",
            Self::Counters => "counters",
            Self::Operations => "operations",
        }
    }
}

/// The shapes of queries: lists that one index serves in one scan. Conditions that a shape does
/// not name are checked row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// [`Query::Branches`].
    Branches,
    /// [`Query::Members`].
    Members,
    /// [`Query::ApiKeys`].
    ApiKeys,
    /// [`Query::Products`] without the deleted ones.
    Products,
    /// The same, active or inactive only.
    ProductsByActive,
    /// [`Query::Products`] with the deleted ones.
    ProductsWithDeleted,
    /// The same, active or inactive only.
    ProductsWithDeletedByActive,
    /// [`Query::Customers`].
    Customers,
    /// [`Query::Orders`] of the business.
    Orders,
    /// Those in one state.
    OrdersByStatus,
    /// Those of branches.
    OrdersByBranch,
    /// Those of branches in one state.
    OrdersByBranchAndStatus,
    /// Those of a customer.
    OrdersByCustomer,
    /// Those assigned to a courier.
    OrdersByCourier,
    /// [`Query::Coupons`].
    Coupons,
    /// [`Query::Payments`].
    Payments,
    /// [`Query::Returns`].
    Returns,
    /// [`Query::History`].
    History,
    /// [`Query::CartLog`].
    CartLog,
    /// [`Query::Levels`].
    Levels,
    /// [`Query::Movements`].
    Movements,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Branches,
        Self::Members,
        Self::ApiKeys,
        Self::Products,
        Self::ProductsByActive,
        Self::ProductsWithDeleted,
        Self::ProductsWithDeletedByActive,
        Self::Customers,
        Self::Orders,
        Self::OrdersByStatus,
        Self::OrdersByBranch,
        Self::OrdersByBranchAndStatus,
        Self::OrdersByCustomer,
        Self::OrdersByCourier,
        Self::Coupons,
        Self::Payments,
        Self::Returns,
        Self::History,
        Self::CartLog,
        Self::Levels,
        Self::Movements,
    ];

    /// The shape of a query.
    pub fn of(query: &Query) -> Self {
        match query {
            Query::Branches => Self::Branches,
            Query::Members => Self::Members,
            Query::ApiKeys => Self::ApiKeys,
            Query::Customers => Self::Customers,
            Query::Coupons => Self::Coupons,
            Query::Payments(_) => Self::Payments,
            Query::Returns(_) => Self::Returns,
            Query::History(_) => Self::History,
            Query::CartLog(_) => Self::CartLog,
            Query::Levels(_) => Self::Levels,
            Query::Movements(_) => Self::Movements,
            Query::Products(filter) => match (filter.deleted, filter.active.is_some()) {
                (Deleted::Hidden, false) => Self::Products,
                (Deleted::Hidden, true) => Self::ProductsByActive,
                (Deleted::Shown, false) => Self::ProductsWithDeleted,
                (Deleted::Shown, true) => Self::ProductsWithDeletedByActive,
            },
            Query::Orders(filter) => {
                let (branch, status) = (filter.branches.is_some(), filter.status.is_some());
                match (filter.customer, filter.courier) {
                    (Some(_), _) => Self::OrdersByCustomer,
                    (None, Some(_)) => Self::OrdersByCourier,
                    (None, None) if branch && status => Self::OrdersByBranchAndStatus,
                    (None, None) if branch => Self::OrdersByBranch,
                    (None, None) if status => Self::OrdersByStatus,
                    (None, None) => Self::Orders,
                }
            }
        }
    }

    /// A name without personal data, for comments on queries and for metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Branches => "branches",
            Self::Members => "members",
            Self::ApiKeys => "api-keys",
            Self::Products => "products",
            Self::ProductsByActive => "products-by-active",
            Self::ProductsWithDeleted => "products-with-deleted",
            Self::ProductsWithDeletedByActive => "products-with-deleted-by-active",
            Self::Customers => "customers",
            Self::Orders => "orders",
            Self::OrdersByStatus => "orders-by-status",
            Self::OrdersByBranch => "orders-by-branch",
            Self::OrdersByBranchAndStatus => "orders-by-branch-and-status",
            Self::OrdersByCustomer => "orders-by-customer",
            Self::OrdersByCourier => "orders-by-courier",
            Self::Coupons => "coupons",
            Self::Payments => "payments",
            Self::Returns => "returns",
            Self::History => "history",
            Self::CartLog => "cart-log",
            Self::Levels => "levels",
            Self::Movements => "movements",
        }
    }

    /// The index that serves the shape.
    pub fn index(self) -> Option<&'static Index> {
        serving(Purpose::List(self))
    }
}

/// The index behind a purpose.
pub fn serving(purpose: Purpose) -> Option<&'static Index> {
    let mut indexes = CATALOGUE.iter();
    indexes.find(|index| index.serves.contains(&purpose))
}

/// The index of that name: what a driver's error about a duplicate names.
pub fn named(name: &str) -> Option<&'static Index> {
    CATALOGUE.iter().find(|index| index.name == name)
}
