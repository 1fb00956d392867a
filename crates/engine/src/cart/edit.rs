//! Editing a cart: one API, three modes.
//!
//! Owns the way from a request to a commit. In the modes `crdt` and `events` an edit is an append
//! under its dots and conflicts with nothing; in `occ` it replaces the state under its version and
//! the *operation* is tried again on the newest one. In all three a repetition is recognised.

use std::sync::Arc;

use abasto_cart::Hlc;
use abasto_cart::limit::{MAX_DEVICE_CLOCK_AHEAD_MS, MAX_PATCH_OPERATIONS};
use abasto_domain::business::CartMode;
use abasto_domain::cart::Cart;
use abasto_domain::id::CartId;
use abasto_domain::time::Timestamp;
use abasto_store::cart::{CartAppend, CartEdit, CartLogEntry, Fold};
use abasto_store::record::Document;
use abasto_store::unit::{Answer, Guard, OperationDraft};
use abasto_store::verdict::Reply;
use serde::Serialize;

use super::CartCaller;
use super::edit_commit::{Draft, Outcome};
use super::edit_step::{Named, append, check_products, device_dots, fresh_steps, make, seen_price};
use super::held::Held;
use super::operation::{EditStep, compile};
use super::refusal::{self, CartRefusal};
use super::view::{CartView, note_flags};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;
use crate::fingerprint::operation;

/// How often an edit is decided anew before the caller is told so.
const DECISIONS_MAX: u32 = 10;
/// The same in mode `occ`, where every other edit of the cart is in the way.
const OCC_TRIES_MAX: u32 = 5;

/// A patch: operations that are done together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EditCart {
    /// The name that the device leased, with the number of its first operation.
    pub device: Option<(String, u64)>,
    /// When the device says it was, as it writes it.
    pub hlc: Option<u64>,
    /// What tells a repetition when no device numbers.
    pub key: Option<String>,
    /// The version that the caller saw, in mode `occ`.
    pub if_match: Option<i64>,
    /// The operations, 1 to 50.
    pub steps: Vec<EditStep>,
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The cart after it.
    pub view: CartView,
    /// Whether an earlier request under the same key did it.
    pub replayed: bool,
}

/// What one decision came to.
enum Decision {
    /// The unit to commit and what it changes in memory.
    Commit(Box<Draft>),
    /// All of it was done before.
    Repeated(Arc<Held>),
}

#[derive(Serialize)]
struct Canonical<'a> {
    cart: CartId,
    steps: &'a [EditStep],
}

impl Engine {
    /// Does the operations of a patch. A caller that hangs up cancels nothing.
    pub async fn edit_cart(
        &self,
        caller: &CartCaller,
        id: CartId,
        command: EditCart,
    ) -> Result<Edited, Error> {
        let (engine, caller) = (self.clone(), caller.clone());
        self.detached(async move {
            let mut named = None;
            let result = engine.edit(&caller, id, &command, &mut named).await;
            match (&result, named.and_then(|named: Named| named.taken)) {
                (Err(Error::OutcomeUnknown | Error::Internal(_)), Some(taken)) => {
                    engine.authors.abandon(&taken);
                }
                (_, Some(taken)) => engine.authors.give_back(taken),
                (_, None) => {}
            }
            result
        })
        .await
    }

    async fn edit(
        &self,
        caller: &CartCaller,
        id: CartId,
        command: &EditCart,
        named: &mut Option<Named>,
    ) -> Result<Edited, Error> {
        if command.steps.is_empty() || command.steps.len() > MAX_PATCH_OPERATIONS {
            return Err(CartRefusal::Limit("operations").into());
        }
        let operation = self.edit_operation(caller, id, command)?;
        let mut tries = 0;
        let mut freshness = self.record_freshness();
        loop {
            let cart = self.cart_record(caller, id, freshness).await?;
            let permission = abasto_domain::access::Permission::EditCarts;
            caller.context.require_at(permission, cart.branch)?;
            if !cart.inherits.is_empty() && cart.is_active() {
                self.settle_inheritance(&cart).await?;
                freshness = Freshness::Fresh;
                continue;
            }
            let named = self.name(named, &cart, command)?;
            let decided = self
                .decide_edit(caller, &cart, command, named, operation.as_ref())
                .await;
            let draft = match decided {
                Ok(Decision::Repeated(held)) => {
                    return Ok(Edited {
                        view: self.view(&cart, &held).await?,
                        replayed: true,
                    });
                }
                Ok(Decision::Commit(draft)) => *draft,
                Err(error) => return self.replay(caller, id, operation.as_ref(), error).await,
            };
            let (held, view) = (draft.held.clone(), draft.view.clone());
            match self.commit_edit(&cart, draft).await? {
                Outcome::Done => {
                    self.after_edit(&cart, &held);
                    // They are used now.
                    named.taken = None;
                    note_flags(&view, &command.steps);
                    return Ok(Edited {
                        view,
                        replayed: false,
                    });
                }
                Outcome::Replayed(reply) => return replayed(reply),
                Outcome::Again => {}
            }
            freshness = Freshness::Fresh;
            tries += 1;
            self.pause_edit(&cart, command, tries).await?;
        }
    }

    /// Waits before the next decision; gives up when there were enough.
    async fn pause_edit(&self, cart: &Cart, command: &EditCart, tries: u32) -> Result<(), Error> {
        if cart.mode != CartMode::Occ {
            if tries >= DECISIONS_MAX {
                return Err(Error::Contended);
            }
            return Ok(());
        }
        metrics::counter!("abasto_cart_occ_retries_total").increment(1);
        if tries >= OCC_TRIES_MAX && command.if_match.is_none() {
            return Err(CartRefusal::Contention.into());
        }
        self.pause(tries).await;
        Ok(())
    }

    fn edit_operation(
        &self,
        caller: &CartCaller,
        id: CartId,
        command: &EditCart,
    ) -> Result<Option<OperationDraft>, Error> {
        let key = command.key.as_deref().filter(|_| command.device.is_none());
        let canonical = Canonical {
            cart: id,
            steps: &command.steps,
        };
        key.map(|key| operation(&caller.context, key, "cart.edit", &canonical))
            .transpose()
    }

    /// A refusal of a command whose key already finished is that key's business.
    async fn replay(
        &self,
        caller: &CartCaller,
        id: CartId,
        operation: Option<&OperationDraft>,
        refusal: Error,
    ) -> Result<Edited, Error> {
        let Some(draft) = operation else {
            return Err(refusal);
        };
        let business = caller.context.business();
        match self.store.operation(business, &draft.key).await? {
            None => Err(refusal),
            Some(done) if done.fingerprint == draft.fingerprint => {
                // It may have been done after the cart was read.
                self.carts.forget((business, id));
                replayed(done.reply)
            }
            Some(_) => Err(Error::KeyReused),
        }
    }

    /// The names of the operations: the device's own, or numbers of this process.
    fn name<'n>(
        &self,
        named: &'n mut Option<Named>,
        cart: &Cart,
        command: &EditCart,
    ) -> Result<&'n mut Named, Error> {
        if named.is_none() {
            *named = Some(match &command.device {
                Some((device, sequence)) => device_dots(cart, device, *sequence, command)?,
                None => {
                    let key = (cart.business, cart.id);
                    let taken = self.authors.take(key, command.steps.len())?;
                    Named {
                        dots: taken.dots.clone(),
                        taken: Some(taken),
                    }
                }
            });
        }
        named
            .as_mut()
            .ok_or_else(|| Error::defect("names were made and are gone"))
    }

    async fn decide_edit(
        &self,
        caller: &CartCaller,
        cart: &Arc<Cart>,
        command: &EditCart,
        named: &Named,
        operation: Option<&OperationDraft>,
    ) -> Result<Decision, Error> {
        let steps = compile(cart, &command.steps)?;
        let held = self.held(cart.business, cart.id).await?;
        let sent = command.hlc.map(Hlc::from_bits);
        let fresh = fresh_steps(&held, &steps, &named.dots, sent)?;
        if fresh.is_empty() {
            return Ok(Decision::Repeated(held));
        }
        if !cart.is_active() {
            return Err(refusal::ended(cart));
        }
        let now = self.now();
        let stamp = self.stamp(sent, now)?;
        self.check_version(cart, command, &held).await?;
        let shelf = self.shelf_for(cart, &held.content, &steps).await?;
        check_products(&shelf, &command.steps)?;
        let made = make(&held, &steps, &fresh, &named.dots, stamp, &shelf)?;
        let mut next = Held::clone(&held);
        let mut edits = Vec::with_capacity(made.len());
        let mut operations = Vec::with_capacity(made.len());
        for (at, change) in made {
            let step = &command.steps[at];
            let append = append(cart, &steps[at], named.dots[at], &change, sent, now);
            let append = CartAppend {
                price: seen_price(&shelf, &steps[at], now),
                ..append
            };
            next.take(&append, &change);
            let log = (cart.mode == CartMode::Events)
                .then(|| self.log_entry(caller, cart, step, &append));
            edits.push((append, change, log));
            operations.push(step.operation.name());
        }
        let mut unit = self.cart_unit(&caller.context, cart, now);
        let record = Document::Cart(Arc::clone(cart));
        unit.guards = vec![Guard::Document(record.key(), record.version())];
        unit.answer = Answer::Unchanged(record);
        let view = self.next_view(cart, &next).await?;
        if let Some(operation) = operation {
            let told = serde_json::to_value(&view);
            let told = told.map_err(|error| Error::Internal(Box::new(error)))?;
            unit.operation = Some(operation.clone());
            unit.answer = Answer::View(Arc::new(told));
        }
        if cart.mode == CartMode::Occ {
            let fold = Fold {
                next: next.to_state(cart.business, cart.id),
                covers: held.tail.keys().copied().collect(),
            };
            next.version += 1;
            next.tail.clear();
            unit.carts.folds = vec![fold];
        } else {
            let kept = edits.iter().cloned();
            unit.carts.edits = kept
                .map(|(append, _, log)| CartEdit { append, log })
                .collect();
        }
        let edits = edits.into_iter();
        Ok(Decision::Commit(Box::new(Draft {
            unit,
            edits: edits.map(|(append, change, _)| (append, change)).collect(),
            held: next,
            view,
            operations,
        })))
    }

    /// The stamp of the operations: the device's when it is within bounds, else ours.
    fn stamp(&self, sent: Option<Hlc>, now: Timestamp) -> Result<Hlc, Error> {
        let now_ms = u64::try_from(now.as_millis()).unwrap_or(0);
        match sent {
            None => Ok(self.hlc.stamp(now_ms)),
            Some(hlc) => match hlc.check(now_ms, MAX_DEVICE_CLOCK_AHEAD_MS) {
                Ok(()) => Ok(hlc),
                Err(skew) => Err(CartRefusal::ClockSkew {
                    ahead_ms: skew.ahead_ms,
                    now_ms: now.as_millis(),
                }
                .into()),
            },
        }
    }

    async fn check_version(
        &self,
        cart: &Cart,
        command: &EditCart,
        held: &Held,
    ) -> Result<(), Error> {
        match command.if_match {
            Some(seen) if cart.mode == CartMode::Occ && seen != held.version + 1 => {
                let view = self.view(cart, held).await?;
                Err(CartRefusal::Stale(Box::new(view)).into())
            }
            _ => Ok(()),
        }
    }

    fn log_entry(
        &self,
        caller: &CartCaller,
        cart: &Cart,
        step: &EditStep,
        append: &CartAppend,
    ) -> CartLogEntry {
        CartLogEntry {
            business: cart.business,
            cart: cart.id,
            id: self.new_id(append.at),
            at: append.at,
            actor: caller.context.principal.actor,
            request: caller.context.request.clone(),
            operation: serde_json::to_value(&step.operation).unwrap_or_default(),
            dot: Some((append.dot.rid, append.dot.sequence)),
            delta: Arc::clone(&append.delta),
        }
    }
}

fn replayed(reply: Reply) -> Result<Edited, Error> {
    let Reply::View(told) = reply else {
        return Err(Error::defect("a view was expected as answer"));
    };
    let view = serde_json::from_value((*told).clone());
    Ok(Edited {
        view: view.map_err(|error| Error::Internal(Box::new(error)))?,
        replayed: true,
    })
}
