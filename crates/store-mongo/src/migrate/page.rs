//! The page about indexes, made from the catalogue and the validators.
//!
//! Owns its form. `docs/indexes.md` is what this makes, and a test compares them.

use std::fmt::Write;

use abasto_store::index::{CATALOGUE, Collection, Condition, Direction, Index, IndexKind, Purpose};
use mongodb::bson::{Bson, Document};

use super::{index, validator};

const HEAD: &str = "\
# Indexes

Made from the catalogue (`crates/store/src/index`) by `cargo run -p abasto-store-mongo --example \
index_page > docs/indexes.md`; a test compares them. Every store creates these and no others, says \
at start and in `/readyz` which are missing or different, and refuses writes while a unique one is.

Rules behind the table: the tenant comes first, except where a credential or the platform looks for \
tenants. Types of all fields are pinned by `$jsonSchema` validators, so an empty string, an empty \
list or a number of another type cannot escape a partial filter. No index is sparse, none has a \
collation: what is compared without regard to case is stored in a normalised field. No query uses \
`hint`. A query on a partial index repeats its filter, else the server does not use it.

An index over existing documents is brought in by `migrate`: documents that break a unique rule are \
reported with their ids and nothing is deleted; then `prepareUnique` refuses new duplicates, and \
`unique` follows. Builds commit when a majority of nodes has them (`commitQuorum: \"majority\"`).

A list of orders of several branches is one scan per branch, merged; when the branches make up most \
of the business, the server may rather walk all orders by date and skip the others.
";

/// The page as Markdown.
pub fn index_page() -> String {
    let mut page = HEAD.to_owned();
    for collection in Collection::ALL {
        let mut indexes = CATALOGUE
            .iter()
            .filter(|index| index.collection == collection)
            .peekable();
        if indexes.peek().is_none() {
            continue;
        }
        put(&mut page, format_args!("\n## {}", collection.name()));
        for index in indexes {
            entry(&mut page, index);
        }
    }
    page
}

fn put(page: &mut String, line: std::fmt::Arguments<'_>) {
    let written = writeln!(page, "{line}");
    debug_assert!(written.is_ok(), "a string takes every text");
}

fn entry(page: &mut String, found: &Index) {
    let unique = match found.kind {
        IndexKind::Unique => ", unique",
        IndexKind::Sorted => "",
    };
    put(page, format_args!("\n### `{}`\n", found.name));
    put(page, format_args!("- keys: `{}`{unique}", keys(found)));
    if let Some(filter) = index::filter(found) {
        put(page, format_args!("- only: `{filter}`"));
    }
    for purpose in found.serves {
        put(page, format_args!("- for: {}", sentence(*purpose)));
    }
    put(page, format_args!("- null and missing: {}", absent(found)));
    put(page, format_args!("- owner: `{}`", found.owner));
}

fn keys(index: &Index) -> String {
    let keys = index.keys.iter().map(|key| match key.direction {
        Direction::Ascending => format!("{}: 1", key.field),
        Direction::Descending => format!("{}: -1", key.field),
    });
    format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
}

fn sentence(purpose: Purpose) -> String {
    match purpose {
        Purpose::Claim(rule) => {
            format!("the rule of uniqueness `{rule:?}`, which callers can run into")
        }
        Purpose::Rule(rule) => format!("the rule that {rule}"),
        Purpose::List(shape) => format!("the list `{}`", shape.name()),
        Purpose::Read(name) => format!("the read `{name}`"),
    }
}

/// What the index does with documents in which a field is null or not there.
fn absent(index: &Index) -> String {
    let nullable = index.keys.iter().map(|key| key.field);
    let nullable: Vec<_> = nullable
        .filter(|field| allows_null(index.collection, field))
        .collect();
    match index.only {
        Some(Condition::Present(field)) => format!(
            "documents whose `{field}` is null or missing are not in it, so any number of them may be"
        ),
        Some(Condition::Null(field)) => format!(
            "holds the documents whose `{field}` is null or missing, which are the ones not deleted; \
             the validator allows a date or null only"
        ),
        Some(Condition::True(field)) => {
            format!(
                "documents whose `{field}` is false are not in it; the validator requires the field"
            )
        }
        None if nullable.is_empty() => {
            "cannot occur, the validator requires every field of it".to_owned()
        }
        None => format!(
            "`{}` may be null, which is one value like any other: one document per value of the other \
             fields",
            nullable.join("`, `")
        ),
    }
}

/// Whether the validator of a collection lets a field be null.
fn allows_null(collection: Collection, field: &str) -> bool {
    let schema = validator::of(collection);
    let mut at = schema.get_document("$jsonSchema").ok();
    for part in field.split('.') {
        let inner = at.and_then(|schema| schema.get_document("properties").ok());
        at = inner.and_then(|properties| properties.get_document(part).ok());
    }
    at.is_some_and(|schema| types(schema).contains(&"null"))
}

fn types(schema: &Document) -> Vec<&str> {
    match schema.get("bsonType") {
        Some(Bson::Array(types)) => types.iter().filter_map(Bson::as_str).collect(),
        Some(Bson::String(only)) => vec![only],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_repository_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/indexes.md");
        let kept = std::fs::read_to_string(path).expect("the page is there");
        assert!(
            kept == index_page(),
            "docs/indexes.md is old: cargo run -p abasto-store-mongo --example index_page > docs/indexes.md"
        );
    }

    #[test]
    fn every_indexed_field_is_pinned_by_the_validator() {
        for index in CATALOGUE {
            for key in index.keys {
                let schema = validator::of(index.collection);
                let mut at = schema.get_document("$jsonSchema").expect("a schema");
                for part in key.field.split('.') {
                    let properties = at.get_document("properties").expect("properties");
                    at = properties.get_document(part).unwrap_or_else(|_| {
                        panic!("{} of {} is not in the validator", key.field, index.name)
                    });
                }
                assert!(
                    !types(at).is_empty(),
                    "{} of {} has no type",
                    key.field,
                    index.name
                );
            }
        }
    }
}
