//! `abasto completions`: what a shell needs to complete our commands.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Failure;

pub(super) fn run(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "abasto", &mut script);
    Ok(io::Write::write_all(&mut io::stdout(), &script)?)
}
