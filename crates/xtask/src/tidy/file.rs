//! One file as the rules see it.
//!
//! Owns what kind of file it is (text, Rust, test). Must not know any rule.

use super::source::Source;

/// A file of the repository.
#[derive(Debug)]
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) size_bytes: usize,
    /// Nothing for a binary file.
    pub(super) text: Option<String>,
    /// Nothing for anything but Rust.
    pub(super) rust: Option<Source>,
}

impl File {
    pub(super) fn new(path: &str, bytes: Vec<u8>) -> Self {
        let size_bytes = bytes.len();
        let text = String::from_utf8(bytes)
            .ok()
            .filter(|text| !text.contains('\0'));
        let rust = text
            .as_deref()
            .filter(|_| path.ends_with(".rs"))
            .map(Source::parse);
        Self {
            path: path.to_owned(),
            size_bytes,
            text,
            rust,
        }
    }

    /// Whether none of it ships: `tests/`, `tests.rs`, `…_tests.rs`, benches, examples.
    pub(super) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/').rev();
        let name = parts.next().unwrap_or_default();
        name == "tests.rs"
            || name.ends_with("_tests.rs")
            || parts.any(|folder| matches!(folder, "tests" | "benches" | "examples"))
    }

    /// Whether people wrote it, so that rules on wording make sense.
    pub(super) fn is_prose(&self) -> bool {
        !self.path.ends_with("Cargo.lock") && !self.path.starts_with("testdata/")
    }

    /// Lines with their number, counted from 1; none for a binary file.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .iter()
            .flat_map(|text| text.lines())
            .enumerate()
            .map(|(i, line)| (i + 1, line))
    }
}
