//! Versions over HTTP: `ETag` out, `If-Match` in.
//!
//! Owns the form of entity tags: the version in quotes. Must not know what is versioned.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};

use crate::problem::{Code, Problem};

/// The version of `If-Match`. Tags that are none of ours become version 0, which nothing has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IfMatch(pub(crate) i64);

impl<S: Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read(&parts.headers)?.ok_or_else(|| {
            Problem::new(
                Code::PreconditionRequired,
                "Send If-Match with the ETag of the version that you saw.",
            )
        })
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Problem> {
        read(&parts.headers)
    }
}

fn read(headers: &HeaderMap) -> Result<Option<IfMatch>, Problem> {
    let mut lines = headers.get_all(IF_MATCH).iter();
    let Some(line) = lines.next() else {
        return Ok(None);
    };
    let tag = line.to_str().ok().and_then(opaque);
    match (tag, lines.next()) {
        (Some(tag), None) => Ok(Some(IfMatch(version(tag)))),
        _ => Err(Problem::new(
            Code::MalformedHeader,
            "If-Match is one entity tag in quotes, such as \"3\".",
        )),
    }
}

/// What stands between the quotes of one entity tag. A weak tag never matches strongly.
fn opaque(tag: &str) -> Option<&str> {
    let tag = tag.trim();
    let weak = tag.starts_with("W/");
    let inner = tag
        .trim_start_matches("W/")
        .strip_prefix('"')?
        .strip_suffix('"')?;
    let sound = inner
        .bytes()
        .all(|c| c != b'"' && (0x21..0x7f).contains(&c));
    sound.then_some(if weak { "" } else { inner })
}

fn version(tag: &str) -> i64 {
    let plain = !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_digit()) && !tag.starts_with('0');
    tag.parse().ok().filter(|_| plain).unwrap_or(0)
}

/// The header of a version.
pub(crate) fn of(version: i64) -> (axum::http::HeaderName, HeaderValue) {
    let tag = HeaderValue::try_from(format!("\"{version}\""));
    (ETAG, tag.unwrap_or(HeaderValue::from_static("\"0\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(tag: &str) -> Result<Option<i64>, Code> {
        let headers = HeaderMap::from_iter([(IF_MATCH, HeaderValue::from_str(tag).unwrap())]);
        let read = read(&headers).map_err(|problem| problem.code())?;
        Ok(read.map(|tag| tag.0))
    }

    #[test]
    fn only_the_exact_tag_of_a_version_names_it() {
        assert_eq!(read_one("\"3\""), Ok(Some(3)));
        for other in [
            "W/\"3\"",
            "\"03\"",
            "\"+3\"",
            "\"-3\"",
            "\"x\"",
            "\"\"",
            "\"99999999999999999999\"",
        ] {
            assert_eq!(read_one(other), Ok(Some(0)), "{other}");
        }
        for malformed in ["3", "*", "\"3", "\"1\", \"2\"", "\"a b\""] {
            assert_eq!(
                read_one(malformed),
                Err(Code::MalformedHeader),
                "{malformed}"
            );
        }
        assert_eq!(read(&HeaderMap::new()), Ok(None));
    }
}
