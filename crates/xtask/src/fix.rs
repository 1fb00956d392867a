//! `cargo xtask fix`: repairs what tools can repair without a person's judgement.
//!
//! Must not change anything that the gate does not ask for.

use std::path::Path;

use anyhow::Result;

use crate::step::{cargo, step};

const CLIPPY: &str = "clippy --fix --workspace --all-targets --allow-dirty --allow-staged";

/// Applies clippy's own answers, then formats.
///
/// # Errors
/// When one of the two does not end with success.
pub(crate) fn run(root: &Path) -> Result<()> {
    step("clippy --fix", || cargo(root, CLIPPY))?;
    step("fmt", || cargo(root, "fmt --all"))
}
