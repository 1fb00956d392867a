//! `cargo xtask check`: the whole gate, the same here and in CI.
//!
//! Owns the list of steps and their order: cheap ones first, tests last, so that their summary
//! closes the run. Must not know how a step works inside, nor start anything that tests need:
//! `cargo xtask test` does that and hands its surroundings in.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

use crate::step::{cargo, run as run_command, step};
use crate::test::Surroundings;
use crate::{tidy, workspace};

/// What the gate may leave out.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Leave out cargo-deny (bans, licences, sources).
    #[arg(long)]
    without_deny: bool,
}

/// What is done about the dependency rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deny {
    /// They are checked, and a missing cargo-deny is a failure.
    Required,
    /// They are checked where cargo-deny is installed; where it is not, the last line says so.
    WhereInstalled,
    /// They are left out because the caller said so.
    Skipped,
}

/// One run of the gate.
#[derive(Debug)]
pub(crate) struct Gate<'a> {
    pub(crate) root: &'a Path,
    pub(crate) deny: Deny,
}

/// A wrapper is allowed, not demanded, and two versions of others' crates are no fault of ours.
const DENY: &str = "deny --workspace check --allow unused-wrapper --allow duplicate \
                    bans licenses sources";
const CLIPPY: &str = "clippy --workspace --all-targets --locked -- -D warnings";
const DOC: &str = "doc --workspace --locked --no-deps --quiet";
const DOCTEST: &str = "test --workspace --locked --doc --quiet";
const NEXTEST: &str = "nextest run --workspace --locked --no-fail-fast";
const TEST: &str = "test --workspace --locked --no-fail-fast --lib --bins --tests";
const INSTALL_DENY: &str = "`cargo install --locked cargo-deny` brings the tool";

/// Runs the gate as a developer asks for it.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    let deny = match arguments.without_deny {
        true => Deny::Skipped,
        false => Deny::Required,
    };
    Gate { root, deny }.run(|| Ok(Surroundings::default()))
}

impl Gate<'_> {
    /// Runs every step in order and stops at the first failure; `surround` is called when only the
    /// tests are left.
    ///
    /// # Errors
    /// The first step that fails.
    pub(crate) fn run(&self, surround: impl FnOnce() -> Result<Surroundings>) -> Result<()> {
        let root = self.root;
        let deny = settle(self.deny)?;
        step("fmt", || cargo(root, "fmt --all --check"))?;
        step("tidy", || tidy::run(root))?;
        if deny == Deny::Required {
            step("deny", || cargo(root, DENY))?;
        }
        step("clippy", || cargo(root, CLIPPY))?;
        step("doc", || {
            run_command(self.command(DOC).env("RUSTDOCFLAGS", "-D warnings"))
        })?;
        step("doctests", || cargo(root, DOCTEST))?;
        let surroundings = surround()?;
        step("tests", || self.tests(&surroundings))?;
        if deny != Deny::Required {
            eprintln!("The dependency rules were not checked: {INSTALL_DENY}.");
        }
        eprintln!("The gate is green.");
        Ok(())
    }

    /// nextest where it is installed, else cargo's own runner: a user's machine has only Rust.
    fn tests(&self, surroundings: &Surroundings) -> Result<()> {
        let arguments = match workspace::has_cargo_command("nextest") {
            true => NEXTEST,
            false => TEST,
        };
        if arguments == TEST {
            eprintln!("cargo-nextest is not installed, so `cargo test` runs the tests.");
        }
        let environment = surroundings
            .environment
            .iter()
            .map(|(name, value)| (name, value));
        run_command(self.command(arguments).envs(environment))
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = workspace::cargo();
        command
            .args(arguments.split_whitespace())
            .current_dir(self.root);
        command
    }
}

/// Decides before the first step whether cargo-deny runs, so that nobody waits for a late refusal.
fn settle(wish: Deny) -> Result<Deny> {
    let installed = wish != Deny::Skipped && workspace::has_cargo_command("deny");
    match wish {
        Deny::Required if !installed => {
            bail!("cargo-deny is missing: {INSTALL_DENY}, `--without-deny` goes without")
        }
        Deny::WhereInstalled if installed => Ok(Deny::Required),
        settled => Ok(settled),
    }
}
