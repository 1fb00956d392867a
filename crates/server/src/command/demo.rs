//! `abasto demo`: an embedded store with a small bakery and a day of its orders, then the API.
//!
//! Owns when what is made and what is told of it. The making goes through the API like any
//! client's calls.

mod day;
mod seed;
mod state;

use std::io::{self, Write};
use std::net::SocketAddr;

use abasto_client::Endpoint;
use secrecy::{ExposeSecret, SecretString};

use self::seed::Made;
use super::serve::{announce, runtime};
use crate::app::Server;
use crate::cli::Demo;
use crate::config::{self, Config, Flag, StoreUrl};
use crate::exit::{Exit, Failure};
use crate::{secret, store};

/// Where the demo is kept when nothing says where.
const STORE: &str = "sqlite:abasto-demo.db";

pub(super) fn run(arguments: &Demo) -> Result<(), Failure> {
    let sources = super::sources(&arguments.sources, flags(arguments))?;
    let sources = sources.with_default("store", "the demo's default", STORE.into());
    let mut config = sources.config()?;
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
        tell(address, made.as_ref(), &config.store)?;
        if let Some(made) = made {
            made.shown(&state)?;
        }
        serving.await.map_err(|error| Failure::new(Exit::Failure, error))
    })
}

fn flags(arguments: &Demo) -> Vec<Flag> {
    let listen = arguments.listen.as_deref();
    let listen = listen.map(|listen| ("listen", "--listen", listen.into()));
    listen.into_iter().collect()
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
fn tell(address: SocketAddr, made: Option<&Made>, store: &StoreUrl) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let text = match made {
        Some(Made { key, .. }) => format!(
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
             stop this, delete all files whose name begins as that of {store}, and start again.\n\
             The routes are at http://{address}/docs\n",
        ),
    };
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.flush()?)
}
