//! How often and how long: the bounds of trying again.
//!
//! Owns the waits (full jitter, so that many clients refused at once do not return at once).
//! Must not decide whether a repeat is safe.

use std::time::Duration;

/// The bounds of trying again.
#[derive(Debug, Clone, Copy)]
pub struct Retry {
    /// Most tries, the first one included.
    pub tries: u32,
    /// The wait before the second try is at most this; it doubles from try to try.
    pub first_wait: Duration,
    /// No wait is longer, whatever the server asks for.
    pub longest_wait: Duration,
    /// How long a server that cannot be reached at all is tried again.
    pub unreachable_max: Duration,
}

impl Retry {
    /// For people at a terminal: about half a minute for a busy server, 5 s for an absent one.
    pub const PATIENT: Self = Self {
        tries: 10,
        first_wait: Duration::from_millis(50),
        longest_wait: Duration::from_secs(5),
        unreachable_max: Duration::from_secs(5),
    };

    /// One try.
    pub const NEVER: Self = Self {
        tries: 1,
        first_wait: Duration::ZERO,
        longest_wait: Duration::ZERO,
        unreachable_max: Duration::ZERO,
    };

    /// The wait after `tried` tries. A server's `Retry-After` is a lower bound, the jitter comes
    /// on top.
    pub(crate) fn wait(&self, tried: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first_wait.saturating_mul(1 << tried.min(16));
        let spread = doubled.min(self.longest_wait).mul_f64(fraction());
        let wait = asked.unwrap_or_default().saturating_add(spread);
        wait.min(self.longest_wait)
    }
}

/// A random number from 0 to 1. Without a source of randomness the whole wait is taken.
fn fraction() -> f64 {
    let random = getrandom::u32().unwrap_or(u32::MAX);
    f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::Retry;
    use std::time::Duration;

    #[test]
    fn waits_stay_within_their_bounds() {
        let retry = Retry::PATIENT;
        for tried in 0..40 {
            assert!(retry.wait(tried, None) <= retry.longest_wait);
            let asked = Duration::from_secs(1);
            let wait = retry.wait(tried, Some(asked));
            assert!(wait >= asked && wait <= retry.longest_wait);
            assert!(retry.wait(tried, Some(Duration::from_secs(3600))) == retry.longest_wait);
        }
    }
}
