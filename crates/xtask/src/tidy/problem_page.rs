//! The shape of `docs/problems/<code>.md`, which the server shows under `/problems/<code>`.
//!
//! Must not know which codes exist: a test of the API walks the list both ways.

use super::{Fault, File, Rule};

pub(super) const RULES: &[Rule] = &[Rule {
    name: "problem-page",
    asks: "named by its code, one title on line 1, two or more sections, none of them empty",
    check: problem_page,
}];

fn problem_page(file: &File) -> Vec<Fault> {
    let Some(name) = file.path.strip_prefix("docs/problems/") else {
        return Vec::new();
    };
    let Some(code) = name.strip_suffix(".md").filter(|code| is_code(code)) else {
        return vec![Fault::new(1, format!("{name} is not named by a code"))];
    };
    let titles: Vec<_> = headings(file, "# ").collect();
    let sections: Vec<_> = headings(file, "## ").collect();
    let mut faults = Vec::new();
    if titles.as_slice() != [1] {
        faults.push(Fault::new(
            1,
            format!("{code} has titles on lines {titles:?}"),
        ));
    }
    if sections.len() < 2 {
        faults.push(Fault::new(
            1,
            format!("{code} has {} sections", sections.len()),
        ));
    }
    let empty = sections
        .into_iter()
        .filter(|section| !has_text_below(file, *section));
    faults.extend(empty.map(|section| Fault::new(section, "an empty section")));
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

/// The lines of the headings of one level, outside code blocks.
fn headings(file: &File, mark: &str) -> impl Iterator<Item = usize> {
    let mut in_code = false;
    file.lines().filter_map(move |(number, line)| {
        in_code ^= line.starts_with("```");
        let is_heading = line
            .strip_prefix(mark)
            .is_some_and(|text| !text.trim().is_empty());
        (is_heading && !in_code).then_some(number)
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
