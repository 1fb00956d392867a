//! Where things are on this machine: the root of the workspace, cargo, installed tools.
//!
//! Must not know what is checked there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// The root of the workspace that this program was built from.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here
        .ancestors()
        .nth(2)
        .context("the xtask crate is not two folders deep")?;
    Ok(root.to_path_buf())
}

/// Whether `cargo <name>` can be called.
pub(crate) fn has_cargo_command(name: &str) -> bool {
    cargo()
        .args([name, "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The cargo that started this program, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
