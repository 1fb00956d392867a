//! A thin HTTP client of the Abasto API.
//!
//! Owns one kept connection per client, retries that are safe to make, and problems as people read
//! them. It is cheap on purpose: the load generator uses it beside the server that it measures.
//! Must not know what a route means, nor anything of the server's crates.

#![warn(missing_docs)]

mod call;
mod client;
mod connection;
mod endpoint;
mod error;
mod problem;
mod retry;

pub use call::{Call, Repeat, encode};
pub use client::{Answer, Client};
pub use connection::{Connection, Lost};
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use error::Error;
pub use problem::{Fault, Problem};
pub use retry::Retry;
