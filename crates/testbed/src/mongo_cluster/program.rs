//! Where the server program is.
//!
//! Owns the order of the search. Must not fetch anything: `cargo xtask mongo install` does.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Error;

/// Names a server program to use before any other.
pub const PROGRAM_VARIABLE: &str = "TESTBED_MONGOD";

/// The first `mongod` of: `TESTBED_MONGOD`, `PATH`, and the one that was installed under `target/`.
///
/// # Errors
/// When there is none, with the places; a variable that names no file is an error too.
pub fn find_program() -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    search(env::var_os(PROGRAM_VARIABLE).map(PathBuf::from), &path)
}

fn search(named: Option<PathBuf>, path: &OsStr) -> Result<PathBuf, Error> {
    let candidates = match named {
        Some(named) => vec![named],
        None => {
            let folders = env::split_paths(path).map(|folder| folder.join("mongod"));
            folders.chain([installed_program()]).collect()
        }
    };
    candidates
        .iter()
        .find(|path| path.is_file())
        .cloned()
        .ok_or_else(|| {
            let shown = candidates.iter().map(|path| path.display().to_string());
            Error::NoMongod {
                looked_at: shown.collect::<Vec<_>>().join(", "),
            }
        })
}

/// Where `cargo xtask mongo install` puts the program.
#[must_use]
pub fn installed_program() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    workspace.join(target).join("mongod").join("mongod")
}

#[cfg(test)]
mod tests {
    //! The order of the search, and that a missing program is said loudly.

    use super::*;

    #[test]
    fn a_named_program_is_taken_or_nothing_is() {
        let here = tempfile::tempdir().unwrap();
        let program = here.path().join("mongod");
        let named = |path: &Path| search(Some(path.to_owned()), here.path().as_os_str());
        std::fs::write(&program, "").unwrap();
        assert_eq!(search(None, here.path().as_os_str()).unwrap(), program);
        assert_eq!(named(&program).unwrap(), program);
        let missing = named(&here.path().join("other")).unwrap_err().to_string();
        assert!(
            missing.contains("other") && missing.contains("xtask mongo install"),
            "{missing}"
        );
    }
}
