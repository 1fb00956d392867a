//! The schema against the index catalogue that every store follows.

use std::collections::BTreeSet;

use abasto_store::index::{CATALOGUE, Condition, Index, IndexKind};
use rusqlite::{Connection, OptionalExtension};

use super::empty;

/// The history of a level is a chain that the level's version guards: see the movements' table.
const HELD_OTHERWISE: [&str; 1] = ["uq_stock_movements_sequence"];

/// Indexes of this store's own: what MongoDB has by `_id`, what it keeps beside, and milestones.
const OWN: [&str; 15] = [
    "uq_carts_id",
    "uq_checkouts_id",
    "uq_coupons_id",
    "uq_payments_id",
    "uq_payment_events_id",
    "uq_order_returns_id",
    "uq_businesses_id",
    "uq_branches_id",
    "uq_members_id",
    "uq_products_id",
    "uq_customers_id",
    "uq_orders_id",
    "uq_past_documents_version",
    "uq_stock_movements_milestone",
    "uq_stock_movements_operation",
];

/// The table of a collection.
fn table(index: &Index) -> String {
    snake(index.collection.name())
}

fn snake(camel: &str) -> String {
    let mut snake = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The columns of a field, as `table.field`.
fn columns(table: &str, field: &str) -> Vec<String> {
    let columns: &[&str] = match (table, field) {
        (_, "businessId") => &["business"],
        (_, "_id") => &["id"],
        (_, "branchId") => &["branch"],
        (_, "productId") => &["product"],
        (_, "operationId") => &["operation"],
        (_, "customerId" | "customer.id") => &["customer"],
        (_, "fulfilment.courierId") => &["courier"],
        (_, "verifiedEmailKey") => &["verified_email"],
        (_, "subject.kind") => &["kind"],
        (_, "subject.id") => &["subject"],
        ("orders", "number") => &["code", "year", "sequence"],
        _ => return vec![snake(field)],
    };
    columns.iter().map(|&column| column.to_owned()).collect()
}

fn condition(table: &str, condition: Condition) -> String {
    match condition {
        Condition::Null("deletedAt") => "deleted = 0".to_owned(),
        Condition::Null(field) => panic!("{field} has no column"),
        Condition::True(field) => format!("{} = 1", columns(table, field)[0]),
        Condition::Present("customer.id") => "customer <> x''".to_owned(),
        Condition::Present("fulfilment.courierId") => "courier <> x''".to_owned(),
        Condition::Present("checkoutId") => "checkout_id <> x''".to_owned(),
        Condition::Present("cartId") => "cart_id <> x''".to_owned(),
        Condition::Present("dueAt") => "due_at > 0".to_owned(),
        Condition::Present(field) => format!("{} <> ''", columns(table, field)[0]),
    }
}

/// The key of a table whose rows are kept in its order.
fn primary_key(connection: &Connection, table: &str) -> Vec<String> {
    let sql = "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk";
    strings(connection, sql, table)
}

fn strings(connection: &Connection, sql: &str, value: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([value], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_index_of_the_catalogue_is_here() {
    let connection = empty();
    for index in CATALOGUE {
        if HELD_OTHERWISE.contains(&index.name) {
            continue;
        }
        let table = table(index);
        let wanted: Vec<String> = index
            .keys
            .iter()
            .flat_map(|key| columns(&table, key.field))
            .collect();
        let sql: Option<String> = connection
            .query_row(
                "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1 AND tbl_name = ?2",
                [index.name, &table],
                |row| row.get(0),
            )
            .optional()
            .unwrap();
        let Some(sql) = sql else {
            // The table itself is kept in that order.
            assert_eq!(primary_key(&connection, &table), wanted, "{}", index.name);
            assert_eq!(index.kind, IndexKind::Unique, "{}", index.name);
            continue;
        };
        let found = "SELECT name FROM pragma_index_info(?1) ORDER BY seqno";
        assert_eq!(strings(&connection, found, index.name), wanted, "{sql}");
        let unique = sql.starts_with("CREATE UNIQUE INDEX");
        assert_eq!(unique, index.kind == IndexKind::Unique, "{sql}");
        let partial = sql.split_once(" WHERE ").map(|(_, filter)| filter.trim());
        let filter = index.only.map(|only| condition(&table, only));
        assert_eq!(partial, filter.as_deref(), "{sql}");
    }
}

#[test]
fn no_index_is_here_that_nobody_needs() {
    let connection = empty();
    let wanted: BTreeSet<String> = CATALOGUE
        .iter()
        .map(|index| index.name)
        .chain(OWN)
        .map(str::to_owned)
        .collect();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND ?1 = ''";
    for name in strings(&connection, sql, "") {
        assert!(wanted.contains(&name), "{name}");
    }
}

#[test]
fn nothing_may_be_null_and_every_table_is_strict() {
    let connection = empty();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND ?1 = ''";
    let nullable = "SELECT name FROM pragma_table_info(?1) WHERE \"notnull\" = 0";
    for table in strings(&connection, tables, "") {
        assert!(strings(&connection, nullable, &table).is_empty(), "{table}");
        let strict = "SELECT name FROM pragma_table_list WHERE name = ?1 AND strict = 1";
        assert_eq!(strings(&connection, strict, &table).len(), 1, "{table}");
    }
}

#[test]
fn a_sum_that_would_become_a_float_is_refused() {
    let connection = empty();
    connection
        .execute_batch(
            "INSERT INTO stock_levels (business, branch, product, available, reserved, version, \
             last_movement, updated_at, v) \
             VALUES (zeroblob(12), zeroblob(12), zeroblob(12), 1, 0, 9223372036854775807, 0, 0, 1)",
        )
        .unwrap();
    for sum in [
        "version = version + 1",
        "available = available + 9223372036854775807",
        "available = available + 1000000000000",
        "available = available - 2",
        "reserved = 0.5",
        "updated_at = version * 1e300",
    ] {
        let refused = connection.execute_batch(&format!("UPDATE stock_levels SET {sum}"));
        assert!(refused.is_err(), "{sum}");
    }
}
