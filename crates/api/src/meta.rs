//! Health, metrics, limits and the documents about the API itself.
//!
//! Owns the routes that need no credential.

use std::sync::Arc;

use abasto_domain::limits;
use axum::Json;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Ready;
use crate::auth::Operator;
use crate::body::Body;
use crate::docs;
use crate::path::PathTexts;
use crate::problem::{Code, Problem};
use crate::value::Time;

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
        .routes(routes!(limits_table))
        .routes(routes!(openapi))
        .routes(routes!(docs_page))
        .routes(routes!(problem_page))
        // For a person who opens the bare address in a browser; no part of the contract.
        .route("/", get(Redirect::to("/docs")))
}

/// The route that tests move the clock with; only where the installation allows it.
pub(crate) fn test_clock_router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new().routes(routes!(advance_clock))
}

/// Whether the process is up.
#[derive(Debug, Serialize, ToSchema)]
struct Health {
    #[schema(example = "up")]
    status: &'static str,
}

/// Whether the process takes traffic, and why not.
#[derive(Debug, Serialize, ToSchema)]
struct Readiness {
    ready: bool,
    /// Empty when ready.
    reasons: Vec<String>,
}

/// Whether the process is up
///
/// Looks at nothing else; for liveness probes.
#[utoipa::path(
    get, path = "/healthz", operation_id = "readHealth", tag = "Health and meta", security(()),
    responses((status = 200, description = "Up", body = Health)),
)]
async fn healthz() -> Json<Health> {
    Json(Health { status: "up" })
}

/// Whether the process takes traffic
///
/// The store is reachable, its indexes are in place, nothing is being restored or drained.
#[utoipa::path(
    get, path = "/readyz", operation_id = "readReadiness", tag = "Health and meta", security(()),
    responses(
        (status = 200, description = "Ready", body = Readiness),
        (status = 503, description = "Not ready", body = Readiness),
    ),
)]
async fn readyz(State(ready): State<Arc<Ready>>) -> Response {
    let mut reasons = (ready.not_ready)();
    match ready.engine.health().await {
        Ok(found) => reasons.extend(found),
        Err(error) => {
            tracing::warn!(target: "abasto::store", %error, "the store does not answer");
            reasons.push("the store does not answer".to_owned());
        }
    }
    let status = if reasons.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let ready = reasons.is_empty();
    (status, Json(Readiness { ready, reasons })).into_response()
}

/// Metrics
///
/// In the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", operation_id = "readMetrics", tag = "Health and meta", security(()),
    responses((status = 200, description = "Metrics", body = String, content_type = "text/plain")),
)]
async fn metrics(State(ready): State<Arc<Ready>>) -> Result<Response, Problem> {
    let render = ready.metrics.as_ref().ok_or_else(Problem::not_found)?;
    let media = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(CONTENT_TYPE, media)], render()).into_response())
}

/// The bounds of everything that callers send. Lengths count characters.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Limits {
    quantity_max: i64,
    order_lines_max: usize,
    stock_items_max: usize,
    import_rows_max: usize,
    import_line_bytes_max: usize,
    branch_list_max: usize,
    attributes_max: usize,
    attribute_name_chars_max: usize,
    attribute_value_chars_max: usize,
    page_rows_default: u32,
    page_rows_max: u32,
    body_bytes_max: usize,
    idempotency_key_chars_max: usize,
    amount_minor_max: i64,
    name_chars_max: usize,
    sku_chars_max: usize,
    note_chars_max: usize,
    reason_chars_max: usize,
    reference_chars_max: usize,
    user_id_chars_max: usize,
    email_chars_max: usize,
    address_chars_max: usize,
    search_chars_max: usize,
}

/// The limits of the API
#[utoipa::path(
    get, path = "/v1/limits", operation_id = "readLimits", tag = "Health and meta", security(()),
    responses((status = 200, description = "The limits", body = Limits)),
)]
async fn limits_table() -> Json<Limits> {
    Json(Limits {
        quantity_max: limits::QUANTITY_MAX,
        order_lines_max: limits::ORDER_LINES_MAX,
        stock_items_max: limits::STOCK_ITEMS_MAX,
        import_rows_max: limits::IMPORT_ROWS_MAX,
        import_line_bytes_max: limits::IMPORT_LINE_BYTES_MAX,
        branch_list_max: limits::BRANCH_LIST_MAX,
        attributes_max: limits::ATTRIBUTES_MAX,
        attribute_name_chars_max: limits::ATTRIBUTE_NAME.max_chars,
        attribute_value_chars_max: limits::ATTRIBUTE_VALUE.max_chars,
        page_rows_default: limits::PAGE_ROWS.1,
        page_rows_max: limits::PAGE_ROWS.2,
        body_bytes_max: limits::BODY_BYTES_MAX,
        idempotency_key_chars_max: limits::IDEMPOTENCY_KEY_CHARS_MAX,
        amount_minor_max: limits::AMOUNT_MINOR_MAX,
        name_chars_max: limits::NAME.max_chars,
        sku_chars_max: limits::SKU.max_chars,
        note_chars_max: limits::NOTE.max_chars,
        reason_chars_max: limits::REASON.max_chars,
        reference_chars_max: limits::REFERENCE.max_chars,
        user_id_chars_max: limits::USER_ID.max_chars,
        email_chars_max: limits::EMAIL.max_chars,
        address_chars_max: limits::ADDRESS.max_chars,
        search_chars_max: limits::SEARCH.max_chars,
    })
}

/// This document
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "readOpenApi", tag = "Health and meta",
    security(()),
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)),
)]
async fn openapi(State(ready): State<Arc<Ready>>) -> Response {
    ([(CONTENT_TYPE, "application/json")], ready.document.clone()).into_response()
}

/// This document as a page
#[utoipa::path(
    get, path = "/docs", operation_id = "readDocs", tag = "Health and meta", security(()),
    responses((status = 200, description = "The page", body = String, content_type = "text/html")),
)]
async fn docs_page(State(ready): State<Arc<Ready>>) -> Html<String> {
    Html(ready.docs.clone())
}

/// What a problem means
///
/// As a page, or as markdown when `Accept` asks for `text/markdown` or `text/plain`.
#[utoipa::path(
    get, path = "/problems/{code}", operation_id = "readProblem", tag = "Health and meta",
    security(()),
    params(("code" = String, Path, description = "The code", example = "insufficient-stock")),
    responses((
        status = 200, description = "The page",
        content((String = "text/html"), (String = "text/markdown")),
    )),
)]
async fn problem_page(
    PathTexts([code]): PathTexts<1>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let code = Code::find(&code).ok_or_else(Problem::not_found)?;
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let wants = |media: &str| accept.is_some_and(|accept| accept.contains(media));
    if !wants("text/html") && (wants("text/markdown") || wants("text/plain")) {
        let media = "text/markdown; charset=utf-8";
        return Ok(([(CONTENT_TYPE, media)], code.page()).into_response());
    }
    Ok(Html(docs::problem(code)).into_response())
}

/// How far the clock is moved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AdvanceClock {
    #[schema(minimum = 1, maximum = 31_622_400_000_i64)]
    advance_ms: i64,
}

/// What the clock says.
#[derive(Debug, Serialize, ToSchema)]
struct ClockTime {
    now: Time,
}

/// Move the clock forward
///
/// Only where the operator allows it, for tests of what time brings.
#[utoipa::path(
    post, path = "/test/clock", operation_id = "advanceClock", tag = "Health and meta",
    security(("platform" = [])),
    request_body = AdvanceClock,
    responses((status = 200, description = "Moved", body = ClockTime)),
)]
async fn advance_clock(
    _operator: Operator,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<AdvanceClock>,
) -> Json<ClockTime> {
    ready.engine.clock().advance(body.advance_ms);
    let now = ready.engine.clock().now().into();
    Json(ClockTime { now })
}
