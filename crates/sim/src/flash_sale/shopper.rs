//! One shopper: a cart, a unit in it, a checkout, an order, a payment, and the provider's message.
//!
//! Owns the requests and their timing. A server that has too much to do says when to come back,
//! and the shopper does, under the same key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use abasto_client::{Connection, Endpoint};
use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, StatusCode};
use serde_json::{Value, json};
use sha2::Sha256;

use super::report::{Seen, Step};

/// Longest wait for one answer.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often a shopper comes back when the server has too much to do.
const TRIES_MAX: u32 = 100;

/// What is sold, and where.
#[derive(Debug)]
pub(super) struct Sale {
    pub(super) endpoint: Endpoint,
    pub(super) authorization: HeaderValue,
    pub(super) business: String,
    pub(super) branch: String,
    pub(super) product: String,
    pub(super) webhook_secret: String,
}

/// How it ended for a shopper.
#[derive(Debug)]
pub(super) enum End {
    /// With an order whose payment was told; its id.
    Paid(String),
    /// With the refusal that says so.
    SoldOut,
}

/// Somebody who wants one unit.
pub(super) struct Shopper {
    sale: Arc<Sale>,
    connection: Connection,
    number: usize,
    seen: Seen,
}

/// A request of a shopper.
struct Ask<'a> {
    step: Step,
    method: Method,
    path: &'a str,
    headers: Vec<(&'a str, String)>,
    body: String,
}

impl Shopper {
    pub(super) fn new(sale: Arc<Sale>, number: usize) -> Result<Self> {
        Ok(Self {
            connection: Connection::new(sale.endpoint.clone(), DEADLINE),
            sale,
            number,
            seen: Seen::new()?,
        })
    }

    /// Shops until there is an order that is paid, or the news that nothing is left.
    pub(super) async fn shop(mut self) -> Result<(End, Seen)> {
        let began = Instant::now();
        let cart = json!({ "branchId": self.sale.branch }).to_string();
        let cart = self.post(Step::Cart, "/v1/carts", cart).await?;
        let cart = id(&made(cart)?)?;
        let add = json!({"ops": [
            {"op": "addItem", "productId": self.sale.product, "quantity": 1}
        ]});
        let path = format!("/v1/carts/{cart}");
        made(
            self.ask(self.keyed(Step::Add, Method::PATCH, &path, add.to_string()))
                .await?,
        )?;
        let checkout = json!({"cartId": cart, "fulfilment": {"type": "pickup"},
            "paymentMethod": "online"});
        let checkout = self.post(Step::Checkout, "/v1/checkouts", checkout.to_string());
        let (status, checkout) = checkout.await?;
        if status == StatusCode::CONFLICT && checkout["code"] == "insufficient-stock" {
            return Ok((End::SoldOut, self.seen));
        }
        let checkout = id(&made((status, checkout))?)?;
        let order = json!({"checkoutId": checkout, "customer": {"name": "Shopper"}});
        let order = self.post(Step::Order, "/v1/orders", order.to_string());
        let order = id(&made(order.await?)?)?;
        let path = format!("/v1/orders/{order}/payments");
        let payment = json!({"provider": "sandbox"}).to_string();
        let payment = made(self.post(Step::Payment, &path, payment).await?)?;
        self.tell_captured(&payment).await?;
        self.seen.record(Step::Flow, began.elapsed());
        Ok((End::Paid(order), self.seen))
    }

    async fn post(&mut self, step: Step, path: &str, body: String) -> Result<(StatusCode, Value)> {
        let ask = self.keyed(step, Method::POST, path, body);
        self.ask(ask).await
    }

    fn keyed<'a>(&self, step: Step, method: Method, path: &'a str, body: String) -> Ask<'a> {
        Ask {
            step,
            method,
            path,
            headers: vec![(
                "idempotency-key",
                format!("{}-{}", step.name(), self.number),
            )],
            body,
        }
    }

    /// What the provider sends when it has the money.
    async fn tell_captured(&mut self, payment: &Value) -> Result<()> {
        let event = format!("evt-{}", id(payment)?);
        let body = json!({
            "eventId": event, "type": "payment.captured", "providerRef": payment["providerRef"],
            "amount": payment["amount"], "currency": payment["currency"],
            "occurredAt": "2026-01-01T00:00:00Z",
        })
        .to_string();
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed()?;
        let sent_s = i64::try_from(since.as_secs())?;
        let secret = &self.sale.webhook_secret;
        let signature = sign(&format!("{event}.{sent_s}.{body}"), secret)?;
        let path = format!("/v1/webhooks/payments/sandbox/{}", self.sale.business);
        let ask = Ask {
            step: Step::Webhook,
            method: Method::POST,
            path: &path,
            headers: vec![
                ("webhook-id", event),
                ("webhook-timestamp", sent_s.to_string()),
                ("webhook-signature", signature),
            ],
            body,
        };
        made(self.ask(ask).await?)?;
        Ok(())
    }

    /// Sends a request until the server has time for it; the latency counts from the first try.
    async fn ask(&mut self, ask: Ask<'_>) -> Result<(StatusCode, Value)> {
        let began = Instant::now();
        for _ in 0..TRIES_MAX {
            let mut request = Request::builder()
                .method(ask.method.clone())
                .uri(ask.path)
                .header(CONTENT_TYPE, "application/json");
            if ask.step != Step::Webhook {
                request = request.header(AUTHORIZATION, &self.sale.authorization);
            }
            for (name, value) in &ask.headers {
                request = request.header(*name, value);
            }
            let request = request.body(Full::new(Bytes::from(ask.body.clone())))?;
            let (parts, body) = self.connection.send(request).await?;
            let too_busy = [
                StatusCode::SERVICE_UNAVAILABLE,
                StatusCode::TOO_MANY_REQUESTS,
            ];
            if !too_busy.contains(&parts.status) {
                let step = match parts.status {
                    StatusCode::CONFLICT => Step::Refusal,
                    _ => ask.step,
                };
                self.seen.record(step, began.elapsed());
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                return Ok((parts.status, body));
            }
            self.seen.sent_away += 1;
            let after = parts.headers.get(RETRY_AFTER);
            let after = after.and_then(|it| it.to_str().ok()?.parse().ok());
            let after_s: u64 = after.context("sent away without Retry-After")?;
            tokio::time::sleep(Duration::from_secs(after_s)).await;
        }
        bail!(
            "the server had too much to do for {TRIES_MAX} tries of {}",
            ask.path
        )
    }
}

/// The signature of Standard Webhooks over id, time and body.
fn sign(text: &str, secret: &str) -> Result<String> {
    let key = secret.strip_prefix("whsec_");
    let key = STANDARD.decode(key.context("the webhook secret begins with `whsec_`")?)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key)?;
    mac.update(text.as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    Ok(format!("v1,{signature}"))
}

/// The answer of a request that was done.
fn made((status, body): (StatusCode, Value)) -> Result<Value> {
    if !status.is_success() {
        bail!("answered {status}: {body}");
    }
    Ok(body)
}

fn id(answer: &Value) -> Result<String> {
    let id = answer["id"].as_str();
    Ok(id.context("an answer without an id")?.to_owned())
}
