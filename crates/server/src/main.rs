//! `abasto`: the binary. Reads the command line, runs one command, ends with its code.
//!
//! Owns the way from a failure to an exit code and a line. Must not know what a command does.

mod app;
mod cli;
mod command;
mod config;
mod exit;
mod gateway;
mod http;
mod lines;
mod output;
mod secret;
mod signal;
mod store;
mod telemetry;
mod tokens;
mod worker;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match command::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                output::say(format_args!("abasto: {message}"));
            }
            ExitCode::from(failure.exit() as u8)
        }
    }
}
