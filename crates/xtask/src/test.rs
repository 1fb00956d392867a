//! `cargo xtask test`: starts what the tests need, runs the gate, stops what it started.
//!
//! Owns the surroundings of the tests. Must not know what the gate checks.

use std::path::Path;

use anyhow::Result;

use crate::check::{Deny, gate};

/// Runs the whole gate with the surroundings that its tests need.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(root: &Path) -> Result<()> {
    gate(root, Deny::WhereInstalled)
}
