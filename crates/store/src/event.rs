//! Events: one per committed change of a document, the history and the outbox in one.
//!
//! Owns their form. The sequence of an event is the version its document came to, so sequences
//! have no gap and need no counter of their own.

use abasto_domain::access::Actor;
use abasto_domain::id::{BusinessId, EventId};
use abasto_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::DocumentKey;

/// A committed event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: EventId,
    /// The document it is about.
    pub subject: DocumentKey,
    /// 1, 2, 3 … per subject: the version of the document after it.
    pub sequence: i64,
    /// For example `abasto.order.created`.
    pub name: String,
    /// Who caused it.
    pub actor: Actor,
    /// The request that caused it.
    pub request: String,
    /// When.
    pub at: Timestamp,
    /// What consumers and the history need; no personal data, no secrets.
    pub data: serde_json::Value,
}

/// The part of an event that is known before the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    /// The event's id.
    pub id: EventId,
    /// As in [`Event::name`].
    pub name: &'static str,
    /// As in [`Event::data`].
    pub data: serde_json::Value,
}
