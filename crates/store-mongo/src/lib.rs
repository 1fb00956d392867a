//! The MongoDB adapter: Abasto's store on a replica set.
//!
//! Owns documents, lanes, transactions, indexes and validators. Decides nothing: units are decided
//! by [`abasto_store::resolve`] inside each transaction.
#![warn(missing_docs)]

mod batch;
mod budget;
mod cart;
mod claim;
mod collection;
mod commit;
mod connect;
mod currency;
mod deadline;
mod document;
mod effect;
mod fault;
mod heads;
mod lane;
mod list;
mod migrate;
mod read;
mod readiness;
mod runner;
mod series;
mod store;
mod transaction;
mod walk;

pub use connect::ConnectError;
pub use migrate::{Difference, MigrateError, Violation, index_page};
pub use store::MongoStore;
