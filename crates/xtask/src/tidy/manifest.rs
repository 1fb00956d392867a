//! Rules on the manifests of our crates that cargo and cargo-deny do not state.
//!
//! Must not know the layers: `deny.toml` has them.

use super::{Fault, File, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "workspace-lints",
        asks: "`[lints] workspace = true`: every crate obeys the same lints",
        check: workspace_lints,
    },
    Rule {
        name: "dev-only",
        asks: "what exists for tests is a dev-dependency: it never ships",
        check: dev_only,
    },
];

/// Crates that exist for tests, and the ones that may build on them.
const DEV_ONLY: [&str; 3] = ["abasto-sim", "abasto-testbed", "xtask"];
const DEV_CRATES: [&str; 3] = ["crates/sim/", "crates/testbed/", "crates/xtask/"];

fn workspace_lints(file: &File) -> Vec<Fault> {
    let inherits = sections(file).any(|(section, _, line)| {
        section == "[lints]" && line.replace(' ', "") == "workspace=true"
    });
    if !is_member(file) || inherits {
        return Vec::new();
    }
    vec![Fault::new(
        1,
        "the lints of the workspace are not inherited",
    )]
}

fn dev_only(file: &File) -> Vec<Fault> {
    if !is_member(file)
        || DEV_CRATES
            .iter()
            .any(|folder| file.path.starts_with(folder))
    {
        return Vec::new();
    }
    sections(file)
        .filter(|(section, _, line)| {
            let table = section.trim_matches(['[', ']']);
            let inline = line.split(['=', '.', ' ']).next().unwrap_or_default();
            let named = |name: &str| inline == name || table.ends_with(&format!(".{name}"));
            let shipped = table.contains("dependencies") && !table.contains("dev-dependencies");
            shipped && DEV_ONLY.iter().any(|name| named(name))
        })
        .map(|(_, number, line)| Fault::new(number, line))
        .collect()
}

/// Whether this is the manifest of one of our crates.
fn is_member(file: &File) -> bool {
    file.path.starts_with("crates/") && file.path.ends_with("/Cargo.toml")
}

/// Each line that says something, with its number, under the heading that it stands in.
fn sections(file: &File) -> impl Iterator<Item = (&str, usize, &str)> {
    let mut section = "";
    file.lines().filter_map(move |(number, line)| {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        }
        (!line.is_empty() && !line.starts_with('#')).then_some((section, number, line))
    })
}
