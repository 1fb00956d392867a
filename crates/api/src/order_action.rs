//! The steps of an order's life over HTTP.

use std::sync::Arc;

use abasto_domain::fault::Faults;
use abasto_domain::id::OrderId;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::order_action::{OrderStep, StepOrder};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Ready;
use crate::auth::Caller;
use crate::body::{Body, NoFields, OptionalBody};
use crate::etag::IfMatch;
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::{OptionalIfMatch, RequiredKey};
use crate::order::{OrderView, show};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, finish};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(confirm))
        .routes(routes!(prepare))
        .routes(routes!(dispatch))
        .routes(routes!(deliver))
        .routes(routes!(cancel))
        .routes(routes!(courier))
}

/// Why an order is cancelled, and what becomes of its units.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CancelOrder {
    #[schema(min_length = 1, max_length = 200, example = "the customer called")]
    reason: String,
    /// Whether the units can be sold again; the business's setting decides when left out.
    restock: Option<bool>,
}

/// Who brings an order.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AssignCourier {
    /// A member with the role `courier`.
    member_id: Id,
}

/// A request to take a step: everything but the step itself.
struct Step {
    caller: Caller,
    order: OrderId,
    key: IdempotencyKey,
    seen: Option<IfMatch>,
}

impl FromRequestParts<Arc<Ready>> for Step {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ready: &Arc<Ready>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, ready).await?;
        let PathId(order) = PathId::from_request_parts(parts, ready).await?;
        let key = IdempotencyKey::from_request_parts(parts, ready).await?;
        let seen = Option::<IfMatch>::from_request_parts(parts, ready).await?;
        Ok(Self {
            caller,
            order,
            key,
            seen,
        })
    }
}

impl Step {
    async fn take(self, ready: &Ready, step: OrderStep) -> Result<Response, Problem> {
        let command = StepOrder {
            order: self.order,
            step,
            expected_version: self.seen.map(|seen| seen.0),
        };
        let done = ready
            .engine
            .step_order(&self.caller.context, &self.key.0, command)
            .await;
        let done = done.map_err(|error| self.caller.problem(error))?;
        let mut response = show(&done.value);
        if done.replayed {
            mark_replayed(&mut response);
        }
        Ok(response)
    }
}

/// Confirm an order
///
/// Accepts it: `pending → confirmed`.
#[utoipa::path(
    post, path = "/v1/orders/{id}/confirm", operation_id = "confirmOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = Option<NoFields>,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn confirm(
    step: Step,
    State(ready): State<Arc<Ready>>,
    _body: OptionalBody<NoFields>,
) -> Result<Response, Problem> {
    step.take(&ready, OrderStep::Confirm).await
}

/// Prepare an order
///
/// Packing begins: `confirmed → preparing`.
#[utoipa::path(
    post, path = "/v1/orders/{id}/prepare", operation_id = "prepareOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = Option<NoFields>,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn prepare(
    step: Step,
    State(ready): State<Arc<Ready>>,
    _body: OptionalBody<NoFields>,
) -> Result<Response, Problem> {
    step.take(&ready, OrderStep::Prepare).await
}

/// Dispatch an order
///
/// It leaves the house, and its units leave `reserved`: `preparing → dispatched`.
#[utoipa::path(
    post, path = "/v1/orders/{id}/dispatch", operation_id = "dispatchOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = Option<NoFields>,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn dispatch(
    step: Step,
    State(ready): State<Arc<Ready>>,
    _body: OptionalBody<NoFields>,
) -> Result<Response, Problem> {
    step.take(&ready, OrderStep::Dispatch).await
}

/// Deliver an order
///
/// It is handed over: `dispatched → delivered`.
#[utoipa::path(
    post, path = "/v1/orders/{id}/deliver", operation_id = "deliverOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = Option<NoFields>,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn deliver(
    step: Step,
    State(ready): State<Arc<Ready>>,
    _body: OptionalBody<NoFields>,
) -> Result<Response, Problem> {
    step.take(&ready, OrderStep::Deliver).await
}

/// Cancel an order
///
/// Until packing begins. It gives back exactly what it holds, once; with `restock: false` the units
/// are recorded as lost.
#[utoipa::path(
    post, path = "/v1/orders/{id}/cancel", operation_id = "cancelOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = CancelOrder,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn cancel(
    step: Step,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CancelOrder>,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let reason = faults.take("/reason", clean(&body.reason, limits::REASON));
    let cancel = OrderStep::Cancel {
        reason: finish(faults, reason)?,
        restock: body.restock,
    };
    step.take(&ready, cancel).await
}

/// Assign a courier
///
/// Until the order has left the house.
#[utoipa::path(
    post, path = "/v1/orders/{id}/courier", operation_id = "assignCourier", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), RequiredKey, OptionalIfMatch),
    request_body = AssignCourier,
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn courier(
    step: Step,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<AssignCourier>,
) -> Result<Response, Problem> {
    let courier = OrderStep::Courier(body.member_id.into());
    step.take(&ready, courier).await
}
