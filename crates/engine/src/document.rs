//! Writing one document: the common form of creating and changing tenants, catalogue and people.
//!
//! Owns the unit that such a change makes and the check of the version a caller saw.

use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::id::BusinessId;
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::query::{Page, Query};
use abasto_store::record::{Document, Record};
use abasto_store::unit::{Answer, Guard, Put, UnitOfWork};
use serde_json::json;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit;
use crate::context::Context;
use crate::error::Error;
use crate::record::{Stored, typed};

/// What a decision about one document comes to.
pub(crate) struct Change {
    /// The document it saw.
    pub(crate) base: Option<Document>,
    /// The document after it; the same as the base when nothing changes.
    pub(crate) next: Document,
    /// What happened.
    pub(crate) event: &'static str,
    /// When it was decided.
    pub(crate) at: Timestamp,
}

/// A change with what it relies on beside its own document.
pub(crate) struct Guarded {
    pub(crate) change: Change,
    pub(crate) guards: Vec<Guard>,
}

impl From<Change> for Guarded {
    fn from(change: Change) -> Self {
        Self {
            change,
            guards: Vec::new(),
        }
    }
}

impl Engine {
    /// Decides one document until it is committed, in a task of its own.
    pub(crate) async fn save<T, D, F, C>(
        &self,
        context: &Context,
        decide: D,
    ) -> Result<Arc<T>, Error>
    where
        T: Stored + Send + Sync + 'static,
        D: Fn(Engine, Context, Freshness) -> F + Send + Sync + 'static,
        F: Future<Output = Result<C, Error>> + Send,
        C: Into<Guarded> + Send + 'static,
    {
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let (engine, context, decide) = (&engine, &context, &decide);
            let unit = |freshness| async move {
                let change = decide(engine.clone(), context.clone(), freshness).await?;
                Ok(engine.change_unit(context, change.into()))
            };
            let done = engine.settle(context.business(), None, unit).await?;
            typed(commit::document(done.value)?)
        })
        .await
    }

    fn change_unit(&self, context: &Context, guarded: Guarded) -> UnitOfWork {
        let Change {
            base,
            next,
            event,
            at,
        } = guarded.change;
        let mut unit = self.bare_unit(context.business(), context.principal.actor, at);
        unit.request.clone_from(&context.request);
        unit.guards = guarded.guards;
        if base.as_ref() == Some(&next) {
            unit.guards
                .push(Guard::Document(next.key(), next.version()));
            unit.answer = Answer::Unchanged(next);
        } else {
            unit.puts = vec![self.put(base, next, event, at)];
        }
        unit
    }

    /// A put with an event that says no more than what happened.
    pub(crate) fn put(
        &self,
        base: Option<Document>,
        next: Document,
        event: &'static str,
        at: Timestamp,
    ) -> Put {
        let event = EventDraft {
            id: self.new_id(at).into(),
            name: event,
            data: json!({}),
        };
        Put { base, next, event }
    }

    /// A unit that writes nothing yet and answers its first put.
    pub(crate) fn bare_unit(
        &self,
        business: BusinessId,
        actor: Actor,
        at: Timestamp,
    ) -> UnitOfWork {
        UnitOfWork {
            business,
            branch: None,
            actor,
            request: String::new(),
            at,
            operation: None,
            guards: Vec::new(),
            puts: Vec::new(),
            stock: Vec::new(),
            tallies: Vec::new(),
            carts: abasto_store::cart::CartWork::default(),
            answer: Answer::Put(0),
        }
    }

    /// One page of a list whose rows are documents of one kind.
    pub(crate) async fn list_documents<T: Stored>(
        &self,
        business: BusinessId,
        query: &Query,
        page: Page,
    ) -> Result<Vec<Arc<T>>, Error> {
        let rows = self.store.list(business, query, page).await?;
        rows.into_iter()
            .map(|row| match row {
                Record::Document(document) => typed(document),
                _ => Err(Error::defect("a list of documents holds something else")),
            })
            .collect()
    }
}

/// Refuses a caller who saw another version (`If-Match`).
pub(crate) fn check_version(document: &Document, seen: i64) -> Result<(), Error> {
    if document.version() == seen {
        Ok(())
    } else {
        Err(Error::VersionMismatch(document.clone()))
    }
}

/// Overwrites a field when the caller gave a value.
pub(crate) fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}
