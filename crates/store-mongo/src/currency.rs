//! The currency of each business, which never changes: prices of products are written with it.
//!
//! Owns a bounded memory of what was read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use abasto_domain::currency::Currency;
use abasto_domain::id::BusinessId;
use abasto_store::index::Collection;
use abasto_store::record::Document;
use abasto_store::unit::{Answer, UnitOfWork};
use mongodb::Database;
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{Bson, doc};
use mongodb::error::Error;

use crate::collection::comment;
use crate::deadline::Deadline;
use crate::document::object_id;

/// Businesses remembered; beyond this the memory starts anew.
const REMEMBERED_MAX: usize = 100_000;

/// Currencies by business.
#[derive(Debug, Default)]
pub(crate) struct Currencies(Mutex<HashMap<BusinessId, Currency>>);

impl Currencies {
    /// The currency that units of a business need: nothing when they hold no price that lacks one,
    /// or when the business does not exist.
    pub(crate) async fn needed(
        &self,
        database: &Database,
        business: BusinessId,
        units: &[UnitOfWork],
        deadline: Deadline,
    ) -> Result<Option<Currency>, Error> {
        if let Some(new) = units.iter().find_map(founded) {
            return Ok(Some(new));
        }
        if !units.iter().any(holds_price) {
            return Ok(None);
        }
        if let Some(known) = self.lock().get(&business) {
            return Ok(Some(*known));
        }
        let found = read(database, business, deadline).await?;
        if let Some(found) = found {
            let mut known = self.lock();
            if known.len() >= REMEMBERED_MAX {
                known.clear();
            }
            known.insert(business, found);
        }
        Ok(found)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<BusinessId, Currency>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The currency of a business that the unit itself writes.
fn founded(unit: &UnitOfWork) -> Option<Currency> {
    unit.puts.iter().find_map(|put| match &put.next {
        Document::Business(business) => Some(business.currency),
        _ => None,
    })
}

fn holds_price(unit: &UnitOfWork) -> bool {
    let answer = match &unit.answer {
        Answer::Unchanged(document) => Some(document),
        Answer::Put(_) | Answer::Stock(_) | Answer::View(_) => None,
    };
    let mut documents = unit.puts.iter().map(|put| &put.next).chain(answer);
    documents.any(|document| matches!(document, Document::Product(_)))
}

async fn read(
    database: &Database,
    business: BusinessId,
    deadline: Deadline,
) -> Result<Option<Currency>, Error> {
    let businesses = database.collection::<RawDocumentBuf>(Collection::Businesses.name());
    let found = businesses
        .find_one(doc! { "_id": object_id(business) })
        .projection(doc! { "currency": 1 })
        .max_time(deadline.max_time())
        .comment(Bson::String(comment(
            "currency",
            Collection::Businesses.name(),
        )))
        .await?;
    Ok(found.and_then(|found| Currency::parse(found.get_str("currency").ok()?).ok()))
}
