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
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Ready;
use crate::body::malformed;
use crate::path::PathTexts;
use crate::problem::{Code, Problem};
use crate::telemetry::BAD_SIGNATURES;
use crate::value::Id;

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new().routes(routes!(receive))
}

/// What a provider is told.
#[derive(Debug, Serialize, ToSchema)]
struct Received {
    received: bool,
}

/// Receive a message of a payment provider
///
/// Signed over the raw body. The same message again, and messages in any order, do no harm.
#[utoipa::path(
    post, path = "/v1/webhooks/payments/{provider}/{businessId}",
    operation_id = "receivePaymentEvent", tag = "Payments", security(()),
    params(
        ("provider" = String, Path, description = "Who sends it", example = "sandbox"),
        ("businessId" = Id, Path, description = "The business"),
    ),
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
