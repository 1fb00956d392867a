//! The drift check: the committed HTTP contract equals what the code says.
//!
//! Must not know the contract; the server makes the document.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::step::shown;
use crate::workspace;

const DOCUMENT: &str = "openapi/v1.json";
const MAKE: &str = "run --quiet --locked --package abasto-server -- openapi";

/// Compares the committed document with the one that the server makes.
///
/// # Errors
/// When they differ or one of them cannot be had.
pub(crate) fn run(root: &Path) -> Result<()> {
    if !workspace::has_crate(root, "server") {
        eprintln!("The workspace has no server yet, so there is no document to compare.");
        return Ok(());
    }
    let mut command = workspace::cargo();
    command.args(MAKE.split_whitespace()).current_dir(root);
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` ended with {}:\n{said}",
            shown(&command),
            output.status
        );
    }
    let committed = std::fs::read(root.join(DOCUMENT));
    let committed = committed.with_context(|| format!("cannot read {DOCUMENT}"))?;
    match difference(&committed, &output.stdout) {
        None => Ok(()),
        Some(line) => bail!(
            "{DOCUMENT} differs from the code from line {line} on; `cargo {MAKE} > {DOCUMENT}` \
             writes it anew, and the difference belongs into review"
        ),
    }
}

/// The first line, counted from 1, that two texts do not share.
fn difference(committed: &[u8], made: &[u8]) -> Option<usize> {
    if committed == made {
        return None;
    }
    let lines = |text| <[u8]>::split(text, |byte| *byte == b'\n');
    let same = lines(committed)
        .zip(lines(made))
        .take_while(|(left, right)| left == right);
    Some(same.count() + 1)
}

#[cfg(test)]
mod tests {
    //! Every difference is seen and placed.

    use super::difference;

    #[test]
    fn the_first_difference_is_named_by_its_line() {
        assert_eq!(difference(b"a\nb\n", b"a\nb\n"), None);
        assert_eq!(difference(b"a\nb\n", b"a\nc\n"), Some(2));
        assert_eq!(difference(b"a\n", b"a\nb\n"), Some(2));
        assert_eq!(difference(b"", b"a\n"), Some(1));
    }
}
