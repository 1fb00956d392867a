//! The tables of documents: one per kind, with the statements that write and read it.
//!
//! Owns the text of the statements. Must not run any.

use abasto_store::record::Kind;

/// The table of a kind and its statements.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) insert: &'static str,
    pub(crate) update: &'static str,
    pub(crate) keep: &'static str,
    pub(crate) version: &'static str,
    pub(crate) record: &'static str,
    pub(crate) record_at: &'static str,
}

/// Writes the statements of one table from its name and its own columns. The first six parameters
/// are the same for all: business, id, version, creation time, answered, record.
macro_rules! table {
    ($name:literal, $columns:literal, $values:literal, $sets:literal, $replaced:literal) => {
        Table {
            name: $name,
            insert: concat!(
                "INSERT INTO ",
                $name,
                " (business, id, version, created_at, answered, record",
                $columns,
                ") VALUES (?1, ?2, ?3, ?4, ?5, ?6",
                $values,
                ")"
            ),
            update: concat!(
                "UPDATE ",
                $name,
                " SET version = ?3, created_at = ?4, answered = ?5, record = ?6",
                $sets,
                " WHERE business = ?1 AND id = ?2 AND version = ",
                $replaced
            ),
            keep: concat!(
                "INSERT INTO past_documents (business, kind, id, version, record)",
                " SELECT business, ?3, id, version, record FROM ",
                $name,
                " WHERE business = ?1 AND id = ?2 AND answered = 1"
            ),
            version: concat!(
                "SELECT version FROM ",
                $name,
                " WHERE business = ?1 AND id = ?2"
            ),
            record: concat!(
                "SELECT record FROM ",
                $name,
                " WHERE business = ?1 AND id = ?2"
            ),
            record_at: concat!(
                "SELECT record FROM ",
                $name,
                " WHERE business = ?1 AND id = ?2 AND version = ?3"
            ),
        }
    };
}

static BUSINESSES: Table = table!("businesses", "", "", "", "?7");
static BRANCHES: Table = table!("branches", ", code", ", ?7", ", code = ?7", "?8");
static MEMBERS: Table = table!(
    "members",
    ", user_id, active",
    ", ?7, ?8",
    ", user_id = ?7, active = ?8",
    "?9"
);
static API_KEYS: Table = table!("api_keys", "", "", "", "?7");
static PRODUCTS: Table = table!(
    "products",
    ", active, deleted, sku, name",
    ", ?7, ?8, ?9, ?10",
    ", active = ?7, deleted = ?8, sku = ?9, name = ?10",
    "?11"
);
static CUSTOMERS: Table = table!(
    "customers",
    ", phone, verified_email",
    ", ?7, ?8",
    ", phone = ?7, verified_email = ?8",
    "?9"
);
static ORDERS: Table = table!(
    "orders",
    ", branch, status, customer, courier, code, year, sequence, checkout_id, cart_id, due_at",
    ", ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16",
    ", branch = ?7, status = ?8, customer = ?9, courier = ?10, code = ?11, year = ?12, \
     sequence = ?13, checkout_id = ?14, cart_id = ?15, due_at = ?16",
    "?17"
);
static CHECKOUTS: Table = table!(
    "checkouts",
    ", open_cart_id, due_at",
    ", ?7, ?8",
    ", open_cart_id = ?7, due_at = ?8",
    "?9"
);
static COUPONS: Table = table!("coupons", ", code", ", ?7", ", code = ?7", "?8");
static PAYMENTS: Table = table!(
    "payments",
    ", provider_key, order_id, due_at",
    ", ?7, ?8, ?9",
    ", provider_key = ?7, order_id = ?8, due_at = ?9",
    "?10"
);
static PAYMENT_EVENTS: Table = table!(
    "payment_events",
    ", provider_key, due_at",
    ", ?7, ?8",
    ", provider_key = ?7, due_at = ?8",
    "?9"
);
static ORDER_RETURNS: Table = table!(
    "order_returns",
    ", order_id",
    ", ?7",
    ", order_id = ?7",
    "?8"
);

static CARTS: Table = table!(
    "carts",
    ", active_for, due_at",
    ", ?7, ?8",
    ", active_for = ?7, due_at = ?8",
    "?9"
);

/// The table of a kind.
pub(crate) fn table(kind: Kind) -> &'static Table {
    match kind {
        Kind::Business => &BUSINESSES,
        Kind::Branch => &BRANCHES,
        Kind::Member => &MEMBERS,
        Kind::ApiKey => &API_KEYS,
        Kind::Product => &PRODUCTS,
        Kind::Customer => &CUSTOMERS,
        Kind::Order => &ORDERS,
        Kind::Checkout => &CHECKOUTS,
        Kind::Coupon => &COUPONS,
        Kind::Payment => &PAYMENTS,
        Kind::PaymentEvent => &PAYMENT_EVENTS,
        Kind::OrderReturn => &ORDER_RETURNS,
        Kind::Cart => &CARTS,
    }
}
