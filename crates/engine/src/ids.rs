//! The id source: twelve bytes in the ObjectId layout (seconds, random of the process, counter).
//!
//! Owns uniqueness. Ids of one process grow with time, so new rows land beside each other.

use std::sync::atomic::{AtomicU32, Ordering};

use abasto_domain::id::RawId;
use abasto_domain::time::Timestamp;

/// Makes ids.
#[derive(Debug)]
pub struct IdSource {
    process: [u8; 5],
    counter: AtomicU32,
}

impl IdSource {
    /// A source with random of its own; fails when the system has none.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut seed = [0; 9];
        getrandom::fill(&mut seed)?;
        let [a, b, c, d, e, w, x, y, z] = seed;
        Ok(Self {
            process: [a, b, c, d, e],
            counter: AtomicU32::new(u32::from_be_bytes([w, x, y, z])),
        })
    }

    /// A new id.
    pub fn next(&self, now: Timestamp) -> RawId {
        let seconds = now.as_millis().div_euclid(1000).to_be_bytes();
        let counter = self.counter.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut id = [0; 12];
        id[..4].copy_from_slice(&seconds[4..]);
        id[4..9].copy_from_slice(&self.process);
        id[9..].copy_from_slice(&counter[1..]);
        RawId(id)
    }
}
