//! Verdicts: what became of a unit.
//!
//! Owns the closed set of answers. Every unit of a group gets its own; a refused one leaves
//! nothing behind and does not hurt its neighbours.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::id::{BusinessId, ProductId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::stock::{Movement, Place, Shortage, StockLevel};
use abasto_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cart::DotKey;
use crate::record::{Claim, Document, HeadKey};
use crate::tally::TallyKey;

/// What became of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Committed(Reply),
    /// Its key was used before for the same content: this is the first answer.
    Replayed(Reply),
    /// Its key was used before for other content; nothing was written.
    KeyReused,
    /// It cannot be; nothing was written, the key is free.
    Rejected(Rejection),
    /// Something it was decided upon has changed; read again and decide again.
    Stale(HeadKey),
}

/// Why a unit that was decided upon the present state still cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// Levels that cannot take their changes (all of them, one entry per level).
    Short(Vec<ShortLevel>),
    /// Another document holds the claim.
    Taken(Claim),
    /// A contended number would leave its bounds.
    Bound(TallyKey),
    /// The dot belongs to an edit that came before: read the cart and see which.
    DotTaken(DotKey),
}

/// A level that cannot take what a unit asks of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortLevel {
    /// Which.
    pub place: Place,
    /// Why.
    pub why: Shortage,
    /// The level as it is; nothing when no movement ever touched it.
    pub level: Option<StockLevel>,
    /// The sum of the unit's changes of `available`.
    pub available: i64,
    /// The sum of the unit's changes of `reserved`.
    pub reserved: i64,
}

/// The answer of a committed unit, kept with its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "type", content = "value")]
pub enum Reply {
    /// A document as it was then.
    Document(Document),
    /// What a unit did to stock.
    Stock(Arc<StockReply>),
    /// A view as it was told then.
    View(Arc<serde_json::Value>),
}

/// Movements made and the levels they led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockReply {
    /// By place; within a level in the order of their sequence.
    pub movements: Vec<Movement>,
    /// One per level touched, by place.
    pub levels: Vec<StockLevel>,
    /// What the products were called then, so that a repeated answer says the same.
    #[serde(default, skip_serializing_if = "Skus::is_empty")]
    pub skus: Skus,
}

/// Skus by product.
pub type Skus = BTreeMap<ProductId, String>;

/// A finished operation under an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// The tenant.
    pub business: BusinessId,
    /// The key in its scope.
    pub key: OperationKey,
    /// The content it stands for.
    pub fingerprint: Fingerprint,
    /// The answer.
    pub reply: Reply,
    /// When it committed.
    pub at: Timestamp,
}
