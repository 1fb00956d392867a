//! Signatures of messages: Standard Webhooks, and the kind that Stripe uses.
//!
//! Owns the check over the raw body, the tolerance in time and the comparison in constant time.

use abasto_domain::time::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// How far the time of a message may be from now, in either direction.
pub const TOLERANCE_MS: i64 = 300_000;

/// Shortest secret of Standard Webhooks, decoded.
const SECRET_BYTES_MIN: usize = 24;

/// A message that nobody with a secret of ours has signed, or not now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not valid")]
pub struct BadSignature;

/// The headers of Standard Webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandardHeaders {
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: String,
    /// `webhook-signature`: one or more `v1,<base64>`, with spaces between.
    pub signature: String,
}

/// Checks a message in the form of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`. A
/// secret is `whsec_` and base64.
pub fn check_standard<'s>(
    headers: &StandardHeaders,
    body: &[u8],
    secrets: impl Iterator<Item = &'s str>,
    now: Timestamp,
) -> Result<(), BadSignature> {
    check_time(&headers.timestamp, now)?;
    let given: Vec<Vec<u8>> = headers
        .signature
        .split(' ')
        .filter_map(|signature| STANDARD.decode(signature.strip_prefix("v1,")?).ok())
        .collect();
    let start = format!("{}.{}.", headers.id, headers.timestamp);
    let keys = secrets.filter_map(standard_key);
    any_matches(keys, start.as_bytes(), body, &given)
}

/// Signs a message as a provider does: for the sandbox, which is played by hand, and for tests.
pub fn sign_standard(id: &str, timestamp_s: i64, body: &[u8], secret: &str) -> Option<String> {
    let key = standard_key(secret)?;
    let start = format!("{id}.{timestamp_s}.");
    let signature = mac(&key, start.as_bytes(), body)?;
    Some(format!("v1,{}", STANDARD.encode(signature)))
}

/// Whether a secret is one of Standard Webhooks: `whsec_` and the base64 of at least 24 bytes.
pub fn is_standard_secret(secret: &str) -> bool {
    standard_key(secret).is_some_and(|key| key.len() >= SECRET_BYTES_MIN)
}

fn standard_key(secret: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret.strip_prefix("whsec_")?).ok()
}

/// Checks a message in the form of Stripe: `t=<seconds>,v1=<hex>` over `t.body`, with the whole
/// text of the secret as key.
pub fn check_stripe<'s>(
    header: &str,
    body: &[u8],
    secrets: impl Iterator<Item = &'s str>,
    now: Timestamp,
) -> Result<(), BadSignature> {
    let mut timestamp = None;
    let mut given = Vec::new();
    for part in header.split(',') {
        match part.split_once('=') {
            Some(("t", value)) => timestamp = Some(value),
            Some(("v1", value)) => given.extend(unhex(value)),
            _ => {}
        }
    }
    let timestamp = timestamp.ok_or(BadSignature)?;
    check_time(timestamp, now)?;
    let keys = secrets.map(|secret| secret.as_bytes().to_vec());
    any_matches(keys, format!("{timestamp}.").as_bytes(), body, &given)
}

/// Signs a message as Stripe does; for tests.
pub fn sign_stripe(timestamp_s: i64, body: &[u8], secret: &str) -> Option<String> {
    let start = format!("{timestamp_s}.");
    let signature = mac(secret.as_bytes(), start.as_bytes(), body)?;
    let hex: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("t={timestamp_s},v1={hex}"))
}

fn check_time(timestamp_s: &str, now: Timestamp) -> Result<(), BadSignature> {
    let at: i64 = timestamp_s.parse().map_err(|_| BadSignature)?;
    let at = at.checked_mul(1000).ok_or(BadSignature)?;
    if now.as_millis().abs_diff(at) <= TOLERANCE_MS.unsigned_abs() {
        Ok(())
    } else {
        Err(BadSignature)
    }
}

fn any_matches(
    keys: impl Iterator<Item = Vec<u8>>,
    start: &[u8],
    body: &[u8],
    given: &[Vec<u8>],
) -> Result<(), BadSignature> {
    for key in keys {
        let expected = mac(&key, start, body).ok_or(BadSignature)?;
        let same = |given: &Vec<u8>| bool::from(given.as_slice().ct_eq(&expected));
        if given.iter().any(same) {
            return Ok(());
        }
    }
    Err(BadSignature)
}

fn mac(key: &[u8], start: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(start);
    mac.update(body);
    Some(mac.finalize().into_bytes().to_vec())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|it| u8::try_from(it).ok())
    };
    let bytes = digits.chunks_exact(2);
    bytes
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}
