//! The commit of an edit, and what memory holds after it.
//!
//! Owns what each verdict means for an edit. Must not decide anything: `edit.rs` does.

use abasto_cart::Cart as Content;
use abasto_domain::cart::Cart;
use abasto_store::cart::CartAppend;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Rejection, Reply, Verdict};

use super::edit_step::count;
use super::fold::note_bytes;
use super::held::Held;
use super::view::CartView;
use crate::Engine;
use crate::error::Error;

/// A unit with what it changes in memory.
pub(super) struct Draft {
    pub(super) unit: UnitOfWork,
    pub(super) edits: Vec<(CartAppend, Content)>,
    pub(super) held: Held,
    /// The cart after it, as it is shown.
    pub(super) view: CartView,
    /// Names of the operations that it does for the first time.
    pub(super) operations: Vec<&'static str>,
}

/// What became of a draft.
pub(super) enum Outcome {
    Done,
    Replayed(Reply),
    /// Something moved: decide again.
    Again,
}

impl Engine {
    pub(super) async fn commit_edit(&self, cart: &Cart, draft: Draft) -> Result<Outcome, Error> {
        let key = (cart.business, cart.id);
        let folds = draft.unit.carts.folds.clone();
        let verdict = self.store.commit(draft.unit).await;
        if !matches!(verdict, Ok(Verdict::Committed(_))) {
            // Somebody else wrote, or nobody knows who did: an edit whose outcome was unknown may
            // have come after the cart was read for its repetition.
            self.carts.forget(key);
        }
        match verdict? {
            Verdict::Committed(_) => {
                count(cart, &draft.operations);
                match folds.first() {
                    Some(fold) => {
                        note_bytes(fold);
                        let content = draft.held.content;
                        self.take_fold(key, &fold.next, content, &fold.covers);
                    }
                    None => self.take_edits(key, &draft.edits),
                }
                Ok(Outcome::Done)
            }
            Verdict::Replayed(reply) => Ok(Outcome::Replayed(reply)),
            Verdict::KeyReused => Err(Error::KeyReused),
            Verdict::Rejected(Rejection::DotTaken(_)) => Ok(Outcome::Again),
            Verdict::Rejected(_) => Err(Error::defect("an edit of a cart was rejected")),
            Verdict::Stale(head) => {
                self.note_stale(cart.business, &head);
                Ok(Outcome::Again)
            }
        }
    }
}
