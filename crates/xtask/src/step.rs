//! One step of a command: it has a name, takes time, and says in one line how it ended.
//!
//! Must not know which steps there are.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// Does `work` under the heading `name` and reports how long it took.
///
/// # Errors
/// That of `work`, with the name of the step in front.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("── {name}");
    let start = Instant::now();
    let outcome = work();
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(made) => {
            eprintln!("── {name}: ok, {seconds:.1} s");
            Ok(made)
        }
        Err(error) => Err(error).with_context(|| format!("{name} failed after {seconds:.1} s")),
    }
}

/// Runs `cargo` in `root` with the words of `arguments` and passes its output through.
///
/// # Errors
/// When it cannot be started or does not end with success.
pub(crate) fn cargo(root: &Path, arguments: &str) -> Result<()> {
    run(workspace::cargo()
        .args(arguments.split_whitespace())
        .current_dir(root))
}

/// Runs a command to its end and passes its output through.
///
/// # Errors
/// When it cannot be started or does not end with success.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` ended with {status}");
    }
    Ok(())
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or_else(|| command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
