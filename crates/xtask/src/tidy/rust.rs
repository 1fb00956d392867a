//! Rules on Rust text that clippy does not state, or states less strictly.
//!
//! Must not repeat what a lint of the workspace already refuses everywhere.

use super::source::{Source, words};
use super::{Fault, File, Rule};

/// Lines of a file that are not only for tests.
const FILE_LINES: usize = 400;
/// Lines between the braces of a function.
const FUNCTION_LINES: usize = 70;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "file-length",
        asks: "at most 400 lines, tests apart: find the second thing that this file does",
        check: file_length,
    },
    Rule {
        name: "function-length",
        asks: "at most 70 lines, tests apart: the reader should see it whole",
        check: function_length,
    },
    Rule {
        name: "module-doc",
        asks: "every module opens with `//!`: what it owns and what it must not know",
        check: module_doc,
    },
    Rule {
        name: "bare-allow",
        asks: "`#[expect(lint, reason = \"…\")]` goes away by itself, `allow` stays for ever",
        check: bare_allow,
    },
    Rule {
        name: "unfinished-code",
        asks: "finish it or leave it out: no todo!, no unimplemented!, no ignored test",
        check: unfinished_code,
    },
    Rule {
        name: "empty-name",
        asks: "name the thing by what it is in the field",
        check: empty_name,
    },
    Rule {
        name: "unwrap",
        asks: "outside tests an error is returned, with the field that it is about",
        check: unwrap,
    },
];

fn file_length(file: &File) -> Vec<Fault> {
    let Some(source) = &file.rust else {
        return Vec::new();
    };
    let lines = source
        .lines()
        .filter(|(line, _)| !is_test(file, source, *line))
        .count();
    let too_long = lines > FILE_LINES;
    too_long
        .then(|| Fault::new(1, format!("{lines} lines")))
        .into_iter()
        .collect()
}

fn function_length(file: &File) -> Vec<Fault> {
    let Some(source) = &file.rust else {
        return Vec::new();
    };
    source
        .functions()
        .into_iter()
        .filter(|function| function.body_lines > FUNCTION_LINES)
        // A scenario is read from top to bottom; clippy holds the functions that it calls.
        .filter(|function| !is_test(file, source, function.line))
        .map(|function| {
            let found = format!("{} has {} lines", function.name, function.body_lines);
            Fault::new(function.line, found)
        })
        .collect()
}

fn module_doc(file: &File) -> Vec<Fault> {
    let documented = file.lines().any(|(_, line)| line.starts_with("//!"));
    if file.rust.is_none() || documented {
        return Vec::new();
    }
    vec![Fault::new(1, "no `//!`")]
}

fn bare_allow(file: &File) -> Vec<Fault> {
    on_code(file, |line| {
        let attribute = line.trim_start().starts_with('#');
        attribute && words(line).any(|(_, word)| word == "allow")
    })
}

fn unfinished_code(file: &File) -> Vec<Fault> {
    let macros = ["todo!", "unimplemented!", "#[ignore"];
    on_code(file, |line| {
        macros.iter().any(|unfinished| line.contains(unfinished))
    })
}

/// Words that say nothing at the end of a type's name, or as the name of a module.
const EMPTY: [&str; 6] = ["Manager", "Helper", "Util", "Utils", "Service", "Impl"];

fn empty_name(file: &File) -> Vec<Fault> {
    let Some(source) = &file.rust else {
        return Vec::new();
    };
    let stem = file
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    let module = EMPTY.iter().any(|empty| {
        let plural = format!("{empty}s");
        stem.eq_ignore_ascii_case(empty) || stem.eq_ignore_ascii_case(&plural)
    });
    let mut faults: Vec<_> = module.then(|| Fault::new(1, stem)).into_iter().collect();
    for (number, line) in source.lines() {
        let mut previous = "";
        for (_, word) in words(line) {
            let declares = matches!(previous, "struct" | "enum" | "trait" | "union");
            if declares && EMPTY.iter().any(|empty| word.ends_with(empty)) {
                faults.push(Fault::new(number, word));
            }
            previous = word;
        }
    }
    faults
}

fn unwrap(file: &File) -> Vec<Fault> {
    let Some(source) = &file.rust else {
        return Vec::new();
    };
    let mut faults = on_code(file, |line| {
        line.contains(".unwrap()") || line.contains(".expect(")
    });
    faults.retain(|fault| !is_test(file, source, fault.line));
    faults
}

fn is_test(file: &File, source: &Source, line: usize) -> bool {
    file.is_test() || source.is_test(line)
}

/// The lines of code for which `broken` holds.
fn on_code(file: &File, broken: impl Fn(&str) -> bool) -> Vec<Fault> {
    let lines = file.rust.iter().flat_map(Source::lines);
    lines
        .filter(|(_, line)| broken(line))
        .map(|(number, line)| Fault::new(number, line.trim()))
        .collect()
}
