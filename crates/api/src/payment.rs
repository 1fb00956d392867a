//! Payments and refunds over HTTP.

use std::sync::Arc;

use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::OrderId;
use abasto_domain::limits;
use abasto_domain::money::Amount;
use abasto_domain::payment::{Payment, Provider};
use abasto_domain::text::clean;
use abasto_engine::Done;
use abasto_engine::payment::{RequestRefund, StartPayment};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::Body;
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::RequiredKey;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, Money, Time, finish, optional};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, start))
        .routes(routes!(refund))
}

/// An attempt to pay an order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Payment)]
#[serde(rename_all = "camelCase")]
struct PaymentView {
    id: Id,
    order_id: Id,
    #[schema(example = "sandbox")]
    provider: &'static str,
    /// What the provider calls it, once it is known.
    #[schema(required = true)]
    provider_ref: Option<String>,
    amount: Money,
    #[schema(example = "COP")]
    currency: String,
    /// `created`, `pending`, `captured`, `failed`, `refund_pending` or `refunded`.
    #[schema(example = "pending")]
    status: &'static str,
    /// What went back.
    refunded: Money,
    refunds: Vec<RefundView>,
    /// Where the buyer pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_url: Option<String>,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

/// Money on its way back.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Refund)]
#[serde(rename_all = "camelCase")]
struct RefundView {
    id: Id,
    amount: Money,
    /// `requested`, `sent`, `succeeded` or `failed`.
    #[schema(example = "sent")]
    status: &'static str,
    /// `asked`, `cancelled`, `unfulfillable` or `overpaid`.
    #[schema(example = "asked")]
    reason: &'static str,
    requested_at: Time,
}

impl From<&Payment> for PaymentView {
    fn from(payment: &Payment) -> Self {
        let money = |amount| Money::show(amount, payment.currency);
        let refunds = payment.refunds.iter().map(|refund| RefundView {
            id: refund.id.into(),
            amount: money(refund.amount),
            status: refund.state.name(),
            reason: refund.reason.name(),
            requested_at: refund.requested_at.into(),
        });
        Self {
            id: payment.id.into(),
            order_id: payment.order.into(),
            provider: payment.provider.name(),
            provider_ref: payment.provider_ref.clone(),
            amount: money(payment.amount),
            currency: payment.currency.code().to_owned(),
            status: payment.status(),
            refunded: money(payment.refunded()),
            refunds: refunds.collect(),
            redirect_url: payment.redirect_url.clone(),
            version: payment.stamp.version,
            created_at: payment.stamp.created_at.into(),
            updated_at: payment.stamp.updated_at.into(),
        }
    }
}

/// An attempt to be begun. The amount is the order's total; none can be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = StartPayment)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PaymentDraft {
    #[schema(max_length = 40, example = "sandbox")]
    provider: String,
    /// Where the buyer goes after paying.
    #[schema(max_length = 2000)]
    return_url: Option<String>,
}

/// Money to give back.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RequestRefund)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RefundDraft {
    amount: Money,
}

/// List the attempts to pay an order
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/orders/{id}/payments", operation_id = "listPayments", tag = "Payments",
    params(("id" = Id, Path, description = "The order"), PageParams),
    responses((status = 200, description = "A page", body = ListPage<PaymentView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<OrderId>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.payments(&caller.context, id, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        PaymentView::from(&**row)
    }))
}

/// Pay an order
///
/// Begins an attempt; the provider is called after this is answered. An earlier attempt that is
/// still open is given up.
#[utoipa::path(
    post, path = "/v1/orders/{id}/payments", operation_id = "startPayment", tag = "Payments",
    params(("id" = Id, Path, description = "The order"), RequiredKey),
    request_body = PaymentDraft,
    responses((status = 201, description = "Begun", body = PaymentView)),
)]
async fn start(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(order): PathId<OrderId>,
    key: IdempotencyKey,
    Body(body): Body<PaymentDraft>,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let provider = faults.take("/provider", Provider::parse(&body.provider));
    let url = optional(&mut faults, "/returnUrl", body.return_url, |url| {
        clean(&url, limits::URL)
    });
    let command = || {
        Some(StartPayment {
            order,
            provider: provider?,
            return_url: url?,
        })
    };
    let command = finish(faults, command())?;
    let done = ready
        .engine
        .start_payment(&caller.context, &key.0, command)
        .await;
    let done = done.map_err(|error| caller.problem(error))?;
    Ok(made(&done))
}

/// Refund an order
///
/// Asks for money back: together never more than was captured. Answers the attempt on which it
/// goes back.
#[utoipa::path(
    post, path = "/v1/orders/{id}/refunds", operation_id = "requestRefund", tag = "Payments",
    params(("id" = Id, Path, description = "The order"), RequiredKey),
    request_body = RefundDraft,
    responses((status = 201, description = "Asked for", body = PaymentView)),
)]
async fn refund(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(order): PathId<OrderId>,
    key: IdempotencyKey,
    Body(body): Body<RefundDraft>,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let amount = faults.take("/amount", positive(body.amount.read(caller.currency)));
    let amount = finish(faults, amount)?;
    let command = RequestRefund { order, amount };
    let done = ready
        .engine
        .request_refund(&caller.context, &key.0, command)
        .await;
    let done = done.map_err(|error| caller.problem(error))?;
    Ok(made(&done))
}

fn positive(amount: Result<Amount, InvalidValue>) -> Result<Amount, InvalidValue> {
    const NOTHING: InvalidValue = InvalidValue::new("out-of-range", "an amount above zero");
    match amount? {
        Amount::ZERO => Err(NOTHING),
        amount => Ok(amount),
    }
}

fn made(done: &Done<Arc<Payment>>) -> Response {
    let payment = &*done.value;
    let location = format!("/v1/orders/{}/payments", payment.order);
    let view = PaymentView::from(payment);
    let mut response = answer::created(location, payment.stamp.version, view);
    if done.replayed {
        mark_replayed(&mut response);
    }
    response
}
