//! The process-wide budget of retries: a brown-out must not multiply its own load.
//!
//! Owns the tokens. Successes bring them back, a tenth each.

use std::sync::atomic::{AtomicI64, Ordering};

/// Tenths of a token.
const TOKEN: i64 = 10;
const CAPACITY: i64 = 1_000 * TOKEN;

/// Tokens for retries.
#[derive(Debug)]
pub(crate) struct Budget(AtomicI64);

impl Budget {
    pub(crate) const fn full() -> Self {
        Self(AtomicI64::new(CAPACITY))
    }

    /// Takes the token of one retry, if there is one.
    pub(crate) fn take(&self) -> bool {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                (left >= TOKEN).then_some(left - TOKEN)
            });
        taken.is_ok()
    }

    /// Notes so many units that succeeded.
    pub(crate) fn succeeded(&self, units: usize) {
        let earned = i64::try_from(units).unwrap_or(CAPACITY);
        let added = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left.saturating_add(earned).min(CAPACITY))
            });
        debug_assert!(added.is_ok(), "the closure always gives a value");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_stop_without_successes_and_come_back_with_them() {
        let budget = Budget::full();
        let taken = (0..10_000).filter(|_| budget.take()).count();
        assert_eq!(taken, 1_000);
        budget.succeeded(9);
        assert!(!budget.take());
        budget.succeeded(1);
        assert!(budget.take());
        assert!(!budget.take());
        budget.succeeded(1_000_000);
        assert_eq!((0..10_000).filter(|_| budget.take()).count(), 1_000);
    }
}
