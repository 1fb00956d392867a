//! `abasto healthcheck`: exit 0 when a server is ready, 4 when not.

use abasto_client::{Call, Client, Retry};

use crate::cli::Address;
use crate::exit::{Exit, Failure};

pub(super) fn run(at: &Address) -> Result<(), Failure> {
    let mut client = Client::new(super::endpoint(at)?, None, Retry::NEVER)?;
    super::block_on(async {
        let ready = client.call(&Call::get("/readyz")).await;
        ready.map_err(|error| Failure::new(Exit::Unavailable, error))?;
        Ok(())
    })
}
