//! The clean-up of carts: idle ones close, the content of long ended ones is forgotten.
//!
//! Owns one bounded round. Every step is a versioned put, so any number of instances may run it.

use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::cart::Cart;
use abasto_domain::time::Timestamp;
use abasto_store::cart::Fold;
use abasto_store::event::EventDraft;
use abasto_store::record::{Document, Kind};
use abasto_store::unit::{Put, UnitOfWork};

use super::facts;
use super::held::Held;
use crate::Engine;
use crate::error::Error;

/// What a round of the clean-up did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanUp {
    /// Carts that were due.
    pub looked_at: usize,
    /// Idle carts that were closed.
    pub closed: usize,
    /// Ended carts whose content was forgotten.
    pub forgotten: usize,
}

impl Engine {
    /// One round over at most `limit` carts that are due, of all businesses. Call it again soon
    /// when it looked at that many.
    pub async fn clean_up_carts(&self, limit: u32) -> Result<CleanUp, Error> {
        let now = self.now();
        let due = self.store.due(None, Kind::Cart, now, limit).await?;
        let mut done = CleanUp::default();
        for document in due {
            let Document::Cart(cart) = document else {
                return Err(Error::defect("something else is due than a cart"));
            };
            done.looked_at += 1;
            let stored = self.store.cart_content(cart.business, cart.id).await?;
            let held = Held::read(&stored)?;
            if cart.is_active() {
                let next = rest(&cart, &held, now);
                let closes = !next.is_active();
                let unit = self.cleaning(&cart, next, now);
                done.closed += usize::from(self.commit_once(unit).await? && closes);
            } else if self.forget(&cart, &held, now).await? {
                done.forgotten += 1;
            }
        }
        metrics::counter!("abasto_cart_closed_total")
            .increment(u64::try_from(done.closed).unwrap_or(0));
        Ok(done)
    }

    async fn forget(&self, cart: &Arc<Cart>, held: &Held, now: Timestamp) -> Result<bool, Error> {
        let mut unit = self.cleaning(cart, cart.forgotten(now), now);
        if held.version > 0 || !held.tail.is_empty() {
            let empty = Held {
                version: held.version,
                edited_at: held.edited_at,
                ..Held::default()
            };
            unit.carts.folds = vec![Fold {
                next: empty.to_state(cart.business, cart.id),
                covers: held.tail.keys().copied().collect(),
            }];
        }
        let outcome = self.commit_once(unit).await;
        self.carts.forget((cart.business, cart.id));
        outcome
    }

    fn cleaning(&self, cart: &Arc<Cart>, next: Cart, now: Timestamp) -> UnitOfWork {
        let name = match (cart.is_active(), next.is_active()) {
            (true, true) => "abasto.cart.kept",
            (true, false) => "abasto.cart.closed",
            (false, _) => "abasto.cart.forgotten",
        };
        let mut unit = self.bare_unit(cart.business, Actor::System, now);
        "clean-up".clone_into(&mut unit.request);
        unit.branch = Some(cart.branch);
        unit.puts = vec![Put {
            event: EventDraft {
                id: self.new_id(now).into(),
                name,
                data: facts(&next),
            },
            base: Some(Document::Cart(Arc::clone(cart))),
            next: next.into(),
        }];
        unit
    }
}

/// An active cart that is due: closed when nobody edited it for long, else looked at later.
fn rest(cart: &Cart, held: &Held, now: Timestamp) -> Cart {
    let edited_at = held.edited_at.max(cart.stamp.created_at);
    if Cart::idle_at(edited_at) <= now {
        cart.closed(now)
    } else {
        cart.kept(edited_at, now)
    }
}
