//! The indexes of checkouts, coupons, payments and returns.
//!
//! Owns nothing but the entries; their meaning is in the module above.

use super::catalogue::{NEWEST, down, sorted, unique, up};
use super::{Collection, Condition, Index, Key, Purpose, Shape};
use crate::record::Unique;

const OF_ORDER: &[Key] = &[
    up("businessId"),
    up("orderId"),
    down("createdAt"),
    down("_id"),
];
pub(super) const DUE: &[Key] = &[up("businessId"), up("dueAt"), up("_id")];
/// Workers look for what is due whatever its business.
pub(super) const ALL_DUE: &[Key] = &[up("dueAt"), up("_id")];

/// The entries.
pub(super) const SALE: &[Index] = &[
    unique(
        Collection::Orders,
        "uq_orders_checkout",
        &[up("businessId"), up("checkoutId")],
        &[Purpose::Claim(Unique::OrderOfCheckout)],
        "domain::checkout",
    )
    .only(Condition::Present("checkoutId")),
    unique(
        Collection::Orders,
        "uq_orders_cart",
        &[up("businessId"), up("cartId")],
        &[Purpose::Claim(Unique::OrderOfCart)],
        "domain::checkout",
    )
    .only(Condition::Present("cartId")),
    sorted(
        Collection::Orders,
        "orders_due",
        ALL_DUE,
        &[Purpose::Read("Store::due: orders of all businesses")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::Orders,
        "orders_business_due",
        DUE,
        &[Purpose::Read("Store::due: orders of one business")],
    )
    .only(Condition::Present("dueAt")),
    unique(
        Collection::Checkouts,
        "uq_checkouts_open_cart",
        &[up("businessId"), up("openCartId")],
        &[Purpose::Claim(Unique::OpenCheckout)],
        "domain::checkout",
    )
    .only(Condition::Present("openCartId")),
    sorted(
        Collection::Checkouts,
        "checkouts_due",
        ALL_DUE,
        &[Purpose::Read("Store::due: checkouts of all businesses")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::Checkouts,
        "checkouts_business_due",
        DUE,
        &[Purpose::Read("Store::due: checkouts of one business")],
    )
    .only(Condition::Present("dueAt")),
    unique(
        Collection::Coupons,
        "uq_coupons_code",
        &[up("businessId"), up("code")],
        &[Purpose::Claim(Unique::CouponCode)],
        "domain::coupon",
    ),
    sorted(
        Collection::Coupons,
        "coupons_newest",
        NEWEST,
        &[Purpose::List(Shape::Coupons)],
    ),
    unique(
        Collection::Payments,
        "uq_payments_provider_ref",
        &[up("businessId"), up("providerKey")],
        &[Purpose::Claim(Unique::ProviderReference)],
        "domain::payment",
    )
    .only(Condition::Present("providerKey")),
    sorted(
        Collection::Payments,
        "payments_order_newest",
        OF_ORDER,
        &[Purpose::List(Shape::Payments)],
    ),
    sorted(
        Collection::Payments,
        "payments_due",
        ALL_DUE,
        &[Purpose::Read("Store::due: payments of all businesses")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::Payments,
        "payments_business_due",
        DUE,
        &[Purpose::Read("Store::due: payments of one business")],
    )
    .only(Condition::Present("dueAt")),
    unique(
        Collection::PaymentEvents,
        "uq_payment_events_event",
        &[up("businessId"), up("providerKey")],
        &[Purpose::Claim(Unique::ProviderEvent)],
        "domain::payment_event",
    ),
    sorted(
        Collection::PaymentEvents,
        "payment_events_due",
        ALL_DUE,
        &[Purpose::Read("Store::due: messages of all businesses")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::PaymentEvents,
        "payment_events_business_due",
        DUE,
        &[Purpose::Read("Store::due: messages of one business")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::OrderReturns,
        "order_returns_order_newest",
        OF_ORDER,
        &[Purpose::List(Shape::Returns)],
    ),
    unique(
        Collection::Tallies,
        "uq_tallies_key",
        &[up("businessId"), up("kind"), up("subjectId"), up("byId")],
        &[Purpose::Rule("one number per key")],
        "store::tally",
    ),
];
