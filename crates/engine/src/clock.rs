//! The clock: where every time in Abasto comes from.
//!
//! Owns the only reading of the system's clock, and the offset by which tests move a clock forward.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use abasto_domain::time::Timestamp;

/// The system's clock, or one that stands, plus an offset that only ever grows.
#[derive(Debug, Default)]
pub struct Clock {
    standing_at: Option<Timestamp>,
    offset_ms: AtomicI64,
}

impl Clock {
    /// A clock that stands at a time and moves by [`Clock::advance`] only, so that a run of chance
    /// can be repeated to the millisecond.
    pub fn standing(at: Timestamp) -> Self {
        Self {
            standing_at: Some(at),
            offset_ms: AtomicI64::default(),
        }
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        let base = self.standing_at.unwrap_or_else(Self::outside);
        base.plus_millis(self.offset_ms.load(Ordering::Relaxed))
    }

    /// What clocks outside show: now without the offset of tests. For judging times that others
    /// wrote down.
    pub fn outside() -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this module is where time comes from"
        )]
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = elapsed.map_or(0, |elapsed| elapsed.as_millis());
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
        Timestamp::from_millis(millis)
    }

    /// Moves the clock forward by so many milliseconds; negative values are ignored.
    pub fn advance(&self, by_ms: i64) {
        self.offset_ms.fetch_add(by_ms.max(0), Ordering::Relaxed);
    }
}
