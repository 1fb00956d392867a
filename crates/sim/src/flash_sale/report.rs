//! What was seen of a flash sale, as a table for people and JSON for programs.
//!
//! Owns the steps and the form. Must not measure.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::load::latency::Latencies;
use crate::load::say;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Making a cart.
    Cart,
    /// Putting a unit in.
    Add,
    /// A checkout that got its hold.
    Checkout,
    /// A checkout that was told that nothing is left.
    Refusal,
    /// The order.
    Order,
    /// The attempt to pay.
    Payment,
    /// The provider's message.
    Webhook,
    /// All of it, of those who got a unit.
    Flow,
}

impl Step {
    const ALL: [Self; 8] = [
        Self::Cart,
        Self::Add,
        Self::Checkout,
        Self::Refusal,
        Self::Order,
        Self::Payment,
        Self::Webhook,
        Self::Flow,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cart => "cart",
            Self::Add => "add",
            Self::Checkout => "checkout",
            Self::Refusal => "refusal",
            Self::Order => "order",
            Self::Payment => "payment",
            Self::Webhook => "webhook",
            Self::Flow => "flow",
        }
    }
}

/// What one shopper saw.
#[derive(Debug)]
pub(super) struct Seen {
    latencies: Vec<Latencies>,
    /// How often the server had too much to do.
    pub(super) sent_away: u64,
}

impl Seen {
    pub(super) fn new() -> Result<Self> {
        let all = Step::ALL.iter().map(|_| Latencies::new());
        Ok(Self {
            latencies: all.collect::<Result<_>>()?,
            sent_away: 0,
        })
    }

    pub(super) fn record(&mut self, step: Step, took: Duration) {
        self.latencies[step as usize].record(took);
    }
}

/// What all of them saw, and what came of it.
#[derive(Debug)]
pub(super) struct Report {
    units: usize,
    shoppers: usize,
    seen: Seen,
    pub(super) seconds: f64,
    pub(super) paid: usize,
    pub(super) refused: usize,
}

impl Report {
    pub(super) fn new(units: usize, shoppers: usize) -> Result<Self> {
        Ok(Self {
            units,
            shoppers,
            seen: Seen::new()?,
            seconds: 0.0,
            paid: 0,
            refused: 0,
        })
    }

    pub(super) fn add(&mut self, seen: &Seen) -> Result<()> {
        self.seen.sent_away += seen.sent_away;
        for (all, one) in self.seen.latencies.iter_mut().zip(&seen.latencies) {
            all.add(one)?;
        }
        Ok(())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a run are far below 2^52"
    )]
    fn orders_per_second(&self) -> f64 {
        self.paid as f64 / self.seconds
    }

    /// Writes everything.
    pub(super) fn tell(&self) -> Result<()> {
        let mut rows: Vec<Value> = Vec::new();
        for (step, latencies) in Step::ALL.iter().zip(&self.seen.latencies) {
            let (p50, p99) = (latencies.ms_at(0.5), latencies.ms_at(0.99));
            say(format_args!(
                "{:<10}{:>8}  p50 {p50:>9.2} ms  p99 {p99:>9.2} ms  max {:>9.2} ms",
                step.name(),
                latencies.count(),
                latencies.max_ms()
            ));
            rows.push(
                json!({"step": step.name(), "count": latencies.count(), "p50Ms": p50,
                "p99Ms": p99, "maxMs": latencies.max_ms()}),
            );
        }
        say(format_args!(
            "{} shoppers for {} units: {} orders paid, {} refused, in {:.2} s: {:.1} orders/s of the \
             whole flow; sent away {} times",
            self.shoppers,
            self.units,
            self.paid,
            self.refused,
            self.seconds,
            self.orders_per_second(),
            self.seen.sent_away
        ));
        let all = json!({
            "units": self.units, "shoppers": self.shoppers, "paid": self.paid,
            "refused": self.refused, "seconds": self.seconds,
            "ordersPerSecond": self.orders_per_second(), "sentAway": self.seen.sent_away,
            "steps": rows,
        });
        let mut stdout = io::stdout().lock();
        serde_json::to_writer_pretty(&mut stdout, &all)?;
        Ok(writeln!(stdout)?)
    }
}
