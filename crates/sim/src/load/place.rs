//! Which server a measurement asks, as a person says it.
//!
//! Owns the arguments that all measurements of a server share.

use std::path::PathBuf;

use abasto_client::Endpoint;
use anyhow::Result;
use clap::Args;

use super::server::{Launch, Server};

/// A server that runs, or one to be started.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// A running server; needs the platform key, to open a business of its own.
    #[arg(long, requires = "platform_key", conflicts_with = "spawn")]
    url: Option<Endpoint>,

    /// The server's platform key.
    #[arg(long, env = "ABASTO_PLATFORM_KEY", hide_env_values = true)]
    platform_key: Option<String>,

    /// Start a server for the measurement.
    #[arg(long, required_unless_present = "url")]
    spawn: bool,

    /// The binary to start; by default the `abasto` beside this one.
    #[arg(long, value_name = "FILE", requires = "spawn")]
    binary: Option<PathBuf>,

    /// The folder of a new embedded store; by default one that goes away afterwards.
    #[arg(long, value_name = "FOLDER", requires = "spawn")]
    folder: Option<PathBuf>,

    /// The store of the server that is started, `sqlite:PATH` or `mongodb://…/DB?replicaSet=…`;
    /// by default a new embedded one.
    #[arg(
        long,
        value_name = "URL",
        requires = "spawn",
        conflicts_with = "folder"
    )]
    store: Option<String>,
}

impl Place {
    /// The server; one that is started gets these variables too.
    pub(crate) fn server(&self, variables: &[(&str, &str)]) -> Result<Server> {
        if let (Some(url), Some(key)) = (&self.url, &self.platform_key) {
            return Ok(Server::running(url.clone(), key));
        }
        let launch = Launch {
            binary: self.binary.as_deref(),
            folder: self.folder.as_deref(),
            store: self.store.as_deref(),
            variables,
        };
        launch.start()
    }
}
