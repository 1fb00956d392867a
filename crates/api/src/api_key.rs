//! API keys over HTTP: the secret is in the answer that makes one, and in no other.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::credential::ApiKey;
use abasto_domain::fault::Faults;
use abasto_domain::id::ApiKeyId;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::api_key::NewKey;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::Body;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::role::{RoleName, grant};
use crate::value::{Id, Time, finish};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(revoke))
}

/// An API key without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyView {
    id: Id,
    #[schema(example = "till at the door")]
    name: String,
    role: RoleName,
    /// The branches it is limited to; null means all.
    #[schema(required = true)]
    branch_ids: Option<Vec<Id>>,
    /// The customer it acts as, for the role `customer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<Id>,
    /// When it was revoked.
    #[schema(required = true)]
    revoked_at: Option<Time>,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl From<&ApiKey> for KeyView {
    fn from(key: &ApiKey) -> Self {
        let branches = key.branches.as_ref();
        Self {
            id: key.id.into(),
            name: key.name.clone(),
            role: key.role.into(),
            branch_ids: branches.map(|ids| ids.iter().map(|id| Id::from(*id)).collect()),
            customer_id: key.customer.map(Id::from),
            revoked_at: key.revoked_at.map(Time::from),
            version: key.stamp.version,
            created_at: key.stamp.created_at.into(),
            updated_at: key.stamp.updated_at.into(),
        }
    }
}

/// A new API key with its secret, which is shown this once.
#[derive(Serialize, ToSchema)]
#[schema(as = NewApiKey)]
pub(crate) struct NewKeyView {
    #[serde(flatten)]
    key: KeyView,
    /// What goes behind `Bearer`.
    #[schema(example = "abasto_65f1c0ffee0123456789abcd_…")]
    secret: String,
}

impl std::fmt::Debug for NewKeyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKeyView")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl From<&NewKey> for NewKeyView {
    fn from(new: &NewKey) -> Self {
        Self {
            key: (&*new.key).into(),
            secret: new.text.clone(),
        }
    }
}

/// An API key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateApiKey {
    #[schema(min_length = 1, max_length = 200, example = "till at the door")]
    name: String,
    role: RoleName,
    /// The branches it is limited to; null or left out means all. Staff need at least one.
    #[schema(max_items = 200)]
    branch_ids: Option<BTreeSet<Id>>,
    /// The customer it acts as; needed for the role `customer`.
    customer_id: Option<Id>,
}

/// List API keys
///
/// Newest first, revoked ones included; never their secrets.
#[utoipa::path(
    get, path = "/v1/api-keys", operation_id = "listApiKeys", tag = "Tenancy",
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<KeyView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.keys(&caller.context, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| KeyView::from(&**row)))
}

/// Create an API key
///
/// The answer shows the secret, once; only its hash is kept.
#[utoipa::path(
    post, path = "/v1/api-keys", operation_id = "createApiKey", tag = "Tenancy",
    request_body = CreateApiKey,
    responses((status = 201, description = "Made", body = NewKeyView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateApiKey>,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let name = faults.take("/name", clean(&body.name, limits::NAME));
    let name = finish(faults, name)?;
    let grant = grant(body.role, body.branch_ids, body.customer_id);
    let made = ready.engine.create_key(&caller.context, name, grant).await;
    let new = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/api-keys/{}", new.key.id);
    let version = new.key.stamp.version;
    Ok(answer::created(location, version, NewKeyView::from(&new)))
}

/// Revoke an API key
///
/// At once here, within five seconds on every other instance. Revoking it again is no error.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", operation_id = "revokeApiKey", tag = "Tenancy",
    params(("id" = Id, Path, description = "The key")),
    responses((status = 204, description = "Revoked")),
)]
async fn revoke(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<ApiKeyId>,
) -> Result<Response, Problem> {
    let revoked = ready.engine.revoke_key(&caller.context, id).await;
    revoked.map_err(|error| caller.problem(error))?;
    Ok(answer::nothing())
}
