//! The embedded store: one SQLite file, one writer thread that commits units in groups, a few
//! reader threads.
//!
//! Owns the file, its schema and migrations, and how a group of units becomes one transaction. It
//! applies what [`abasto_store::resolve::resolve`] decides and decides nothing. No type of the
//! driver leaves this crate.
#![warn(missing_docs)]

mod cart;
mod checkpoint;
mod codec;
mod document;
mod effect;
mod error;
mod event;
mod group;
mod head;
mod health;
mod level;
mod list;
mod lock;
mod migration;
mod movement;
mod open;
mod operation;
mod pool;
mod queue;
mod read;
mod shape;
mod store;
mod table;
mod tally;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub use error::OpenError;
pub use migration::{Migrated, check, migrate};
pub use open::Options;
pub use queue::Limits;
pub use store::{Counts, SqliteStore};
