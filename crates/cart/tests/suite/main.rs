//! The promises of the cart type, each shown by a test.
//!
//! `support` builds carts briefly; `oracle` states the specification a second time, as a function
//! of what an operation's author knew, without contexts or joins; the rest are tests.

#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test code: seeds are cut to size, and a surprise should end the test"
)]

mod arrival;
mod bytes;
mod collapse;
mod context;
mod fuzz;
mod hlc;
mod keys;
mod laws;
mod limits;
mod oracle;
mod pairs;
mod runs;
mod scenarios;
mod simulation;
mod support;
mod tags;
mod zoo;
