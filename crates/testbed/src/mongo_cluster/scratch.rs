//! A database of the shared set for one test.
//!
//! Owns its name, which no other test has, and its end. Must not know what is stored there.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use bson::doc;

use super::{shared_primary, shared_uri};
use crate::Error;
use crate::wire::Connection;

/// How long the removal of a database may take; a test that is over waits for no more.
const DROP_LIMIT: Duration = Duration::from_secs(20);

/// The connection string of one database of a set.
#[must_use]
pub fn database_uri(set: &str, database: &str) -> String {
    set.replacen("/?", &format!("/{database}?"), 1)
}

/// A database that is removed when this value is dropped.
#[derive(Debug)]
pub struct Scratch {
    uri: String,
    name: String,
}

impl Scratch {
    /// A database of the shared set; nothing is stored in it yet. Its name begins with `prefix`.
    ///
    /// # Errors
    /// When the shared set cannot be started.
    pub fn new(prefix: &str) -> Result<Self, Error> {
        let set = shared_uri().map_err(|error| Error::NotWire(error.to_string()))?;
        // A set outlives the processes that use it, so their numbers come back.
        let chance = RandomState::new().build_hasher().finish();
        let name = format!("{prefix}_{chance:016x}");
        Ok(Self {
            uri: database_uri(set, &name),
            name,
        })
    }

    /// Its connection string.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let removed = shared_primary()
            .and_then(|primary| Connection::open(primary, DROP_LIMIT))
            .and_then(|mut connection| connection.run(&self.name, doc! { "dropDatabase": 1 }));
        // Nobody is left to tell, and what stays hurts no other test.
        drop(removed);
    }
}
