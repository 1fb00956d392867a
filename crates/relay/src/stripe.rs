//! A provider of the Stripe kind: payment intents, refunds, keys that make a call happen once.
//!
//! Owns its protocol: forms out, JSON back, signed messages in. The base URL can be set, so that
//! tests talk to a double of ours. Amounts are whole minor units on both sides.

use std::time::Duration;

use abasto_domain::currency::Currency;
use abasto_domain::id::{BusinessId, RefundId};
use abasto_domain::money::Amount;
use abasto_domain::payment::Provider;
use abasto_domain::payment_call::{Answer, CallKind, ProviderCall, Standing};
use abasto_domain::payment_event::{News, NewsKind, ProviderMessage, UnreadableMessage};
use abasto_domain::time::Timestamp;
use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::gateway::{PaymentProvider, standing, unclear};
use crate::secret::WebhookSecrets;
use crate::signature::check_stripe;

/// Longest wait for an answer; far less than the lease of a call.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Largest answer that is read.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The provider with its credential.
#[derive(Debug)]
pub struct Stripe {
    base: String,
    key: SecretString,
    secrets: WebhookSecrets,
    http: reqwest::Client,
}

/// The HTTP client could not be made.
#[derive(Debug, thiserror::Error)]
#[error("the client for the payment provider could not be made")]
pub struct NoClient(#[source] reqwest::Error);

impl Stripe {
    /// The provider at a base URL such as `https://api.stripe.com`.
    pub fn new(
        base: &str,
        key: SecretString,
        secrets: WebhookSecrets,
        timeout: Option<Duration>,
    ) -> Result<Self, NoClient> {
        let http = reqwest::Client::builder()
            .timeout(timeout.unwrap_or(TIMEOUT))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(NoClient)?;
        Ok(Self {
            base: base.trim_end_matches('/').to_owned(),
            key,
            secrets,
            http,
        })
    }

    async fn post(&self, path: &str, key: &str, form: &[(&str, &str)]) -> Result<Told, String> {
        let request = self
            .http
            .post(format!("{}{path}", self.base))
            .header(
                AUTHORIZATION,
                format!("Bearer {}", self.key.expose_secret()),
            )
            .header("Idempotency-Key", key)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(encoded(form));
        let response = request.send().await.map_err(without_url)?;
        let status = response.status();
        let body = response.bytes().await.map_err(without_url)?;
        if body.len() > ANSWER_BYTES_MAX {
            return Err("the answer is too large".to_owned());
        }
        let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if status.is_success() {
            Ok(Told::Done(body))
        } else if status.is_server_error() || matches!(status.as_u16(), 401 | 403 | 409 | 429) {
            // Theirs, ours to set right, or too fast: the attempt is not to blame.
            Err(format!("answered {status}"))
        } else {
            Ok(Told::Refused(body))
        }
    }

    async fn start(&self, call: &ProviderCall) -> Result<Answer, String> {
        let amount = call.amount.minor().to_string();
        let currency = call.currency.code().to_ascii_lowercase();
        let (payment, business) = (call.payment.to_string(), call.business.to_string());
        let mut form = vec![
            ("amount", &*amount),
            ("currency", &*currency),
            ("automatic_payment_methods[enabled]", "true"),
            ("metadata[paymentId]", &*payment),
            ("metadata[businessId]", &*business),
        ];
        if let Some(url) = &call.return_url {
            form.push(("metadata[returnUrl]", url));
        }
        let told = self.post("/v1/payment_intents", &payment, &form).await?;
        Ok(match told {
            Told::Done(intent) => intent_answer(&intent),
            Told::Refused(body) => standing(Standing::Failed(reason(&body))),
        })
    }

    async fn cancel(&self, call: &ProviderCall) -> Result<Answer, String> {
        let reference = call.provider_ref.as_deref().unwrap_or_default();
        let path = format!("/v1/payment_intents/{reference}/cancel");
        let key = format!("cancel-{}", call.payment);
        Ok(match self.post(&path, &key, &[]).await? {
            Told::Done(intent) => intent_answer(&intent),
            // One that was captured cannot be cancelled, and the refusal says so.
            Told::Refused(body) => intent_answer(&body["error"]["payment_intent"]),
        })
    }

    async fn refund(&self, call: &ProviderCall, refund: RefundId) -> Result<Answer, String> {
        let amount = call.amount.minor().to_string();
        let id = refund.to_string();
        let form = [
            (
                "payment_intent",
                call.provider_ref.as_deref().unwrap_or_default(),
            ),
            ("amount", &*amount),
            ("metadata[refundId]", &*id),
        ];
        Ok(match self.post("/v1/refunds", &id, &form).await? {
            Told::Done(refund) => standing(match refund["status"].as_str() {
                Some("succeeded") => Standing::Refunded,
                Some("failed" | "canceled") => Standing::Failed(reason(&refund)),
                _ => Standing::Pending,
            }),
            Told::Refused(body) => standing(Standing::Failed(reason(&body))),
        })
    }

    /// Checks and reads a message; `None` for those that say nothing about money here.
    pub fn read(
        &self,
        business: BusinessId,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<ProviderMessage>, UnreadableMessage> {
        let signature = header("stripe-signature").ok_or(UnreadableMessage::BadSignature)?;
        check_stripe(&signature, body, self.secrets.of(business), now)
            .map_err(|_| UnreadableMessage::BadSignature)?;
        let event: Value =
            serde_json::from_slice(body).map_err(|_| UnreadableMessage::Malformed)?;
        let Some(kind) = news_kind(&event) else {
            return Ok(None);
        };
        understood(&event, kind)
            .map(Some)
            .ok_or(UnreadableMessage::Malformed)
    }
}

/// What the provider says to a call that reached it.
enum Told {
    Done(Value),
    Refused(Value),
}

fn news_kind(event: &Value) -> Option<NewsKind> {
    let status = event["data"]["object"]["status"].as_str();
    match event["type"].as_str()? {
        "payment_intent.succeeded" => Some(NewsKind::Captured),
        "payment_intent.payment_failed" | "payment_intent.canceled" => Some(NewsKind::Failed),
        "payment_intent.amount_capturable_updated" => Some(NewsKind::Authorized),
        "refund.updated" | "charge.refund.updated" if status == Some("succeeded") => {
            Some(NewsKind::RefundSucceeded)
        }
        "refund.updated" | "charge.refund.updated" if status == Some("failed") => {
            Some(NewsKind::RefundFailed)
        }
        "refund.failed" => Some(NewsKind::RefundFailed),
        _ => None,
    }
}

fn understood(event: &Value, kind: NewsKind) -> Option<ProviderMessage> {
    let object = &event["data"]["object"];
    let of_refund = matches!(kind, NewsKind::RefundSucceeded | NewsKind::RefundFailed);
    let amount = match kind {
        NewsKind::Captured => &object["amount_received"],
        _ => &object["amount"],
    };
    let reference = if of_refund {
        &object["payment_intent"]
    } else {
        &object["id"]
    };
    let refund = object["metadata"]["refundId"].as_str();
    Some(ProviderMessage {
        provider: Provider::Stripe,
        event_id: event["id"].as_str()?.to_owned(),
        provider_ref: reference.as_str()?.to_owned(),
        news: News {
            kind,
            amount: Amount::from_minor(amount.as_i64()?).ok()?,
            currency: Currency::parse(&object["currency"].as_str()?.to_ascii_uppercase()).ok()?,
            refund: refund.and_then(|id| RefundId::parse(id).ok()),
            occurred_at: Timestamp::from_millis(event["created"].as_i64()?.checked_mul(1000)?),
        },
    })
}

fn intent_answer(intent: &Value) -> Answer {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let place = match intent["status"].as_str() {
        Some("succeeded") => Standing::Captured,
        Some("canceled") => Standing::Failed("cancelled".to_owned()),
        Some(_) => Standing::Pending,
        None => Standing::Unclear("an answer without a status".to_owned()),
    };
    Answer {
        provider_ref: text(&intent["id"]),
        redirect_url: text(&intent["next_action"]["redirect_to_url"]["url"]),
        standing: place,
    }
}

fn reason(body: &Value) -> String {
    let code = &body["error"]["code"];
    let code = code.as_str().or_else(|| body["failure_reason"].as_str());
    code.unwrap_or("refused by the provider").to_owned()
}

/// What went wrong, without the address.
fn without_url(error: reqwest::Error) -> String {
    error.without_url().to_string()
}

/// A form, percent-encoded.
fn encoded(form: &[(&str, &str)]) -> String {
    let pairs = form
        .iter()
        .map(|(name, value)| format!("{}={}", escaped(name), escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            escaped += &format!("%{byte:02X}");
        }
    }
    escaped
}

#[async_trait]
impl PaymentProvider for Stripe {
    async fn call(&self, call: &ProviderCall) -> Answer {
        let made = match call.kind {
            CallKind::Start => self.start(call).await,
            CallKind::Cancel => self.cancel(call).await,
            CallKind::Refund(refund) => self.refund(call, refund).await,
        };
        made.unwrap_or_else(unclear)
    }
}
