//! API keys: making, listing, revoking them, and knowing a caller by one.
//!
//! Owns the text of a key: `abasto_<id>_<secret>`, the secret being 32 random bytes in base64url.
//! Only the SHA-256 of the secret is stored, and it is compared in constant time.

use std::sync::Arc;
use std::time::Duration;

use abasto_domain::access::{Actor, Permission, Principal};
use abasto_domain::branch::Branch;
use abasto_domain::credential::{ApiKey, Grant};
use abasto_domain::customer::Customer;
use abasto_domain::id::{ApiKeyId, BusinessId};
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::query::{Page, Query};
use abasto_store::record::{DocumentKey, Kind};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use moka::sync::Cache;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, Guarded};
use crate::error::Error;
use crate::last_owner::is_owner_key;

/// A key with its text, which is shown once and never stored.
#[derive(Clone)]
pub struct NewKey {
    /// The record.
    pub key: Arc<ApiKey>,
    /// The text to put behind `Bearer`.
    pub text: String,
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKey")
            .field("id", &self.key.id)
            .finish_non_exhaustive()
    }
}

/// How long another instance may still take a revoked key for good: below the promised 5 s.
const AGE_MAX: Duration = Duration::from_secs(4);
const KEYS_MAX: u64 = 10_000;

/// Keys by id, absent ones too.
pub(crate) type KeyCache = Cache<ApiKeyId, Option<Arc<ApiKey>>>;

pub(crate) fn key_cache() -> KeyCache {
    Cache::builder()
        .max_capacity(KEYS_MAX)
        .time_to_live(AGE_MAX)
        .build()
}

/// Makes a key with a secret of its own.
pub(crate) fn mint(
    business: BusinessId,
    id: ApiKeyId,
    name: String,
    grant: Grant,
    now: Timestamp,
) -> Result<NewKey, Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| Error::Unavailable(error.to_string()))?;
    let secret = URL_SAFE_NO_PAD.encode(secret);
    let key = ApiKey {
        business,
        id,
        name,
        role: grant.role,
        branches: grant.branches,
        customer: grant.customer,
        secret_hash: Sha256::digest(&secret).into(),
        revoked_at: None,
        stamp: Stamp::first(now),
    };
    let text = format!("abasto_{id}_{secret}");
    Ok(NewKey {
        key: Arc::new(key),
        text,
    })
}

impl Engine {
    /// The caller that a key's text stands for; `None` when it stands for nobody.
    pub async fn authenticate_key(&self, text: &str) -> Result<Option<Principal>, Error> {
        let parts = text
            .strip_prefix("abasto_")
            .and_then(|rest| rest.split_once('_'));
        let Some((id, secret)) = parts else {
            return Ok(None);
        };
        let Ok(id) = ApiKeyId::parse(id) else {
            return Ok(None);
        };
        let key = match self.keys.get(&id) {
            Some(key) => key,
            None => {
                let key = self.store.api_key(id).await?.map(Arc::new);
                self.keys.insert(id, key.clone());
                key
            }
        };
        let hash: [u8; 32] = Sha256::digest(secret).into();
        Ok(key
            .filter(|key| key.revoked_at.is_none() && bool::from(hash.ct_eq(&key.secret_hash)))
            .map(|key| Principal {
                business: key.business,
                actor: Actor::Key(key.id),
                role: key.role,
                branches: key.branches.clone(),
                customer: key.customer,
            }))
    }

    /// Creates a key.
    pub async fn create_key(
        &self,
        context: &Context,
        name: String,
        grant: Grant,
    ) -> Result<NewKey, Error> {
        context.require(Permission::ManageKeys)?;
        self.check_grant(context, &grant).await?;
        let now = self.now();
        let id = ApiKeyId(self.new_id(now));
        let made = mint(context.business(), id, name, grant, now)?;
        let key = Arc::clone(&made.key);
        self.save::<ApiKey, _, _, _>(context, move |_, _, _| {
            let next = Arc::clone(&key).into();
            async move {
                Ok(Change {
                    base: None,
                    next,
                    event: "abasto.api_key.created",
                    at: now,
                })
            }
        })
        .await?;
        Ok(made)
    }

    /// One page of the keys, newest first; secrets are not among them.
    pub async fn keys(&self, context: &Context, page: Page) -> Result<Vec<Arc<ApiKey>>, Error> {
        context.require(Permission::ManageKeys)?;
        self.list_documents(context.business(), &Query::ApiKeys, page)
            .await
    }

    /// Revokes a key: at once here, within five seconds on every other instance. Revoking it
    /// again changes nothing. The last owner's stays.
    pub async fn revoke_key(&self, context: &Context, id: ApiKeyId) -> Result<Arc<ApiKey>, Error> {
        context.require(Permission::ManageKeys)?;
        let revoked = self
            .save(context, move |engine, context, _| async move {
                let base: Arc<ApiKey> = engine
                    .find(context.business(), id, Freshness::Fresh)
                    .await?;
                let at = engine.now();
                let mut next = ApiKey::clone(&base);
                let mut guards = Vec::new();
                if is_owner_key(&base) {
                    let key = DocumentKey::new(Kind::ApiKey, id);
                    guards.push(engine.another_owner(context.business(), key).await?);
                }
                if next.revoked_at.is_none() {
                    next.revoked_at = Some(at);
                    next.stamp = base.stamp.next(at);
                }
                let change = Change {
                    base: Some(base.into()),
                    next: next.into(),
                    event: "abasto.api_key.revoked",
                    at,
                };
                Ok(Guarded { change, guards })
            })
            .await?;
        self.keys.invalidate(&id);
        Ok(revoked)
    }

    /// Checks a grant against itself and against what exists.
    pub(crate) async fn check_grant(&self, context: &Context, grant: &Grant) -> Result<(), Error> {
        grant
            .check()
            .map_err(|(pointer, invalid)| Error::fault(pointer, invalid))?;
        let business = context.business();
        let branches = grant.branches.iter().flatten().map(|branch| branch.0);
        self.find_all::<Branch>(business, branches, Freshness::Cached)
            .await?;
        if let Some(customer) = grant.customer {
            self.find::<Customer>(business, customer, Freshness::Cached)
                .await?;
        }
        Ok(())
    }
}
