//! Tokens that must and must not be believed.

use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
/// Ed25519 test key of RFC 8410 (private) and its JWK.
const ED_PRIVATE: &[u8] = b"-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
    -----END PRIVATE KEY-----\n";
const ED_X: &str = "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE";
const NOW_S: i64 = 1_790_000_000;

fn now() -> Timestamp {
    Timestamp::from_millis(NOW_S * 1000)
}

fn keys() -> TokenKeys {
    let key = TokenKey::hs256(Some("a".to_owned()), SECRET).unwrap();
    TokenKeys::new(vec![key], None, Expected::default())
}

fn signed(header: &Header, claims: &Value, secret: &[u8]) -> String {
    encode(header, claims, &EncodingKey::from_secret(secret).unwrap()).unwrap()
}

fn claims() -> Value {
    json!({"sub": "ana", "exp": NOW_S + 300})
}

async fn subject(keys: &TokenKeys, token: &str) -> Option<String> {
    keys.verify(token, now()).await.map(|claims| claims.subject)
}

#[tokio::test]
async fn a_genuine_token_in_time_names_its_subject() {
    let token = signed(&Header::new(Algorithm::HS256), &claims(), SECRET);
    assert_eq!(subject(&keys(), &token).await.as_deref(), Some("ana"));
    let mut with_business = claims();
    with_business["businessId"] = json!("65f1c0ffee0123456789abcd");
    let token = signed(&Header::new(Algorithm::HS256), &with_business, SECRET);
    let found = keys().verify(&token, now()).await.unwrap();
    assert!(found.business.is_some());
}

#[tokio::test]
async fn tokens_out_of_time_or_without_needed_claims_are_refused() {
    let header = Header::new(Algorithm::HS256);
    for claims in [
        json!({"sub": "ana", "exp": NOW_S - 61}),
        json!({"sub": "ana", "exp": NOW_S + 300, "nbf": NOW_S + 61}),
        json!({"sub": "ana"}),
        json!({"exp": NOW_S + 300}),
        json!({"sub": 7, "exp": NOW_S + 300}),
        json!({"sub": "ana", "exp": NOW_S + 300, "businessId": "other"}),
    ] {
        let token = signed(&header, &claims, SECRET);
        assert_eq!(subject(&keys(), &token).await, None, "{claims}");
    }
}

#[tokio::test]
async fn another_secret_another_algorithm_and_none_are_refused() {
    let header = Header::new(Algorithm::HS256);
    let other = signed(&header, &claims(), b"another secret of thirty-two bytes");
    assert_eq!(subject(&keys(), &other).await, None);
    let hs384 = signed(&Header::new(Algorithm::HS384), &claims(), SECRET);
    assert_eq!(subject(&keys(), &hs384).await, None);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for alg in ["none", "None", "HS256"] {
        let unsigned = format!("{}.{}.", part(&json!({"alg": alg})), part(&claims()));
        assert_eq!(subject(&keys(), &unsigned).await, None, "{alg}");
    }
    for text in ["", "a.b", "a.b.c", "abasto"] {
        assert_eq!(subject(&keys(), text).await, None);
    }
}

#[tokio::test]
async fn issuer_and_audience_are_checked_when_expected() {
    let key = TokenKey::hs256(None, SECRET).unwrap();
    let expected = Expected {
        issuer: Some("https://id.example.org".to_owned()),
        audience: Some("abasto".to_owned()),
    };
    let keys = TokenKeys::new(vec![key], None, expected);
    let header = Header::new(Algorithm::HS256);
    let mut fitting = claims();
    fitting["iss"] = json!("https://id.example.org");
    fitting["aud"] = json!(["abasto", "other"]);
    assert!(
        subject(&keys, &signed(&header, &fitting, SECRET))
            .await
            .is_some()
    );
    for field in ["iss", "aud"] {
        let mut other = fitting.clone();
        other[field] = json!("other");
        assert_eq!(subject(&keys, &signed(&header, &other, SECRET)).await, None);
        other.as_object_mut().unwrap().remove(field);
        assert_eq!(subject(&keys, &signed(&header, &other, SECRET)).await, None);
    }
}

#[tokio::test]
async fn a_set_is_fetched_once_and_its_keys_are_pinned() {
    let fetches = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&fetches);
    let fetch: FetchKeys = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let set = json!({"keys": [
            {"kty": "OKP", "crv": "Ed25519", "x": ED_X, "kid": "ed"},
            {"kty": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET), "kid": "shared", "alg": "HS256"},
            {"kty": "unheard of"},
        ]});
        Box::pin(async move { Ok(set.to_string().into_bytes()) })
    });
    let keys = TokenKeys::new(Vec::new(), Some(fetch), Expected::default());
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some("ed".to_owned());
    let key = EncodingKey::from_ed_pem(ED_PRIVATE).unwrap();
    let token = encode(&header, &claims(), &key).unwrap();
    assert_eq!(subject(&keys, &token).await.as_deref(), Some("ana"));
    assert_eq!(subject(&keys, &token).await.as_deref(), Some("ana"));
    // A shared secret in a published set is no secret.
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some("shared".to_owned());
    let forged = signed(&header, &claims(), SECRET);
    for _ in 0..10 {
        assert_eq!(subject(&keys, &forged).await, None);
    }
    assert_eq!(
        fetches.load(Ordering::Relaxed),
        1,
        "unknown key ids cause no storm"
    );
}

#[test]
fn weak_secrets_and_sets_without_a_usable_key_are_refused() {
    assert!(TokenKey::hs256(None, &SECRET[..31]).is_err());
    assert!(TokenKey::rs256(None, b"no key").is_err());
    for json in [
        "",
        "{}",
        "{\"keys\": []}",
        "{\"keys\": [{\"kty\": \"oct\", \"k\": \"AA\"}]}",
    ] {
        assert!(parse_jwks(json.as_bytes()).is_err(), "{json}");
    }
}
