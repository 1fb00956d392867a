//! The shape of `docs/problems/<code>.md`, which the server shows under `/problems/<code>`.
//!
//! Must not know which codes exist: a test of the API walks the list both ways.

use super::{Fault, File, Rule};

/// The sections that every page begins with; others may follow.
const SECTIONS: [&str; 2] = ["What happened", "What to do"];

pub(super) const RULES: &[Rule] = &[Rule {
    name: "problem-page",
    asks: "named by its code, one title on line 1, `What happened`, `What to do`, none empty",
    check: problem_page,
}];

fn problem_page(file: &File) -> Vec<Fault> {
    let Some(name) = file.path.strip_prefix("docs/problems/") else {
        return Vec::new();
    };
    let code = name.strip_suffix(".md").unwrap_or_default();
    let mut faults = Vec::new();
    if !is_code(code) {
        faults.push(Fault::new(1, format!("{name} is not named by a code")));
    }
    let titles: Vec<_> = headings(file, "# ").map(|(line, _)| line).collect();
    if titles.as_slice() != [1] {
        faults.push(Fault::new(1, format!("titles on lines {titles:?}")));
    }
    let sections: Vec<_> = headings(file, "## ").collect();
    let names: Vec<_> = sections.iter().map(|(_, name)| *name).collect();
    if !names.starts_with(&SECTIONS) {
        faults.push(Fault::new(1, format!("sections {names:?}")));
    }
    let empty = sections
        .into_iter()
        .filter(|(line, _)| !has_text_below(file, *line));
    faults.extend(empty.map(|(line, name)| Fault::new(line, format!("{name} is empty"))));
    faults
}

fn is_code(code: &str) -> bool {
    code.split('-').all(|word| {
        !word.is_empty()
            && word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    })
}

/// The headings of one level with their lines, outside code blocks.
fn headings<'a>(file: &'a File, mark: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let mut in_code = false;
    file.lines().filter_map(move |(number, line)| {
        in_code ^= line.starts_with("```");
        let heading = line.strip_prefix(mark).filter(|_| !in_code)?.trim();
        (!heading.is_empty()).then_some((number, heading))
    })
}

/// Whether something other than a heading follows before the next heading.
fn has_text_below(file: &File, section: usize) -> bool {
    let next = file
        .lines()
        .skip(section)
        .find(|(_, line)| !line.trim().is_empty());
    next.is_some_and(|(_, line)| !line.starts_with('#'))
}
