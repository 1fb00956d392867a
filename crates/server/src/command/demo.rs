//! `abasto demo`: an embedded store with a small bakery and a day of its orders, then the API.
//!
//! Owns when what is made and what is told of it. The making goes through the API like any
//! client's calls.

mod day;
mod seed;
mod state;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;

use abasto_client::Endpoint;
use secrecy::{ExposeSecret, SecretString};

use super::serve::{announce, runtime};
use crate::app::Server;
use crate::cli::Demo;
use crate::config::{self, Config, Flag};
use crate::exit::{Exit, Failure};
use crate::{secret, store};

/// Where the demo is kept unless a flag says otherwise.
const STORE: &str = "sqlite:abasto-demo.db";

pub(super) fn run(arguments: &Demo) -> Result<(), Failure> {
    let mut config = super::sources(&arguments.sources, flags(arguments))?.config()?;
    let platform_key = platform_key(&mut config)?;
    let Some(state) = store::beside(&config.store, ".demo.json") else {
        let why = "the demo makes an embedded store: --store sqlite:PATH";
        return Err(Failure::new(Exit::Usage, why));
    };
    let runtime = runtime(&config)?;
    runtime.block_on(async {
        let server = Server::start(&config, &config::environment()).await?;
        let address = server.address()?;
        let endpoint = format!("http://{address}").parse::<Endpoint>();
        let endpoint = endpoint.map_err(|error| Failure::new(Exit::Failure, error))?;
        let mut serving = tokio::spawn(server.run());
        let made = tokio::select! {
            made = seed::seed(endpoint, platform_key.expose_secret(), &state) => made?,
            ended = &mut serving => return ended.map_err(|error| Failure::new(Exit::Failure, error)),
        };
        announce(address)?;
        tell(address, made.as_deref(), &state)?;
        serving.await.map_err(|error| Failure::new(Exit::Failure, error))
    })
}

fn flags(arguments: &Demo) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    if arguments.sources.store.is_none() {
        flags.push(("store", "of the demo", STORE.into()));
    }
    if let Some(listen) = &arguments.listen {
        flags.push(("listen", "--listen", listen.as_str().into()));
    }
    flags
}

/// The operator's credential: the configured one, else one that only this process knows.
fn platform_key(config: &mut Config) -> Result<SecretString, Failure> {
    let key = match config.platform_key.take() {
        Some(key) => key,
        None => secret::hex(&secret::random()?).into(),
    };
    config.platform_key = Some(key.clone());
    Ok(key)
}

/// Says how to look around.
fn tell(address: SocketAddr, key: Option<&str>, state: &Path) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let text = match key {
        Some(key) => format!(
            "\nThe business \"{}\" has three branches, 40 products and a day of orders.\n\
             Its owner key, shown this once:\n\n  {key}\n\n\
             Look around with it:\n\n  \
             export ABASTO_KEY={key}\n  \
             curl -H \"Authorization: Bearer $ABASTO_KEY\" http://{address}/v1/orders\n  \
             curl -H \"Authorization: Bearer $ABASTO_KEY\" 'http://{address}/v1/products?q=pan'\n\n\
             The routes are at http://{address}/docs\n",
            day::BUSINESS
        ),
        None => format!(
            "\nThe demo of an earlier start is served; its owner key was shown then. To begin anew,\n\
             stop this, delete {} and start again.\n\
             The routes are at http://{address}/docs\n",
            state.display()
        ),
    };
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
