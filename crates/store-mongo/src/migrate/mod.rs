//! Migration: the difference between what the database has and what it must have, and closing it.
//!
//! Owns the plan and its steps. The same plan is what `--check` prints, what readiness reports and
//! what migration does. Data is never changed or deleted: where stored documents break a rule,
//! their ids are reported and the rule waits.

pub(crate) mod index;
mod page;
mod schema_part;
mod step;
pub(crate) mod validator;
mod violation;

use std::collections::BTreeMap;
use std::fmt;

use abasto_store::StoreError;
use abasto_store::index::{Collection, Index, IndexKind};
use mongodb::Database;
use mongodb::bson::{Document, doc};
use mongodb::error::Error;

use crate::collection::comment;
use crate::deadline::{Deadline, INTERACTIVE};
use crate::fault::store_error;

pub use page::index_page;
pub use violation::Violation;

/// One thing that is not as it must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// A collection does not exist.
    MissingCollection(Collection),
    /// A collection has no validator or another one.
    Validator(Collection),
    /// An index does not exist.
    MissingIndex(&'static Index),
    /// An index is there but does not refuse duplicates yet.
    NotUnique(&'static Index),
    /// An index of that name is another one; it is left alone.
    OtherIndex(&'static Index, String),
}

impl Difference {
    /// Whether orders must not be taken while this is so: a rule of uniqueness would not hold.
    pub const fn refuses_writes(&self) -> bool {
        match self {
            Self::MissingCollection(_) | Self::NotUnique(_) => true,
            Self::MissingIndex(index) | Self::OtherIndex(index, _) => {
                matches!(index.kind, IndexKind::Unique)
            }
            Self::Validator(_) => false,
        }
    }

    /// Whether migration closes it.
    pub const fn can_be_closed(&self) -> bool {
        !matches!(self, Self::OtherIndex(..))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingCollection(collection) => {
                write!(f, "collection {} does not exist", collection.name())
            }
            Self::Validator(collection) => {
                write!(
                    f,
                    "collection {} does not have the validator of this version",
                    collection.name()
                )
            }
            Self::MissingIndex(index) => {
                write!(
                    f,
                    "index {} on {} does not exist",
                    index.name,
                    index.collection.name()
                )
            }
            Self::NotUnique(index) => {
                write!(
                    f,
                    "index {} on {} is not unique",
                    index.name,
                    index.collection.name()
                )
            }
            Self::OtherIndex(index, how) => write!(
                f,
                "index {} on {} {how}; drop it, then migrate again",
                index.name,
                index.collection.name()
            ),
        }
    }
}

/// Why a migration did not come to its end. What it did until then stays and is not done again.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Stored documents break rules; nothing was deleted.
    #[error("stored documents break rules: {}", violation::lines(.0))]
    Violations(Vec<Violation>),
    /// Indexes that are in the way.
    #[error("indexes are in the way: {}", lines(.0))]
    InTheWay(Vec<Difference>),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn lines(differences: &[Difference]) -> String {
    let lines: Vec<String> = differences.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

/// What is different from what must be. Nothing when all is well.
pub(crate) async fn differences(database: &Database) -> Result<Vec<Difference>, StoreError> {
    let collections = collections(database).await.map_err(store_error)?;
    let mut differences = Vec::new();
    for collection in Collection::ALL {
        let Some(options) = collections.get(collection.name()) else {
            differences.push(Difference::MissingCollection(collection));
            differences.extend(index::of(collection).map(Difference::MissingIndex));
            continue;
        };
        if options.get_document("validator").ok() != Some(&validator::of(collection)) {
            differences.push(Difference::Validator(collection));
        }
        let found = indexes(database, collection).await.map_err(store_error)?;
        differences.extend(index::of(collection).filter_map(|index| compare(index, &found)));
    }
    Ok(differences)
}

fn compare(index: &'static Index, found: &BTreeMap<String, Document>) -> Option<Difference> {
    let Some(present) = found.get(index.name) else {
        return Some(Difference::MissingIndex(index));
    };
    let plain = Index {
        kind: IndexKind::Sorted,
        ..*index
    };
    match index::difference(index, present) {
        None => None,
        Some(_) if index::difference(&plain, present).is_none() => {
            Some(Difference::NotUnique(index))
        }
        Some(how) => Some(Difference::OtherIndex(index, how)),
    }
}

/// Collections by name with their options.
async fn collections(database: &Database) -> Result<BTreeMap<String, Document>, Error> {
    let list = doc! { "listCollections": 1, "maxTimeMS": limit(), "comment": comment("check", "collections") };
    let found = all(database, list).await?;
    let named = found.into_iter().filter_map(|found| {
        let options = found.get_document("options").cloned().unwrap_or_default();
        Some((found.get_str("name").ok()?.to_owned(), options))
    });
    Ok(named.collect())
}

/// Indexes of a collection by name.
async fn indexes(
    database: &Database,
    collection: Collection,
) -> Result<BTreeMap<String, Document>, Error> {
    let list = doc! { "listIndexes": collection.name(), "maxTimeMS": limit(), "comment": comment("check", "indexes") };
    let found = all(database, list).await?;
    let named = found
        .into_iter()
        .filter_map(|found| Some((found.get_str("name").ok()?.to_owned(), found)));
    Ok(named.collect())
}

fn limit() -> i64 {
    Deadline::after(INTERACTIVE).max_time_ms()
}

/// All rows of a cursor command.
pub(crate) async fn all(database: &Database, command: Document) -> Result<Vec<Document>, Error> {
    let mut cursor = database.run_cursor_command(command).await?;
    let mut rows = Vec::new();
    while cursor.advance().await? {
        rows.push(cursor.deserialize_current()?);
    }
    Ok(rows)
}

/// Closes every difference that can be closed, collection by collection. Answers what was done, in
/// sentences; nothing when all was well.
pub(crate) async fn migrate(database: &Database) -> Result<Vec<String>, MigrateError> {
    let mut done = Vec::new();
    let mut violations = Vec::new();
    let differences = differences(database).await?;
    for collection in Collection::ALL {
        let own = |difference: &&Difference| step::collection(difference) == collection;
        let own: Vec<&Difference> = differences.iter().filter(own).collect();
        violations.extend(
            step::close(database, collection, &own, &mut done)
                .await
                .map_err(store_error)?,
        );
    }
    let in_the_way = |difference: &Difference| !difference.can_be_closed();
    let in_the_way: Vec<Difference> = differences.into_iter().filter(in_the_way).collect();
    if !violations.is_empty() {
        Err(MigrateError::Violations(violations))
    } else if !in_the_way.is_empty() {
        Err(MigrateError::InTheWay(in_the_way))
    } else {
        Ok(done)
    }
}
