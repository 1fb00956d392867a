//! `cargo xtask`: the whole gate, and the commands that only developers need.
//!
//! Owns how the project is checked, one module per command. Must not know what the product does:
//! no rule of the business is checked here, only the shape of the code, and the tests are run.
#![expect(clippy::print_stderr, reason = "a terminal program talks to its user")]

mod check;
mod fix;
mod mongo;
mod openapi;
mod step;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The developer's commands of Abasto.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The whole gate: format, lints, dependencies, tidy, documents, tests. What CI runs.
    Check(check::Arguments),
    /// Start what the tests need, run the whole gate, stop what was started.
    Test,
    /// Repair what tools can repair: format, and lints with a machine-applicable answer.
    Fix,
    /// A real MongoDB replica set for tests.
    #[command(subcommand)]
    Mongo(mongo::Action),
    /// Write openapi/v1.json anew from the code.
    Openapi,
    /// Only the rules on the text of the repository (a few milliseconds).
    Tidy,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let root = workspace::root()?;
    match arguments.command {
        Command::Check(arguments) => check::run(&root, &arguments),
        Command::Test => test::run(&root),
        Command::Fix => fix::run(&root),
        Command::Mongo(action) => mongo::run(&action),
        Command::Openapi => openapi::run(&root),
        Command::Tidy => tidy::run(&root),
    }
}
