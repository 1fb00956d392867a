//! One set for all tests that break nothing.
//!
//! Owns the choice between a set that `cargo xtask test` has started and one of this process's own.
//! Tests keep apart by the names of their databases, never by expecting an empty server.

use std::env;
use std::net::SocketAddr;
use std::sync::OnceLock;

use super::{MongoCluster, SETTLE_LIMIT, wait};
use crate::{Error, wire};

/// Names a running set that tests may share.
pub const URI_VARIABLE: &str = "TESTBED_MONGO_URI";

/// The connection string of a set that tests may share: the one named by `TESTBED_MONGO_URI`, else
/// one of a single node, started once in this process.
///
/// # Errors
/// When a set has to be started and cannot be; every later call gets the same answer.
pub fn shared_uri() -> Result<&'static str, &'static Error> {
    static SET: OnceLock<Result<(String, Option<MongoCluster>), Error>> = OnceLock::new();
    let set = SET.get_or_init(|| match env::var_os(URI_VARIABLE) {
        Some(uri) => Ok((uri.to_string_lossy().into_owned(), None)),
        None => MongoCluster::start(1).map(|set| (set.uri(), Some(set))),
    });
    set.as_ref().map(|(uri, _)| uri.as_str())
}

/// The address of the shared set's primary.
///
/// # Errors
/// When the set cannot be started or has no primary.
pub fn shared_primary() -> Result<SocketAddr, Error> {
    let uri = shared_uri().map_err(|error| Error::NotWire(error.to_string()))?;
    let members = uri
        .trim_start_matches("mongodb://")
        .split('/')
        .next()
        .unwrap_or_default();
    let addresses: Vec<_> = members
        .split(',')
        .filter_map(|member| member.parse().ok())
        .collect();
    wait("elected a primary", SETTLE_LIMIT, || {
        addresses
            .iter()
            .copied()
            .find(|address| wire::is_primary(*address))
    })
}
