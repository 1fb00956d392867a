//! What an adapter tells of its commits: the same metrics, whatever the store.
//!
//! Owns their names, units and labels. Must not know how a store commits, or who exports metrics:
//! without an exporter every call does nothing.

use std::fmt;
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram};

/// Seconds from the beginning of a group's transaction until it was durable, by `store`.
pub const COMMIT_DURATION: &str = "abasto_commit_duration_seconds";
/// Units that one commit answered, refused ones included, by `store`.
pub const GROUP_SIZE: &str = "abasto_commit_group_size";
/// Units that wait for a commit now, by `store`.
pub const QUEUE_DEPTH: &str = "abasto_commit_queue_depth";
/// Groups that had to be tried again, by `store`.
pub const RETRIES: &str = "abasto_commit_retries_total";
/// Units that found the queue full, by `store`.
pub const OVERLOADED: &str = "abasto_commit_overloaded_total";

/// The meters of one store. Made after the exporter, which it then writes to for good.
pub struct CommitMeter {
    duration: Histogram,
    group: Histogram,
    depth: Gauge,
    retries: Counter,
    overloaded: Counter,
}

impl CommitMeter {
    /// The meters under a store's name. The counters stand at zero from now on, so that a rise
    /// from nothing shows.
    pub fn new(store: &'static str) -> Self {
        let meter = Self {
            duration: metrics::histogram!(COMMIT_DURATION, "store" => store),
            group: metrics::histogram!(GROUP_SIZE, "store" => store),
            depth: metrics::gauge!(QUEUE_DEPTH, "store" => store),
            retries: metrics::counter!(RETRIES, "store" => store),
            overloaded: metrics::counter!(OVERLOADED, "store" => store),
        };
        meter.depth.set(0.0);
        meter.retries.increment(0);
        meter.overloaded.increment(0);
        meter
    }

    /// So many units wait from now on.
    pub fn waiting(&self, units: usize) {
        self.depth.increment(float(units));
    }

    /// So many units wait no more.
    pub fn taken(&self, units: usize) {
        self.depth.decrement(float(units));
    }

    /// A unit found the queue full.
    pub fn overloaded(&self) {
        self.overloaded.increment(1);
    }

    /// A group has to be tried again.
    pub fn retried(&self) {
        self.retries.increment(1);
    }

    /// A group was made durable.
    pub fn committed(&self, units: usize, took: Duration) {
        self.duration.record(took);
        self.group.record(float(units));
    }
}

impl fmt::Debug for CommitMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitMeter")
    }
}

/// Queues and groups are far smaller than what a float holds exactly.
fn float(units: usize) -> f64 {
    f64::from(u32::try_from(units).unwrap_or(u32::MAX))
}
