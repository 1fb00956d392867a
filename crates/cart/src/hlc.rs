//! Time stamps that order edits which did not see one another.
//!
//! Owns [`Hlc`] and the atomic [`Clock`]. It reads no clock: milliseconds come in as arguments.
//! A stamp never decides between an edit and one made after seeing it; dots do that.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};

const COUNTER_BITS: u32 = 16;

/// A hybrid logical stamp: 48 bits of milliseconds since 1970, then a 16-bit counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hlc(u64);

impl Hlc {
    /// The least stamp; loses against every other.
    pub const ZERO: Self = Self(0);
    /// The largest millisecond that a stamp holds (the year 10889).
    pub const MAX_MS: u64 = (1 << 48) - 1;

    /// A stamp of its two parts; milliseconds above [`Hlc::MAX_MS`] are taken as that.
    #[must_use]
    pub const fn new(ms: u64, counter: u16) -> Self {
        let ms = if ms > Self::MAX_MS { Self::MAX_MS } else { ms };
        Self((ms << COUNTER_BITS) | counter as u64)
    }

    /// The stamp as it was made by [`Hlc::bits`].
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// All 64 bits, for storage and for clients.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn ms(self) -> u64 {
        self.0 >> COUNTER_BITS
    }

    /// Refuses a stamp more than `max_ahead_ms` after `now_ms`.
    ///
    /// Old stamps are fine: they lose races. A stamp far in the future would win every race for
    /// ever, so it is turned away, never corrected: the same operation may have been accepted
    /// elsewhere, and both places must hold the same bytes.
    ///
    /// # Errors
    /// [`ClockSkew`] with the distance.
    pub const fn check(self, now_ms: u64, max_ahead_ms: u64) -> Result<(), ClockSkew> {
        let ahead_ms = self.ms().saturating_sub(now_ms);
        if ahead_ms > max_ahead_ms {
            return Err(ClockSkew { ahead_ms });
        }
        Ok(())
    }
}

/// A stamp was too far in the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSkew {
    /// How far the stamp was ahead of the receiver's clock.
    pub ahead_ms: u64,
}

impl fmt::Display for ClockSkew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hlc is {} ms ahead of this clock", self.ahead_ms)
    }
}

impl core::error::Error for ClockSkew {}

/// Makes stamps that only grow, from any number of threads, without a lock.
#[derive(Debug, Default)]
pub struct Clock {
    last: AtomicU64,
}

impl Clock {
    /// A clock that has made no stamp yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            last: AtomicU64::new(0),
        }
    }

    /// A stamp above every earlier one of this clock and not before `now_ms`.
    ///
    /// When more than 65 536 stamps fall into one millisecond, or time stands still or goes
    /// back, the counter runs over into the milliseconds and the order stays.
    pub fn stamp(&self, now_ms: u64) -> Hlc {
        let physical = Hlc::new(now_ms, 0).bits();
        let next = |last: u64| Some(physical.max(last.saturating_add(1)));
        match self
            .last
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, next)
        {
            // The closure is total, so both arms carry the value before the change.
            Ok(last) | Err(last) => Hlc(physical.max(last.saturating_add(1))),
        }
    }

    /// Makes later stamps exceed one that was received.
    ///
    /// # Errors
    /// [`ClockSkew`] when the stamp is out of bounds; this clock then stays as it was.
    pub fn observe(&self, seen: Hlc, now_ms: u64, max_ahead_ms: u64) -> Result<(), ClockSkew> {
        seen.check(now_ms, max_ahead_ms)?;
        self.last.fetch_max(seen.bits(), Ordering::AcqRel);
        Ok(())
    }
}
