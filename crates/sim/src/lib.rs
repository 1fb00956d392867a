//! What tests of Abasto run on: the model store and the ways in which a store can fail.
//!
//! Owns the reference semantics of the port. Never part of the product.
#![warn(missing_docs)]

pub mod dice;
pub mod faulty;
pub mod model;

/// Real replica sets, broken wires and fail points; a crate of its own because the gate needs it.
pub use abasto_testbed::{fail_point, mongo_cluster, wire, wire_proxy};
