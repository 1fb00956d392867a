//! Good answers: a document with its version, a new one with its place, nothing at all.
//!
//! Owns which headers go with which kind of answer.

use axum::Json;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::etag;

/// A document with the `ETag` of its version.
pub(crate) fn document<T: Serialize>(version: i64, body: T) -> Response {
    let mut response = Json(body).into_response();
    let (name, value) = etag::of(version);
    response.headers_mut().insert(name, value);
    response
}

/// A new document: 201, `ETag`, `Location`.
pub(crate) fn created<T: Serialize>(location: String, version: i64, body: T) -> Response {
    let mut response = document(version, body);
    *response.status_mut() = StatusCode::CREATED;
    put_location(&mut response, location);
    response
}

/// A new document that may have no version: 201, `Location`.
pub(crate) fn placed<T: Serialize>(location: String, body: T) -> Response {
    let mut response = made(body);
    put_location(&mut response, location);
    response
}

/// Something made that has no version of its own: 201.
pub(crate) fn made<T: Serialize>(body: T) -> Response {
    (StatusCode::CREATED, Json(body)).into_response()
}

/// Done, nothing to say: 204.
pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

fn put_location(response: &mut Response, location: String) {
    if let Ok(location) = HeaderValue::try_from(location) {
        response.headers_mut().insert(LOCATION, location);
    }
}
