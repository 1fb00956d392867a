//! The load generator: orders over HTTP, closed loop for throughput, open loop for latency.
//!
//! Owns the course of a measurement. It shares the machine with the server that it measures, so it
//! runs on one thread and sends requests that are made with as little work as possible.

pub(crate) mod business;
pub(crate) mod latency;
pub(crate) mod place;
mod report;
mod run;
pub(crate) mod server;
mod shop;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use self::place::Place;
use self::report::Report;
use self::run::{Load, Pace};
use self::shop::{Range, Shop};

/// What is measured.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    place: Place,

    /// Clients at once, each with a connection.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    clients: u16,

    /// Products of the wide load.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u16).range(3..=10_000))]
    products: u16,

    /// Lines of an order in the wide load.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=200))]
    lines: u16,

    /// Seconds of each load; a fifth more comes before it to warm up.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

/// Writes a line to stderr. That nobody reads it is no failure.
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Measures and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(arguments))
}

async fn measure(arguments: &Arguments) -> Result<()> {
    let server = arguments.place.server(&[])?;
    say(format_args!("The server is at {}.", server.endpoint));
    let shop = Shop::open(&server, usize::from(arguments.products)).await;
    let shop = Arc::new(shop.context("opening a business with products and stock")?);
    let wide = Range {
        products: usize::from(arguments.products),
        lines: usize::from(arguments.lines),
    };
    let hot = Range {
        products: 1,
        lines: 1,
    };
    let mut report = Report::default();
    let load = |name, range, pace| Load {
        name,
        range,
        pace,
        clients: usize::from(arguments.clients),
        time: Duration::from_secs(arguments.seconds),
    };
    let full = load("wide", wide, Pace::Closed);
    let full = report.add(full.run(&server, &shop).await?);
    let one = load("hot", hot, Pace::Closed);
    let one = report.add(one.run(&server, &shop).await?);
    for (name, range, rate) in [
        ("wide, half load", wide, full),
        ("hot, half load", hot, one),
    ] {
        let half = load(name, range, Pace::Open { per_s: rate / 2.0 });
        report.add(half.run(&server, &shop).await?);
    }
    report.memory_mib = server.memory_mib();
    server.end()?;
    report.tell()
}
