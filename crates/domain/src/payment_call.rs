//! The calls to a payment provider that an attempt waits for: the outbox of payments.
//!
//! Owns which call comes next, who may make it (one lease at a time, told apart by a fence), when
//! it is tried again, and when it is given up. Must not make a call: that is done after the commit.

use alloc::string::String;

use crate::currency::Currency;
use crate::id::{BusinessId, PaymentId, RefundId};
use crate::money::Amount;
use crate::payment::{Payment, PaymentState, Provider, RefundState};
use crate::time::Timestamp;

/// Most tries of one call.
pub const CALL_TRIES_MAX: u16 = 12;
/// How long a worker may take for one call before another may make it.
pub const CALL_LEASE_MS: i64 = 60_000;
const PAUSE_FIRST_MS: i64 = 1_000;
const PAUSE_MAX_MS: i64 = 3_600_000;

/// Where the next call stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// When the call may be made next (the end of the lease while somebody makes it); `None` when
    /// there is none to make, or it was given up.
    pub due_at: Option<Timestamp>,
    /// How often the present call was tried.
    pub tries: u16,
    /// Grows with every claim: an answer with an old one is ignored.
    pub fence: u32,
}

impl CallState {
    /// The state of an attempt whose first call is due.
    pub const fn due(now: Timestamp) -> Self {
        Self {
            due_at: Some(now),
            tries: 0,
            fence: 0,
        }
    }

    /// Whether nobody has tried the call.
    pub const fn is_untried(self) -> bool {
        self.tries == 0
    }

    /// The state for another call.
    pub(crate) const fn renewed(self, due_at: Option<Timestamp>) -> Self {
        Self {
            due_at,
            tries: 0,
            fence: self.fence,
        }
    }
}

/// What a provider is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// Begin the attempt.
    Start,
    /// End it, or say that it was captured.
    Cancel,
    /// Give money back.
    Refund(RefundId),
}

/// One call to a provider, with all it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderCall {
    /// The tenant.
    pub business: BusinessId,
    /// The attempt.
    pub payment: PaymentId,
    /// Who is called.
    pub provider: Provider,
    /// What for.
    pub kind: CallKind,
    /// What the provider calls the attempt, once known.
    pub provider_ref: Option<String>,
    /// The amount of the attempt or the refund.
    pub amount: Amount,
    /// Of the amount.
    pub currency: Currency,
    /// Where the buyer goes after paying.
    pub return_url: Option<String>,
    /// See [`CallState::fence`].
    pub fence: u32,
}

/// Where the thing asked for stands at the provider, as its answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the provider calls the attempt.
    pub provider_ref: Option<String>,
    /// Where the buyer pays.
    pub redirect_url: Option<String>,
    /// Where it stands.
    pub standing: Standing,
}

/// Where the thing asked for stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// The provider works on it and will send word.
    Pending,
    /// The money of the attempt is there.
    Captured,
    /// The money of the refund is back.
    Refunded,
    /// It came to nothing, and asking again would change nothing.
    Failed(String),
    /// Nobody knows: the call is made again with the same key.
    Unclear(String),
}

impl Payment {
    /// The call that the attempt wants now. One at a time, so calls for it are made in order.
    pub fn wanted_call(&self) -> Option<CallKind> {
        match (self.state, self.given_up_at) {
            (PaymentState::Created, _) => Some(CallKind::Start),
            (PaymentState::Pending, Some(_)) => Some(CallKind::Cancel),
            (PaymentState::Pending | PaymentState::Failed, _) => None,
            (PaymentState::Captured, _) => {
                let mut refunds = self.refunds.iter();
                let next = refunds.find(|refund| refund.state == RefundState::Requested);
                next.map(|refund| CallKind::Refund(refund.id))
            }
        }
    }

    /// Whether the wanted call was tried as often as it may be.
    pub fn is_call_dead(&self) -> bool {
        self.call.due_at.is_none() && self.wanted_call().is_some()
    }

    /// Takes the call for a worker; `None` when none is due.
    pub fn claim_call(&self, now: Timestamp) -> Option<(Self, ProviderCall)> {
        self.call.due_at.filter(|due| *due <= now)?;
        let kind = self.wanted_call()?;
        let mut next = self.clone();
        next.stamp = self.stamp.next(now);
        next.call = CallState {
            due_at: Some(now.plus_millis(CALL_LEASE_MS)),
            tries: self.call.tries + 1,
            fence: self.call.fence + 1,
        };
        let refund = |id| self.refunds.iter().find(|refund| refund.id == id);
        let amount = match kind {
            CallKind::Start | CallKind::Cancel => self.amount,
            CallKind::Refund(id) => refund(id)?.amount,
        };
        let call = ProviderCall {
            business: self.business,
            payment: self.id,
            provider: self.provider,
            kind,
            provider_ref: self.provider_ref.clone(),
            amount,
            currency: self.currency,
            return_url: self.return_url.clone(),
            fence: next.call.fence,
        };
        Some((next, call))
    }

    /// Takes in the answer to a call; `None` when it is not the call that is being made now.
    /// `chance` is a random share of a million, for the pause before the next try.
    pub fn answered(
        &self,
        call: &ProviderCall,
        answer: &Answer,
        now: Timestamp,
        chance: u32,
    ) -> Option<Self> {
        if self.call.fence != call.fence || self.wanted_call() != Some(call.kind) {
            return None;
        }
        let mut next = self.clone();
        if next.provider_ref.is_none() {
            next.provider_ref.clone_from(&answer.provider_ref);
        }
        if answer.redirect_url.is_some() {
            next.redirect_url.clone_from(&answer.redirect_url);
        }
        next.take_standing(call.kind, &answer.standing);
        if next.wanted_call() == self.wanted_call() {
            next.stamp = self.stamp.next(now);
            next.call.due_at = next_try(self.call.tries, now, chance);
        } else {
            next.changed(self, now);
        }
        Some(next)
    }

    fn take_standing(&mut self, kind: CallKind, standing: &Standing) {
        match (kind, standing) {
            (CallKind::Start, Standing::Pending) => self.state = PaymentState::Pending,
            (CallKind::Start | CallKind::Cancel, Standing::Captured) => {
                self.state = PaymentState::Captured;
            }
            (CallKind::Start | CallKind::Cancel, Standing::Failed(why)) => {
                self.state = PaymentState::Failed;
                self.failure = Some(why.clone());
            }
            (CallKind::Refund(id), standing) => {
                let to = match standing {
                    Standing::Pending => RefundState::Sent,
                    Standing::Refunded => RefundState::Succeeded,
                    Standing::Failed(_) => RefundState::Failed,
                    Standing::Captured | Standing::Unclear(_) => return,
                };
                if let Some(refund) = self.refunds.iter_mut().find(|refund| refund.id == id) {
                    refund.state = to;
                }
            }
            // Not clear, or an answer to another question: asked again.
            (CallKind::Start | CallKind::Cancel, _) => {}
        }
    }
}

/// Full jitter: any moment up to a pause that doubles from a second to an hour; none after the
/// last try.
pub fn next_try(tries: u16, now: Timestamp, chance: u32) -> Option<Timestamp> {
    if tries >= CALL_TRIES_MAX {
        return None;
    }
    let doubled = PAUSE_FIRST_MS.saturating_mul(1 << tries.min(20));
    let pause = doubled.min(PAUSE_MAX_MS);
    Some(now.plus_millis(pause * i64::from(chance.min(1_000_000)) / 1_000_000))
}
