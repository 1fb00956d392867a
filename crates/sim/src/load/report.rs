//! What was measured, as a table for people and JSON for programs.
//!
//! Owns the form. Must not measure.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

use super::run::{Pace, Seen};
use super::say;

/// All loads of a measurement.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    loads: Vec<Row>,
    /// Of the server's process at the end.
    #[serde(rename = "memoryMiB")]
    pub(super) memory_mib: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    load: &'static str,
    loop_kind: &'static str,
    clients: usize,
    products: usize,
    lines: usize,
    seconds: f64,
    orders: u64,
    refused: u64,
    orders_per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    max_ms: f64,
}

impl Report {
    /// Adds a load and gives its orders a second.
    pub(super) fn add(&mut self, seen: Seen) -> f64 {
        let row = Row::of(&seen);
        let rate = row.orders_per_second;
        say(row.line());
        self.loads.push(row);
        rate
    }

    /// Writes everything.
    pub(super) fn tell(&self) -> Result<()> {
        if let Some(memory) = self.memory_mib {
            say(format_args!("The server held {memory} MiB at the end."));
        }
        let mut stdout = io::stdout().lock();
        serde_json::to_writer_pretty(&mut stdout, self)?;
        Ok(writeln!(stdout)?)
    }
}

impl Row {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of a run are far below 2^52"
    )]
    fn of(seen: &Seen) -> Self {
        let seconds = seen.load.time.as_secs_f64();
        let orders = seen.latencies.count();
        Self {
            load: seen.load.name,
            loop_kind: match seen.load.pace {
                Pace::Closed => "closed",
                Pace::Open { .. } => "open",
            },
            clients: seen.load.clients,
            products: seen.load.range.products,
            lines: seen.load.range.lines,
            seconds,
            orders,
            refused: seen.refused,
            orders_per_second: orders as f64 / seconds,
            p50_ms: seen.latencies.ms_at(0.5),
            p99_ms: seen.latencies.ms_at(0.99),
            p999_ms: seen.latencies.ms_at(0.999),
            max_ms: seen.latencies.max_ms(),
        }
    }

    fn line(&self) -> String {
        format!(
            "{:<18}{:>8} orders {:>8.0}/s  p50 {:>7.2} ms  p99 {:>7.2} ms  p99.9 {:>7.2} ms  max \
             {:>7.2} ms  {} refused",
            self.load,
            self.orders,
            self.orders_per_second,
            self.p50_ms,
            self.p99_ms,
            self.p999_ms,
            self.max_ms,
            self.refused
        )
    }
}
