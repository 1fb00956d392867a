//! Indexes of the catalogue as MongoDB wants them.
//!
//! Owns key documents and partial filters with pinned types. An index with all keys descending or
//! ascending is created as the catalogue says; the one on `_id` alone is the server's own.

use abasto_store::index::{CATALOGUE, Collection, Condition, Direction, Index, IndexKind};
use mongodb::bson::{Bson, Document, doc};

/// The indexes of a collection that we create.
pub(crate) fn of(collection: Collection) -> impl Iterator<Item = &'static Index> {
    let indexes = CATALOGUE
        .iter()
        .filter(move |index| index.collection == collection);
    indexes.filter(|index| !is_server_s_own(index))
}

/// `_id` is unique in every collection without our doing.
pub(crate) fn is_server_s_own(index: &Index) -> bool {
    matches!(index.keys, [only] if only.field == "_id")
}

/// The key document.
pub(crate) fn keys(index: &Index) -> Document {
    let keys = index.keys.iter().map(|key| {
        let order = match key.direction {
            Direction::Ascending => 1,
            Direction::Descending => -1,
        };
        (key.field.to_owned(), Bson::Int32(order))
    });
    keys.collect()
}

/// The partial filter.
pub(crate) fn filter(index: &Index) -> Option<Document> {
    let condition = index.only?;
    Some(match condition {
        Condition::Null(field) => doc! { field: Bson::Null },
        Condition::True(field) => doc! { field: true },
        Condition::Present(field) => doc! { field: { "$type": present_type(field) } },
    })
}

/// The type of a field that may be absent: ids and times by the name of the field, else text.
fn present_type(field: &str) -> &'static str {
    if field.ends_with(".id") || field.ends_with("Id") {
        "objectId"
    } else if field.ends_with("At") {
        "date"
    } else {
        "string"
    }
}

/// The specification for `createIndexes`. A unique index over what may break it is made as a
/// plain one first, see the module above.
pub(crate) fn specification(index: &Index, kind: IndexKind) -> Document {
    let mut specification = doc! { "key": keys(index), "name": index.name };
    if let Some(filter) = filter(index) {
        specification.insert("partialFilterExpression", filter);
    }
    if kind == IndexKind::Unique {
        specification.insert("unique", true);
    }
    specification
}

/// What an existing index must look like, or what is different about it.
pub(crate) fn difference(index: &Index, found: &Document) -> Option<String> {
    let wanted_keys = keys(index);
    let found_keys = found.get_document("key").map(as_orders).unwrap_or_default();
    if as_orders(&wanted_keys) != found_keys {
        return Some(format!("has keys {found_keys:?}"));
    }
    let found_filter = found.get_document("partialFilterExpression").ok();
    if filter(index).as_ref() != found_filter {
        return Some("has another partial filter".to_owned());
    }
    let unique = found.get_bool("unique").unwrap_or(false);
    if unique != (index.kind == IndexKind::Unique) {
        return Some(if unique { "is unique" } else { "is not unique" }.to_owned());
    }
    if found.contains_key("collation") {
        return Some("has a collation".to_owned());
    }
    None
}

/// Fields with their order, whatever number type the server answers with.
fn as_orders(keys: &Document) -> Vec<(String, i64)> {
    let order = |value: &Bson| match value {
        Bson::Int32(order) => i64::from(*order),
        Bson::Int64(order) => *order,
        Bson::Double(order) if *order < 0.0 => -1,
        Bson::Double(_) => 1,
        _ => 0,
    };
    keys.iter()
        .map(|(field, value)| (field.clone(), order(value)))
        .collect()
}
