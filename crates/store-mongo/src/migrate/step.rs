//! The steps of a migration.
//!
//! Owns how each difference is closed without stopping traffic: indexes commit when a majority of
//! nodes has them, and a unique rule over existing documents first refuses new duplicates
//! (`prepareUnique`), then old ones.

use std::time::Duration;

use abasto_store::index::{Collection, Index, IndexKind};
use mongodb::Database;
use mongodb::bson::{Document, doc};
use mongodb::error::Error;

use super::violation::{self, Violation};
use super::{Difference, index, validator};
use crate::collection::comment;
use crate::fault::code;

/// Longest that one index build or change of a collection may take.
const BUILD: Duration = Duration::from_secs(600);
const NAMESPACE_EXISTS: i32 = 48;

/// The collection of a difference.
pub(crate) const fn collection(difference: &Difference) -> Collection {
    match difference {
        Difference::MissingCollection(collection) | Difference::Validator(collection) => {
            *collection
        }
        Difference::MissingIndex(index)
        | Difference::NotUnique(index)
        | Difference::OtherIndex(index, _) => index.collection,
    }
}

/// Closes the differences of one collection, notes what was done, and answers what stands in the
/// way.
pub(crate) async fn close(
    database: &Database,
    collection: Collection,
    differences: &[&Difference],
    done: &mut Vec<String>,
) -> Result<Vec<Violation>, Error> {
    let mut violations = Vec::new();
    let (mut at_once, mut over_data) = (Vec::new(), Vec::new());
    for difference in differences {
        match difference {
            Difference::MissingCollection(_) => {
                create(database, collection).await?;
                done.push(format!("collection {} created", collection.name()));
            }
            Difference::Validator(_) => {
                match violation::of_validator(database, collection).await? {
                    None => {
                        set_validator(database, collection).await?;
                        done.push(format!("validator of {} set", collection.name()));
                    }
                    Some(violation) => violations.push(violation),
                }
            }
            Difference::MissingIndex(index) => at_once.push(*index),
            Difference::NotUnique(index) => over_data.push(*index),
            Difference::OtherIndex(..) => {}
        }
    }
    if violation::any_document(database, collection).await? {
        let unique = |index: &&'static Index| index.kind == IndexKind::Unique;
        over_data.extend(at_once.iter().copied().filter(unique));
        at_once.retain(|index| !unique(index));
    }
    build(database, collection, &at_once).await?;
    done.extend(
        at_once
            .iter()
            .map(|index| format!("index {} created", index.name)),
    );
    for index in over_data {
        match make_unique(database, index).await? {
            None => done.push(format!("index {} made unique", index.name)),
            Some(violation) => violations.push(violation),
        }
    }
    Ok(violations)
}

async fn create(database: &Database, collection: Collection) -> Result<(), Error> {
    let command = doc! {
        "create": collection.name(),
        "validator": validator::of(collection),
        "validationLevel": "strict",
        "validationAction": "error",
    };
    match run(database, command, "create").await {
        // Another instance was first; its validator is compared the next time.
        Err(error) if code(&error) == Some(NAMESPACE_EXISTS) => Ok(()),
        other => other,
    }
}

async fn set_validator(database: &Database, collection: Collection) -> Result<(), Error> {
    let command = doc! {
        "collMod": collection.name(),
        "validator": validator::of(collection),
        "validationLevel": "strict",
        "validationAction": "error",
    };
    run(database, command, "validator").await
}

async fn build(
    database: &Database,
    collection: Collection,
    indexes: &[&'static Index],
) -> Result<(), Error> {
    if indexes.is_empty() {
        return Ok(());
    }
    let specifications = indexes
        .iter()
        .map(|index| index::specification(index, index.kind));
    create_indexes(database, collection, specifications.collect()).await
}

async fn create_indexes(
    database: &Database,
    collection: Collection,
    specifications: Vec<Document>,
) -> Result<(), Error> {
    let command = doc! {
        "createIndexes": collection.name(),
        "indexes": specifications,
        // The default waits for every node, for ever when one is down.
        "commitQuorum": "majority",
    };
    run(database, command, "indexes").await
}

/// Brings a unique rule in over existing documents, or answers which of them break it.
async fn make_unique(
    database: &Database,
    index: &'static Index,
) -> Result<Option<Violation>, Error> {
    if let Some(found) = violation::of_index(database, index).await? {
        return Ok(Some(found));
    }
    let plain = index::specification(index, IndexKind::Sorted);
    create_indexes(database, index.collection, vec![plain]).await?;
    change(database, index, "prepareUnique").await?;
    // New duplicates are refused from here on; one that came before it shows now.
    if let Some(found) = violation::of_index(database, index).await? {
        return Ok(Some(found));
    }
    change(database, index, "unique").await?;
    Ok(None)
}

async fn change(database: &Database, index: &Index, property: &str) -> Result<(), Error> {
    let command = doc! {
        "collMod": index.collection.name(),
        "index": { "name": index.name, property: true },
    };
    run(database, command, "unique").await
}

async fn run(database: &Database, mut command: Document, name: &'static str) -> Result<(), Error> {
    let limit = i64::try_from(BUILD.as_millis()).unwrap_or(i64::MAX);
    command.insert("writeConcern", doc! { "w": "majority" });
    command.insert("maxTimeMS", limit);
    command.insert("comment", comment("migrate", name));
    database.run_command(command).await.map(drop)
}
