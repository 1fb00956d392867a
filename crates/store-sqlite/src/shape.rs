//! Lists as SQL: one statement per shape, each bound to the index of the catalogue.
//!
//! Owns the text of the statements and the one upper bound that a page, a position and an end of a
//! period make together: two bounds would let the planner choose the wrong one. `INDEXED BY` makes
//! a missing index an error instead of a slow list. Must not run anything.

use std::borrow::Cow;
use std::collections::BTreeSet;

use abasto_domain::id::{BranchId, BusinessId, CartId, OrderId, RawId};
use abasto_store::index::Shape;
use abasto_store::query::{LevelFilter, OrderFilter, Page, Position, ProductFilter, Query};
use abasto_store::record::{DocumentKey, Kind};
use rusqlite::types::Value;

use crate::event::event_columns;
use crate::level::level_columns;
use crate::{cart, codec};

/// Most branches of one statement: a compound of more costs more to prepare than to run.
const BRANCHES_MAX: usize = 100;

/// One statement with its values.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
    pub(crate) rows: Rows,
}

/// What the rows of a statement are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows {
    /// Records of documents, in the first column.
    Documents(Kind),
    Events,
    CartLog,
    Levels,
}

/// The statements of a query. When there are several, the page is what comes first of all their
/// rows together (newest first by creation time and id).
pub(crate) fn scans(business: BusinessId, query: &Query, page: Page) -> Vec<Scan> {
    let all = |kind, sql| vec![newest(business, kind, sql, page)];
    match query {
        Query::Branches => all(Kind::Branch, newest_sql!("branches", "branches_newest")),
        Query::Members => all(Kind::Member, newest_sql!("members", "members_newest")),
        Query::ApiKeys => all(Kind::ApiKey, newest_sql!("api_keys", "api_keys_newest")),
        Query::Customers => all(Kind::Customer, newest_sql!("customers", "customers_newest")),
        Query::Products(filter) => vec![products(business, filter, Shape::of(query), page)],
        Query::Orders(filter) => orders(business, filter, page),
        Query::Coupons => all(Kind::Coupon, newest_sql!("coupons", "coupons_newest")),
        Query::Payments(order) => vec![of_order(business, Kind::Payment, *order, page)],
        Query::Returns(order) => vec![of_order(business, Kind::OrderReturn, *order, page)],
        Query::History(key) => vec![history(business, *key, page)],
        Query::CartLog(cart) => vec![cart_log(business, *cart, page)],
        Query::Levels(filter) => vec![levels(business, filter, page)],
        // A chain, not a scan: see `crate::movement`.
        Query::Movements(_) => Vec::new(),
    }
}

/// A list of one table, newest first: business, upper bound (2, 3), limit.
macro_rules! newest_sql {
    ($table:literal, $index:literal) => {
        newest_sql!($table, $index, "")
    };
    ($table:literal, $index:literal, $filter:literal) => {
        concat!(
            "SELECT record FROM ",
            $table,
            " INDEXED BY ",
            $index,
            " WHERE business = ?1",
            $filter,
            " AND (created_at, id) < (?2, ?3)",
            " ORDER BY created_at DESC, id DESC LIMIT ?4"
        )
    };
}
use newest_sql;

/// All businesses, newest first: upper bound (1, 2), limit.
pub(crate) const BUSINESSES: &str = "SELECT record FROM businesses INDEXED BY businesses_newest \
    WHERE (created_at, id) < (?1, ?2) ORDER BY created_at DESC, id DESC LIMIT ?3";

/// The active memberships of a user.
pub(crate) const MEMBERSHIPS: &str = "SELECT record FROM members INDEXED BY members_by_user \
    WHERE user_id = ?1 AND active = 1 ORDER BY business LIMIT 100";

/// The upper bound of a list that is newest first, as two values.
pub(crate) fn upper_bound(page: Page) -> [Value; 2] {
    before(page.after, None)
}

/// The position before which a page lies: the last row seen, or the end of the period if that is
/// earlier.
fn before(after: Option<Position>, end: Option<i64>) -> [Value; 2] {
    let from_end = end.map(|end| (end, RawId([0; 12])));
    let from_page = after.map(|position| (position.order, position.id));
    let bound = match (from_end, from_page) {
        (Some(end), Some(page)) => Some(end.min(page)),
        (end, page) => end.or(page),
    };
    let (order, id) = bound.unwrap_or((i64::MAX, RawId([0xff; 12])));
    [Value::Integer(order), blob(&id)]
}

fn blob(id: &RawId) -> Value {
    Value::Blob(id.0.to_vec())
}

fn limit(page: Page) -> Value {
    Value::Integer(i64::from(page.limit))
}

fn newest(business: BusinessId, kind: Kind, sql: &'static str, page: Page) -> Scan {
    let [order, id] = upper_bound(page);
    Scan {
        sql: Cow::Borrowed(sql),
        values: vec![blob(&business.0), order, id, limit(page)],
        rows: Rows::Documents(kind),
    }
}

/// What belongs to an order, newest first.
fn of_order(business: BusinessId, kind: Kind, order: OrderId, page: Page) -> Scan {
    let sql = match kind {
        Kind::Payment => newest_sql!("payments", "payments_order_newest", " AND order_id = ?5"),
        _ => newest_sql!(
            "order_returns",
            "order_returns_order_newest",
            " AND order_id = ?5"
        ),
    };
    let mut scan = newest(business, kind, sql, page);
    scan.values.push(blob(&order.0));
    scan
}

fn products(business: BusinessId, filter: &ProductFilter, shape: Shape, page: Page) -> Scan {
    let sql = match shape {
        Shape::ProductsWithDeletedByActive => {
            newest_sql!("products", "products_all_active_newest", " AND active = ?5")
        }
        Shape::ProductsWithDeleted => newest_sql!("products", "products_all_newest"),
        Shape::ProductsByActive => newest_sql!(
            "products",
            "products_active_newest",
            " AND deleted = 0 AND active = ?5"
        ),
        _ => newest_sql!("products", "products_newest", " AND deleted = 0"),
    };
    let mut scan = newest(business, Kind::Product, sql, page);
    if let Some(active) = filter.active {
        scan.values.push(Value::Integer(i64::from(active)));
    }
    if let Some(text) = &filter.text {
        scan.values.push(Value::Text(text.to_ascii_lowercase()));
        let number = scan.values.len();
        scan.sql = Cow::Owned(sql.replace(
            " ORDER BY",
            &format!(" AND (instr(lower(sku), ?{number}) > 0 OR instr(lower(name), ?{number}) > 0) ORDER BY"),
        ));
    }
    scan
}

/// Orders of several branches are one statement whose parts SQLite merges row by row.
fn orders(business: BusinessId, filter: &OrderFilter, page: Page) -> Vec<Scan> {
    let by_one = filter.customer.is_some() || filter.courier.is_some();
    match &filter.branches {
        Some(branches) if !by_one => {
            let branches: Vec<BranchId> = distinct(branches);
            let chunks = branches.chunks(BRANCHES_MAX);
            chunks
                .map(|branches| OrderScan::new(business, filter, page).merged(branches))
                .collect()
        }
        Some(branches) if branches.is_empty() => Vec::new(),
        _ => vec![OrderScan::new(business, filter, page).single()],
    }
}

fn distinct(branches: &[BranchId]) -> Vec<BranchId> {
    let distinct: BTreeSet<BranchId> = branches.iter().copied().collect();
    distinct.into_iter().collect()
}

/// A statement over orders in the making.
struct OrderScan<'f> {
    filter: &'f OrderFilter,
    values: Vec<Value>,
}

impl<'f> OrderScan<'f> {
    /// The values that every statement over orders has: business, upper bound, start of the
    /// period, limit.
    fn new(business: BusinessId, filter: &'f OrderFilter, page: Page) -> Self {
        let [order, id] = before(page.after, filter.to.map(|to| to.as_millis()));
        let from = filter.from.map_or(i64::MIN, |from| from.as_millis());
        Self {
            filter,
            values: vec![
                blob(&business.0),
                order,
                id,
                Value::Integer(from),
                limit(page),
            ],
        }
    }

    /// Adds a value; gives its parameter.
    fn value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("?{}", self.values.len())
    }

    fn status(&mut self) -> String {
        let Some(status) = self.filter.status else {
            return String::new();
        };
        let parameter = self.value(Value::Integer(status as i64));
        format!(" AND status = {parameter}")
    }

    fn finish(self, parts: &[String]) -> Scan {
        let order = " ORDER BY created_at DESC, id DESC LIMIT ?5";
        let sql = parts.join(" UNION ALL ") + order;
        Scan {
            sql: Cow::Owned(sql),
            values: self.values,
            rows: Rows::Documents(Kind::Order),
        }
    }

    /// One part per branch, each a scan of its own range.
    fn merged(mut self, branches: &[BranchId]) -> Scan {
        let status = self.status();
        let index = if status.is_empty() {
            "orders_branch_newest"
        } else {
            "orders_branch_status_newest"
        };
        let mut parts = Vec::with_capacity(branches.len());
        for branch in branches {
            let branch = self.value(blob(&branch.0));
            parts.push(part(index, &format!(" AND branch = {branch}{status}")));
        }
        self.finish(&parts)
    }

    /// The range of a customer, a courier, a state or the business; what else is asked for is
    /// checked row by row.
    fn single(mut self) -> Scan {
        let mut filter = String::new();
        let index = if let Some(customer) = self.filter.customer {
            let customer = self.value(blob(&customer.0));
            filter += &format!(" AND customer = {customer} AND customer <> x''");
            "orders_customer_newest"
        } else if self.filter.courier.is_some() {
            "orders_courier_newest"
        } else if self.filter.status.is_some() {
            "orders_status_newest"
        } else {
            "orders_newest"
        };
        if let Some(courier) = self.filter.courier {
            let courier = self.value(blob(&courier.0));
            filter += &format!(" AND courier = {courier} AND courier <> x''");
        }
        filter += &self.status();
        if let Some(branches) = &self.filter.branches {
            let branches: Vec<String> = distinct(branches)
                .iter()
                .map(|branch| self.value(blob(&branch.0)))
                .collect();
            filter += &format!(" AND branch IN ({})", branches.join(", "));
        }
        let parts = [part(index, &filter)];
        self.finish(&parts)
    }
}

fn part(index: &str, filter: &str) -> String {
    format!(
        "SELECT record, created_at, id FROM orders INDEXED BY {index} WHERE business = ?1{filter} \
         AND (created_at, id) < (?2, ?3) AND created_at >= ?4"
    )
}

fn history(business: BusinessId, key: DocumentKey, page: Page) -> Scan {
    const SQL: &str = concat!(
        "SELECT ",
        event_columns!(),
        " FROM events WHERE business = ?1 AND kind = ?2 AND subject = ?3 AND sequence > ?4 \
         ORDER BY sequence LIMIT ?5"
    );
    Scan {
        sql: Cow::Borrowed(SQL),
        values: vec![
            blob(&business.0),
            Value::Integer(codec::kind_number(key.kind)),
            blob(&key.id),
            Value::Integer(page.after.map_or(0, |position| position.order)),
            limit(page),
        ],
        rows: Rows::Events,
    }
}

/// The history of a cart, oldest first.
fn cart_log(business: BusinessId, id: CartId, page: Page) -> Scan {
    let (at, entry) = match page.after {
        Some(position) => (position.order, blob(&position.id)),
        None => (i64::MIN, Value::Blob(Vec::new())),
    };
    Scan {
        sql: Cow::Borrowed(cart::LIST_LOG),
        values: vec![
            blob(&business.0),
            blob(&id.0),
            Value::Integer(at),
            entry,
            limit(page),
        ],
        rows: Rows::CartLog,
    }
}

/// The levels of a branch; a bound on `available` is checked row by row, because an index on it
/// would be written anew with every sale.
fn levels(business: BusinessId, filter: &LevelFilter, page: Page) -> Scan {
    const SQL: &str = concat!(
        "SELECT ",
        level_columns!(),
        " FROM stock_levels INDEXED BY uq_stock_levels_place \
         WHERE business = ?1 AND branch = ?2 AND product > ?3 AND available < ?4 \
         ORDER BY product LIMIT ?5"
    );
    let after = page
        .after
        .map_or_else(|| Value::Blob(Vec::new()), |position| blob(&position.id));
    Scan {
        sql: Cow::Borrowed(SQL),
        values: vec![
            blob(&business.0),
            blob(&filter.branch.0),
            after,
            Value::Integer(filter.below_available.unwrap_or(i64::MAX)),
            limit(page),
        ],
        rows: Rows::Levels,
    }
}
