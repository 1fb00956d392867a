//! `abasto migrate`: the store brought to the schema of this version, or asked what it lacks.

use crate::cli::Migrate;
use crate::exit::{Exit, Failure};
use crate::output::{Format, say, show};
use crate::store;

pub(super) fn run(arguments: &Migrate, format: Format) -> Result<(), Failure> {
    let config = super::sources(&arguments.sources, Vec::new())?.config()?;
    if !arguments.check {
        say(store::migrate(&config.store)?);
        return Ok(());
    }
    let lacks = store::lacks(&config.store)?;
    show(format, &lacks, |lacks| lacks.join("\n"))?;
    if lacks.is_empty() {
        say("Nothing to do.");
        return Ok(());
    }
    let what = "the store needs `abasto migrate`";
    Err(Failure::new(Exit::Failure, what))
}
