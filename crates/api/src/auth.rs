//! Who calls: the bearer credential of a request, checked and counted against its limit.
//!
//! Owns the way from the `Authorization` header to a context or to the operator. The tenant comes
//! from here and from nowhere else.

use std::sync::Arc;

use abasto_domain::access::Principal;
use abasto_domain::currency::Currency;
use abasto_domain::id::BusinessId;
use abasto_engine::{Context, Engine};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::app::Ready;
use crate::edge::{CallerName, Exchange};
use crate::jwt::TokenKeys;
use crate::problem::{Code, Problem};
use crate::query;

/// Checks credentials.
#[derive(Debug)]
pub(crate) struct Authenticator {
    pub(crate) platform_key: Option<SecretString>,
    pub(crate) token_keys: Option<TokenKeys>,
}

/// A caller of a business: what its use cases need.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Who asks, and in which request.
    pub(crate) context: Context,
    /// The currency of all the business's amounts.
    pub(crate) currency: Currency,
}

impl Caller {
    /// The tenant.
    pub(crate) fn tenant(&self) -> Option<BusinessId> {
        Some(self.context.business())
    }
}

/// The operator of the installation.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    /// The request's id.
    pub(crate) request: String,
}

impl FromRequestParts<Arc<Ready>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ready: &Arc<Ready>) -> Result<Self, Problem> {
        let credential = bearer(&parts.headers).ok_or_else(Problem::unauthenticated)?;
        let principal = ready
            .authenticator
            .principal(&ready.engine, credential)
            .await?
            .ok_or_else(Problem::unauthenticated)?;
        let exchange = exchange(parts)?;
        let caller = CallerName::OfBusiness(principal.business, principal.actor);
        let _ = exchange.caller.set(caller);
        count(ready, exchange, caller)?;
        let context = Context {
            principal,
            request: exchange.request_id.as_ref().to_owned(),
        };
        let currency = ready.engine.currency(&context).await?;
        query::check(parts)?;
        Ok(Self { context, currency })
    }
}

impl FromRequestParts<Arc<Ready>> for Operator {
    type Rejection = Problem;

    /// Without a platform key, or for a caller of a business, the platform routes do not exist.
    async fn from_request_parts(parts: &mut Parts, ready: &Arc<Ready>) -> Result<Self, Problem> {
        let authenticator = &ready.authenticator;
        if authenticator.platform_key.is_none() {
            return Err(Problem::not_found());
        }
        let credential = bearer(&parts.headers).ok_or_else(Problem::unauthenticated)?;
        if !authenticator.is_operator(credential) {
            let known = authenticator.principal(&ready.engine, credential).await?;
            return Err(match known {
                Some(_) => Problem::not_found(),
                None => Problem::unauthenticated(),
            });
        }
        let exchange = exchange(parts)?;
        let _ = exchange.caller.set(CallerName::Operator);
        count(ready, exchange, CallerName::Operator)?;
        let request = exchange.request_id.as_ref().to_owned();
        query::check(parts)?;
        Ok(Self { request })
    }
}

impl Authenticator {
    async fn principal(
        &self,
        engine: &Engine,
        credential: &str,
    ) -> Result<Option<Principal>, Problem> {
        if credential.starts_with("abasto_") {
            return Ok(engine.authenticate_key(credential).await?);
        }
        let Some(keys) = &self.token_keys else {
            return Ok(None);
        };
        match keys.verify(credential, engine.clock().now()).await {
            Some(claims) => {
                let found = engine.authenticate_user(&claims.subject, claims.business);
                Ok(found.await?)
            }
            None => Ok(None),
        }
    }

    /// Compares digests, so that neither content nor length shows in the time taken.
    fn is_operator(&self, credential: &str) -> bool {
        let digest = |text: &str| <[u8; 32]>::from(Sha256::digest(text));
        self.platform_key.as_ref().is_some_and(|key| {
            digest(key.expose_secret())
                .ct_eq(&digest(credential))
                .into()
        })
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(AUTHORIZATION).iter();
    let (line, None) = (lines.next()?, lines.next()) else {
        return None;
    };
    let (scheme, credential) = line.to_str().ok()?.split_once(' ')?;
    let credential = credential.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !credential.is_empty()).then_some(credential)
}

fn exchange(parts: &Parts) -> Result<&Arc<Exchange>, Problem> {
    parts.extensions.get().ok_or_else(Problem::internal)
}

fn count(ready: &Ready, exchange: &Exchange, caller: CallerName) -> Result<(), Problem> {
    let (Some(limits), Some(operation)) = (&ready.rate_limits, &exchange.operation) else {
        return Ok(());
    };
    limits.check(&caller, operation.class).map_err(|wait| {
        Problem::new(
            Code::RateLimited,
            "This credential sent too many requests. Nothing was done.",
        )
        .with_retry_after(wait.as_secs() + 1)
    })
}
