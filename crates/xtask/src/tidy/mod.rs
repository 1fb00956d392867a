//! `tidy`: rules on the text of the repository that no compiler checks.
//!
//! Owns the list of rules and how their findings are shown. A rule looks at one file and says where
//! it is broken; it must not look at other files, change anything, or know about exceptions by name.

mod file;
mod manifest;
mod problem_page;
mod rust;
mod source;
mod text;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::file::File;

/// One rule: its name, what it asks for, and where a file breaks it.
#[derive(Debug)]
struct Rule {
    name: &'static str,
    asks: &'static str,
    check: fn(&File) -> Vec<Fault>,
}

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    /// Counted from 1; the whole file is line 1.
    line: usize,
    /// What stands there.
    found: String,
}

impl Fault {
    fn new(line: usize, found: impl Into<String>) -> Self {
        Self {
            line,
            found: found.into(),
        }
    }
}

/// Every rule, text first.
fn rules() -> impl Iterator<Item = &'static Rule> {
    text::RULES
        .iter()
        .chain(rust::RULES)
        .chain(manifest::RULES)
        .chain(problem_page::RULES)
}

/// Checks every file that belongs to the repository.
///
/// # Errors
/// When a rule is broken; every finding is printed first.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut findings = 0_usize;
    let paths = paths(root)?;
    for path in &paths {
        let bytes = match std::fs::read(root.join(path)) {
            Ok(bytes) => bytes,
            // Deleted in the work tree and not yet in the index.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        let file = File::new(path, bytes);
        for (rule, fault) in broken(&file) {
            findings += 1;
            eprintln!(
                "{path}:{}: {}: {} ({})",
                fault.line, rule.name, fault.found, rule.asks
            );
        }
    }
    if findings > 0 {
        bail!("{findings} findings in {} files", paths.len());
    }
    Ok(())
}

/// Each broken rule of one file.
fn broken(file: &File) -> Vec<(&'static Rule, Fault)> {
    rules()
        .flat_map(|rule| {
            (rule.check)(file)
                .into_iter()
                .map(move |fault| (rule, fault))
        })
        .collect()
}

/// What git tracks or would track, relative to the root.
fn paths(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .current_dir(root)
        .output()
        .context("tidy asks git for the list of files and cannot start it")?;
    if !output.status.success() {
        bail!(
            "tidy needs a git checkout: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    Ok(listing.split_terminator('\0').map(str::to_owned).collect())
}
