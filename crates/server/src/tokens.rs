//! The keys that tokens are checked with, from files and from the network.
//!
//! Owns the fetching of a key set. Must not know what a token says.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use abasto_api::jwt::{Expected, FetchKeys, InvalidKey, TokenKey, TokenKeys, parse_jwks};
use secrecy::ExposeSecret;

use crate::config::Jwt;
use crate::exit::{During, Exit, Failure};

/// Longest wait for a key set.
const DEADLINE: Duration = Duration::from_secs(5);
/// Largest key set in bytes.
const SET_BYTES_MAX: usize = 256 * 1024;

/// The keys; nothing when none is configured, and tokens are then refused.
pub(crate) fn keys(jwt: &Jwt) -> Result<Option<TokenKeys>, Failure> {
    let mut fixed = Vec::new();
    if let Some(secret) = &jwt.hs256_secret {
        let key = TokenKey::hs256(None, secret.expose_secret().as_bytes());
        fixed.push(usable("jwt.hs256_secret", key)?);
    }
    if let Some(path) = &jwt.rs256_key_file {
        let key = TokenKey::rs256(None, &read("jwt.rs256_key_file", path)?);
        fixed.push(usable("jwt.rs256_key_file", key)?);
    }
    if let Some(path) = &jwt.eddsa_key_file {
        let key = TokenKey::eddsa(None, &read("jwt.eddsa_key_file", path)?);
        fixed.push(usable("jwt.eddsa_key_file", key)?);
    }
    if let Some(path) = &jwt.jwks_file {
        let keys = parse_jwks(&read("jwt.jwks_file", path)?);
        fixed.extend(usable("jwt.jwks_file", keys)?);
    }
    let fetch = jwt.jwks_url.as_deref().map(fetch).transpose()?;
    if fixed.is_empty() && fetch.is_none() {
        return Ok(None);
    }
    let expected = Expected {
        issuer: jwt.issuer.clone(),
        audience: jwt.audience.clone(),
    };
    Ok(Some(TokenKeys::new(fixed, fetch, expected)))
}

fn read(key: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = std::fs::read(path);
    bytes.map_err(|error| {
        Failure::new(
            Exit::Config,
            format_args!("{key}: {}: {error}", path.display()),
        )
    })
}

fn usable<T>(key: &str, made: Result<T, InvalidKey>) -> Result<T, Failure> {
    made.map_err(|error| Failure::new(Exit::Config, format_args!("{key}: {error}")))
}

/// Fetches the set behind a URL. No redirects: the operator named the place.
fn fetch(url: &str) -> Result<FetchKeys, Failure> {
    let config = |error: reqwest::Error| Failure::new(Exit::Config, error.without_url());
    let client = reqwest::Client::builder()
        .timeout(DEADLINE)
        .redirect(reqwest::redirect::Policy::none())
        .build();
    let client = client.map_err(config).during(|| "jwt.jwks_url")?;
    let request = client
        .get(url)
        .build()
        .map_err(config)
        .during(|| "jwt.jwks_url")?;
    Ok(Arc::new(move || {
        let request = request.try_clone();
        let client = client.clone();
        Box::pin(async move {
            let request = request.ok_or("the request cannot be sent again")?;
            set(&client, request)
                .await
                .map_err(|error| error.to_string())
        })
    }))
}

async fn set(
    client: &reqwest::Client,
    request: reqwest::Request,
) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let mut answer = client.execute(request).await?.error_for_status()?;
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > SET_BYTES_MAX {
            return Err("the key set is larger than 256 KiB".into());
        }
    }
    Ok(bytes)
}
