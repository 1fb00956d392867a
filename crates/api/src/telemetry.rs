//! What is counted and logged of each request: route template, method, status, time, code.
//!
//! Owns the names of the HTTP metrics and the access log. Never a body, a query string, a
//! credential or personal data. Must not know how metrics are exported.

use std::sync::OnceLock;
use std::time::Duration;

use abasto_domain::payment::Provider;
use axum::http::{Method, StatusCode};
use metrics::{Counter, Histogram};

use crate::edge::Exchange;

/// Requests answered, by `route`, `method` and `status` (class, such as `2xx`).
pub const REQUESTS: &str = "abasto_http_requests_total";
/// Seconds until the answer was ready, by `route` and `method`.
pub const DURATION: &str = "abasto_http_request_duration_seconds";
/// Refusals (401, 403, 404, 429), by `route` and `code`.
pub const REFUSALS: &str = "abasto_http_refusals_total";
/// Panics that became a 500.
pub const PANICS: &str = "abasto_http_panics_total";

/// Messages of payment providers that nobody with a secret signed, by `provider`.
pub const BAD_SIGNATURES: &str = "abasto_payment_events_bad_signature_total";

/// Lets what an alert watches stand at zero, so that a rise from nothing shows.
pub(crate) fn show_counters() {
    metrics::counter!(PANICS).increment(0);
    for provider in [Provider::Sandbox, Provider::Stripe] {
        metrics::counter!(BAD_SIGNATURES, "provider" => provider.name()).increment(0);
    }
}

/// The route of requests that match none.
pub(crate) const NO_ROUTE: &str = "none";

/// The meters of one operation; looked up in the exporter once, at the first request.
#[derive(Debug)]
pub(crate) struct Meter {
    route: String,
    method: Method,
    handles: OnceLock<Handles>,
}

struct Handles {
    by_class: [Counter; 5],
    seconds: Histogram,
}

impl std::fmt::Debug for Handles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handles")
    }
}

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl Meter {
    pub(crate) fn new(route: &str, method: &Method) -> Self {
        Self {
            route: route.to_owned(),
            method: method.clone(),
            handles: OnceLock::new(),
        }
    }

    pub(crate) fn record(&self, status: StatusCode, took: Duration) {
        let handles = self.handles.get_or_init(|| self.handles());
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        handles.by_class[class].increment(1);
        handles.seconds.record(took);
    }

    fn handles(&self) -> Handles {
        let (route, method) = (self.route.clone(), self.method.to_string());
        let counter = |class: &'static str| metrics::counter!(REQUESTS, "route" => route.clone(), "method" => method.clone(), "status" => class);
        Handles {
            by_class: CLASSES.map(counter),
            seconds: metrics::histogram!(DURATION, "route" => route.clone(), "method" => method.clone()),
        }
    }
}

/// Counts and logs one finished exchange.
pub(crate) fn record(exchange: &Exchange, status: StatusCode, code: Option<&'static str>) {
    let took = exchange.started.elapsed();
    let route = match &exchange.operation {
        Some(operation) => {
            operation.meter.record(status, took);
            operation.route.as_str()
        }
        None => {
            let class = CLASSES[usize::from(status.as_u16() / 100).clamp(1, 5) - 1];
            metrics::counter!(REQUESTS, "route" => NO_ROUTE, "method" => "any", "status" => class)
                .increment(1);
            NO_ROUTE
        }
    };
    if let (401 | 403 | 404 | 429, Some(code)) = (status.as_u16(), code) {
        metrics::counter!(REFUSALS, "route" => route.to_owned(), "code" => code).increment(1);
        tracing::warn!(
            target: "abasto::refusal",
            request = &*exchange.request_id,
            route,
            code,
            caller = exchange.caller(),
            "refused"
        );
    }
    if status.is_server_error() {
        tracing::error!(
            target: "abasto::access",
            request = &*exchange.request_id,
            method = exchange.method.as_str(),
            route,
            status = status.as_u16(),
            code,
            "failed"
        );
    }
    tracing::info!(
        target: "abasto::access",
        request = &*exchange.request_id,
        trace = exchange.trace_id.as_deref(),
        method = exchange.method.as_str(),
        route,
        status = status.as_u16(),
        code,
        caller = exchange.caller(),
        duration_ms = took.as_secs_f64() * 1000.0,
        "answered"
    );
}
