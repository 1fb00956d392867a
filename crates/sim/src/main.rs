//! `abasto-sim`: loads and searches that a person starts.
//!
//! Owns the command line. Never part of the product.

use std::process::ExitCode;

use abasto_sim::load::{self, Arguments};
use clap::Parser;

/// Drives Abasto hard.
#[derive(Debug, Parser)]
#[command(name = "abasto-sim", version)]
enum Command {
    /// Orders per second over HTTP and their latency: many products, one product, half load.
    ///
    /// The table goes to stderr, JSON to stdout.
    Orders(Arguments),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Orders(arguments) => load::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            load::say(format_args!("abasto-sim: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
