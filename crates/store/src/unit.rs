//! The unit of work: everything that one decision writes, as a value.
//!
//! Owns its form and which heads it touches. A unit is atomic and non-interactive: a test can
//! record it, a simulator replay it, an adapter put many of them into one commit.

use abasto_domain::access::Actor;
use abasto_domain::id::{BranchId, BusinessId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::stock::{Place, StockChange};
use abasto_domain::time::Timestamp;

use crate::cart::CartWork;
use crate::event::EventDraft;
use crate::record::{Document, DocumentKey, HeadKey};
use crate::tally::TallyChange;
use crate::verdict::Skus;

/// One atomic intention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitOfWork {
    /// The tenant; everything in the unit belongs to it.
    pub business: BusinessId,
    /// The branch whose other units it may wait with; `None` for the business as a whole.
    pub branch: Option<BranchId>,
    /// Who acts.
    pub actor: Actor,
    /// The request it came from.
    pub request: String,
    /// The time that everything in it carries.
    pub at: Timestamp,
    /// The idempotency key, when the caller gave one.
    pub operation: Option<OperationDraft>,
    /// What was only read, and must still be so.
    pub guards: Vec<Guard>,
    /// Documents to write.
    pub puts: Vec<Put>,
    /// Stock to move.
    pub stock: Vec<StockChange>,
    /// Contended numbers to change.
    pub tallies: Vec<TallyChange>,
    /// Edits and states of carts.
    pub carts: CartWork,
    /// What the caller is told when it commits.
    pub answer: Answer,
}

/// An idempotency key with the content it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationDraft {
    /// The key in its scope.
    pub key: OperationKey,
    /// The content.
    pub fingerprint: Fingerprint,
}

/// Protects what a decision only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The document is still at this version.
    Document(DocumentKey, i64),
    /// The level is still at this version (0: no movement yet).
    Level(Place, i64),
}

/// A versioned put with its one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// The document that the decision saw; `None` when it makes a new one.
    pub base: Option<Document>,
    /// The document after it; its version is the base's plus one.
    pub next: Document,
    /// What happened.
    pub event: EventDraft,
}

/// What a committed unit answers, and what a replay of its key answers again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The document of the put at this index, blanks filled.
    Put(usize),
    /// A document that the unit left as it is.
    Unchanged(Document),
    /// The movements made and the levels they led to, with the skus that the products have.
    Stock(Skus),
    /// A view that the caller made.
    View(std::sync::Arc<serde_json::Value>),
}

impl UnitOfWork {
    /// Every head that deciding this unit needs, duplicates included.
    pub fn heads(&self) -> impl Iterator<Item = HeadKey> + '_ {
        let operation = self.operation.iter();
        let operation = operation.map(|operation| HeadKey::Operation(operation.key.clone()));
        let guards = self.guards.iter().map(|guard| match guard {
            Guard::Document(key, _) => HeadKey::Document(*key),
            Guard::Level(place, _) => HeadKey::Level(*place),
        });
        let puts = self.puts.iter().flat_map(Put::heads);
        let stock = self.stock.iter().map(|change| HeadKey::Level(change.place));
        let tallies = self.tallies.iter();
        let tallies = tallies.map(|change| HeadKey::Tally(change.key));
        let written = puts.chain(stock).chain(tallies);
        let carts = self.carts.heads();
        operation.chain(guards).chain(written).chain(carts)
    }
}

impl Put {
    fn heads(&self) -> Vec<HeadKey> {
        let mut heads = vec![HeadKey::Document(self.next.key())];
        heads.extend(self.next.claims().into_iter().map(HeadKey::Claim));
        if let Document::Order(order) = &self.next
            && order.number.is_blank()
        {
            heads.push(HeadKey::Series(order.number.series.clone()));
        }
        heads
    }
}
