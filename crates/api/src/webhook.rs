//! Messages of payment providers over HTTP: public, and believed only when they are signed.
//!
//! Owns the way of the raw body to whoever checks it. A message that is not signed as it must be
//! leaves nothing but a counter.

use std::sync::Arc;

use abasto_domain::id::BusinessId;
use abasto_domain::payment::Provider;
use abasto_domain::payment_event::UnreadableMessage;
use abasto_engine::clock::Clock;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Ready;
use crate::body::malformed;
use crate::path::PathTexts;
use crate::problem::{Code, Problem};
use crate::telemetry::BAD_SIGNATURES;
use crate::value::{Id, Money, Time};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new().routes(routes!(receive))
}

/// What a provider is told.
#[derive(Debug, Serialize, ToSchema)]
struct Received {
    received: bool,
}

/// What the sandbox tells of a payment.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "eventId": "evt-1", "type": "payment.captured", "providerRef": "sandbox-1",
    "amount": "9000.00", "currency": "COP", "occurredAt": "2026-01-01T12:00:00Z",
}))]
#[expect(
    dead_code,
    reason = "its form is published; the sandbox's reader reads it"
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SandboxMessage {
    /// The message; the same one again changes nothing.
    event_id: String,
    /// `payment.captured`, `payment.failed`, `payment.authorized`, `refund.succeeded` or
    /// `refund.failed`.
    #[serde(rename = "type")]
    event: String,
    /// What the provider calls the payment.
    provider_ref: String,
    amount: Money,
    /// ISO 4217.
    currency: String,
    occurred_at: Time,
}

/// Receive a message of a payment provider
///
/// Signed over the raw body; a message that is not, or whose time is more than five minutes from now,
/// is refused and leaves nothing. The same message again, and messages in any order, do no harm. The
/// sandbox signs as Standard Webhooks: `webhook-signature` is `v1,` and the base64 of the HMAC-SHA256
/// of `<webhook-id>.<webhook-timestamp>.<body>` under the secret. Other providers send their own form
/// and headers.
#[utoipa::path(
    post, path = "/v1/webhooks/payments/{provider}/{businessId}",
    operation_id = "receivePaymentEvent", tag = "Payments", security(()),
    params(
        ("provider" = String, Path, description = "Who sends it", example = "sandbox"),
        ("businessId" = Id, Path, description = "The business"),
        ("webhook-id" = Option<String>, Header, description = "The sandbox: the message"),
        ("webhook-timestamp" = Option<String>, Header,
            description = "The sandbox: when it was sent, in seconds since 1970"),
        ("webhook-signature" = Option<String>, Header,
            description = "The sandbox: one or more signatures, with spaces between"),
    ),
    request_body = SandboxMessage,
    responses((status = 200, description = "Received", body = Received)),
)]
async fn receive(
    State(ready): State<Arc<Ready>>,
    PathTexts([provider, business]): PathTexts<2>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Received>, Problem> {
    let provider = Provider::parse(&provider).map_err(|_| Problem::not_found())?;
    let business = BusinessId::parse(&business).map_err(|_| Problem::not_found())?;
    let reader = ready.provider_messages.as_ref();
    let reader = reader.ok_or_else(Problem::not_found)?;
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let read = |now| reader.read(business, provider, &header, &body, now);
    // The sender's clock is not moved by tests of ours; a sender that follows the moved one is
    // believed as well. Without such a test both are the same.
    let message = read(Clock::outside())
        .or_else(|_| read(ready.engine.clock().now()))
        .map_err(|why| refused(provider, why))?;
    if let Some(message) = message {
        ready
            .engine
            .receive_payment_event(business, message)
            .await?;
    }
    Ok(Json(Received { received: true }))
}

fn refused(provider: Provider, why: UnreadableMessage) -> Problem {
    match why {
        UnreadableMessage::NoProvider => Problem::not_found(),
        UnreadableMessage::BadSignature => {
            metrics::counter!(BAD_SIGNATURES, "provider" => provider.name()).increment(1);
            Problem::new(
                Code::BadSignature,
                "The message is not signed with a secret of this business, or too old.",
            )
        }
        UnreadableMessage::Malformed => malformed("not the form that the provider promises"),
    }
}
