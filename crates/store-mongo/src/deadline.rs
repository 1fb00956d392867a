//! Deadlines: a point in time and what is left until it, as servers want to hear it.
//!
//! Owns the two lengths. Durations are monotonic.

use std::time::{Duration, Instant};

/// For what somebody waits on.
pub(crate) const INTERACTIVE: Duration = Duration::from_secs(5);
/// For jobs: walks, migrations.
pub(crate) const JOB: Duration = Duration::from_secs(30);

/// When an answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(length: Duration) -> Self {
        Self(Instant::now() + length)
    }

    /// The same point, so much earlier.
    pub(crate) fn less(self, margin: Duration) -> Self {
        Self(self.0.checked_sub(margin).unwrap_or(self.0))
    }

    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub(crate) fn has_passed(self) -> bool {
        self.left().is_zero()
    }

    /// What is left as a `maxTimeMS`, which must not be 0 (that means no limit).
    pub(crate) fn max_time_ms(self) -> i64 {
        i64::try_from(self.left().as_millis())
            .unwrap_or(i64::MAX)
            .max(1)
    }

    /// What is left as a duration of at least a millisecond.
    pub(crate) fn max_time(self) -> Duration {
        self.left().max(Duration::from_millis(1))
    }
}
