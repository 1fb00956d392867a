//! Idempotency keys: one key, one intention, one answer.
//!
//! Owns the form of a key and its scope. Must not know what the intention was: callers give a
//! fingerprint of the canonical business fields.

use alloc::string::String;

use crate::fault::InvalidValue;
use crate::id::CustomerId;
use crate::limits::IDEMPOTENCY_KEY_CHARS_MAX;

/// A key within a business, and within a customer where the caller is one.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct OperationKey {
    /// The calling customer.
    pub customer: Option<CustomerId>,
    /// 1 to 255 visible ASCII characters.
    pub key: String,
}

/// SHA-256 of the canonical business fields of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Fingerprint(pub [u8; 32]);

/// Reads the header's value: bare, or quoted as a structured field (in which `\"` stands for `"`
/// and `\\` for `\`). Both name the same key. What begins or ends with a quote is a whole quoted
/// field or nothing: half of one would silently be another key.
pub fn parse_key(header: &str) -> Result<String, InvalidValue> {
    const MALFORMED: InvalidValue = InvalidValue::new(
        "invalid-key",
        "the header Idempotency-Key holds 1 to 255 visible ASCII characters",
    );
    const UNBALANCED: InvalidValue = InvalidValue::new(
        "invalid-key",
        "the header Idempotency-Key has an unbalanced quote",
    );
    let header = header.trim_matches(' ');
    let key = if header.starts_with('"') || header.ends_with('"') {
        unquoted(header).ok_or(UNBALANCED)?
    } else {
        header.into()
    };
    let visible = key.bytes().all(|c| c.is_ascii_graphic());
    if key.is_empty() || key.len() > IDEMPOTENCY_KEY_CHARS_MAX || !visible {
        return Err(MALFORMED);
    }
    Ok(key)
}

/// What a quoted structured field holds; `None` for anything else.
fn unquoted(header: &str) -> Option<String> {
    let inner = header.strip_prefix('"')?.strip_suffix('"')?;
    let mut key = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => return None,
            '\\' => key.push(chars.next().filter(|next| matches!(next, '"' | '\\'))?),
            other => key.push(other),
        }
    }
    Some(key)
}
