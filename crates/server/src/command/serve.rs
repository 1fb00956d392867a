//! `abasto serve`: the API until a signal.

use std::io::{self, Write};
use std::net::SocketAddr;

use tokio::runtime::{Builder, Runtime};

use crate::app::Server;
use crate::cli::Serve;
use crate::config::{self, Config, Flag};
use crate::exit::{During, Failure};

pub(super) fn run(arguments: &Serve) -> Result<(), Failure> {
    let config = super::sources(&arguments.sources, flags(arguments))?.config()?;
    let runtime = runtime(&config)?;
    runtime.block_on(async {
        let server = Server::start(&config, &config::environment()).await?;
        announce(server.address()?)?;
        server.run().await;
        Ok(())
    })
    // With the runtime the last owners of the store go, which lets its writer finish.
}

fn flags(arguments: &Serve) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    if let Some(listen) = &arguments.listen {
        flags.push(("listen", "--listen", listen.as_str().into()));
    }
    if arguments.no_rate_limit {
        flags.push(("rate_limit.enabled", "--no-rate-limit", false.into()));
    }
    flags
}

/// The runtime that serves: as many threads as configured, else as there are cores.
pub(super) fn runtime(config: &Config) -> Result<Runtime, Failure> {
    let mut builder = Builder::new_multi_thread();
    if config.threads > 0 {
        builder.worker_threads(config.threads);
    }
    builder
        .enable_all()
        .build()
        .during(|| "cannot start the runtime")
}

/// Says on stdout that the server is ready and where.
pub(super) fn announce(address: SocketAddr) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "abasto {version} is ready at http://{address}")?;
    Ok(stdout.flush()?)
}
