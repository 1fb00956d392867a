//! The HTTP ring: routes, documents, problems, OpenAPI, authentication and rate limits.
//!
//! Owns everything that is HTTP. Must not know a store adapter, the environment or the process:
//! the server hands in an [`App`] and gets a router.
#![warn(missing_docs)]

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use tokio::sync::Semaphore;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;

mod answer;
mod api_key;
mod app;
mod auth;
mod body;
mod branch;
mod business;
mod cart;
mod cart_document;
mod cart_patch;
mod cart_refusal;
mod checkout;
mod coupon;
mod csv_rows;
mod cursor;
mod customer;
mod docs;
mod edge;
mod etag;
mod idempotency;
mod inventory;
mod inventory_document;
mod json;
pub mod jwt;
mod leftover;
mod lines;
mod member;
mod meta;
mod openapi;
mod operation;
mod order;
mod order_action;
mod order_document;
mod order_draft;
mod order_names;
mod order_return;
mod page;
mod path;
mod payment;
pub mod problem;
mod product;
mod product_document;
mod product_import;
mod query;
mod rate_limit;
mod refusal;
mod request_id;
mod role;
mod schema;
pub mod telemetry;
mod time;
mod value;
mod webhook;

pub use app::{App, NotReady, RenderMetrics, TestClock};
pub use cursor::CursorKey;
pub use rate_limit::Rates;
pub use schema::InvalidSchema;

use crate::app::Ready;

/// All routes over an app. Fails only when the document made of them is broken, which a test of
/// ours finds first.
pub fn router(app: App) -> Result<Router, InvalidSchema> {
    let routes = routes(app.test_clock);
    assemble(routes, app)
}

fn assemble(routes: OpenApiRouter<Arc<Ready>>, app: App) -> Result<Router, InvalidSchema> {
    telemetry::show_counters();
    let (routes, document) = routes.split_for_parts();
    let document = openapi::finish(&document);
    let ready = Arc::new(Ready {
        engine: app.engine,
        authenticator: auth::Authenticator {
            platform_key: app.platform_key,
            token_keys: app.token_keys,
        },
        cursor_key: app.cursor_key,
        rate_limits: app.rates.map(rate_limit::RateLimits::new),
        request_ids: request_id::RequestIds::new(),
        places: Semaphore::new(app.requests_max.min(Semaphore::MAX_PERMITS)),
        operations: operation::Operations::of(&document)?,
        metrics: app.metrics,
        not_ready: app.not_ready,
        provider_messages: app.provider_messages,
        docs: docs::page(&document),
        document: document.to_string(),
    });
    Ok(routes
        .fallback(edge::no_route)
        .method_not_allowed_fallback(edge::no_method)
        .layer(middleware::from_fn_with_state(ready.clone(), edge::wrap))
        .with_state(ready))
}

/// The OpenAPI document of an installation without the routes that are only for tests.
pub fn document() -> serde_json::Value {
    let (_, document) = routes(TestClock::Absent).split_for_parts();
    openapi::finish(&document)
}

fn routes(test_clock: TestClock) -> OpenApiRouter<Arc<Ready>> {
    let routes = OpenApiRouter::with_openapi(openapi::Frame::openapi())
        .merge(business::router())
        .merge(branch::router())
        .merge(api_key::router())
        .merge(member::router())
        .merge(product::router())
        .merge(product_import::router())
        .merge(customer::router())
        .merge(inventory::router())
        .merge(order::router())
        .merge(order_action::router())
        .merge(order_return::router())
        .merge(cart::router())
        .merge(checkout::router())
        .merge(coupon::router())
        .merge(payment::router())
        .merge(webhook::router())
        .merge(meta::router());
    match test_clock {
        TestClock::Present => routes.merge(meta::test_clock_router()),
        TestClock::Absent => routes,
    }
}
