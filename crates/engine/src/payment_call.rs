//! The outbox of payments: calls to providers, claimed, made outside, answered here.
//!
//! Owns the lease of a call and what an answer changes. Must not make a call: whoever runs the
//! workers does, between [`Engine::claim_calls`] and [`Engine::answer_call`].

use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::order::Order;
use abasto_domain::order_payment::Shelf;
use abasto_domain::order_state::Status;
use abasto_domain::payment::{Payment, PaymentState};
use abasto_domain::payment_call::{Answer as CallAnswer, CallKind, ProviderCall};
use abasto_store::record::{Document, Kind};
use abasto_store::unit::{Answer, Guard, UnitOfWork};
use abasto_store::verdict::Verdict;

use crate::Engine;
use crate::cache::Freshness;
use crate::counter;
use crate::error::Error;
use crate::record::typed;

const REQUEST: &str = "payment-call";

impl Engine {
    /// Takes calls that are due, at most so many. Each is leased to the caller for a minute; two
    /// instances never get the same one.
    pub async fn claim_calls(&self, limit: u32) -> Result<Vec<ProviderCall>, Error> {
        let due = self
            .store
            .due(None, Kind::Payment, self.now(), limit)
            .await?;
        let mut calls = Vec::with_capacity(due.len());
        for document in due {
            let payment: Arc<Payment> = typed(document)?;
            calls.extend(self.claim_call(&payment).await?);
        }
        Ok(calls)
    }

    async fn claim_call(&self, payment: &Arc<Payment>) -> Result<Option<ProviderCall>, Error> {
        let now = self.now();
        let mut unit = self.bare_unit(payment.business, Actor::System, now);
        REQUEST.clone_into(&mut unit.request);
        let call = match self.start_is_late(payment).await? {
            Start::Now => {
                let Some((next, call)) = payment.claim_call(now) else {
                    return Ok(None);
                };
                let event = "abasto.payment.call_claimed";
                unit.puts = vec![self.payment_put(payment, next, event, now)];
                Some(call)
            }
            Start::Later => return Ok(None),
            Start::Never => {
                let Some(next) = payment.come_to(PaymentState::Failed, now) else {
                    return Ok(None);
                };
                let event = "abasto.payment.failed";
                unit.puts = vec![self.payment_put(payment, next, event, now)];
                None
            }
        };
        match self.store.commit(unit).await? {
            Verdict::Committed(_) => Ok(call),
            // Another instance has it, or it is not wanted any more.
            _ => Ok(None),
        }
    }

    /// An attempt is begun only while its order waits, and after the one before it was settled at
    /// the provider.
    async fn start_is_late(&self, payment: &Payment) -> Result<Start, Error> {
        let first = payment.call.is_untried();
        if payment.wanted_call() != Some(CallKind::Start) || !first {
            return Ok(Start::Now);
        }
        let order = self
            .find::<Order>(payment.business, payment.order, Freshness::Fresh)
            .await?;
        if order.status != Status::PendingPayment {
            return Ok(Start::Never);
        }
        let attempts = self.attempts(&order).await?;
        let unsettled = |it: &Arc<Payment>| {
            let given_up = it.given_up_at.is_some() && it.is_live();
            it.id != payment.id && given_up && !it.is_call_dead()
        };
        if attempts.iter().any(unsettled) {
            Ok(Start::Later)
        } else {
            Ok(Start::Now)
        }
    }

    /// Takes in what a provider answered; an answer to a call that somebody else makes by now is
    /// ignored.
    pub async fn answer_call(&self, call: &ProviderCall, answer: &CallAnswer) -> Result<(), Error> {
        let known = |freshness| self.decide_answer(call, answer, Shelf::Unknown, freshness);
        match self.settle_in_time(call.business, None, known).await {
            Err(Error::InsufficientStock(_) | Error::Exhausted(_) | Error::CouponRefused(..)) => {
                let gone = |freshness| self.decide_answer(call, answer, Shelf::Gone, freshness);
                self.settle(call.business, None, gone).await?;
            }
            done => {
                done?;
            }
        }
        Ok(())
    }

    async fn decide_answer(
        &self,
        call: &ProviderCall,
        answer: &CallAnswer,
        shelf: Shelf,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let payment = self.attempt(call.business, call.payment).await?;
        let now = self.now();
        let mut unit = self.bare_unit(call.business, Actor::System, now);
        REQUEST.clone_into(&mut unit.request);
        match payment.answered(call, answer, now, self.chance()) {
            Some(next) => {
                if next.is_call_dead() {
                    metrics::counter!(counter::CALLS_DEAD).increment(1);
                    tracing::error!(target: "abasto::payment", payment = %payment.id,
                        "a call to the payment provider was given up");
                }
                self.apply(&mut unit, &payment, next, shelf, freshness)
                    .await?;
            }
            None => {
                let payment = Document::from(payment);
                unit.guards = vec![Guard::Document(payment.key(), payment.version())];
                unit.answer = Answer::Unchanged(payment);
            }
        }
        Ok(unit)
    }
}

/// Whether an attempt can begin.
enum Start {
    Now,
    Later,
    Never,
}
