//! The sandbox: a provider that calls nobody and moves nothing. Whoever tests sends its messages.
//!
//! Owns the form of its messages, signed as Standard Webhooks.

use abasto_domain::currency::Currency;
use abasto_domain::id::BusinessId;
use abasto_domain::limits::PROVIDER_REFERENCE;
use abasto_domain::money::Amount;
use abasto_domain::payment::Provider;
use abasto_domain::payment_call::{Answer, CallKind, ProviderCall, Standing};
use abasto_domain::payment_event::{News, NewsKind, ProviderMessage, UnreadableMessage};
use abasto_domain::text::clean;
use abasto_domain::time::Timestamp;
use async_trait::async_trait;
use serde::Deserialize;

use crate::gateway::{PaymentProvider, standing};
use crate::secret::WebhookSecrets;
use crate::signature::{StandardHeaders, check_standard};

/// The sandbox with the secrets that its messages are signed with.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    secrets: WebhookSecrets,
}

/// A message as it is sent.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    event_id: String,
    r#type: MessageType,
    provider_ref: String,
    amount: String,
    currency: String,
    occurred_at: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum MessageType {
    #[serde(rename = "payment.captured")]
    Captured,
    #[serde(rename = "payment.failed")]
    Failed,
    #[serde(rename = "payment.authorized")]
    Authorized,
    #[serde(rename = "refund.succeeded")]
    RefundSucceeded,
    #[serde(rename = "refund.failed")]
    RefundFailed,
}

impl From<MessageType> for NewsKind {
    fn from(kind: MessageType) -> Self {
        match kind {
            MessageType::Captured => Self::Captured,
            MessageType::Failed => Self::Failed,
            MessageType::Authorized => Self::Authorized,
            MessageType::RefundSucceeded => Self::RefundSucceeded,
            MessageType::RefundFailed => Self::RefundFailed,
        }
    }
}

impl Sandbox {
    /// A sandbox whose messages are signed with these secrets.
    pub const fn new(secrets: WebhookSecrets) -> Self {
        Self { secrets }
    }

    /// Checks and reads a message.
    pub fn read(
        &self,
        business: BusinessId,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<ProviderMessage, UnreadableMessage> {
        let header = |name| header(name).ok_or(UnreadableMessage::BadSignature);
        let headers = StandardHeaders {
            id: header("webhook-id")?,
            timestamp: header("webhook-timestamp")?,
            signature: header("webhook-signature")?,
        };
        check_standard(&headers, body, self.secrets.of(business), now)
            .map_err(|_| UnreadableMessage::BadSignature)?;
        let message: Message =
            serde_json::from_slice(body).map_err(|_| UnreadableMessage::Malformed)?;
        understood(&message).ok_or(UnreadableMessage::Malformed)
    }
}

fn understood(message: &Message) -> Option<ProviderMessage> {
    let currency = Currency::parse(&message.currency).ok()?;
    let occurred_at: jiff::Timestamp = message.occurred_at.parse().ok()?;
    Some(ProviderMessage {
        provider: Provider::Sandbox,
        event_id: clean(&message.event_id, PROVIDER_REFERENCE).ok()?,
        provider_ref: clean(&message.provider_ref, PROVIDER_REFERENCE).ok()?,
        news: News {
            kind: message.r#type.into(),
            amount: Amount::parse(&message.amount, currency).ok()?,
            currency,
            refund: None,
            occurred_at: Timestamp::from_millis(occurred_at.as_millisecond()),
        },
    })
}

#[async_trait]
impl PaymentProvider for Sandbox {
    /// Everything is under way until a message says otherwise; what is given up is given up.
    async fn call(&self, call: &ProviderCall) -> Answer {
        standing(match call.kind {
            CallKind::Start | CallKind::Refund(_) => Standing::Pending,
            CallKind::Cancel => Standing::Failed("cancelled".to_owned()),
        })
    }
}
