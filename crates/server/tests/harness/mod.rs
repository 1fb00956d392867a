//! What every black-box test stands on: the binary as a process, and a client that shows all of an
//! answer.
//!
//! Owns folders, processes and their ends: whatever a test leaves running is killed when it is
//! dropped.

mod crowd;
mod http;
mod process;
mod shop;
mod store;

pub(crate) use crowd::{ANSWER_MAX, Buyer, Crowd, Doors, verify};
pub(crate) use http::{Http, Reply};
pub(crate) use process::{PLATFORM_KEY, Ran, Server, Setup, abasto, run};
pub(crate) use shop::{Shop, text};
pub(crate) use store::{StoreKind, on_both_stores};

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file of the small extract of real data.
pub(crate) fn testdata(name: &str) -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/retail");
    PathBuf::from(root).join(name)
}

/// So many seconds from now, or before it, in seconds since 1970: for what others date by their
/// own clocks.
pub(crate) fn from_now(seconds: i64) -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "tokens and messages are about the time of day"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() + seconds
}
