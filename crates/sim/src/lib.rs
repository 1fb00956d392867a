//! What tests of Abasto run on: the model store, the ways in which a store can fail, and loads.
//!
//! Owns the reference semantics of the port and the measuring of it. Never part of the product.
#![warn(missing_docs)]

pub mod backing;
pub mod carts;
pub mod dice;
pub mod differential;
pub mod faulty;
pub mod flash_sale;
pub mod load;
pub mod model;

/// Real replica sets, broken wires and fail points; a crate of its own because the gate needs it.
pub use abasto_testbed::{fail_point, mongo_cluster, wire, wire_proxy};
