//! What providers tell: each message is kept once, in the unit that takes it in.
//!
//! Owns the effects of news on attempts and orders. Who reads and verifies messages is outside;
//! the late-payment policy is in `abasto_domain::order_payment`.

use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::business::Business;
use abasto_domain::id::{BusinessId, PaymentEventId, PaymentId, RefundId};
use abasto_domain::order::Order;
use abasto_domain::order_payment::{PaidPolicy, Shelf, captured, failed, refunded};
use abasto_domain::payment::{Mismatch, Payment, PaymentState, RefundReason, RefundState};
use abasto_domain::payment_event::{EventFate, Look, PaymentEvent, ProviderMessage};
use abasto_domain::time::Timestamp;
use abasto_store::record::{Claim, Document, Kind, Unique, provider_claim_value};
use abasto_store::unit::{Guard, UnitOfWork};

use crate::Engine;
use crate::cache::Freshness;
use crate::commit;
use crate::counter;
use crate::error::Error;
use crate::limit::{changes, of_order};
use crate::record::typed;

/// Most parked messages of one round.
const BATCH: u32 = 100;
const REQUEST: &str = "payment-event";

impl Engine {
    /// Takes in a message whose signature was checked. A message that came before changes nothing.
    pub async fn receive_payment_event(
        &self,
        business: BusinessId,
        message: ProviderMessage,
    ) -> Result<EventFate, Error> {
        let engine = self.clone();
        self.detached(async move {
            engine
                .find::<Business>(business, business, Freshness::Cached)
                .await?;
            let now = engine.now();
            let id = PaymentEventId(engine.new_id(now));
            let event = Arc::new(PaymentEvent::receive(business, id, message, now));
            match engine.take_in(&event, Look::First).await {
                Err(Error::Taken(claim)) if claim.rule == Unique::ProviderEvent => {
                    metrics::counter!(counter::MESSAGES_REPEATED).increment(1);
                    Ok(EventFate::Applied)
                }
                other => other,
            }
        })
        .await
    }

    /// Looks again at parked messages whose time has come, one batch; how many there were.
    pub async fn retry_parked_events(&self) -> Result<usize, Error> {
        let kind = Kind::PaymentEvent;
        let due = self.store.due(None, kind, self.now(), BATCH).await?;
        let count = due.len();
        for document in due {
            let event: Arc<PaymentEvent> = typed(document)?;
            match self.take_in(&event, Look::Again).await {
                // Another instance was faster.
                Ok(_) | Err(Error::Contended) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    async fn take_in(&self, event: &Arc<PaymentEvent>, look: Look) -> Result<EventFate, Error> {
        let business = event.business;
        let known = |freshness| self.decide_event(event, look, Shelf::Unknown, freshness);
        let done = match self.settle_in_time(business, None, known).await {
            // Only the commit knows that the units, or the coupon, are gone.
            Err(Error::InsufficientStock(_) | Error::Exhausted(_) | Error::CouponRefused(..)) => {
                let gone = |freshness| self.decide_event(event, look, Shelf::Gone, freshness);
                self.settle(business, None, gone).await?
            }
            done => done?,
        };
        let kept: Arc<PaymentEvent> = typed(commit::document(done.value)?)?;
        if matches!(kept.fate, EventFate::Mismatched | EventFate::Unmatched) {
            metrics::counter!(counter::MESSAGES_UNRESOLVED).increment(1);
            tracing::warn!(target: "abasto::payment", event = %kept.id, fate = ?kept.fate,
                "a payment message needs somebody to look at it");
        }
        Ok(kept.fate)
    }

    async fn decide_event(
        &self,
        event: &Arc<PaymentEvent>,
        look: Look,
        shelf: Shelf,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let (business, message) = (event.business, &event.message);
        let now = self.now();
        let base = match look {
            Look::First => None,
            Look::Again => {
                let stored = self.find::<PaymentEvent>(business, event.id, Freshness::Fresh);
                let stored = stored.await?;
                if stored.fate != EventFate::Parked {
                    return Err(Error::Contended);
                }
                Some(stored)
            }
        };
        let event = base.as_ref().unwrap_or(event);
        let claim = Claim {
            rule: Unique::ProviderReference,
            value: provider_claim_value(message.provider, &message.provider_ref),
        };
        let holder = self
            .store
            .holders(business, &[claim])
            .await?
            .pop()
            .flatten();
        let mut unit = self.bare_unit(business, Actor::System, now);
        REQUEST.clone_into(&mut unit.request);
        let next = match holder {
            None => event.park(look, now, self.chance()),
            Some(payment) => {
                let payment = self.attempt(business, PaymentId(payment)).await?;
                let heard = payment.hear(&message.news, now);
                let taken_in = heard.as_ref().map(|_| ()).map_err(|why: &Mismatch| *why);
                match heard {
                    Ok(Some(after)) => {
                        self.apply(&mut unit, &payment, after, shelf, freshness)
                            .await?;
                    }
                    Ok(None) | Err(_) => {
                        let payment = Document::from(payment);
                        unit.guards
                            .push(Guard::Document(payment.key(), payment.version()));
                    }
                }
                event.came_to(taken_in, look, now)
            }
        };
        let name = match next.fate {
            EventFate::Parked => "abasto.payment_event.parked",
            EventFate::Applied => "abasto.payment_event.applied",
            EventFate::Mismatched => "abasto.payment_event.mismatched",
            EventFate::Unmatched => "abasto.payment_event.unmatched",
        };
        let base = base.map(Document::from);
        unit.puts.insert(0, self.put(base, next.into(), name, now));
        Ok(unit)
    }

    /// Adds to a unit what a change of an attempt means: for its order, the stock and its money.
    pub(crate) async fn apply(
        &self,
        unit: &mut UnitOfWork,
        before: &Arc<Payment>,
        mut after: Payment,
        shelf: Shelf,
        freshness: Freshness,
    ) -> Result<(), Error> {
        let (business, now) = (unit.business, unit.at);
        let order = self
            .find::<Order>(business, before.order, Freshness::Fresh)
            .await?;
        unit.branch = Some(order.branch);
        let came_to = after.state;
        let moved = before.state != came_to;
        let changed = if moved && came_to == PaymentState::Captured {
            let tenant = self.find::<Business>(business, business, freshness).await?;
            let policy = if tenant.settings.auto_confirm_paid {
                PaidPolicy::Confirm
            } else {
                PaidPolicy::Wait
            };
            let paid = captured(&order, policy, shelf, now, &mut || self.new_id(now));
            if let Some(reason) = paid.refund {
                after = self.refund_all(&after, reason, now);
                metrics::counter!(counter::SENT_BACK).increment(1);
            }
            unit.stock.extend(paid.stock);
            (paid.order != *order).then_some((paid.order, paid.event))
        } else if moved && came_to == PaymentState::Failed {
            let order = failed(&order, now).filter(|_| after.given_up_at.is_none());
            order.map(|order| (order, "abasto.order.payment_failed"))
        } else {
            let attempts = self.attempts(&order).await?;
            let others = attempts.iter().filter(|it| it.id != after.id);
            let mut all: Vec<&Payment> = others.map(Arc::as_ref).collect();
            all.push(&after);
            let order = refunded(&order, &all, now);
            order.map(|order| (order, "abasto.order.refunded"))
        };
        match changed {
            Some((next, event)) => {
                let coupons = next.coupons.iter().map(|coupon| coupon.coupon.0);
                let coupons = self.find_all(business, coupons, Freshness::Fresh).await?;
                let counted = changes(of_order(&order), of_order(&next), &coupons, false);
                unit.tallies.extend(counted);
                unit.puts.push(self.order_put(&order, next, event, now));
            }
            None => {
                let order = Document::from(order);
                unit.guards
                    .push(Guard::Document(order.key(), order.version()));
            }
        }
        let refused = |payment: &Payment| {
            let refunds = payment.refunds.iter();
            refunds.filter(|it| it.state == RefundState::Failed).count()
        };
        if refused(&after) > refused(before) {
            metrics::counter!(counter::REFUNDS_REFUSED).increment(1);
            tracing::error!(target: "abasto::payment", payment = %before.id,
                "the provider refused a refund; somebody has to look at it");
        }
        let event = payment_event_name(&after);
        unit.puts.push(self.payment_put(before, after, event, now));
        Ok(())
    }

    /// Everything that can be given back.
    fn refund_all(&self, payment: &Payment, reason: RefundReason, now: Timestamp) -> Payment {
        let id = RefundId(self.new_id(now));
        let asked = payment.request_refund(id, payment.refundable(), reason, now);
        // One change, one version.
        let stamp = payment.stamp;
        asked.map_or_else(|| payment.clone(), |asked| Payment { stamp, ..asked })
    }

    /// A random share of a million.
    pub(crate) fn chance(&self) -> u32 {
        let mut random = [0; 4];
        // Without randomness the longest pause is taken.
        getrandom::fill(&mut random).map_or(1_000_000, |()| u32::from_le_bytes(random) % 1_000_001)
    }
}

const fn payment_event_name(payment: &Payment) -> &'static str {
    match payment.state {
        PaymentState::Created | PaymentState::Pending => "abasto.payment.changed",
        PaymentState::Failed => "abasto.payment.failed",
        PaymentState::Captured => "abasto.payment.captured",
    }
}
