//! What every black-box test stands on: the binary as a process, and a client that shows all of an
//! answer.
//!
//! Owns folders, processes and their ends: whatever a test leaves running is killed when it is
//! dropped.

mod http;
mod process;
mod shop;

pub(crate) use http::{Http, Reply};
pub(crate) use process::{PLATFORM_KEY, Ran, Server, Setup, abasto, run};
pub(crate) use shop::Shop;

use std::path::PathBuf;

/// A file of the small extract of real data.
pub(crate) fn testdata(name: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/retail");
    PathBuf::from(root).join(name)
}
