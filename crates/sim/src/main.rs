//! `abasto-sim`: loads and searches that a person starts.
//!
//! Owns the command line. Never part of the product.

use std::process::ExitCode;

use abasto_sim::load::{self, Arguments};
use abasto_sim::{carts, flash_sale};
use clap::Parser;

/// Drives Abasto hard.
#[derive(Debug, Parser)]
#[command(name = "abasto-sim", version)]
enum Command {
    /// Orders per second over HTTP and their latency: many products, one product, half load.
    ///
    /// The table goes to stderr, JSON to stdout.
    Orders(Arguments),
    /// More shoppers than units, all at once, each from a cart to a paid order.
    ///
    /// The table goes to stderr, JSON to stdout. Fails when anything else comes of it than as many
    /// paid orders as there were units, and a clear refusal for everybody else.
    FlashSale(flash_sale::Arguments),
    /// Edits of carts over HTTP: the three modes beside a Redis lock and a PostgreSQL row lock.
    ///
    /// Needs the Debian packages `redis-server` and `postgresql`; starts and ends both itself.
    Carts(carts::Arguments),
    /// The server of a lock that `carts` compares with; `carts` starts it.
    #[command(hide = true)]
    CartLock(carts::LockArguments),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Orders(arguments) => load::run(&arguments),
        Command::FlashSale(arguments) => flash_sale::run(&arguments),
        Command::Carts(arguments) => carts::run(&arguments),
        Command::CartLock(arguments) => carts::serve_lock(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            load::say(format_args!("abasto-sim: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
