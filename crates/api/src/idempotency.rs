//! The `Idempotency-Key` header and the news that an answer is a repeated one.
//!
//! Owns the header's two forms. What a key stands for is the engine's business.

use abasto_domain::idempotency::parse_key;
use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

use crate::problem::{Code, Problem};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENCY_REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The key of a request that needs one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyKey(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut lines = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let line = lines.next().ok_or_else(|| {
            Problem::new(
                Code::IdempotencyKeyMissing,
                "Send an Idempotency-Key that you keep for retries of the same intention.",
            )
        })?;
        let invalid = |detail: String| Problem::new(Code::IdempotencyKeyInvalid, detail);
        if lines.next().is_some() {
            return Err(invalid("Send one Idempotency-Key.".to_owned()));
        }
        let text = line.to_str().unwrap_or_default();
        match parse_key(text) {
            Ok(key) => Ok(Self(key)),
            Err(why) => Err(invalid(format!("{}.", capitalised(&why.message)))),
        }
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Option<Self>, Problem> {
        if parts.headers.contains_key(IDEMPOTENCY_KEY) {
            <Self as FromRequestParts<S>>::from_request_parts(parts, state)
                .await
                .map(Some)
        } else {
            Ok(None)
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Says that the answer was given before.
pub(crate) fn mark_replayed(response: &mut Response) {
    response
        .headers_mut()
        .insert(IDEMPOTENCY_REPLAYED, HeaderValue::from_static("true"));
}
