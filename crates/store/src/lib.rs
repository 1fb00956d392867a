//! The port: how the engine reads and writes, and what every adapter must hold.
//!
//! Owns the unit of work, the records, the named queries, and [`resolve`], the pure function that
//! decides units against the heads they touch. Adapters apply what it decides and decide nothing.
//! Must not know a driver, HTTP or a clock.
#![warn(missing_docs)]

pub mod cart;
mod claim;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod event;
pub mod heads;
pub mod index;
pub mod invariants;
pub mod meter;
pub mod port;
pub mod query;
pub mod record;
pub mod resolve;
pub mod tally;
pub mod unit;
pub mod verdict;

pub use port::{Store, StoreError};
