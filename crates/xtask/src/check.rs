//! `cargo xtask check`: the whole gate, the same here and in CI.
//!
//! Owns the list of steps and their order, cheapest first. Must not know how a step works inside,
//! nor start anything that tests need: `cargo xtask test` does that and then calls this.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::step::{cargo, run as run_command, shown, step};
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

/// Runs the gate as a developer asks for it.
///
/// # Errors
/// The first step that fails.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<()> {
    gate(
        root,
        if arguments.without_deny {
            Deny::Skipped
        } else {
            Deny::Required
        },
    )
}

/// Runs every step in order and stops at the first failure.
///
/// # Errors
/// The first step that fails.
pub(crate) fn gate(root: &Path, deny: Deny) -> Result<()> {
    let deny = settle(deny)?;
    step("fmt", || cargo(root, "fmt --all --check"))?;
    step("tidy", || tidy::run(root))?;
    if deny == Deny::Required {
        step("deny", || cargo(root, DENY))?;
    }
    step("clippy", || cargo(root, CLIPPY))?;
    step("doc", || documents(root))?;
    step("tests", || tests(root))?;
    step("doctests", || {
        cargo(root, "test --workspace --locked --doc --quiet")
    })?;
    step("openapi", || openapi(root))?;
    match deny {
        Deny::Required => eprintln!("The gate is green."),
        Deny::WhereInstalled | Deny::Skipped => {
            eprintln!("Green, but the dependency rules were not checked: {INSTALL_DENY}");
        }
    }
    Ok(())
}

/// A wrapper is allowed, not demanded, and two versions of others' crates are no fault of ours.
const DENY: &str = "deny --workspace check --allow unused-wrapper --allow duplicate \
                    bans licenses sources";
const CLIPPY: &str = "clippy --workspace --all-targets --locked -- -D warnings";
const INSTALL_DENY: &str = "`cargo install --locked cargo-deny` brings the tool";

/// Decides before the first step whether cargo-deny runs, so that nobody waits for a late refusal.
fn settle(wish: Deny) -> Result<Deny> {
    let installed = wish != Deny::Skipped && workspace::has_cargo_command("deny");
    match wish {
        Deny::Required if !installed => {
            bail!("cargo-deny is missing: {INSTALL_DENY}, `--without-deny` goes without");
        }
        Deny::WhereInstalled if installed => Ok(Deny::Required),
        settled => Ok(settled),
    }
}

fn documents(root: &Path) -> Result<()> {
    run_command(
        workspace::cargo()
            .args(["doc", "--workspace", "--locked", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings")
            .current_dir(root),
    )
}

/// nextest where it is installed, else cargo's own runner: a user's machine has only Rust.
fn tests(root: &Path) -> Result<()> {
    if workspace::has_cargo_command("nextest") {
        cargo(root, "nextest run --workspace --locked --no-fail-fast")
    } else {
        eprintln!("cargo-nextest is not installed, so `cargo test` runs the tests.");
        cargo(
            root,
            "test --workspace --locked --no-fail-fast --lib --bins --tests",
        )
    }
}

/// Compares the committed contract with what the code says.
fn openapi(root: &Path) -> Result<()> {
    if !workspace::has_crate(root, "server") {
        eprintln!("The workspace has no server yet, so there is no document to compare.");
        return Ok(());
    }
    let mut command = workspace::cargo();
    command.args([
        "run",
        "--quiet",
        "--locked",
        "-p",
        "abasto-server",
        "--",
        "openapi",
    ]);
    let output = command
        .current_dir(root)
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` ended with {}:\n{said}",
            shown(&command),
            output.status
        );
    }
    let path = root.join("openapi/v1.json");
    let committed = std::fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
    if committed == output.stdout {
        return Ok(());
    }
    bail!(
        "openapi/v1.json differs from the code{}; `cargo run -p abasto-server -- openapi > \
         openapi/v1.json` writes it anew, and the difference belongs into review",
        first_difference(&committed, &output.stdout)
    )
}

/// Where two texts part, for the message.
fn first_difference(committed: &[u8], made: &[u8]) -> String {
    let mut pairs = committed
        .split(|b| *b == b'\n')
        .zip(made.split(|b| *b == b'\n'));
    match pairs.position(|(left, right)| left != right) {
        Some(index) => format!(" from line {}", index + 1),
        None => " in its length".to_owned(),
    }
}
