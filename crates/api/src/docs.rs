//! Pages for people: the API and its problems.
//!
//! Owns their HTML. They are made from the document alone and load nothing, from nowhere.

use std::collections::BTreeMap;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use pulldown_cmark::{Options, Parser};
use serde_json::Value;

use crate::problem::Code;

const STYLE: &str = include_str!("docs.css");

/// The page of a problem.
pub(crate) fn problem(code: Code) -> String {
    frame(
        code.title(),
        &html! {
            nav { a href="/docs#problems" { "All problems" } }
            main {
                p.signature { code.status { (code.status_number()) } " " code { (code.name()) } }
                // Links between the pages are those between their files, for who reads them there.
                (markdown(&code.page().replace(".md)", ")")))
            }
        },
    )
}

/// The page of the API.
pub(crate) fn page(document: &Value) -> String {
    let title = text(&document["info"]["title"]);
    frame(
        title,
        &html! {
            nav {
                strong { (title) }
                @for (tag, _) in tags(document) {
                    a href={ "#" (anchor(tag)) } { (tag) }
                    ul { @for operation in operations(document).filter(|found| found.is_in(tag)) {
                        li { a href={ "#" (operation.id()) } { (operation.summary()) } }
                    } }
                }
                a href="#schemas" { "Documents" }
                a href="#problems" { "Problems" }
            }
            main {
                h1 { (title) }
                (markdown(text(&document["info"]["description"])))
                p { "For programs: " a href="/openapi.json" { "/openapi.json" } }
                @for (tag, about) in tags(document) {
                    section id=(anchor(tag)) {
                        h2 { (tag) }
                        p { (about) }
                        @for operation in operations(document).filter(|found| found.is_in(tag)) {
                            (operation.show())
                        }
                    }
                }
                (schemas(document))
                (problems())
            }
        },
    )
}

fn frame(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

fn markdown(source: &str) -> Markup {
    let mut page = String::new();
    let parser = Parser::new_ext(source, Options::ENABLE_TABLES);
    pulldown_cmark::html::push_html(&mut page, parser);
    PreEscaped(page)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn anchor(tag: &str) -> String {
    tag.to_ascii_lowercase().replace(' ', "-")
}

fn tags(document: &Value) -> impl Iterator<Item = (&str, &str)> {
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.map(|tag| (text(&tag["name"]), text(&tag["description"])))
}

fn operations(document: &Value) -> impl Iterator<Item = Operation<'_>> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, said)| Operation { path, method, said })
    })
}

/// One operation as the document has it.
struct Operation<'d> {
    path: &'d str,
    method: &'d str,
    said: &'d Value,
}

impl Operation<'_> {
    fn is_in(&self, tag: &str) -> bool {
        self.said["tags"][0] == tag
    }

    fn id(&self) -> &str {
        text(&self.said["operationId"])
    }

    fn summary(&self) -> &str {
        text(&self.said["summary"])
    }

    fn show(&self) -> Markup {
        let responses = self.said["responses"].as_object();
        let refusals = responses
            .into_iter()
            .flatten()
            .filter(|(_, said)| said["$ref"].is_string());
        let answers = responses
            .into_iter()
            .flatten()
            .filter(|(_, said)| said["$ref"].is_null());
        html! {
            article id=(self.id()) {
                h3 { (self.summary()) }
                p.signature {
                    code.method { (self.method.to_uppercase()) } " " code { (self.path) }
                }
                (markdown(text(&self.said["description"])))
                p.who { (self.credential()) }
                (self.parameters())
                @if self.said["requestBody"].is_object() {
                    h4 { "Body" }
                    (contents(&self.said["requestBody"]["content"]))
                }
                h4 { "Answer" }
                @for (status, said) in answers {
                    p { code.status { (status) } " " (text(&said["description"])) }
                    (contents(&said["content"]))
                }
                p { "Refusals: " @for (status, _) in refusals {
                    a href={ "#status-" (status) } { (status) } " "
                } }
            }
        }
    }

    fn credential(&self) -> &'static str {
        match &self.said["security"] {
            Value::Null => "Needs an API key or a token.",
            security if security[0]["platform"].is_array() => "Needs the platform credential.",
            _ => "Needs no credential.",
        }
    }

    fn parameters(&self) -> Markup {
        let parameters = self.said["parameters"].as_array();
        html! {
            @if let Some(parameters) = parameters.filter(|list| !list.is_empty()) {
                h4 { "Parameters" }
                table {
                    @for parameter in parameters {
                        tr {
                            td { code { (text(&parameter["name"])) } }
                            td { (text(&parameter["in"])) @if parameter["required"] == true { ", required" } }
                            td { (kind(&parameter["schema"])) }
                            td { (markdown(text(&parameter["description"]))) }
                        }
                    }
                }
            }
        }
    }
}

fn contents(contents: &Value) -> Markup {
    html! {
        @for (media, said) in contents.as_object().into_iter().flatten() {
            p { code { (media) } ": " (kind(&said["schema"])) }
        }
    }
}

fn schemas(document: &Value) -> Markup {
    let schemas = document["components"]["schemas"].as_object();
    html! {
        section id="schemas" {
            h2 { "Documents" }
            @for (name, schema) in schemas.into_iter().flatten() {
                article id={ "schema-" (name) } {
                    h3 { (name) }
                    (markdown(text(&schema["description"])))
                    (fields(schema))
                    @if let Some(example) = schema.get("example") {
                        p { "For example " code { (example) } }
                    }
                }
            }
        }
    }
}

/// The fields of a document, those of its parts included.
fn fields(schema: &Value) -> Markup {
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let properties = schema["properties"].as_object();
    let needed = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|required| required.iter().any(|field| field == name))
    };
    html! {
        @for part in parts {
            @if part["$ref"].is_string() { p { "All of " (kind(part)) ", and:" } }
            @else { (fields(part)) }
        }
        @if let Some(properties) = properties {
            table {
                @for (name, field) in properties {
                    tr {
                        td { code { (name) } @if needed(name) { " *" } }
                        td { (kind(field)) }
                        td {
                            (markdown(text(&field["description"])))
                            @if let Some(example) = field.get("example") {
                                "For example " code { (example) }
                            }
                        }
                    }
                }
            }
        } @else if schema["allOf"].is_null() { p { (kind(schema)) } }
    }
}

/// The type of a value with its bounds, in words.
fn kind(schema: &Value) -> Markup {
    if let Some(name) = text(&schema["$ref"]).strip_prefix("#/components/schemas/") {
        return html! { a href={ "#schema-" (name) } { (name) } };
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return html! {
                @for (index, one) in choices.iter().enumerate() {
                    @if index > 0 { " or " }
                    (kind(one))
                }
            };
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().map(text).collect(),
        one => vec![text(one)],
    };
    html! {
        (types.join(" or "))
        @if schema["items"].is_object() { " of " (kind(&schema["items"])) }
        @if let Some(values) = schema["enum"].as_array() {
            ": " @for value in values { code { (text(value)) } " " }
        }
        (bounds(schema))
    }
}

fn bounds(schema: &Value) -> Markup {
    const BOUNDS: [(&str, &str); 8] = [
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minLength", "characters at least"),
        ("maxLength", "characters at most"),
        ("minItems", "items at least"),
        ("maxItems", "items at most"),
        ("pattern", "form"),
        ("default", "default"),
    ];
    html! {
        @for (keyword, words) in BOUNDS {
            @if let Some(bound) = schema.get(keyword) {
                ", " (words) " "
                @match bound {
                    Value::String(bound) => code { (bound) },
                    bound => (bound),
                }
            }
        }
    }
}

fn by_status() -> BTreeMap<u16, Vec<Code>> {
    let mut statuses: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::ALL {
        statuses
            .entry(code.status_number())
            .or_default()
            .push(*code);
    }
    statuses
}

fn problems() -> Markup {
    html! {
        section id="problems" {
            h2 { "Problems" }
            @for (status, codes) in by_status() {
                h3 id={ "status-" (status) } { (status) }
                table { @for code in codes {
                    tr {
                        td { a href={ "/problems/" (code.name()) } { code { (code.name()) } } }
                        td { (code.title()) }
                    }
                } }
            }
        }
    }
}
