//! All payment providers of an installation behind one door.
//!
//! Owns which provider is asked and which one reads a message. Must not know when.

use std::sync::Arc;

use abasto_domain::id::BusinessId;
use abasto_domain::payment::Provider;
use abasto_domain::payment_call::{Answer, ProviderCall, Standing};
use abasto_domain::payment_event::{MessageReader, ProviderMessage, UnreadableMessage};
use abasto_domain::time::Timestamp;
use async_trait::async_trait;

use crate::sandbox::Sandbox;
use crate::stripe::Stripe;

/// Somebody who moves money.
#[async_trait]
pub trait PaymentProvider: Send + Sync {
    /// Makes a call. Whatever goes wrong on the way is [`Standing::Unclear`]: the same call with
    /// the same key is made again.
    async fn call(&self, call: &ProviderCall) -> Answer;
}

/// The providers that are set up.
#[derive(Debug, Clone, Default)]
pub struct Gateway {
    /// For trying things out.
    pub sandbox: Option<Sandbox>,
    /// The one with payment intents.
    pub stripe: Option<Arc<Stripe>>,
}

impl Gateway {
    /// Which providers are set up.
    pub fn providers(&self) -> Vec<Provider> {
        let sandbox = self.sandbox.as_ref().map(|_| Provider::Sandbox);
        let stripe = self.stripe.as_ref().map(|_| Provider::Stripe);
        sandbox.into_iter().chain(stripe).collect()
    }

    /// Makes a call at the provider that it names.
    pub async fn call(&self, call: &ProviderCall) -> Answer {
        match (call.provider, &self.sandbox, &self.stripe) {
            (Provider::Sandbox, Some(sandbox), _) => sandbox.call(call).await,
            (Provider::Stripe, _, Some(stripe)) => stripe.call(call).await,
            // It was set up when the attempt began, and may be again.
            _ => unclear("the provider is not set up"),
        }
    }
}

impl MessageReader for Gateway {
    fn read(
        &self,
        business: BusinessId,
        provider: Provider,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderMessage>, UnreadableMessage> {
        match (provider, &self.sandbox, &self.stripe) {
            (Provider::Sandbox, Some(sandbox), _) => {
                sandbox.read(business, header, body, now).map(Some)
            }
            (Provider::Stripe, _, Some(stripe)) => stripe.read(business, header, body, now),
            _ => Err(UnreadableMessage::NoProvider),
        }
    }
}

/// An answer that says nothing for sure.
pub(crate) fn unclear(why: impl Into<String>) -> Answer {
    standing(Standing::Unclear(why.into()))
}

/// An answer that says only where things stand.
pub(crate) const fn standing(standing: Standing) -> Answer {
    Answer {
        provider_ref: None,
        redirect_url: None,
        standing,
    }
}
