//! Data on stdout, talk on stderr.
//!
//! Owns the two forms of data: tables for people, JSON for programs. Must not know what is shown.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

use crate::exit::Failure;

/// The form of the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Writes a line of talk. That nobody reads it is no failure.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes data in the wanted form.
pub(crate) fn show<T: Serialize>(
    format: Format,
    data: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    let mut written = match format {
        Format::Json => serde_json::to_string_pretty(data)
            .map_err(|error| io::Error::other(format!("cannot write JSON: {error}")))?,
        Format::Text => text(data),
    };
    if !written.is_empty() && !written.ends_with('\n') {
        written.push('\n');
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(written.as_bytes())?;
    Ok(stdout.flush()?)
}

/// A number and what it counts.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// A table whose columns are as wide as their widest cell.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(|cell| cell.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = line(&head.map(str::to_owned), widths);
    for row in rows {
        text.push_str(&line(row, widths));
    }
    text
}

fn line<const N: usize>(cells: &[String; N], widths: [usize; N]) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        line.push_str(&format!("{cell:<width$}  "));
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_stand_under_each_other() {
        let rows = [
            ["ñu".to_owned(), "1".to_owned()],
            ["a".to_owned(), String::new()],
        ];
        assert_eq!(table(["name", "n"], &rows), "name  n\nñu    1\na\n");
    }
}
