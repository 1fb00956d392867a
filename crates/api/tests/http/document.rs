//! The published document: committed, complete, true.

use std::collections::BTreeSet;
use std::path::Path;

use abasto_api::problem::Code;
use serde_json::Value;

use crate::harness::World;

/// Set to write the committed document anew in place of comparing with it.
const WRITE: Option<&str> = option_env!("ABASTO_WRITE_OPENAPI");

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_committed_document_is_the_one_that_the_code_makes() {
    let path = root().join("openapi/v1.json");
    let made = format!("{:#}\n", abasto_api::document());
    if WRITE.is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == committed,
        "openapi/v1.json is not what the code says: `cargo xtask openapi` writes it anew"
    );
}

#[tokio::test]
async fn it_is_served_and_its_references_lead_somewhere() {
    let world = World::new();
    let served = world.call("GET", "/openapi.json").send().await.expect(200);
    assert_eq!(served["openapi"], "3.1.0");
    let text = served.to_string();
    for (_, reference) in text
        .match_indices("\"$ref\":\"#")
        .map(|(at, _)| text[at..].split_at(9))
    {
        let pointer = reference.split('"').next().unwrap();
        assert!(served.pointer(pointer).is_some(), "{pointer} leads nowhere");
    }
    let mut ids = BTreeSet::new();
    for operation in operations(&served) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "{id} stands twice");
        assert!(
            operation["summary"].is_string() && operation["tags"][0].is_string(),
            "{id}"
        );
    }
}

/// Every operation of a document.
pub(crate) fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let items = document["paths"].as_object().unwrap().values();
    items.flat_map(|item| item.as_object().unwrap().values())
}

/// Every operation of a document, with its path and method.
pub(crate) fn operations_by_path(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((path.clone(), method.clone(), operation.clone()));
        }
    }
    found
}

/// Bodies are closed: no field gets in that the document does not name.
#[test]
fn every_object_of_a_body_is_closed() {
    let document = abasto_api::document();
    let mut checked = 0;
    for operation in operations(&document) {
        for (_, content) in operation["requestBody"]["content"]
            .as_object()
            .into_iter()
            .flatten()
        {
            checked += closed(&document, &content["schema"], &mut BTreeSet::new());
        }
    }
    assert!(checked > 20, "only {checked} objects were found");
}

fn closed(document: &Value, schema: &Value, seen: &mut BTreeSet<String>) -> usize {
    let mut count = 0;
    if let Some(reference) = schema["$ref"].as_str() {
        if !seen.insert(reference.to_owned()) {
            return 0;
        }
        let target = document.pointer(reference.trim_start_matches('#'));
        return closed(document, target.unwrap(), seen);
    }
    if schema["properties"].is_object() || schema["type"] == "object" {
        let additional = &schema["additionalProperties"];
        assert!(
            additional == false || additional["type"] == "string",
            "open: {schema}"
        );
        count += 1;
    }
    for value in match schema {
        Value::Object(fields) => fields.values().collect::<Vec<_>>(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    } {
        if value.is_object() || value.is_array() {
            count += closed(document, value, seen);
        }
    }
    count
}

/// Every code has a page, every page a code, and both forms are served.
#[tokio::test]
async fn codes_and_pages_belong_to_each_other() {
    let pages: BTreeSet<String> = std::fs::read_dir(root().join("docs/problems"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let codes = Code::ALL.iter().map(|code| format!("{}.md", code.name()));
    assert_eq!(pages, codes.collect());
    let world = World::new();
    for code in Code::ALL {
        let path = format!("/problems/{}", code.name());
        let page = world.call("GET", &path).send().await;
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let text = String::from_utf8(page.bytes).unwrap();
        assert!(
            text.contains(code.name()) && text.contains("What to do"),
            "{text}"
        );
        let plain = world
            .call("GET", &path)
            .header("accept", "text/markdown")
            .send()
            .await;
        assert_eq!(plain.bytes, code.page().as_bytes());
    }
    world
        .call("GET", "/problems/no-such-code")
        .send()
        .await
        .refused(404, "not-found");
}

#[tokio::test]
async fn the_page_of_the_api_has_everything_and_loads_nothing() {
    let page = World::new().call("GET", "/docs").send().await;
    let text = String::from_utf8(page.bytes).unwrap();
    for operation in operations(&abasto_api::document()) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(text.contains(&format!("id=\"{id}\"")), "{id}");
    }
    for outside in [
        "src=", "http://", "https://", "url(", "@import", "<script", "<link",
    ] {
        assert!(!text.contains(outside), "{outside}");
    }
}

#[tokio::test]
async fn the_bare_address_leads_to_the_page_of_the_api() {
    let root = World::new().call("GET", "/").send().await;
    assert_eq!(root.status, 303);
    assert_eq!(root.headers["location"], "/docs");
}
