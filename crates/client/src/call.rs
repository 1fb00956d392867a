//! One request as a value, so that it can be sent again as it was.
//!
//! Owns whether it may be sent again. Must not send.

use bytes::Bytes;
use hyper::Method;
use serde::Serialize;

use crate::error::Error;

/// Whether a request may be sent again when it is unknown what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Sending it twice does the same as sending it once.
    Safe,
    /// Only when the server said that it did nothing.
    OnlyWhenRefused,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) body: Bytes,
    pub(crate) media: Option<&'static str>,
    pub(crate) accept: Option<&'static str>,
    pub(crate) key: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) repeat: Repeat,
}

impl Call {
    /// `GET` of a path with its query.
    pub fn get(target: impl Into<String>) -> Self {
        Self::empty(Method::GET, target, Repeat::Safe)
    }

    /// `DELETE` of a path.
    pub fn delete(target: impl Into<String>) -> Self {
        Self::empty(Method::DELETE, target, Repeat::Safe)
    }

    /// `POST` of JSON.
    ///
    /// # Errors
    /// [`Error::Encode`] when the value has no JSON form.
    pub fn post(target: impl Into<String>, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_vec(body).map_err(|error| Error::Encode(error.to_string()))?;
        Ok(Self::post_bytes(target, "application/json", body))
    }

    /// `POST` of bytes of a media type.
    pub fn post_bytes(
        target: impl Into<String>,
        media: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self {
            body: body.into(),
            media: Some(media),
            ..Self::empty(Method::POST, target, Repeat::OnlyWhenRefused)
        }
    }

    /// With an idempotency key, which makes it safe to repeat.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self.repeat = Repeat::Safe;
        self
    }

    /// With one more header; a value that no header can carry fails when it is sent.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Declares that sending it twice does the same as sending it once.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeat = Repeat::Safe;
        self
    }

    /// With the media type that is wanted back.
    #[must_use]
    pub fn accept(mut self, media: &'static str) -> Self {
        self.accept = Some(media);
        self
    }

    fn empty(method: Method, target: impl Into<String>, repeat: Repeat) -> Self {
        Self {
            method,
            target: target.into(),
            body: Bytes::new(),
            media: None,
            accept: None,
            key: None,
            headers: Vec::new(),
            repeat,
        }
    }
}

/// A text as it may stand in a query (RFC 3986: everything but the unreserved is escaped).
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn escapes_what_a_query_cannot_hold() {
        assert_eq!(encode("a-Z_0.~"), "a-Z_0.~");
        assert_eq!(encode("a b&c=d/+%"), "a%20b%26c%3Dd%2F%2B%25");
        assert_eq!(encode("ñ"), "%C3%B1");
    }
}
