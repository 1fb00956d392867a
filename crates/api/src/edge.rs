//! The edge: the one layer around every route.
//!
//! Owns what each answer has whatever the route: request id, `Cache-Control`, the body of a
//! problem, the metric, the log line, and a 500 in place of a panic. Must not know any route.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::app::Ready;
use crate::operation::Operation;
use crate::problem::{Code, Problem, keep_allow};
use crate::request_id::{X_REQUEST_ID, trace_id};
use crate::telemetry;

/// One request and its answer, as every layer sees it.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The request's id.
    pub(crate) request_id: Arc<str>,
    /// The caller's trace.
    pub(crate) trace_id: Option<Box<str>>,
    /// The method.
    pub(crate) method: Method,
    /// What the document says of the route; `None` where no documented route matches.
    pub(crate) operation: Option<Arc<Operation>>,
    /// When it began.
    pub(crate) started: Instant,
    /// Who calls, once that is known.
    pub(crate) caller: OnceLock<String>,
}

impl Exchange {
    /// Who calls, for the log.
    pub(crate) fn caller(&self) -> Option<&str> {
        self.caller.get().map(String::as_str)
    }
}

/// Wraps every route.
pub(crate) async fn wrap(
    State(ready): State<Arc<Ready>>,
    mut request: Request,
    next: Next,
) -> Response {
    let exchange = Arc::new(begin(&ready, &request));
    request.extensions_mut().insert(exchange.clone());
    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = outcome.unwrap_or_else(|_| {
        metrics::counter!(telemetry::PANICS).increment(1);
        Problem::internal().into_response()
    });
    finish(&exchange, response)
}

fn begin(ready: &Ready, request: &Request) -> Exchange {
    let route = request.extensions().get::<MatchedPath>();
    let operation = route.and_then(|route| {
        let found = ready.operations.find(route.as_str(), request.method());
        found.cloned()
    });
    Exchange {
        request_id: ready.request_ids.of(request.headers()),
        trace_id: trace_id(request.headers()).map(Into::into),
        method: request.method().clone(),
        operation,
        started: Instant::now(),
        caller: OnceLock::new(),
    }
}

fn finish(exchange: &Exchange, mut response: Response) -> Response {
    let problem = response.extensions_mut().remove::<Problem>();
    let mut response = match &problem {
        Some(problem) => {
            let mut written = problem.render(&exchange.request_id);
            keep_allow(&response, &mut written);
            written
        }
        None => response,
    };
    let code = problem.map(|problem| problem.code().name());
    telemetry::record(exchange, response.status(), code);
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&exchange.request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The answer where no route matches.
pub(crate) async fn no_route() -> Problem {
    Problem::not_found()
}

/// The answer where the route exists and the method does not; the router adds `Allow`.
pub(crate) async fn no_method() -> Problem {
    Problem::new(
        Code::MethodNotAllowed,
        "This path answers other methods; the header Allow lists them.",
    )
}
