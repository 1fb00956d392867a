//! Carts under load: the three modes of Abasto beside the two locks that shops use instead.
//!
//! Owns the course of the measurement. All five are servers of their own, do the same work and are
//! asked by the same client, one after the other, so that they share nothing but the machine.

mod daemon;
mod document;
mod lock;
mod postgres;
mod redis;
mod run;
mod target;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use self::daemon::{Daemon, Folder};
use self::run::{Load, Row, Spread};
use self::target::Target;
use crate::load::say;
use crate::load::server::Launch;

pub use self::lock::{LockArguments, serve as serve_lock};

/// What is measured.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Clients at once, each with a connection.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64, 256],
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    clients: Vec<u16>,

    /// Carts of the load on many carts.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u16).range(2..=4096))]
    carts: u16,

    /// Seconds of each load; a fifth more comes before it to warm up.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,

    /// What is measured; by default all five.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Contender>,

    /// The store of Abasto, such as `mongodb://…/DB?replicaSet=…`; by default a new embedded one.
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// The binary to start; by default the `abasto` beside this one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Where the document goes.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/cart-decision-matrix.md"
    )]
    document: PathBuf,
}

/// A way to let many change one cart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Contender {
    /// Abasto, mode `crdt`.
    Crdt,
    /// Abasto, mode `events`.
    Events,
    /// Abasto, mode `occ`.
    Occ,
    /// A lock in Redis around read, modify, write.
    Redis,
    /// `SELECT … FOR UPDATE` in PostgreSQL.
    Postgres,
}

impl Contender {
    const ALL: [Self; 5] = [
        Self::Crdt,
        Self::Events,
        Self::Occ,
        Self::Redis,
        Self::Postgres,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Crdt => "crdt",
            Self::Events => "events",
            Self::Occ => "occ",
            Self::Redis => "Redis lock",
            Self::Postgres => "PostgreSQL row lock",
        }
    }
}

/// Measures, prints the table, writes the document.
pub fn run(arguments: &Arguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let rows = runtime.block_on(measure(arguments))?;
    let document = document::text(arguments.store.as_deref(), arguments.seconds, &rows);
    std::fs::write(&arguments.document, document)
        .with_context(|| format!("cannot write {}", arguments.document.display()))?;
    say(format_args!("{} is written.", arguments.document.display()));
    Ok(())
}

async fn measure(arguments: &Arguments) -> Result<Vec<Row>> {
    let chosen =
        |contender: &Contender| arguments.only.is_empty() || arguments.only.contains(contender);
    let mut rows = Vec::new();
    say(document::HEAD);
    for contender in Contender::ALL.into_iter().filter(chosen) {
        match contender {
            Contender::Redis => {
                let folder = Folder::new()?;
                let started = redis::start(&folder)?;
                behind_lock(arguments, contender, started, &mut rows).await?;
            }
            Contender::Postgres => {
                let folder = Folder::new()?;
                let started = postgres::start(&folder).await?;
                behind_lock(arguments, contender, started, &mut rows).await?;
            }
            Contender::Crdt | Contender::Events | Contender::Occ => {
                let launch = Launch {
                    binary: arguments.binary.as_deref(),
                    store: arguments.store.as_deref(),
                    ..Launch::default()
                };
                let server = launch.start()?;
                let target = Target::abasto(&server, contender.name()).await?;
                loads(arguments, contender, &target, &mut rows).await?;
                server.end()?;
            }
        }
    }
    Ok(rows)
}

/// The loads on carts behind a lock that was started, which ends with them.
async fn behind_lock(
    arguments: &Arguments,
    contender: Contender,
    (daemon, url): (Daemon, String),
    rows: &mut Vec<Row>,
) -> Result<()> {
    let server = Daemon::lock_server(&url)?;
    let target = Target::lock(server.endpoint()?);
    loads(arguments, contender, &target, rows).await?;
    server.end()?;
    daemon.end()
}

async fn loads(
    arguments: &Arguments,
    contender: Contender,
    target: &Target,
    rows: &mut Vec<Row>,
) -> Result<()> {
    for spread in [Spread::One, Spread::Many(usize::from(arguments.carts))] {
        for clients in &arguments.clients {
            let load = Load {
                contender: contender.name(),
                spread,
                clients: usize::from(*clients),
                time: Duration::from_secs(arguments.seconds),
            };
            let row = load.run(target).await?;
            say(document::line(&row));
            rows.push(row);
        }
    }
    Ok(())
}
