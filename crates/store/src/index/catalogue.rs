//! The table itself: one entry per index.
//!
//! Owns nothing but the entries; their meaning is in the module above.

use super::{Collection, Condition, Direction, Index, IndexKind, Key, Purpose, Shape};
use crate::record::Unique;

pub(super) const fn up(field: &'static str) -> Key {
    Key {
        field,
        direction: Direction::Ascending,
    }
}

pub(super) const fn down(field: &'static str) -> Key {
    Key {
        field,
        direction: Direction::Descending,
    }
}

pub(super) const fn sorted(
    collection: Collection,
    name: &'static str,
    keys: &'static [Key],
    serves: &'static [Purpose],
) -> Index {
    Index {
        collection,
        name,
        keys,
        kind: IndexKind::Sorted,
        only: None,
        serves,
        owner: "store::query",
    }
}

pub(super) const fn unique(
    collection: Collection,
    name: &'static str,
    keys: &'static [Key],
    serves: &'static [Purpose],
    owner: &'static str,
) -> Index {
    Index {
        kind: IndexKind::Unique,
        owner,
        ..sorted(collection, name, keys, serves)
    }
}

impl Index {
    pub(super) const fn only(self, condition: Condition) -> Self {
        Self {
            only: Some(condition),
            ..self
        }
    }
}

pub(super) const NEWEST: &[Key] = &[up("businessId"), down("createdAt"), down("_id")];

/// The indexes of tenancy, catalogue, orders and stock.
pub(super) const BASE: &[Index] = &[
    sorted(
        Collection::Businesses,
        "businesses_newest",
        &[down("createdAt"), down("_id")],
        &[Purpose::Read("Store::businesses")],
    ),
    unique(
        Collection::Branches,
        "uq_branches_code",
        &[up("businessId"), up("code")],
        &[Purpose::Claim(Unique::BranchCode)],
        "domain::branch",
    ),
    sorted(
        Collection::Branches,
        "branches_newest",
        NEWEST,
        &[Purpose::List(Shape::Branches)],
    ),
    unique(
        Collection::Members,
        "uq_members_active_user",
        &[up("businessId"), up("userId")],
        &[Purpose::Claim(Unique::ActiveMember)],
        "domain::credential",
    )
    .only(Condition::True("active")),
    sorted(
        Collection::Members,
        "members_by_user",
        &[up("userId"), up("businessId")],
        &[Purpose::Read("Store::memberships")],
    )
    .only(Condition::True("active")),
    sorted(
        Collection::Members,
        "members_newest",
        NEWEST,
        &[Purpose::List(Shape::Members)],
    ),
    unique(
        Collection::ApiKeys,
        "uq_api_keys_id",
        &[up("_id")],
        &[Purpose::Read("Store::api_key")],
        "domain::credential",
    ),
    sorted(
        Collection::ApiKeys,
        "api_keys_newest",
        NEWEST,
        &[Purpose::List(Shape::ApiKeys)],
    ),
    unique(
        Collection::Products,
        "uq_products_sku",
        &[up("businessId"), up("sku")],
        &[
            Purpose::Claim(Unique::Sku),
            Purpose::Read("Store::products_by_sku"),
        ],
        "domain::product",
    )
    .only(Condition::Null("deletedAt")),
    sorted(
        Collection::Products,
        "products_newest",
        NEWEST,
        &[Purpose::List(Shape::Products)],
    )
    .only(Condition::Null("deletedAt")),
    sorted(
        Collection::Products,
        "products_active_newest",
        &[
            up("businessId"),
            up("active"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::ProductsByActive)],
    )
    .only(Condition::Null("deletedAt")),
    sorted(
        Collection::Products,
        "products_all_newest",
        NEWEST,
        &[Purpose::List(Shape::ProductsWithDeleted)],
    ),
    sorted(
        Collection::Products,
        "products_all_active_newest",
        &[
            up("businessId"),
            up("active"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::ProductsWithDeletedByActive)],
    ),
    unique(
        Collection::Customers,
        "uq_customers_phone",
        &[up("businessId"), up("phone")],
        &[Purpose::Claim(Unique::Phone)],
        "domain::customer",
    )
    .only(Condition::Present("phone")),
    unique(
        Collection::Customers,
        "uq_customers_verified_email",
        &[up("businessId"), up("verifiedEmailKey")],
        &[Purpose::Claim(Unique::VerifiedEmail)],
        "domain::customer",
    )
    .only(Condition::Present("verifiedEmailKey")),
    sorted(
        Collection::Customers,
        "customers_newest",
        NEWEST,
        &[Purpose::List(Shape::Customers)],
    ),
    unique(
        Collection::Orders,
        "uq_orders_number",
        &[up("businessId"), up("number")],
        &[
            Purpose::Rule("an order number is given once"),
            Purpose::Read("Store::order_by_number"),
        ],
        "domain::number",
    ),
    sorted(
        Collection::Orders,
        "orders_newest",
        NEWEST,
        &[Purpose::List(Shape::Orders)],
    ),
    sorted(
        Collection::Orders,
        "orders_status_newest",
        &[
            up("businessId"),
            up("status"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::OrdersByStatus)],
    ),
    sorted(
        Collection::Orders,
        "orders_branch_newest",
        &[
            up("businessId"),
            up("branchId"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::OrdersByBranch)],
    ),
    sorted(
        Collection::Orders,
        "orders_branch_status_newest",
        &[
            up("businessId"),
            up("branchId"),
            up("status"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::OrdersByBranchAndStatus)],
    ),
    sorted(
        Collection::Orders,
        "orders_customer_newest",
        &[
            up("businessId"),
            up("customer.id"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::OrdersByCustomer)],
    )
    .only(Condition::Present("customer.id")),
    sorted(
        Collection::Orders,
        "orders_courier_newest",
        &[
            up("businessId"),
            up("fulfilment.courierId"),
            down("createdAt"),
            down("_id"),
        ],
        &[Purpose::List(Shape::OrdersByCourier)],
    )
    .only(Condition::Present("fulfilment.courierId")),
    unique(
        Collection::StockLevels,
        "uq_stock_levels_place",
        &[up("businessId"), up("branchId"), up("productId")],
        &[
            Purpose::Rule("one level per product and branch"),
            Purpose::Read("Store::levels"),
            Purpose::List(Shape::Levels),
        ],
        "domain::stock",
    ),
    unique(
        Collection::StockMovements,
        "uq_stock_movements_sequence",
        &[
            up("businessId"),
            up("branchId"),
            up("productId"),
            down("sequence"),
        ],
        &[
            Purpose::Rule("movements of a level are numbered without gaps"),
            Purpose::List(Shape::Movements),
        ],
        "domain::stock",
    ),
    unique(
        Collection::StockMovements,
        "uq_stock_movements_operation",
        &[up("businessId"), up("operationId")],
        &[Purpose::Rule("an effect on stock happens once")],
        "domain::stock",
    ),
    unique(
        Collection::Events,
        "uq_events_sequence",
        &[
            up("businessId"),
            up("subject.kind"),
            up("subject.id"),
            up("sequence"),
        ],
        &[
            Purpose::Rule("events of a subject are numbered without gaps"),
            Purpose::List(Shape::History),
        ],
        "store::event",
    ),
    unique(
        Collection::Counters,
        "uq_counters_series",
        &[up("businessId"), up("code"), up("year")],
        &[Purpose::Rule("one counter per series of order numbers")],
        "domain::number",
    ),
    unique(
        Collection::Operations,
        "uq_operations_key",
        &[up("businessId"), up("customerId"), up("key")],
        &[
            Purpose::Rule("one answer per idempotency key"),
            Purpose::Read("Store::operation"),
        ],
        "domain::idempotency",
    ),
];
