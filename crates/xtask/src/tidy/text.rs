//! Rules on every text of the repository, and on the size of every file.
//!
//! Must not know Rust. The words looked for are put together from parts, so that this file obeys
//! its own rules.

use super::source::words;
use super::{Fault, File, Rule};

/// A repository is cloned by people on slow lines.
const FILE_BYTES: usize = 1024 * 1024;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "file-size",
        asks: "at most 1 MiB: keep an extract and say where the whole is from",
        check: file_size,
    },
    Rule {
        name: "last-newline",
        asks: "a text ends with a newline",
        check: last_newline,
    },
    Rule {
        name: "unfinished-text",
        asks: "open work is an issue, not a note in the text",
        check: unfinished_text,
    },
    Rule {
        name: "machine-path",
        asks: "a path of one machine means nothing on another: take it as an argument",
        check: machine_path,
    },
    Rule {
        name: "registry-host",
        asks: "name the package; which mirror it comes from is the reader's own choice",
        check: registry_host,
    },
    Rule {
        name: "making",
        asks: "the text is about the product, not about how it came to be",
        check: making,
    },
];

fn file_size(file: &File) -> Vec<Fault> {
    let too_big = file.size_bytes > FILE_BYTES;
    too_big
        .then(|| Fault::new(1, format!("{} bytes", file.size_bytes)))
        .into_iter()
        .collect()
}

fn last_newline(file: &File) -> Vec<Fault> {
    let open = |text: &&String| !text.is_empty() && !text.ends_with('\n');
    let text = file.text.as_ref().filter(open);
    text.map(|text| Fault::new(text.lines().count(), "no newline"))
        .into_iter()
        .collect()
}

fn unfinished_text(file: &File) -> Vec<Fault> {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    on_prose(file, |line| {
        words(line)
            .map(|(_, word)| word)
            .find(|word| marks.contains(word))
            .map(str::to_owned)
    })
}

fn machine_path(file: &File) -> Vec<Fault> {
    let folders = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("/t", "mp/"),
    ];
    on_prose(file, |line| {
        let found = folders.iter().find(|folder| {
            line.match_indices(**folder).any(|(start, _)| {
                let before = line.get(..start).and_then(|text| text.chars().next_back());
                !before.is_some_and(|c| c.is_alphanumeric() || "._-/}".contains(c))
            })
        });
        found.map(|folder| (*folder).to_owned())
    })
}

fn registry_host(file: &File) -> Vec<Fault> {
    let hosts = [
        concat!("static.", "crates.io"),
        concat!("index.", "crates.io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted.org"),
        concat!("registry.npm", "js.org"),
        concat!("deb.", "debian.org"),
    ];
    on_prose(file, |line| {
        hosts
            .iter()
            .find(|host| line.contains(*host))
            .map(|host| (*host).to_owned())
    })
}

fn making(file: &File) -> Vec<Fault> {
    let names = [
        concat!("clau", "de"),
        concat!("anthro", "pic"),
        concat!("chat", "gpt"),
        concat!("open", "ai"),
        concat!("co", "pilot"),
        concat!("sub", "agent"),
        concat!("chat", "bot"),
        concat!("l", "lm"),
        concat!("l", "lms"),
    ];
    let phrases = [
        concat!("language ", "model"),
        concat!("co-authored", "-by"),
        concat!("ai-", "generated"),
    ];
    on_prose(file, |line| {
        let lower = line.to_lowercase();
        let name = words(&lower)
            .map(|(_, word)| word)
            .find(|word| names.contains(word));
        let phrase = phrases.into_iter().find(|phrase| lower.contains(phrase));
        let initials = words(line)
            .map(|(_, word)| word)
            .find(|word| *word == concat!("A", "I"));
        name.or(phrase).or(initials).map(str::to_owned)
    })
}

/// What `search` finds in each line that a person wrote.
fn on_prose(file: &File, search: impl Fn(&str) -> Option<String>) -> Vec<Fault> {
    let lines = file.lines().filter(|_| file.is_prose());
    lines
        .filter_map(|(number, line)| Some(Fault::new(number, search(line)?)))
        .collect()
}
