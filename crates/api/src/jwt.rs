//! Tokens (JWT): signature, algorithm and times checked, down to who the subject is.
//!
//! Owns the only use of the token library. Every key is pinned to one algorithm; what a token says
//! about its algorithm only selects among those. Must not know what a subject may do.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use abasto_domain::id::BusinessId;
use abasto_domain::time::Timestamp;
use futures_util::future::BoxFuture;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;

/// Seconds that clocks may differ.
const LEEWAY_S: i64 = 60;
/// Most keys of one set.
const KEYS_MAX: usize = 100;
/// Fetched keys are renewed after this long.
const RENEW_AFTER: Duration = Duration::from_secs(600);
/// Fetched keys that could not be renewed for this long are no longer trusted.
const TRUST_FOR: Duration = Duration::from_secs(3_600);
/// Tokens with unknown key ids cause a fetch at most this often.
const FETCH_EVERY: Duration = Duration::from_secs(30);

/// A key that cannot be used, and why.
#[derive(Debug)]
pub struct InvalidKey(String);

impl std::fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidKey {}

impl From<jsonwebtoken::errors::Error> for InvalidKey {
    fn from(error: jsonwebtoken::errors::Error) -> Self {
        Self(error.to_string())
    }
}

/// One key, pinned to one algorithm.
#[derive(Debug, Clone)]
pub struct TokenKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl TokenKey {
    /// A shared secret for HS256, at least 32 bytes.
    pub fn hs256(id: Option<String>, secret: &[u8]) -> Result<Self, InvalidKey> {
        if secret.len() < 32 {
            return Err(InvalidKey(
                "an HS256 secret has at least 32 bytes".to_owned(),
            ));
        }
        Self::pinned(id, Algorithm::HS256, DecodingKey::from_secret(secret))
    }

    /// A public key in PEM for RS256.
    pub fn rs256(id: Option<String>, pem: &[u8]) -> Result<Self, InvalidKey> {
        Self::pinned(id, Algorithm::RS256, DecodingKey::from_rsa_pem(pem))
    }

    /// A public key in PEM for EdDSA (Ed25519).
    pub fn eddsa(id: Option<String>, pem: &[u8]) -> Result<Self, InvalidKey> {
        Self::pinned(id, Algorithm::EdDSA, DecodingKey::from_ed_pem(pem))
    }

    fn pinned(
        id: Option<String>,
        algorithm: Algorithm,
        key: jsonwebtoken::errors::Result<DecodingKey>,
    ) -> Result<Self, InvalidKey> {
        Ok(Self {
            id,
            algorithm,
            key: key?,
        })
    }
}

/// Reads a JWKS: its RSA keys for RS256 and its Ed25519 keys for EdDSA. Keys of other kinds are
/// passed over, shared secrets among them: a published set must not hold one.
pub fn parse_jwks(json: &[u8]) -> Result<Vec<TokenKey>, InvalidKey> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<serde_json::Value>,
    }
    let set: Set = serde_json::from_slice(json)
        .map_err(|_| InvalidKey("a JWKS is {\"keys\": […]}".to_owned()))?;
    let keys: Vec<TokenKey> = set
        .keys
        .into_iter()
        .filter_map(|value| usable(&serde_json::from_value(value).ok()?))
        .take(KEYS_MAX)
        .collect();
    if keys.is_empty() {
        return Err(InvalidKey("the JWKS has no RS256 or EdDSA key".to_owned()));
    }
    Ok(keys)
}

fn usable(jwk: &Jwk) -> Option<TokenKey> {
    let (algorithm, named) = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            (Algorithm::EdDSA, KeyAlgorithm::EdDSA)
        }
        _ => return None,
    };
    let says = jwk.common.key_algorithm.as_ref();
    let id = jwk.common.key_id.clone();
    let fits = says.is_none_or(|says| *says == named);
    fits.then(|| TokenKey::pinned(id, algorithm, DecodingKey::from_jwk(jwk)).ok())?
}

/// Fetches a JWKS; the server hands in the HTTP client, with its own bounds on size and time.
pub type FetchKeys = Arc<dyn Fn() -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// What tokens must say of where they are from and for; `None` accepts everything.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// `iss`.
    pub issuer: Option<String>,
    /// `aud`.
    pub audience: Option<String>,
}

/// The keys that tokens are checked with. Cheap to clone.
#[derive(Clone)]
pub struct TokenKeys {
    fixed: Arc<[TokenKey]>,
    fetched: Option<Arc<Fetched>>,
    expected: Expected,
}

impl std::fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenKeys")
            .field("fixed", &self.fixed.len())
            .field("fetched", &self.fetched.is_some())
            .finish_non_exhaustive()
    }
}

/// The part of a token's claims that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claims {
    /// `sub`: the user at the identity provider.
    pub(crate) subject: String,
    /// Which of the user's businesses is meant.
    pub(crate) business: Option<BusinessId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawClaims {
    sub: String,
    exp: i64,
    nbf: Option<i64>,
    business_id: Option<String>,
}

impl TokenKeys {
    /// Keys from the configuration, and a set to fetch when there is one.
    pub fn new(fixed: Vec<TokenKey>, fetch: Option<FetchKeys>, expected: Expected) -> Self {
        Self {
            fixed: fixed.into(),
            fetched: fetch.map(|fetch| Arc::new(Fetched::new(fetch))),
            expected,
        }
    }

    /// The claims of a token that is genuine and in time; `None` for any other.
    pub(crate) async fn verify(&self, token: &str, now: Timestamp) -> Option<Claims> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        let fits = |key: &TokenKey| {
            key.algorithm == header.alg
                && (header.kid.is_none() || key.id.is_none() || header.kid == key.id)
        };
        let check = |keys: &[TokenKey]| {
            keys.iter()
                .filter(|key| fits(key))
                .find_map(|key| self.check(token, key))
        };
        let raw = match (check(&self.fixed), &self.fetched) {
            (Some(raw), _) => raw,
            (None, None) => return None,
            (None, Some(fetched)) => {
                let keys = fetched.keys(|keys| keys.iter().any(fits)).await;
                check(&keys)?
            }
        };
        let now_s = now.as_millis().div_euclid(1000);
        let begun = raw
            .nbf
            .is_none_or(|nbf| nbf <= now_s.saturating_add(LEEWAY_S));
        if raw.exp <= now_s.saturating_sub(LEEWAY_S) || !begun {
            return None;
        }
        Some(Claims {
            subject: raw.sub,
            business: match raw.business_id {
                None => None,
                Some(id) => Some(BusinessId::parse(&id).ok()?),
            },
        })
    }

    fn check(&self, token: &str, key: &TokenKey) -> Option<RawClaims> {
        let mut validation = Validation::new(key.algorithm);
        // Times are checked against the engine's clock.
        validation.validate_exp = false;
        let Expected { issuer, audience } = &self.expected;
        validation.validate_aud = audience.is_some();
        let mut required = vec!["exp", "sub"];
        if let Some(issuer) = issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        if let Some(audience) = audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        let checked = jsonwebtoken::decode::<RawClaims>(token, &key.key, &validation);
        checked.ok().map(|checked| checked.claims)
    }
}

/// A fetched set, kept for a bounded time.
struct Fetched {
    fetch: FetchKeys,
    kept: RwLock<Option<(Instant, Arc<[TokenKey]>)>>,
    /// When a fetch was last begun; held while one runs, so that there is never a second.
    turn: tokio::sync::Mutex<Option<Instant>>,
}

impl Fetched {
    fn new(fetch: FetchKeys) -> Self {
        Self {
            fetch,
            kept: RwLock::new(None),
            turn: tokio::sync::Mutex::new(None),
        }
    }

    /// The keys, fetched anew when they are old or `knows` does not hold for them.
    async fn keys(&self, knows: impl Fn(&[TokenKey]) -> bool) -> Arc<[TokenKey]> {
        let fresh =
            |(at, keys): &(Instant, Arc<[TokenKey]>)| at.elapsed() < RENEW_AFTER && knows(keys);
        if let Some(kept) = self.kept().filter(fresh) {
            return kept.1;
        }
        let mut turn = self.turn.lock().await;
        // While waiting for the turn somebody else may have fetched.
        let wanted = self.kept().is_none_or(|kept| !fresh(&kept));
        if wanted && turn.is_none_or(|last| last.elapsed() >= FETCH_EVERY) {
            *turn = Some(Instant::now());
            self.renew().await;
        }
        match self.kept() {
            Some((at, keys)) if at.elapsed() < TRUST_FOR => keys,
            _ => Arc::new([]),
        }
    }

    async fn renew(&self) {
        let keys = match (self.fetch)().await {
            Ok(json) => parse_jwks(&json).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        match keys {
            Ok(keys) => {
                let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
                *kept = Some((Instant::now(), keys.into()));
            }
            Err(error) => tracing::warn!(error, "the JWKS could not be renewed"),
        }
    }

    fn kept(&self) -> Option<(Instant, Arc<[TokenKey]>)> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        kept.clone()
    }
}

#[cfg(test)]
mod tests;
