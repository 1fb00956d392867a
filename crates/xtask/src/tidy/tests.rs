//! Each rule is shown to fire, and to leave its neighbour alone.

use super::source::Source;
use super::{File, broken, rules};

/// A rule, a file that breaks only this rule, and one like it that breaks none.
struct Sample {
    rule: &'static str,
    path: &'static str,
    bad: String,
    /// Another path where the path itself is at fault.
    good_path: &'static str,
    good: String,
}

fn sample(rule: &'static str, path: &'static str, bad: &str, good: &str) -> Sample {
    Sample {
        rule,
        path,
        bad: bad.to_owned(),
        good_path: path,
        good: good.to_owned(),
    }
}

/// A Rust sample: the module doc is put in front.
fn rust(rule: &'static str, bad: &str, good: &str) -> Sample {
    let file = |code: &str| format!("//! A module.\n{code}\n");
    sample(rule, "crates/x/src/y.rs", &file(bad), &file(good))
}

fn lines(count: usize) -> String {
    "    a();\n".repeat(count)
}

fn samples() -> Vec<Sample> {
    [
        text_samples(),
        size_samples(),
        code_samples(),
        page_samples(),
        manifest_samples(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn text_samples() -> Vec<Sample> {
    vec![
        sample("last-newline", "a.txt", "open", "closed\n"),
        sample(
            "unfinished-text",
            "a.md",
            concat!("TO", "DO later\n"),
            "TODOS are fine\n",
        ),
        sample(
            "unfinished-text",
            "a.rs",
            concat!("//! FIX", "ME\n"),
            "//! fixme\n",
        ),
        sample(
            "machine-path",
            "a.md",
            concat!("see /t", "mp/x\n"),
            "see target/tmp/x\n",
        ),
        sample(
            "machine-path",
            "a.sh",
            concat!("cd /wo", "rk/x\n"),
            "cd $HOME/work/x\n",
        ),
        rust(
            "machine-path",
            concat!("const A: &str = \"/ro", "ot/x\";"),
            "const A: &str = \"/x\";",
        ),
        sample(
            "registry-host",
            "a.md",
            concat!("at pypi", ".org\n"),
            "at PyPI\n",
        ),
        sample("making", "a.md", concat!("by A", "I\n"), "by AIR mail\n"),
        sample(
            "making",
            "a.md",
            concat!("a Language ", "Model\n"),
            "a data model\n",
        ),
    ]
}

fn size_samples() -> Vec<Sample> {
    let in_trait = format!("trait T {{ fn t(); {} }}", function(71));
    vec![
        sample(
            "file-size",
            "a.txt",
            &"0123456\n".repeat(131_073),
            &"0123456\n".repeat(131_072),
        ),
        rust(
            "file-length",
            &"a!();\n".repeat(399),
            &"a!();\n".repeat(398),
        ),
        rust(
            "file-length",
            &"a!();\n".repeat(399),
            &tests_of(&"a!();\n".repeat(500)),
        ),
        rust("function-length", &function(71), &function(70)),
        rust("function-length", &in_trait, "trait T { fn t(); }"),
    ]
}

fn code_samples() -> Vec<Sample> {
    vec![
        sample(
            "module-doc",
            "a.rs",
            "// No doc.\nfn a() {}\n",
            "//! A doc.\nfn a() {}\n",
        ),
        rust(
            "bare-allow",
            "#[allow(dead_code)]\nfn a() {}",
            "fn allow() {}",
        ),
        rust(
            "bare-allow",
            "#![cfg_attr(test, allow(dead_code))]",
            "// #[allow(dead_code)]",
        ),
        rust("unfinished-code", "fn a() { todo!() }", "fn todo() {}"),
        rust(
            "unfinished-code",
            "#[test]\n#[ignore]\nfn a() {}",
            "fn a() { \"todo!\" }",
        ),
        rust(
            "empty-name",
            "struct OrderManager;",
            "struct Managers { service: u8 }",
        ),
        rust(
            "empty-name",
            "pub trait StoreImpl {}",
            "impl L { type Service = A; }",
        ),
        Sample {
            good_path: "src/order.rs",
            ..sample(
                "empty-name",
                "src/utils.rs",
                "//! A.\n",
                "//! A.\n// struct OrderHelper\n",
            )
        },
        rust(
            "unwrap",
            "fn a() { b().unwrap() }",
            "fn a() { \".unwrap()\" /* .unwrap() */ }",
        ),
        rust(
            "unwrap",
            "fn a() { b().expect(\"c\") }",
            &tests_of("fn a() { b().unwrap() }"),
        ),
    ]
}

fn manifest_samples() -> Vec<Sample> {
    let path = "crates/x/Cargo.toml";
    let depends = |section: &str| format!("[{section}]\nabasto-sim = {{}}\n{MANIFEST}");
    let table = format!("{MANIFEST}[target.unix.dependencies.xtask]\n");
    vec![
        sample("workspace-lints", path, "[package]\n", MANIFEST),
        sample(
            "dev-only",
            path,
            &depends("dependencies"),
            &depends("dev-dependencies"),
        ),
        sample("dev-only", path, &table, &table.replace("xtask", "x")),
    ]
}

const MANIFEST: &str = "[lints]\nworkspace = true\n";

fn page_samples() -> Vec<Sample> {
    let page = "docs/problems/no-stock.md";
    let sample = |bad: &str| sample("problem-page", page, bad, PAGE);
    vec![
        sample("# A\n\n## What happened\n\nText.\n"),
        sample("# A\n\n## What to do\n\nText.\n\n## What happened\n\nText.\n"),
        sample("# A\n\n## What happened\n\n## What to do\n\nText.\n"),
        sample(PAGE.trim_start_matches("# ")),
        sample(&PAGE.replace("```", "")),
        Sample {
            path: "docs/problems/No_Stock.md",
            ..sample(PAGE)
        },
    ]
}

const PAGE: &str = "# A\n\n## What happened\n\nText.\n\n## What to do\n\n```\n# not a title\n```\n";

fn function(body: usize) -> String {
    format!(
        "fn long<A>(a: [u8; 2]) -> A\nwhere A: B {{\n{}}}",
        lines(body)
    )
}

fn tests_of(code: &str) -> String {
    format!("fn first() {{}}\n#[cfg(test)]\nmod tests {{\n{code}}}")
}

#[test]
fn each_rule_fires_alone_and_spares_its_neighbour() {
    for sample in samples() {
        let names = |text: &str, path: &str| -> Vec<_> {
            let file = File::new(path, text.as_bytes().to_vec());
            let mut names: Vec<_> = broken(&file).iter().map(|(rule, _)| rule.name).collect();
            names.dedup();
            names
        };
        let Sample {
            rule,
            path,
            bad,
            good_path,
            good,
        } = sample;
        assert_eq!(names(&bad, path), [rule], "bad: {bad}");
        assert_eq!(names(&good, good_path), [""; 0], "good: {good}");
    }
}

#[test]
fn every_rule_has_a_sample_that_fires() {
    let shown: Vec<_> = samples().iter().map(|sample| sample.rule).collect();
    let silent: Vec<_> = rules()
        .map(|rule| rule.name)
        .filter(|n| !shown.contains(n))
        .collect();
    assert_eq!(silent, [""; 0]);
}

#[test]
fn tests_may_unwrap_and_be_long() {
    let text = format!("//! Tests.\n{}", "fn a() { b().unwrap(); }\n".repeat(500));
    for path in [
        "crates/x/tests/a.rs",
        "crates/x/src/tests.rs",
        "crates/x/src/a_tests.rs",
    ] {
        assert!(
            broken(&File::new(path, text.clone().into_bytes())).is_empty(),
            "{path}"
        );
    }
    assert!(!broken(&File::new("crates/x/src/a.rs", text.into_bytes())).is_empty());
}

#[test]
fn a_fault_names_its_line() {
    let file = File::new(
        "a.rs",
        b"//! A.\n\nfn a() {\n    b().unwrap();\n}\n".to_vec(),
    );
    let faults = broken(&file);
    assert_eq!(
        faults
            .iter()
            .map(|(_, fault)| fault.line)
            .collect::<Vec<_>>(),
        [4]
    );
}

#[test]
fn binary_files_are_only_weighed() {
    let file = File::new("a.bin", vec![0, 159, 146, 150]);
    assert!(broken(&file).is_empty());
}

/// The text keeps its shape, and only code is left of it.
#[track_caller]
fn blanked(text: &str, code: &str) {
    let source = Source::parse(text);
    assert_eq!(source.code.len(), text.len());
    assert_eq!(
        source.code.split_whitespace().collect::<Vec<_>>().join(" "),
        code
    );
}

#[test]
fn comments_and_literals_are_not_code() {
    blanked("a // {\nb", "a b");
    blanked("a /* { /* } */ { */ b", "a b");
    blanked(r#"a("{ \" }", b)"#, "a( , b)");
    blanked(r###"a(r#"{ " }"#, b"}", br"\", c"{") b"###, "a( , , , ) b");
    blanked("a('{', '\\'', '\\u{7b}', 'ñ') b", "a( , , , ) b");
    blanked("fn a<'b>(c: &'b str) {}", "fn a<'b>(c: &'b str) {}");
    blanked("r#type + bar + crab", "r#type + bar + crab");
    blanked("\"ñ\n{\" a", "a");
}

#[test]
fn functions_are_found_whole() {
    let text = "fn a(b: [u8; 1]) {\n  if c {\n  }\n}\nconst F: fn(u8) = g;\nfn h();\nfn i()\n{}\n";
    let source = Source::parse(text);
    let found: Vec<_> = source
        .functions()
        .into_iter()
        .map(|f| (f.name, f.line, f.body_lines))
        .collect();
    assert_eq!(found, [("a", 1, 2), ("i", 7, 0)]);
}
