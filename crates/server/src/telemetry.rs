//! Logs and metrics of the process.
//!
//! Owns their form and where they go. Must not name a metric of another ring except for its
//! buckets.

use std::io::{self, IsTerminal};
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

use crate::config::{Environment, Log, LogFormat};
use crate::exit::{Exit, Failure};

/// Bounds of buckets in seconds: from a commit on a fast disk to what nobody waits for.
const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.0, 4.0, 16.0,
];
/// Bounds of buckets for sizes of groups, and for how many things something holds.
const SIZES: [f64; 11] = [
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];
/// Bounds of buckets for sizes in bytes, up to the largest cart.
const BYTES: [f64; 7] = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 65_536.0, 262_144.0];
/// How often samples are folded into buckets; without it they would pile up between scrapes.
const UPKEEP: Duration = Duration::from_secs(5);

/// Sends logs to stderr: text for people, JSON for programs.
pub(crate) fn start_log(log: &Log, environment: &Environment) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(&log.filter);
    let filter = filter.map_err(|error| {
        Failure::new(
            Exit::Config,
            format_args!("log.filter {:?}: {error}", log.filter),
        )
    })?;
    let terminal = io::stderr().is_terminal();
    let color = terminal && environment.get("NO_COLOR").is_none_or(String::is_empty);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(color);
    let started = match log.format {
        LogFormat::Auto if !terminal => builder.json().flatten_event(true).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Auto | LogFormat::Text => builder.with_target(false).try_init(),
    };
    started.map_err(|error| Failure::new(Exit::Failure, error))
}

/// Collects metrics in this process; the handle renders them.
pub(crate) fn start_metrics() -> Result<PrometheusHandle, Failure> {
    let seconds = Matcher::Suffix("_seconds".to_owned());
    let sizes = Matcher::Suffix("_size".to_owned());
    let entries = Matcher::Suffix("_entries".to_owned());
    let bytes = Matcher::Suffix("_bytes".to_owned());
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(seconds, &SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(sizes, &SIZES))
        .and_then(|builder| builder.set_buckets_for_metric(entries, &SIZES))
        .and_then(|builder| builder.set_buckets_for_metric(bytes, &BYTES))
        .and_then(PrometheusBuilder::install_recorder);
    let handle = handle.map_err(|error| Failure::new(Exit::Failure, error))?;
    metrics::gauge!("abasto_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(handle)
}
