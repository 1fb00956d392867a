//! The configuration of the process, checked.
//!
//! Owns the type of every key. Must not know where a value comes from: `sources` does.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

mod sources;
#[cfg(test)]
mod tests;
mod unknown;

pub(crate) use sources::{Environment, Flag, Invalid, Secrets, Setting, Sources, environment};

/// The configuration, checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) store: StoreUrl,
    pub(crate) threads: usize,
    pub(crate) connections_max: usize,
    pub(crate) header_timeout_ms: u64,
    pub(crate) drain_delay_ms: u64,
    pub(crate) drain_ms: u64,
    pub(crate) test_clock: bool,
    pub(crate) platform_key: Option<SecretString>,
    pub(crate) cursor_secret: Option<SecretString>,
    pub(crate) sandbox_webhook_secret: Option<SecretString>,
    pub(crate) sandbox_webhook_secret_previous: Option<SecretString>,
    #[serde(default)]
    pub(crate) stripe: Stripe,
    pub(crate) rate_limit: RateLimit,
    pub(crate) log: Log,
    #[serde(default)]
    pub(crate) jwt: Jwt,
}

/// The keys that tokens are checked with; each is pinned to its algorithm.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jwt {
    pub(crate) hs256_secret: Option<SecretString>,
    pub(crate) rs256_key_file: Option<PathBuf>,
    pub(crate) eddsa_key_file: Option<PathBuf>,
    pub(crate) jwks_file: Option<PathBuf>,
    pub(crate) jwks_url: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) audience: Option<String>,
}

/// The payment provider with payment intents; without a key it is not set up.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stripe {
    pub(crate) secret_key: Option<SecretString>,
    pub(crate) webhook_secret: Option<SecretString>,
    pub(crate) webhook_secret_previous: Option<SecretString>,
    pub(crate) base_url: Option<String>,
}

/// How many requests a credential may make.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateLimit {
    pub(crate) enabled: bool,
    pub(crate) reads_per_second: u32,
    pub(crate) writes_per_second: u32,
}

/// What is logged and how.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Log {
    pub(crate) format: LogFormat,
    pub(crate) filter: String,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Auto,
    Json,
    Text,
}

/// Where everything is kept.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum StoreUrl {
    /// The embedded store in a file.
    Sqlite(PathBuf),
    /// A replica set. The URL may hold a password.
    Mongo(SecretString),
}

impl TryFrom<String> for StoreUrl {
    type Error = &'static str;

    fn try_from(url: String) -> Result<Self, Self::Error> {
        match url.split_once(':') {
            Some(("sqlite", path)) if !path.trim_start_matches('/').is_empty() => {
                Ok(Self::Sqlite(path.strip_prefix("//").unwrap_or(path).into()))
            }
            Some(("mongodb" | "mongodb+srv", rest)) if rest.len() > 2 => {
                Ok(Self::Mongo(url.into()))
            }
            _ => Err("a store is sqlite:PATH or mongodb://HOST/DATABASE?replicaSet=NAME"),
        }
    }
}

impl fmt::Display for StoreUrl {
    /// Without what may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Mongo(url) => f.write_str(&without_password(url.expose_secret())),
        }
    }
}

/// A URL with `…` where its user and password stand.
fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        _ => url.to_owned(),
    }
}
