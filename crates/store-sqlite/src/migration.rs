//! The schema and how a file comes to it.
//!
//! Owns the numbered migrations, forward only, each one transaction, and the comparison of a file
//! with what they make. The number of the last one is the file's `user_version`. A migration that
//! was released is never edited.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::OpenError;
use crate::lock::FileLock;
use crate::open;

/// Every migration in order; the first makes schema 1.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_start.sql")];

/// Marks a file as ours: "ABAS".
const APPLICATION_ID: i64 = 0x4142_4153;

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The schema before; 0 for a new file.
    pub from: i64,
    /// The schema after.
    pub to: i64,
}

/// The newest schema that this code knows.
pub(crate) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Brings a file to the newest schema, making it when there is none. Nothing may serve it
/// meanwhile.
///
/// # Errors
/// The file is served, foreign, newer than this code, or cannot be written.
pub fn migrate(path: &Path) -> Result<Migrated, OpenError> {
    let _lock = FileLock::take(path)?;
    let (mut connection, from) = open::writing(path)?;
    run(&mut connection, from, known()).map_err(|error| open::database(path, error))?;
    Ok(Migrated { from, to: known() })
}

/// What a file lacks of the newest schema, in words; empty when nothing. Only reads, also beside a
/// running server.
///
/// # Errors
/// The file is missing, foreign, newer than this code, or cannot be read.
pub fn check(path: &Path) -> Result<Vec<String>, OpenError> {
    let connection = open::reading(path)?;
    let found = version(&connection, path)?;
    if found < known() {
        return Ok(vec![format!("schema {found} of {}", known())]);
    }
    differences(&connection)
        .map(|differences| differences.into_iter().map(|it| it.text).collect())
        .map_err(|error| open::database(path, error))
}

/// The schema of a file; 0 when it is empty.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = || {
        let objects: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((objects, pragma("application_id")?, pragma("user_version")?))
    };
    let (objects, application, found) =
        read().map_err(|error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => OpenError::Foreign(path.to_owned()),
            _ => open::database(path, error),
        })?;
    if objects == 0 && application == 0 && found == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID || found < 1 {
        return Err(OpenError::Foreign(path.to_owned()));
    }
    if found > known() {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known: known(),
        });
    }
    Ok(found)
}

/// Runs the migrations that lead from one schema to another.
pub(crate) fn run(connection: &mut Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    for (number, migration) in (1..).zip(MIGRATIONS) {
        if number <= from || number > to {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", number)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Something that a file lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) text: String,
    /// Whether writing without it could break a rule.
    pub(crate) grave: bool,
}

/// What a file of the newest schema lacks of what the migrations make. What it has beside is its
/// owner's business.
pub(crate) fn differences(connection: &Connection) -> rusqlite::Result<Vec<Difference>> {
    let mut fresh = Connection::open_in_memory()?;
    run(&mut fresh, 0, known())?;
    let found = objects(connection)?;
    let wanted = objects(&fresh)?;
    Ok(wanted
        .into_iter()
        .filter_map(|(name, sql)| difference(&name, &sql, found.get(&name)))
        .collect())
}

fn difference(name: &str, wanted: &str, found: Option<&String>) -> Option<Difference> {
    let lack = match found {
        Some(found) if found == wanted => return None,
        Some(_) => "differs from the schema",
        None => "is missing",
    };
    let (what, grave) = if wanted.starts_with("CREATE UNIQUE INDEX") {
        ("unique index", true)
    } else if wanted.starts_with("CREATE INDEX") {
        ("index", false)
    } else {
        ("table", true)
    };
    Some(Difference {
        text: format!("the {what} {name} {lack}"),
        grave,
    })
}

fn objects(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement =
        connection.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}
