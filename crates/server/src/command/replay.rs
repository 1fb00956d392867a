//! `abasto replay`: baskets of a file placed as real orders, and every sum compared.
//!
//! Owns the course: survey the file, find (or prepare) what it needs, place, report. Must not
//! compute a price: the server's totals are compared with the file's.

mod basket;
mod catalogue;
mod place;
mod prepare;
mod report;

use crate::cli::Replay;
use crate::exit::Failure;
use crate::output::{Format, say};

pub(super) fn run(arguments: &Replay, format: Format) -> Result<(), Failure> {
    let dialer = super::Dialer::new(&arguments.server)?;
    let survey = basket::Survey::of(&arguments.file)?;
    super::block_on(async move {
        let mut client = dialer.client()?;
        let found = catalogue::find(&mut client, &survey).await?;
        let found = if arguments.prepare {
            prepare::branches(&mut client, &survey, found).await?
        } else {
            found
        };
        found.check(&survey)?;
        if arguments.prepare {
            prepare::stock(&mut client, &survey, &found).await?;
        }
        say(format_args!(
            "{} baskets, {} clients",
            survey.baskets, arguments.clients
        ));
        let placed = place::all(&dialer, arguments, &survey, found).await?;
        report::tell(&survey, &placed, format)
    })
}
