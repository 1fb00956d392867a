//! An attempt to pay an order: its state, its refunds, and the call to the provider it waits for.
//!
//! Owns the state machine, which only moves forward, and the bound of refunds: never more than was
//! captured. Must not know a provider's protocol or what a payment means for its order (see
//! [`crate::order_payment`]).

use alloc::string::String;
use alloc::vec::Vec;

use crate::currency::Currency;
use crate::fault::InvalidValue;
use crate::id::{BusinessId, OrderId, PaymentId, RefundId};
use crate::limits::REFUNDS_PER_PAYMENT_MAX;
use crate::money::Amount;
use crate::payment_call::CallState;
use crate::payment_event::{News, NewsKind};
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// Who moves the money.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// For trying things out: it moves nothing.
    Sandbox,
    /// A provider with payment intents.
    Stripe,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Sandbox, Self::Stripe];

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Stripe => "stripe",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let known = Self::ALL.into_iter().find(|known| known.name() == text);
        known.ok_or(InvalidValue::new(
            "unknown-provider",
            "there is no such payment provider",
        ))
    }
}

/// One attempt to pay an order.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// The tenant.
    pub business: BusinessId,
    /// Its id; the provider gets it as the key of the attempt.
    pub id: PaymentId,
    /// The order.
    pub order: OrderId,
    /// Who moves the money.
    pub provider: Provider,
    /// What the provider calls it, once known.
    pub provider_ref: Option<String>,
    /// What is to be paid.
    pub amount: Amount,
    /// Of all amounts.
    pub currency: Currency,
    /// How far it has come.
    pub state: PaymentState,
    /// Why it failed, as the provider or we say.
    pub failure: Option<String>,
    /// When another attempt took its place.
    pub given_up_at: Option<Timestamp>,
    /// What went back, or is on its way back.
    pub refunds: Vec<Refund>,
    /// Where the buyer pays.
    pub redirect_url: Option<String>,
    /// Where the buyer goes after it.
    pub return_url: Option<String>,
    /// The call to the provider it waits for.
    pub call: CallState,
    /// Version and times.
    pub stamp: Stamp,
}

/// How far an attempt has come. Later ones win whatever the order in which news arrives: money
/// that was captured after an attempt had failed was captured.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PaymentState {
    /// The provider may not know it yet.
    Created,
    /// The provider knows it.
    Pending,
    /// It came to nothing.
    Failed,
    /// The money is there.
    Captured,
}

impl PaymentState {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 4] = [Self::Created, Self::Pending, Self::Failed, Self::Captured];

    /// The states that may follow.
    pub const fn allowed(self) -> &'static [Self] {
        match self {
            Self::Created => &[Self::Pending, Self::Failed, Self::Captured],
            Self::Pending => &[Self::Failed, Self::Captured],
            Self::Failed => &[Self::Captured],
            Self::Captured => &[],
        }
    }
}

/// Money on its way back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refund {
    /// Its id; the provider gets it as the key of the refund.
    pub id: RefundId,
    /// How much.
    pub amount: Amount,
    /// How far it has come.
    pub state: RefundState,
    /// Why.
    pub reason: RefundReason,
    /// When it was asked for.
    pub requested_at: Timestamp,
}

/// How far a refund has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefundState {
    /// The provider does not know it yet.
    Requested,
    /// The provider works on it.
    Sent,
    /// The money is back.
    Succeeded,
    /// The provider refused.
    Failed,
}

impl RefundState {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 4] = [Self::Requested, Self::Sent, Self::Succeeded, Self::Failed];

    /// The states that may follow.
    pub const fn allowed(self) -> &'static [Self] {
        match self {
            Self::Requested => &[Self::Sent, Self::Succeeded, Self::Failed],
            Self::Sent => &[Self::Succeeded, Self::Failed],
            Self::Succeeded | Self::Failed => &[],
        }
    }

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Sent => "sent",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

/// Why money goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefundReason {
    /// Somebody of the business asked for it.
    Asked,
    /// The order was cancelled.
    Cancelled,
    /// It was paid too late and the units are gone.
    Unfulfillable,
    /// The order was paid already.
    Overpaid,
}

impl RefundReason {
    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Cancelled => "cancelled",
            Self::Unfulfillable => "unfulfillable",
            Self::Overpaid => "overpaid",
        }
    }
}

/// News that does not fit the attempt; somebody has to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It speaks of another amount.
    #[error("another amount")]
    Amount,
    /// It speaks of another currency.
    #[error("another currency")]
    Currency,
    /// It speaks of a refund that nobody asked for.
    #[error("an unknown refund")]
    Refund,
}

impl Payment {
    /// The state in the contract's words.
    pub fn status(&self) -> &'static str {
        match self.state {
            PaymentState::Created => "created",
            PaymentState::Pending => "pending",
            PaymentState::Failed => "failed",
            PaymentState::Captured if self.has_open_refund() => "refund_pending",
            PaymentState::Captured if self.refunded() == self.amount => "refunded",
            PaymentState::Captured => "captured",
        }
    }

    /// What was captured.
    pub fn captured(&self) -> Amount {
        match self.state {
            PaymentState::Captured => self.amount,
            _ => Amount::ZERO,
        }
    }

    /// What went back.
    pub fn refunded(&self) -> Amount {
        self.sum(|state| state == RefundState::Succeeded)
    }

    /// What can still be given back: captured, and neither back nor on its way.
    pub fn refundable(&self) -> Amount {
        let given = self.sum(|state| state != RefundState::Failed);
        self.captured().minus(given).unwrap_or(Amount::ZERO)
    }

    /// Whether it may still come to money.
    pub fn is_live(&self) -> bool {
        matches!(self.state, PaymentState::Created | PaymentState::Pending)
    }

    fn has_open_refund(&self) -> bool {
        let open = |refund: &Refund| !refund.state.allowed().is_empty();
        self.refunds.iter().any(open)
    }

    fn sum(&self, counts: fn(RefundState) -> bool) -> Amount {
        let refunds = self.refunds.iter().filter(|refund| counts(refund.state));
        // Refunds are bounded by what was captured, which is an amount.
        Amount::sum(refunds.map(|refund| refund.amount)).unwrap_or(self.amount)
    }

    /// Takes in what the provider says; `None` when it changes nothing.
    pub fn hear(&self, news: &News, now: Timestamp) -> Result<Option<Self>, Mismatch> {
        if news.currency != self.currency {
            return Err(Mismatch::Currency);
        }
        let state = match news.kind {
            NewsKind::Captured => PaymentState::Captured,
            NewsKind::Failed => PaymentState::Failed,
            NewsKind::Authorized => PaymentState::Pending,
            NewsKind::RefundSucceeded => {
                return self.refund_came_to(news, RefundState::Succeeded, now);
            }
            NewsKind::RefundFailed => return self.refund_came_to(news, RefundState::Failed, now),
        };
        if news.amount != self.amount {
            return Err(Mismatch::Amount);
        }
        Ok(self.come_to(state, now))
    }

    /// Moves forward; `None` when it is there or further already.
    pub fn come_to(&self, state: PaymentState, now: Timestamp) -> Option<Self> {
        if !self.state.allowed().contains(&state) {
            return None;
        }
        let mut next = self.clone();
        next.state = state;
        next.changed(self, now);
        Some(next)
    }

    fn refund_came_to(
        &self,
        news: &News,
        state: RefundState,
        now: Timestamp,
    ) -> Result<Option<Self>, Mismatch> {
        let named = |refund: &Refund| match news.refund {
            Some(id) => refund.id == id,
            None => refund.amount == news.amount,
        };
        let open = |refund: &Refund| named(refund) && refund.state.allowed().contains(&state);
        let Some(index) = self.refunds.iter().position(open) else {
            let known = |refund: &Refund| named(refund) && refund.state == state;
            let known = self.refunds.iter().any(known);
            return if known {
                Ok(None)
            } else {
                Err(Mismatch::Refund)
            };
        };
        if self.refunds[index].amount != news.amount {
            return Err(Mismatch::Amount);
        }
        let mut next = self.clone();
        next.refunds[index].state = state;
        next.changed(self, now);
        Ok(Some(next))
    }

    /// Asks for money back; `None` when so much is not there, nothing is, or people have
    /// asked [`REFUNDS_PER_PAYMENT_MAX`] times: what the system owes is asked for even then.
    pub fn request_refund(
        &self,
        id: RefundId,
        amount: Amount,
        reason: RefundReason,
        now: Timestamp,
    ) -> Option<Self> {
        let often = reason == RefundReason::Asked && self.refunds.len() >= REFUNDS_PER_PAYMENT_MAX;
        if often || amount == Amount::ZERO || amount > self.refundable() {
            return None;
        }
        let mut next = self.clone();
        next.refunds.push(Refund {
            id,
            amount,
            state: RefundState::Requested,
            reason,
            requested_at: now,
        });
        next.changed(self, now);
        Some(next)
    }

    /// Gives the attempt up for another one; `None` when it came to an end already. One that the
    /// provider may know is cancelled there, and may still turn out to have been captured.
    pub fn give_up(&self, now: Timestamp) -> Option<Self> {
        if !self.is_live() || self.given_up_at.is_some() {
            return None;
        }
        let mut next = self.clone();
        next.given_up_at = Some(now);
        if self.state == PaymentState::Created && self.call.is_untried() {
            next.state = PaymentState::Failed;
            next.failure = Some("superseded".into());
        }
        next.changed(self, now);
        Some(next)
    }

    /// Stamps a change, and lets the call follow what is wanted now.
    pub(crate) fn changed(&mut self, before: &Self, now: Timestamp) {
        self.stamp = before.stamp.next(now);
        if self.wanted_call() != before.wanted_call() {
            self.call = before.call.renewed(self.wanted_call().map(|_| now));
        }
    }
}
