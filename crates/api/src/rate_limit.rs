//! Rate limits per credential and class of route, so that one flood does not slow others.
//!
//! Owns the counting (GCRA, per process). Must not know what a credential is, only that it can be
//! compared. The table of credentials is bounded: quiet ones are forgotten.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::edge::CallerName;

/// Whether a route only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// It changes nothing.
    Read,
    /// It may change something.
    Write,
}

/// Requests per second of one credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Of routes that only read.
    pub reads_per_s: NonZeroU32,
    /// Of all others.
    pub writes_per_s: NonZeroU32,
}

impl Default for Rates {
    fn default() -> Self {
        let rate = |per_s| NonZeroU32::new(per_s).unwrap_or(NonZeroU32::MIN);
        Self {
            reads_per_s: rate(5_000),
            writes_per_s: rate(2_000),
        }
    }
}

/// Counts requests.
#[derive(Debug)]
pub(crate) struct RateLimits {
    reads: DefaultKeyedRateLimiter<CallerName>,
    writes: DefaultKeyedRateLimiter<CallerName>,
    clock: DefaultClock,
    checks: AtomicU64,
}

/// Credentials that are remembered before quiet ones are dropped.
const CALLERS_MAX: usize = 10_000;
/// How many checks go by between two looks at the size of the table.
const CHECKS_BETWEEN: u64 = 1_024;

impl RateLimits {
    pub(crate) fn new(rates: Rates) -> Self {
        Self {
            reads: RateLimiter::keyed(Quota::per_second(rates.reads_per_s)),
            writes: RateLimiter::keyed(Quota::per_second(rates.writes_per_s)),
            clock: DefaultClock::default(),
            checks: AtomicU64::new(0),
        }
    }

    /// Counts one request; `Err` with the time after which the next one may come.
    pub(crate) fn check(&self, caller: &CallerName, class: Class) -> Result<(), Duration> {
        let limits = match class {
            Class::Read => &self.reads,
            Class::Write => &self.writes,
        };
        if self
            .checks
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(CHECKS_BETWEEN)
            && limits.len() > CALLERS_MAX
        {
            limits.retain_recent();
        }
        limits
            .check_key(caller)
            .map_err(|until| until.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use abasto_domain::access::Actor;
    use abasto_domain::id::{ApiKeyId, RawId};

    use super::*;

    fn caller(number: u8) -> CallerName {
        let key = Actor::Key(ApiKeyId(RawId([number; 12])));
        CallerName::OfBusiness(RawId([1; 12]).into(), key)
    }

    #[test]
    fn a_credential_has_its_own_budget_for_each_class() {
        let one = NonZeroU32::MIN;
        let limits = RateLimits::new(Rates {
            reads_per_s: one,
            writes_per_s: one,
        });
        assert_eq!(limits.check(&caller(1), Class::Read), Ok(()));
        let wait = limits.check(&caller(1), Class::Read).unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1));
        assert_eq!(limits.check(&caller(1), Class::Write), Ok(()));
        assert_eq!(limits.check(&caller(2), Class::Read), Ok(()));
    }
}
