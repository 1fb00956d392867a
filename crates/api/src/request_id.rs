//! The identity of a request: the caller's own where it has a usable form, else one of ours.
//!
//! Owns the form of request ids and the reading of W3C trace contexts. Must not log.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName};

/// The header in which it comes and goes.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Gives requests their ids.
#[derive(Debug)]
pub(crate) struct RequestIds {
    process: u64,
    count: AtomicU64,
}

impl RequestIds {
    /// A source whose ids differ from those of other processes.
    pub(crate) fn new() -> Self {
        let mut seed = [0; 8];
        // Without randomness ids are still unique within the process.
        let _ = getrandom::fill(&mut seed);
        Self {
            process: u64::from_be_bytes(seed),
            count: AtomicU64::new(0),
        }
    }

    /// The caller's id when it is 1 to 64 of `[A-Za-z0-9._-]`, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> Arc<str> {
        let own = headers.get(X_REQUEST_ID).and_then(|id| id.to_str().ok());
        match own.filter(|id| is_usable(id)) {
            Some(id) => id.into(),
            None => self.next(),
        }
    }

    fn next(&self) -> Arc<str> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mut id = String::with_capacity(32);
        let _ = write!(id, "{:016x}-{count:x}", self.process);
        id.into()
    }
}

fn is_usable(id: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}

/// The trace id of a W3C `traceparent`, when there is a well-formed one.
pub(crate) fn trace_id(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(TRACEPARENT)?.to_str().ok()?;
    let mut parts = header.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |part: &str, length: usize| {
        let digit = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        part.len() == length && part.bytes().all(digit)
    };
    let zero = |part: &str| part.bytes().all(|c| c == b'0');
    let known = hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    let sound = hex(trace, 32) && !zero(trace) && hex(parent, 16) && !zero(parent);
    (known && sound && hex(flags, 2)).then_some(trace)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_usable_id_of_the_caller_is_kept_and_any_other_replaced() {
        let ids = RequestIds::new();
        let longest = "x".repeat(64);
        for own in ["a", "A.b_c-9", &longest] {
            assert_eq!(&*ids.of(&headers(X_REQUEST_ID, own)), own);
        }
        let too_long = "x".repeat(65);
        for other in ["", "a b", "é", "a/b", &too_long] {
            let id = ids.of(&headers(X_REQUEST_ID, other));
            assert_ne!(&*id, other);
            assert!(is_usable(&id));
        }
    }

    #[test]
    fn ids_do_not_repeat() {
        let ids = RequestIds::new();
        let made: std::collections::HashSet<_> = (0..1000).map(|_| ids.next()).collect();
        assert_eq!(made.len(), 1000);
    }

    #[test]
    fn only_a_well_formed_trace_context_counts() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let header = |text: &str| headers(TRACEPARENT, text);
        let good = format!("00-{trace}-b7ad6b7169203331-01");
        assert_eq!(trace_id(&header(&good)), Some(trace));
        for bad in [
            format!("ff-{trace}-b7ad6b7169203331-01"),
            format!("00-{trace}-b7ad6b7169203331-01-more"),
            format!("00-{trace}-0000000000000000-01"),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01".to_owned(),
            format!("00-{}-b7ad6b7169203331-01", trace.to_uppercase()),
            String::new(),
        ] {
            assert_eq!(trace_id(&header(&bad)), None, "{bad}");
        }
    }
}
