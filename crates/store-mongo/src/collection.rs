//! Which collection holds what.
//!
//! Owns the assignment of kinds to collections and the comments that name operations.

use abasto_store::index::Collection;
use abasto_store::record::Kind;

/// The collection of a kind of document.
pub(crate) const fn of(kind: Kind) -> Collection {
    match kind {
        Kind::Business => Collection::Businesses,
        Kind::Branch => Collection::Branches,
        Kind::Member => Collection::Members,
        Kind::ApiKey => Collection::ApiKeys,
        Kind::Product => Collection::Products,
        Kind::Customer => Collection::Customers,
        Kind::Order => Collection::Orders,
        Kind::Checkout => Collection::Checkouts,
        Kind::Coupon => Collection::Coupons,
        Kind::Payment => Collection::Payments,
        Kind::PaymentEvent => Collection::PaymentEvents,
        Kind::OrderReturn => Collection::OrderReturns,
        Kind::Cart => Collection::Carts,
    }
}

/// The comment of an operation, as profilers and logs of the server show it. Names of our own
/// only, never data.
pub(crate) fn comment(part: &'static str, name: &'static str) -> String {
    format!("abasto {part} {name}")
}
