//! Folding: the edits since the last state become part of it.
//!
//! Owns when a cart is folded, the joining of lines that grew too busy, and the taking in of carts
//! that ended in this one. A fold replaces a state under its version; one that comes too late is
//! dropped, because nothing but the length of the tail depends on it.

use std::sync::Arc;
use std::time::Duration;

use abasto_cart::{Cart as Content, Context as Seen, Seal};
use abasto_domain::access::Actor;
use abasto_domain::business::CartMode;
use abasto_domain::cart::Cart;
use abasto_domain::id::CartId;
use abasto_store::cart::{CartLogEntry, Fold};
use abasto_store::record::Document;
use abasto_store::unit::{Answer, Guard, UnitOfWork};
use serde_json::json;

use super::CartCaller;
use super::held::{Held, decode};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// Edits of the tail at which it is folded.
const TAIL_EDITS_MAX: usize = 15;
/// Bytes of the tail at which it is folded.
const TAIL_BYTES_MAX: usize = 16 * 1024;
/// How often taking in another cart is tried.
const SETTLE_TRIES_MAX: u32 = 10;
/// How long a read waits for what its caller has seen elsewhere.
const WAIT_MAX: Duration = Duration::from_millis(200);
/// How often the store is asked meanwhile, where others write to it.
const WAIT_STEP: Duration = Duration::from_millis(20);

impl Engine {
    /// The content of a cart with that of the carts that ended in it.
    pub(super) async fn content_of(&self, cart: &Cart) -> Result<Arc<Held>, Error> {
        let held = self.held(cart.business, cart.id).await?;
        if cart.inherits.is_empty() {
            return Ok(held);
        }
        let mut all = Held::clone(&held);
        for source in &cart.inherits {
            self.inherit(cart, *source, &mut all).await?;
        }
        Ok(Arc::new(all))
    }

    /// Adds what a cart that ended left to this one.
    async fn inherit(
        &self,
        cart: &Cart,
        source: CartId,
        into: &mut Held,
    ) -> Result<Content, Error> {
        let source = self
            .find::<Cart>(cart.business, source, Freshness::Fresh)
            .await?;
        // It takes no edits any more: what the store has is all.
        let stored = self.store.cart_content(cart.business, source.id).await?;
        let left = Held::read(&stored)?;
        let rest = match &source.seal {
            Some(seal) => Seal::of(&decode(seal)?).rest(&left.content),
            None => left.content.clone(),
        };
        into.inherit(&left, &rest);
        Ok(rest)
    }

    /// Makes what a cart inherits part of its own state, once.
    pub(crate) async fn settle_inheritance(&self, cart: &Arc<Cart>) -> Result<(), Error> {
        let mut cart = Arc::clone(cart);
        for attempt in 0..SETTLE_TRIES_MAX {
            if cart.inherits.is_empty() || !cart.is_active() {
                return Ok(());
            }
            let mut held = Held::clone(&*self.held(cart.business, cart.id).await?);
            let mut unit = self.fold_unit(&cart);
            for source in &cart.inherits {
                let rest = self.inherit(&cart, *source, &mut held).await?;
                let operation = json!({"op": "take", "from": source});
                self.log(&mut unit, &cart, operation, &rest);
            }
            let now = unit.at;
            let (base, next) = (Document::Cart(Arc::clone(&cart)), cart.settled(now));
            unit.guards.clear();
            unit.puts = vec![self.put(Some(base), next.into(), "abasto.cart.settled", now)];
            if self.commit_fold(&cart, unit, &held).await? {
                return Ok(());
            }
            self.pause(attempt).await;
            cart = self.find(cart.business, cart.id, Freshness::Fresh).await?;
        }
        Err(Error::Contended)
    }

    /// Starts a fold when an edit made the tail long enough. One at a time per cart and process.
    pub(super) fn after_edit(&self, cart: &Arc<Cart>, held: &Held) {
        metrics::histogram!("abasto_cart_entries").record(count(held.content.entries().len()));
        let is_long = held.tail.len() >= TAIL_EDITS_MAX || held.tail_bytes() >= TAIL_BYTES_MAX;
        let key = (cart.business, cart.id);
        if !is_long || !self.carts.cell(key).begin_fold() {
            return;
        }
        let (engine, cart) = (self.clone(), Arc::clone(cart));
        tokio::spawn(async move {
            if let Err(error) = engine.fold(&cart).await {
                // The next edit tries again.
                tracing::debug!(%error, "a cart was not folded");
            }
            engine.carts.cell(key).end_fold();
        });
    }

    /// Folds the tail of an active cart into its state.
    async fn fold(&self, cart: &Arc<Cart>) -> Result<(), Error> {
        let key = (cart.business, cart.id);
        let mut held = Held::clone(&*self.held(cart.business, cart.id).await?);
        let mut unit = self.fold_unit(cart);
        let crowded = held.content.crowded();
        let taken = self.authors.take(key, crowded.len())?;
        for (line, dot) in crowded.iter().zip(&taken.dots) {
            let change = held
                .content
                .collapse(line, *dot)
                .unwrap_or_else(|| Content::skip(*dot));
            held.content.join(&change);
            let operation = json!({"op": "fold", "line": line.as_str()});
            self.log(&mut unit, cart, operation, &change);
        }
        match self.commit_fold(cart, unit, &held).await {
            Ok(true) => metrics::counter!("abasto_cart_folds_total").increment(1),
            Ok(false) => self.authors.give_back(taken),
            Err(error) => {
                self.authors.abandon(&taken);
                return Err(error);
            }
        }
        Ok(())
    }

    fn fold_unit(&self, cart: &Arc<Cart>) -> UnitOfWork {
        let mut unit = self.bare_unit(cart.business, Actor::System, self.now());
        "fold".clone_into(&mut unit.request);
        unit.branch = Some(cart.branch);
        let record = Document::Cart(Arc::clone(cart));
        unit.guards = vec![Guard::Document(record.key(), record.version())];
        unit.answer = Answer::Unchanged(record);
        unit
    }

    /// Notes a change of the system in the history of a cart that keeps one.
    fn log(
        &self,
        unit: &mut UnitOfWork,
        cart: &Cart,
        operation: serde_json::Value,
        change: &Content,
    ) {
        if cart.mode != CartMode::Events {
            return;
        }
        unit.carts.log.push(CartLogEntry {
            business: cart.business,
            cart: cart.id,
            id: self.new_id(unit.at),
            at: unit.at,
            actor: unit.actor,
            request: unit.request.clone(),
            operation,
            dot: None,
            delta: change.encode().into(),
        });
    }

    /// Commits a fold to `held`; whether it was in time.
    async fn commit_fold(
        &self,
        cart: &Cart,
        mut unit: UnitOfWork,
        held: &Held,
    ) -> Result<bool, Error> {
        let covers: Vec<_> = held.tail.keys().copied().collect();
        let next = held.to_state(cart.business, cart.id);
        let fold = Fold {
            next: next.clone(),
            covers: covers.clone(),
        };
        unit.carts.folds = vec![fold.clone()];
        let key = (cart.business, cart.id);
        let outcome = self.commit_once(unit).await;
        if matches!(outcome, Ok(true)) {
            note_bytes(&fold);
            self.take_fold(key, &next, held.content.clone(), &covers);
        } else {
            // It was too late, or it may be in the store: only the store knows.
            self.carts.forget(key);
        }
        outcome
    }

    /// Waits until a cart knows what its reader has seen; whether it came in time.
    pub(super) async fn wait_for(
        &self,
        caller: &CartCaller,
        cart: &Cart,
        wanted: &Seen,
    ) -> Result<bool, Error> {
        let deadline = tokio::time::Instant::now() + WAIT_MAX;
        loop {
            let cell = self.carts.cell((cart.business, cart.id));
            let changed = cell.changed.notified();
            let fresh = self.cart_record(caller, cart.id, self.record_freshness());
            let held = self.content_of(&*fresh.await?).await?;
            if held.content.context().covers(wanted) {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let step = if self.store.is_shared() {
                left.min(WAIT_STEP)
            } else {
                left
            };
            // Whether it rang or not, the content says.
            let _ = tokio::time::timeout(step, changed).await;
        }
    }
}

/// The size of a state that was stored.
pub(super) fn note_bytes(fold: &Fold) {
    metrics::histogram!("abasto_cart_bytes").record(count(fold.next.state.len()));
}

/// A size as a sample of a histogram.
fn count(size: usize) -> f64 {
    f64::from(u32::try_from(size).unwrap_or(u32::MAX))
}
