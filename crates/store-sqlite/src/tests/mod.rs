//! What can only be seen from inside: plans, statements, groups that break.

#[path = "../../tests/world/mod.rs"]
mod world;

mod catalogue;
mod failure;
mod fixture;
mod fixture_cart;
mod fixture_sale;
mod migration;
mod movement;
mod plan;

use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::Verdict;
use rusqlite::Connection;

use crate::group;
use crate::head::Memory;
use crate::migration::{known, run};

/// The newest schema, in memory.
fn empty() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .pragma_update(None, "foreign_keys", true)
        .unwrap();
    connection.set_prepared_statement_cache_capacity(128);
    run(&mut connection, 0, known()).unwrap();
    connection
}

/// Commits all units as one group, each of which must be committed.
fn commit_all(connection: &mut Connection, memory: &mut Memory, units: &[UnitOfWork]) {
    let decided = group::commit(connection, memory, units.iter()).unwrap();
    for verdict in decided.verdicts {
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
    }
}
