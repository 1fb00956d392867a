//! The edge: the one layer around every route.
//!
//! Owns what each answer has whatever the route: request id, `Cache-Control`, the body of a
//! problem, the metric, the log line, and a 500 in place of a panic. Must not know any route.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use abasto_domain::access::Actor;
use abasto_domain::id::BusinessId;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::field::{DisplayValue, display};

use crate::app::Ready;
use crate::leftover;
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
    pub(crate) caller: OnceLock<CallerName>,
}

/// Who calls, by ids alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallerName {
    /// The operator of the installation.
    Operator,
    /// A credential of a business.
    OfBusiness(BusinessId, Actor),
}

impl fmt::Display for CallerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::OfBusiness(business, actor) => write!(f, "{business}/{actor}"),
        }
    }
}

impl Exchange {
    fn is_about_the_process(&self) -> bool {
        let route = self
            .operation
            .as_ref()
            .map(|operation| operation.route.as_str());
        matches!(route, Some("/healthz" | "/readyz" | "/metrics"))
    }

    /// Who calls, for the log.
    pub(crate) fn caller(&self) -> Option<DisplayValue<&CallerName>> {
        self.caller.get().map(display)
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
    let (request, leftover) = leftover::lend(request);
    let response = match ready.places.try_acquire() {
        Ok(_place) => run(request, next).await,
        // Health and metrics are looked at most when everything is busy.
        Err(_) if exchange.is_about_the_process() => run(request, next).await,
        Err(_) => Problem::overloaded().into_response(),
    };
    leftover.drain().await;
    finish(&exchange, response)
}

async fn run(request: Request, next: Next) -> Response {
    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    outcome.unwrap_or_else(|_| {
        metrics::counter!(telemetry::PANICS).increment(1);
        Problem::internal().into_response()
    })
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

#[cfg(test)]
mod tests;
