//! Merging: one cart goes into another.
//!
//! Owns the two steps. The first ends the source and names it in the target, in one commit; from
//! then on its content counts in the target, wherever that is read. The second makes it part of
//! the target's own state, and nothing depends on when. Doing it twice does it once.

use std::sync::Arc;

use abasto_domain::cart::{Cart, CartStatus, Merge};
use abasto_domain::id::CartId;
use abasto_store::event::EventDraft;
use abasto_store::record::Document;
use abasto_store::unit::{Put, UnitOfWork};
use abasto_store::verdict::{Rejection, Verdict};

use super::refusal::of_merge;
use super::{CartCaller, CartView, facts};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// How often a merge is decided anew.
const DECISIONS_MAX: u32 = 10;

impl Engine {
    /// Takes `from` into `id`: quantities add. Both must be in the caller's sight.
    pub async fn merge_carts(
        &self,
        caller: &CartCaller,
        id: CartId,
        from: CartId,
    ) -> Result<CartView, Error> {
        let (engine, caller) = (self.clone(), caller.clone());
        self.detached(async move { engine.merge(&caller, id, from).await })
            .await
    }

    async fn merge(
        &self,
        caller: &CartCaller,
        id: CartId,
        from: CartId,
    ) -> Result<CartView, Error> {
        for attempt in 0..DECISIONS_MAX {
            let (target, source) = self.both(caller, id, from).await?;
            if !source.inherits.is_empty() && source.is_active() {
                self.settle_inheritance(&source).await?;
                continue;
            }
            let now = self.now();
            match target.merge(&source, now) {
                Ok(Merge::Done) => {
                    self.settle_inheritance(&target).await?;
                    return self.cart(caller, id, None).await;
                }
                Ok(Merge::Join {
                    target: next,
                    source: ended,
                }) => {
                    let carts = vec![(source, *ended), (target, *next)];
                    let unit = self.merge_unit(caller, carts);
                    if !self.commit_once(unit).await? {
                        self.pause(attempt).await;
                    }
                }
                Err(rejection) => return Err(of_merge(rejection, &source, &target)),
            }
        }
        Err(Error::Contended)
    }

    async fn both(
        &self,
        caller: &CartCaller,
        id: CartId,
        from: CartId,
    ) -> Result<(Arc<Cart>, Arc<Cart>), Error> {
        let permission = abasto_domain::access::Permission::EditCarts;
        let business = caller.context.business();
        let source = self.find::<Cart>(business, from, Freshness::Fresh).await;
        // Read after the source: one that ended in it is named in it.
        let target = self.cart_record(caller, id, Freshness::Fresh).await?;
        caller.context.require_at(permission, target.branch)?;
        let source = source?;
        // A guest's secret ends with the cart, and the merge can be asked for again.
        let was_merged = source.status == CartStatus::Merged && source.successor == Some(target.id);
        if caller.sees(&source) || was_merged {
            Ok((target, source))
        } else {
            Err(Error::NotFound)
        }
    }

    /// The source comes first: the claim of its owner moves on to the target.
    fn merge_unit(&self, caller: &CartCaller, carts: Vec<(Arc<Cart>, Cart)>) -> UnitOfWork {
        let now = self.now();
        let context = &caller.context;
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.request.clone_from(&context.request);
        unit.branch = carts.first().map(|(base, _)| base.branch);
        let puts = carts.into_iter().map(|(base, next)| Put {
            event: EventDraft {
                id: self.new_id(now).into(),
                name: "abasto.cart.merged",
                data: facts(&next),
            },
            base: Some(Document::Cart(base)),
            next: next.into(),
        });
        unit.puts = puts.collect();
        unit
    }

    /// Commits a unit about carts that was decided upon fresh reads; whether it was in time.
    pub(crate) async fn commit_once(&self, unit: UnitOfWork) -> Result<bool, Error> {
        let business = unit.business;
        let touched: Vec<_> = unit.puts.iter().map(|put| put.next.key()).collect();
        let verdict = self.store.commit(unit).await;
        for key in touched {
            self.documents.forget(business, key);
        }
        match verdict? {
            Verdict::Committed(_) => Ok(true),
            Verdict::Stale(head) => {
                self.note_stale(business, &head);
                Ok(false)
            }
            Verdict::Rejected(Rejection::Taken(claim)) => Err(Error::Taken(claim)),
            _ => Err(Error::defect("a unit about carts was rejected")),
        }
    }
}
