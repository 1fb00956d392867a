//! Request bodies: bounded, of the right media type, strict JSON, valid by the published schema.
//!
//! Owns the way from bytes to a typed document. Must not know what the documents mean.

use std::sync::Arc;
use std::time::Duration;

use abasto_domain::limits::BODY_BYTES_MAX;
use axum::body::Body as Bytestream;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::edge::Exchange;
use crate::json;
use crate::operation::Operation;
use crate::problem::{Code, Problem};

/// How long a body, or the next part of a streamed one, may take.
pub(crate) const BODY_PAUSE_MAX: Duration = Duration::from_secs(30);

/// A JSON body that the route needs.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body that may be left out; it counts as `{}` then.
#[derive(Debug)]
pub(crate) struct OptionalBody<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        check_media_type(&parts.headers, is_json)?;
        let bytes = read(&parts.headers, body).await?;
        decode(&bytes, operation(&parts.extensions).as_deref()).map(Self)
    }
}

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body).await?;
        if bytes.is_empty() {
            return decode(b"{}", operation(&parts.extensions).as_deref()).map(Self);
        }
        check_media_type(&parts.headers, is_json)?;
        decode(&bytes, operation(&parts.extensions).as_deref()).map(Self)
    }
}

fn operation(extensions: &axum::http::Extensions) -> Option<Arc<Operation>> {
    extensions.get::<Arc<Exchange>>()?.operation.clone()
}

/// Refuses a media type for which `accepted` does not hold, and a body that is compressed.
pub(crate) fn check_media_type(
    headers: &HeaderMap,
    accepted: fn(&str) -> bool,
) -> Result<(), Problem> {
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| encoding != "identity") {
        return Err(Problem::new(
            Code::UnsupportedMediaType,
            "Send the body as it is, without Content-Encoding.",
        ));
    }
    let header = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let mut parts = header.unwrap_or_default().split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    if accepted(&essence) && parts.all(is_utf8) {
        return Ok(());
    }
    Err(Problem::new(
        Code::UnsupportedMediaType,
        "Send Content-Type: application/json, or what the route documents, in UTF-8.",
    ))
}

/// Whether a parameter of a media type leaves the encoding at UTF-8.
fn is_utf8(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let value = value.trim().trim_matches('"');
    !name.trim().eq_ignore_ascii_case("charset")
        || ["utf-8", "utf8"]
            .iter()
            .any(|known| value.eq_ignore_ascii_case(known))
}

fn is_json(essence: &str) -> bool {
    essence == "application/json"
}

async fn read(headers: &HeaderMap, body: Bytestream) -> Result<Bytes, Problem> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).is_ok_and(|n| n > BODY_BYTES_MAX)) {
        return Err(too_large());
    }
    let collected = Limited::new(body, BODY_BYTES_MAX).collect();
    let Ok(collected) = timeout(BODY_PAUSE_MAX, collected).await else {
        return Err(too_slow());
    };
    collected.map(|body| body.to_bytes()).map_err(|error| {
        if error.is::<LengthLimitError>() {
            too_large()
        } else {
            malformed("the body ended before it was whole")
        }
    })
}

/// The answer to a body that does not come.
pub(crate) fn too_slow() -> Problem {
    Problem::new(
        Code::BodyTimeout,
        format!("A body comes within {} seconds.", BODY_PAUSE_MAX.as_secs()),
    )
}

fn too_large() -> Problem {
    Problem::new(
        Code::BodyTooLarge,
        format!("A body has at most {BODY_BYTES_MAX} bytes."),
    )
}

/// The answer to a body that is no JSON. The reason is about the text, never the text itself.
pub(crate) fn malformed(reason: impl std::fmt::Display) -> Problem {
    Problem::new(
        Code::MalformedBody,
        format!("The body is not one JSON value in UTF-8: {reason}."),
    )
}

/// Bytes to a typed document, with every fault of the schema at once.
pub(crate) fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    operation: Option<&Operation>,
) -> Result<T, Problem> {
    let (value, mut faults) = json::parse(bytes).map_err(|unread| match unread {
        json::Unread::NotJson(error) => malformed(error),
        json::Unread::OutOfRange(fault) => Problem::validation(&[fault]),
    })?;
    if let Some(schema) = operation.and_then(|operation| operation.body.as_ref()) {
        schema.check(&value, &mut faults);
    }
    if !faults.is_empty() {
        return Err(Problem::validation(&faults));
    }
    T::deserialize(value).map_err(|error| {
        let errors = serde_json::json!([
            {"pointer": "", "code": "invalid", "message": error.to_string()}
        ]);
        Problem::new(Code::Validation, "The input has faults; see errors.").with("errors", errors)
    })
}

/// A body without fields, for actions that take none.
#[derive(Debug, Default, serde::Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoFields {}

/// Reads a field that may be absent (`None`), null (`Some(None)`) or have a value.
pub(crate) fn nullable<'de, T, D>(reader: D) -> Result<Option<Option<T>>, D::Error>
where
    T: serde::Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    <Option<T> as serde::Deserialize>::deserialize(reader).map(Some)
}
