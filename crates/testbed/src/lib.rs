//! Real MongoDB servers and broken wires: what tests and faults run on.
//!
//! Owns the processes of a replica set ([`mongo_cluster`]), a proxy that understands the frames of
//! the wire protocol and breaks them on command ([`wire_proxy`]), and the server's own fail points
//! ([`fail_point`]). It is blocking and needs no driver, so that it neither shares a runtime with
//! what it tests nor a fault with it, and so that `cargo xtask` can use it cheaply. Must not know
//! anything of Abasto.
#![warn(missing_docs)]

mod error;
pub mod fail_point;
pub mod mongo_cluster;
pub mod wire;
pub mod wire_proxy;

pub use error::Error;
