//! `abasto migrate`: the store brought to the schema of this version, or asked what it lacks.

use crate::cli::Migrate;
use crate::exit::{Exit, Failure};
use crate::output::{Format, say, show};
use crate::store;

const NOTHING: &str = "The store has the schema of this version.";

pub(super) fn run(arguments: &Migrate, format: Format) -> Result<(), Failure> {
    let config = super::sources(&arguments.sources, Vec::new())?.config()?;
    if !arguments.check {
        let done = super::block_on(store::migrate(&config.store))?;
        done.iter().for_each(say);
        if done.is_empty() {
            say(NOTHING);
        }
        return Ok(());
    }
    let lacks = super::block_on(store::lacks(&config.store))?;
    show(format, &lacks, |lacks| lacks.join("\n"))?;
    if lacks.is_empty() {
        say(NOTHING);
        return Ok(());
    }
    let what = "the store needs `abasto migrate`";
    Err(Failure::new(Exit::Failure, what))
}
