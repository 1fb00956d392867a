//! Stored documents that break a rule, found before the rule is brought in.
//!
//! Owns the look-ups. Reports ids, never contents.

use std::fmt;

use abasto_store::index::{Collection, Index};
use mongodb::Database;
use mongodb::bson::{Bson, Document, doc};
use mongodb::error::Error;

use super::{all, index, validator};
use crate::collection::comment;
use crate::deadline::{Deadline, JOB};

/// Most ids that one report names.
const REPORTED_MAX: i64 = 20;

/// Documents that break a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The collection.
    pub collection: Collection,
    /// The index whose keys they share; `None` for the validator.
    pub index: Option<&'static str>,
    /// Their ids, the first twenty.
    pub ids: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (collection, ids) = (self.collection.name(), self.ids.join(", "));
        match self.index {
            Some(index) => write!(f, "{collection} {ids} have the same keys under {index}"),
            None => write!(
                f,
                "{collection} {ids} do not have the form of their validator"
            ),
        }
    }
}

pub(crate) fn lines(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

/// Whether the collection holds anything.
pub(crate) async fn any_document(
    database: &Database,
    collection: Collection,
) -> Result<bool, Error> {
    let found = find(database, collection, doc! {}, 1).await?;
    Ok(!found.is_empty())
}

/// Documents that the validator would refuse.
pub(crate) async fn of_validator(
    database: &Database,
    collection: Collection,
) -> Result<Option<Violation>, Error> {
    let refused = doc! { "$nor": [validator::of(collection)] };
    let found = find(database, collection, refused, REPORTED_MAX).await?;
    let ids: Vec<String> = found
        .iter()
        .filter_map(|row| row.get("_id"))
        .map(plain)
        .collect();
    Ok((!ids.is_empty()).then_some(Violation {
        collection,
        index: None,
        ids,
    }))
}

async fn find(
    database: &Database,
    collection: Collection,
    filter: Document,
    limit: i64,
) -> Result<Vec<Document>, Error> {
    let command = doc! {
        "find": collection.name(),
        "filter": filter,
        "projection": { "_id": 1 },
        "limit": limit,
        "maxTimeMS": Deadline::after(JOB).max_time_ms(),
        "comment": comment("migrate", "violations"),
    };
    all(database, command).await
}

/// Documents that share keys which an index keeps apart.
pub(crate) async fn of_index(
    database: &Database,
    index: &'static Index,
) -> Result<Option<Violation>, Error> {
    let fields = index.keys.iter().enumerate();
    // Missing and null are one key, as they are in the index.
    let keys = fields.map(|(place, key)| {
        let value = doc! { "$ifNull": [format!("${}", key.field), Bson::Null] };
        (format!("k{place}"), Bson::Document(value))
    });
    let keys: Document = keys.collect();
    let pipeline = vec![
        doc! { "$match": index::filter(index).unwrap_or_default() },
        doc! { "$group": { "_id": keys, "ids": { "$push": "$_id" }, "count": { "$sum": 1 } } },
        doc! { "$match": { "count": { "$gt": 1 } } },
        doc! { "$unwind": "$ids" },
        doc! { "$limit": REPORTED_MAX },
        doc! { "$project": { "_id": "$ids" } },
    ];
    let command = doc! {
        "aggregate": index.collection.name(),
        "pipeline": pipeline,
        "cursor": {},
        "allowDiskUse": true,
        "maxTimeMS": Deadline::after(JOB).max_time_ms(),
        "comment": comment("migrate", "violations"),
    };
    let found = all(database, command).await?;
    let ids: Vec<String> = found
        .iter()
        .filter_map(|row| row.get("_id"))
        .map(plain)
        .collect();
    let (collection, name) = (index.collection, Some(index.name));
    Ok((!ids.is_empty()).then_some(Violation {
        collection,
        index: name,
        ids,
    }))
}

fn plain(id: &Bson) -> String {
    match id {
        Bson::ObjectId(id) => id.to_hex(),
        other => other.to_string(),
    }
}
