//! What a payment provider tells us, and the inbox that keeps each message once.
//!
//! Owns the form of news and of its record. Must not know a provider's protocol: whoever reads it
//! checks the signature and makes [`ProviderMessage`] of it.

use alloc::string::String;

use crate::currency::Currency;
use crate::id::{BusinessId, PaymentEventId, RefundId};
use crate::money::Amount;
use crate::payment::{Mismatch, Provider};
use crate::payment_call::next_try;
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// What happened at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewsKind {
    /// The money is there.
    Captured,
    /// The attempt came to nothing.
    Failed,
    /// The buyer agreed; the money is not there yet.
    Authorized,
    /// The money of a refund is back.
    RefundSucceeded,
    /// A refund came to nothing.
    RefundFailed,
}

/// The part of a message that an attempt needs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct News {
    /// What happened.
    pub kind: NewsKind,
    /// How much.
    pub amount: Amount,
    /// Of the amount.
    pub currency: Currency,
    /// Which refund, where the provider says.
    pub refund: Option<RefundId>,
    /// When it happened.
    pub occurred_at: Timestamp,
}

/// A message of a provider whose signature was checked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderMessage {
    /// Who sent it.
    pub provider: Provider,
    /// The sender's id of it.
    pub event_id: String,
    /// What the sender calls the attempt.
    pub provider_ref: String,
    /// What it says.
    pub news: News,
}

/// A kept message.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentEvent {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: PaymentEventId,
    /// The message.
    pub message: ProviderMessage,
    /// What became of it.
    pub fate: EventFate,
    /// When it is tried again, while it is parked.
    pub due_at: Option<Timestamp>,
    /// How often it was tried.
    pub tries: u16,
    /// Version and times.
    pub stamp: Stamp,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventFate {
    /// It speaks of an attempt that is not known yet.
    Parked,
    /// It was taken in, or said nothing new.
    Applied,
    /// It does not fit its attempt; somebody has to look at it.
    Mismatched,
    /// Its attempt never became known.
    Unmatched,
}

impl EventFate {
    /// All of them, in the order of their stored numbers.
    pub const ALL: [Self; 4] = [
        Self::Parked,
        Self::Applied,
        Self::Mismatched,
        Self::Unmatched,
    ];

    /// The states that may follow.
    pub const fn allowed(self) -> &'static [Self] {
        match self {
            Self::Parked => &[Self::Applied, Self::Mismatched, Self::Unmatched],
            Self::Applied | Self::Mismatched | Self::Unmatched => &[],
        }
    }
}

impl PaymentEvent {
    /// Keeps a new message; parked until somebody says what became of it.
    pub const fn receive(
        business: BusinessId,
        id: PaymentEventId,
        message: ProviderMessage,
        now: Timestamp,
    ) -> Self {
        Self {
            business,
            id,
            message,
            fate: EventFate::Parked,
            due_at: None,
            tries: 0,
            stamp: Stamp::first(now),
        }
    }

    /// What became of it. `first` says whether this is the first look at it, which keeps its first
    /// version.
    #[must_use]
    pub fn came_to(&self, taken_in: Result<(), Mismatch>, look: Look, now: Timestamp) -> Self {
        let fate = match taken_in {
            Ok(()) => EventFate::Applied,
            Err(_) => EventFate::Mismatched,
        };
        Self {
            fate,
            due_at: None,
            stamp: look.stamp(self.stamp, now),
            ..self.clone()
        }
    }

    /// Its attempt is not known: it waits, or is given up after its last try.
    #[must_use]
    pub fn park(&self, look: Look, now: Timestamp, chance: u32) -> Self {
        let due_at = next_try(self.tries, now, chance);
        let fate = if due_at.is_some() {
            EventFate::Parked
        } else {
            EventFate::Unmatched
        };
        Self {
            fate,
            due_at,
            tries: self.tries + 1,
            stamp: look.stamp(self.stamp, now),
            ..self.clone()
        }
    }
}

/// Whether a message is looked at for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// It just came in.
    First,
    /// It was parked.
    Again,
}

impl Look {
    fn stamp(self, stamp: Stamp, now: Timestamp) -> Stamp {
        match self {
            Self::First => stamp,
            Self::Again => stamp.next(now),
        }
    }
}

/// Checks and reads the raw messages of providers; pure, so that the time comes in.
pub trait MessageReader: Send + Sync {
    /// What a message for a business says; `None` when it says nothing that matters here.
    /// `header` gives a header by its lower-case name.
    fn read(
        &self,
        business: BusinessId,
        provider: Provider,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderMessage>, UnreadableMessage>;
}

/// Why a message is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableMessage {
    /// The provider is not set up for the business.
    #[error("the provider is not set up here")]
    NoProvider,
    /// It is not signed with a secret of the business, or its time is too far away.
    #[error("the signature is not valid")]
    BadSignature,
    /// It is signed, and not of the form that the provider promises.
    #[error("the message cannot be read")]
    Malformed,
}
