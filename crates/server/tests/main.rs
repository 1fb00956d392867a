//! Black-box tests on the real binary: processes, signals, files, HTTP. Nothing of ours is linked
//! in but the client and the signature of the sandbox.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod cart_storm;
mod cluster;
mod command;
mod crash;
mod demo;
mod deployment;
mod disk_full;
mod drain;
mod harness;
mod instances;
mod metrics;
mod payment;
mod process;
mod replay;
mod slow;
mod stock;
mod token;
