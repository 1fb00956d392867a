//! `abasto openapi`: the published contract, made from the code.

use std::io::{self, Write};

use crate::exit::{Exit, Failure};

pub(super) fn run() -> Result<(), Failure> {
    let document = serde_json::to_string_pretty(&abasto_api::document());
    let document = document.map_err(|error| Failure::new(Exit::Failure, error))?;
    let mut stdout = io::stdout().lock();
    Ok(writeln!(stdout, "{document}")?)
}
