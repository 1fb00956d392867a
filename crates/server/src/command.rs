//! The commands, one file each.
//!
//! Owns which file runs which command, and what they share: a client from flags, a small runtime.

mod businesses;
mod completions;
mod config;
mod demo;
mod healthcheck;
mod import;
mod keys;
mod migrate;
mod openapi;
mod reconcile;
mod replay;
mod sandbox;
mod serve;

use abasto_client::{Client, Endpoint, Retry};

use crate::cli::{Address, Cli, Command, Server, Sources};
use crate::config::{self as configuration, Flag};
use crate::exit::{During, Exit, Failure};
use crate::output::say;

/// Runs the command.
pub(crate) fn run(cli: Cli) -> Result<(), Failure> {
    let format = cli.output;
    match cli.command {
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Migrate(arguments) => migrate::run(&arguments, format),
        Command::Reconcile(arguments) => reconcile::run(&arguments, format),
        Command::Openapi => openapi::run(),
        Command::Import { server, what } => import::run(&server, what, format),
        Command::Replay(arguments) => replay::run(&arguments, format),
        Command::Sandbox(arguments) => sandbox::run(&arguments, format),
        Command::Keys { server, what } => keys::run(&server, what, format),
        Command::Businesses { server, what } => businesses::run(&server, what, format),
        Command::Config { sources, what } => config::run(&sources, what, format),
        Command::Healthcheck { at } => healthcheck::run(&at),
        Command::Completions { shell } => completions::run(shell),
    }
}

/// The sources of the configuration, the flags that every command has included.
fn sources(of: &Sources, mut flags: Vec<Flag>) -> Result<configuration::Sources, Failure> {
    if let Some(store) = &of.store {
        flags.push(("store", "--store", store.as_str().into()));
    }
    let environment = configuration::environment();
    let file = of.config.as_deref();
    Ok(configuration::Sources::read(file, &environment, flags)?)
}

/// Runs a future on this thread alone: a client waits more than it works.
fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .during(|| "cannot start the runtime")?
        .block_on(future)
}

fn endpoint(at: &Address) -> Result<Endpoint, Failure> {
    let url = at.url.parse();
    url.map_err(|invalid| Failure::new(Exit::Usage, invalid))
}

/// Makes clients of one server under one credential.
struct Dialer {
    endpoint: Endpoint,
    key: String,
}

impl Dialer {
    fn new(server: &Server) -> Result<Self, Failure> {
        let key = match (&server.key, &server.key_file) {
            (Some(key), _) => key.clone(),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(path);
                text.during(|| format!("cannot read {}", path.display()))?
            }
            (None, None) => {
                let missing = "this needs a credential: --key, ABASTO_KEY, or --key-file";
                return Err(Failure::new(Exit::Usage, missing));
            }
        };
        Ok(Self {
            endpoint: endpoint(&server.at)?,
            key: key.trim().to_owned(),
        })
    }

    fn client(&self) -> Result<Client, Failure> {
        let client = Client::new(self.endpoint.clone(), Some(&self.key), Retry::PATIENT);
        Ok(client?.on_unreachable(|lost, bound| {
            say(format_args!(
                "abasto: {lost}; trying again for {} s",
                bound.as_secs()
            ));
        }))
    }
}

/// The secret in the answer that shows it once.
fn secret_of(created: &serde_json::Value) -> &str {
    let key = created.get("apiKey").unwrap_or(created);
    let secret = key.get("secret").and_then(|secret| secret.as_str());
    secret.unwrap_or_default()
}
