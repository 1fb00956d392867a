//! `cargo xtask openapi`: writes the committed HTTP contract anew from the code.
//!
//! Must not know the contract, nor compare it: a test of `abasto-api` does both, so that the gate
//! needs no build of its own for it.

use std::path::Path;

use anyhow::Result;

use crate::step::run as run_command;
use crate::workspace;

/// The test that compares the document with the code, or writes it when it is told to.
const TEST: &str = "test --quiet --package abasto-api --test http -- --exact \
                    document::the_committed_document_is_the_one_that_the_code_makes";
const WRITE: &str = "ABASTO_WRITE_OPENAPI";

/// Writes `openapi/v1.json`; what changed is seen in the diff.
///
/// # Errors
/// When the code does not build or the document cannot be written.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut command = workspace::cargo();
    command.args(TEST.split_whitespace()).current_dir(root);
    run_command(command.env(WRITE, "1"))
}
