//! Expiry: holds and unpaid orders whose time is over give their units back.
//!
//! Owns who looks for them and when: a worker, in bounded batches, on any instance; and whoever
//! finds too few units, so that availability is right by time even without a worker. Release and
//! use compete for one version of one document, and exactly one wins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use abasto_domain::access::Actor;
use abasto_domain::checkout::{Checkout, Ending};
use abasto_domain::id::BusinessId;
use abasto_domain::order::Order;
use abasto_domain::order_state::{Outcome, expire};
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::{Answer, Guard, OperationDraft, Put, UnitOfWork};
use abasto_store::verdict::Reply;
use serde_json::json;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit::Done;
use crate::counter::EXPIRED;
use crate::error::Error;
use crate::limit::{changes, of_order};

/// Most documents that one round ends.
const BATCH: u32 = 200;
/// Most rounds before a caller that found too few units is told so.
const ROUNDS_MAX: u32 = 100;
/// The request that stands in the history of what ended by time.
const REQUEST: &str = "expiry";

impl Engine {
    /// Ends what is over in all businesses, one batch; how much there was. Called again and again
    /// by a worker of any instance.
    pub async fn expire_due(&self) -> Result<usize, Error> {
        self.expire_batch(None, self.now()).await
    }

    /// Runs a decision that needs units or redemptions. When there are too few, what is over in
    /// the business ends first, and the decision is made again.
    pub(crate) async fn settle_in_time<D, F>(
        &self,
        business: BusinessId,
        operation: Option<&OperationDraft>,
        decide: D,
    ) -> Result<Done<Reply>, Error>
    where
        D: Fn(Freshness) -> F + Send + Sync,
        F: Future<Output = Result<UnitOfWork, Error>> + Send,
    {
        for _ in 0..ROUNDS_MAX {
            let error = match self.settle(business, operation, &decide).await {
                Err(error @ (Error::InsufficientStock(_) | Error::Exhausted(_))) => error,
                other => return other,
            };
            if self.expire_batch(Some(business), self.now()).await? == 0 {
                return Err(self.explain_bound(business, error).await);
            }
        }
        Err(Error::Contended)
    }

    /// One that cannot be ended keeps none of the others from it; its error comes at the end.
    async fn expire_batch(
        &self,
        business: Option<BusinessId>,
        now: Timestamp,
    ) -> Result<usize, Error> {
        let (mut looked_at, mut failed) = (0, None);
        for kind in [Kind::Checkout, Kind::Order] {
            let due = self.store.due(business, kind, now, BATCH).await?;
            looked_at += due.len();
            let ends = due.into_iter().map(|document| {
                let engine = self.clone();
                tokio::spawn(async move { engine.end(document.business(), document.key()).await })
            });
            // They run beside each other, so that their commits are made together. All of them are
            // waited for, also after one failed: nothing goes on behind the caller's back.
            for end in ends.collect::<Vec<_>>() {
                let end = end.await.map_err(|error| Error::Internal(Box::new(error)));
                match end.flatten() {
                    Ok(true) => metrics::counter!(EXPIRED).increment(1),
                    Ok(false) => {}
                    Err(error) => failed = Some(error),
                }
            }
        }
        failed.map_or(Ok(looked_at), Err)
    }

    /// Ends one document if it is still over, and says so; whoever was faster has done it.
    async fn end(&self, business: BusinessId, key: DocumentKey) -> Result<bool, Error> {
        let wrote = &AtomicBool::new(false);
        let decide = |_| async move {
            let found = self.store.documents(business, &[key]).await?;
            let document = found.into_iter().next().flatten().ok_or(Error::NotFound)?;
            let mut unit = match &document {
                Document::Checkout(checkout) => self.ending_checkout(checkout)?,
                Document::Order(order) => self.ending_order(order),
                _ => return Err(Error::defect("only checkouts and orders expire")),
            };
            REQUEST.clone_into(&mut unit.request);
            wrote.store(!unit.puts.is_empty(), Ordering::Relaxed);
            Ok(unit)
        };
        self.settle(business, None, decide).await?;
        Ok(wrote.load(Ordering::Relaxed))
    }

    fn ending_checkout(&self, checkout: &Arc<Checkout>) -> Result<UnitOfWork, Error> {
        self.ending(checkout, Ending::Expired)
    }

    fn ending_order(&self, order: &Arc<Order>) -> UnitOfWork {
        let now = self.now();
        let mut unit = self.bare_unit(order.business, Actor::System, now);
        unit.branch = Some(order.branch);
        let base = Document::from(Arc::clone(order));
        match expire(order, now, &mut || self.new_id(now)) {
            Ok(Outcome::Changed { order: next, stock }) => {
                unit.tallies = changes(of_order(order), of_order(&next), &[], false);
                unit.stock = stock;
                unit.puts = vec![self.order_put(order, *next, "abasto.order.expired", now)];
            }
            Ok(Outcome::Unchanged) | Err(_) => {
                unit.guards = vec![Guard::Document(base.key(), base.version())];
                unit.answer = Answer::Unchanged(base);
            }
        }
        unit
    }

    /// A change of an order with the event that tells its history.
    pub(crate) fn order_put(
        &self,
        base: &Arc<Order>,
        next: Order,
        event: &'static str,
        now: Timestamp,
    ) -> Put {
        let mut data = json!({ "from": base.status.name(), "to": next.status.name() });
        if base.payment_status != next.payment_status {
            data["paymentStatus"] = json!(next.payment_status);
        }
        let event = EventDraft {
            id: self.new_id(now).into(),
            name: event,
            data,
        };
        Put {
            base: Some(Arc::clone(base).into()),
            next: next.into(),
            event,
        }
    }
}
