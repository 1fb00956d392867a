//! Latencies of a load, over their whole range.
//!
//! Owns the range and the units. Must not know what was asked.

use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;

/// Longest latency that is told apart, in microseconds.
const MAX_US: u64 = 600_000_000;

/// Latencies, in microseconds.
#[derive(Debug)]
pub(crate) struct Latencies(Histogram<u64>);

impl Latencies {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(Histogram::new_with_max(MAX_US, 3)?))
    }

    pub(crate) fn record(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.0.saturating_record(micros);
    }

    pub(crate) fn add(&mut self, other: &Self) -> Result<()> {
        Ok(self.0.add(&other.0)?)
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency below which this part of them is, in milliseconds.
    pub(crate) fn ms_at(&self, quantile: f64) -> f64 {
        ms(self.0.value_at_quantile(quantile))
    }

    /// The longest, in milliseconds.
    pub(crate) fn max_ms(&self) -> f64 {
        ms(self.0.max())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "latencies of a run are far below 2^52"
)]
fn ms(micros: u64) -> f64 {
    micros as f64 / 1000.0
}
