//! The same rows by plain SQL: what SQLite itself takes when nothing is decided, no head is read,
//! no record is made into JSON and nobody waits for an answer.

use std::path::Path;
use std::time::{Duration, Instant};

use abasto_store_sqlite::{Options, SqliteStore};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::{PRODUCTS, ratio};

const GROUP: u64 = 64;
const LINES: i64 = 3;

/// What one row needs that differs from order to order.
struct Row {
    id: [u8; 12],
    number: i64,
    at: i64,
    key: String,
}

impl Row {
    fn new(number: i64) -> Self {
        let mut id = [7; 12];
        id[4..].copy_from_slice(&number.to_be_bytes());
        let spread = number.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self {
            id,
            number,
            at: number / 10,
            key: format!("{spread:016x}-{number}"),
        }
    }
}

/// Writes groups of orders with three lines of a thousand products until the time is over.
pub(crate) fn measure(path: &Path, run: Duration) {
    drop(SqliteStore::open(Options::new(path)).unwrap());
    let mut connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -32768; \
             PRAGMA wal_autocheckpoint = 8192;",
        )
        .unwrap();
    connection.set_prepared_statement_cache_capacity(64);
    let mut last_movements = vec![0; PRODUCTS];
    levels(&connection);
    let record = "x".repeat(1_150);
    let began = Instant::now();
    let mut groups = 0;
    while began.elapsed() < run {
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .unwrap();
        for number in groups * GROUP..(groups + 1) * GROUP {
            let row = Row::new(i64::try_from(number).unwrap() + 1);
            order(&transaction, &row, &record);
            movements(&transaction, &row, &mut last_movements);
        }
        transaction.commit().unwrap();
        groups += 1;
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{:32}    1 thread      {:8.0} orders/s  group {:6.1}  {groups} commits",
        "raw: the same rows, no decision",
        ratio(groups * GROUP, 1) / took,
        ratio(GROUP, 1),
    );
}

const BUSINESS: [u8; 12] = [1; 12];
const BRANCH: [u8; 12] = [2; 12];

fn levels(connection: &Connection) {
    let sql = "INSERT INTO stock_levels (business, branch, product, available, reserved, version, \
               last_movement, updated_at, v) VALUES (?1, ?2, ?3, 1000000000, 0, 0, 0, 0, 1)";
    let transaction = connection.unchecked_transaction().unwrap();
    for product in 0..PRODUCTS {
        let mut id = [3; 12];
        id[..8].copy_from_slice(&product.to_be_bytes());
        transaction
            .execute(sql, params![BUSINESS, BRANCH, id])
            .unwrap();
    }
    transaction.commit().unwrap();
}

fn order(transaction: &Transaction<'_>, row: &Row, record: &str) {
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        let mut statement = transaction.prepare_cached(sql).unwrap();
        statement.execute(values).unwrap();
    };
    run(
        "INSERT INTO orders (business, id, version, created_at, answered, record, branch, status, \
         customer, courier, code, year, sequence) \
         VALUES (?1, ?2, 1, ?3, 1, ?4, ?5, 1, x'', x'', 'B000', 2026, ?6)",
        params![BUSINESS, row.id, row.at, record, BRANCH, row.number],
    );
    run(
        "INSERT INTO operations (business, customer, key, fingerprint, at, kind, document, \
         version, reply) VALUES (?1, x'', ?2, ?3, ?4, 6, ?5, 1, '')",
        params![BUSINESS, row.key, [9u8; 32], row.at, row.id],
    );
    run(
        "INSERT INTO events (business, kind, subject, sequence, id, name, actor, request, at, v, \
         data) VALUES (?1, 6, ?2, 1, ?2, 'abasto.order.created', x'02', ?3, ?4, 1, ?5)",
        params![BUSINESS, row.id, &record[..24], row.at, &record[..94]],
    );
}

fn movements(transaction: &Transaction<'_>, row: &Row, last: &mut [i64]) {
    for line in 0..LINES {
        let products = i64::try_from(PRODUCTS).unwrap();
        let level = (row.number * 7919 + line * 337) % products;
        let index = usize::try_from(level).unwrap();
        let mut operation = [0; 15];
        operation[..12].copy_from_slice(&row.id);
        operation[14] = u8::try_from(line).unwrap();
        let sequence: i64 = transaction
            .prepare_cached(
                "UPDATE stock_levels SET available = available - 1, reserved = reserved + 1, \
                 version = version + 1, updated_at = ?2 WHERE number = ?1 AND available >= 1 \
                 RETURNING version",
            )
            .unwrap()
            .query_row(params![level + 1, row.at], |found| found.get(0))
            .unwrap();
        last[index] = transaction
            .prepare_cached(
                "INSERT INTO stock_movements (level, sequence, previous, business, id, kind, \
                 available, reserved, available_after, reserved_after, operation, order_id, \
                 checkout, why, actor, at, v) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 7, -1, 1, 1000, 1000, ?6, ?5, x'', '', x'02', ?7, 1)",
            )
            .unwrap()
            .insert(params![
                level + 1,
                sequence,
                last[index],
                BUSINESS,
                row.id,
                operation,
                row.at
            ])
            .unwrap();
    }
}
