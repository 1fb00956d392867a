//! Members over HTTP: users of an identity provider and what they are in the business.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::credential::Member;
use abasto_domain::fault::Faults;
use abasto_domain::id::MemberId;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::member::{ChangeMember, NewMember};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::{Body, nullable};
use crate::etag::IfMatch;
use crate::openapi::OptionalIfMatch;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::role::{RoleName, grant};
use crate::value::{Id, Time, finish, ids};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change))
}

/// A user's membership.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Member)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemberView {
    id: Id,
    /// `sub` of the user's tokens.
    #[schema(example = "auth0|5f7c8ec7c33c6c004bbafe82")]
    user_id: String,
    role: RoleName,
    /// The branches the member is limited to; null means all.
    #[schema(required = true)]
    branch_ids: Option<Vec<Id>>,
    /// The customer record, for the role `customer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_id: Option<Id>,
    /// An inactive membership gives no rights.
    active: bool,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl From<&Member> for MemberView {
    fn from(member: &Member) -> Self {
        let branches = member.branches.as_ref();
        Self {
            id: member.id.into(),
            user_id: member.user_id.clone(),
            role: member.role.into(),
            branch_ids: branches.map(|ids| ids.iter().map(|id| Id::from(*id)).collect()),
            customer_id: member.customer.map(Id::from),
            active: member.active,
            version: member.stamp.version,
            created_at: member.stamp.created_at.into(),
            updated_at: member.stamp.updated_at.into(),
        }
    }
}

/// A membership to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateMember {
    /// `sub` of the user's tokens.
    #[schema(min_length = 1, max_length = 128)]
    user_id: String,
    role: RoleName,
    /// The branches the member is limited to; null or left out means all. Staff need at least one.
    #[schema(max_items = 200)]
    branch_ids: Option<BTreeSet<Id>>,
    /// Needed for the role `customer`.
    customer_id: Option<Id>,
    #[schema(nullable = false, default = true)]
    active: Option<bool>,
}

/// What is to change; what is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeMember)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MemberChange {
    #[schema(nullable = false)]
    role: Option<RoleName>,
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<BTreeSet<Id>>, max_items = 200)]
    branch_ids: Option<Option<BTreeSet<Id>>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Id>)]
    customer_id: Option<Option<Id>>,
    #[schema(nullable = false)]
    active: Option<bool>,
}

/// List members
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/members", operation_id = "listMembers", tag = "Tenancy",
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<MemberView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.members(&caller.context, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        MemberView::from(&**row)
    }))
}

/// Add a member
#[utoipa::path(
    post, path = "/v1/members", operation_id = "createMember", tag = "Tenancy",
    request_body = CreateMember,
    responses((status = 201, description = "Added", body = MemberView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateMember>,
) -> Result<Response, Problem> {
    let mut faults = Faults::default();
    let user_id = faults.take("/userId", clean(&body.user_id, limits::USER_ID));
    let command = NewMember {
        user_id: finish(faults, user_id)?,
        grant: grant(body.role, body.branch_ids, body.customer_id),
        active: body.active.unwrap_or(true),
    };
    let made = ready.engine.create_member(&caller.context, command).await;
    let member = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/members/{}", member.id);
    Ok(answer::created(
        location,
        member.stamp.version,
        MemberView::from(&*member),
    ))
}

/// Read a member
#[utoipa::path(
    get, path = "/v1/members/{id}", operation_id = "readMember", tag = "Tenancy",
    params(("id" = Id, Path, description = "The membership")),
    responses((status = 200, description = "The membership", body = MemberView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<MemberId>,
) -> Result<Response, Problem> {
    let found = ready.engine.member(&caller.context, id).await;
    let member = found.map_err(|error| caller.problem(error))?;
    Ok(show(&member))
}

/// Change a member
#[utoipa::path(
    patch, path = "/v1/members/{id}", operation_id = "changeMember", tag = "Tenancy",
    params(("id" = Id, Path, description = "The membership"), OptionalIfMatch),
    request_body = MemberChange,
    responses((status = 200, description = "Changed", body = MemberView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<MemberId>,
    seen: Option<IfMatch>,
    Body(body): Body<MemberChange>,
) -> Result<Response, Problem> {
    let command = ChangeMember {
        role: body.role.map(Into::into),
        branches: body.branch_ids.map(|set| set.map(ids)),
        customer: body.customer_id.map(|id| id.map(Id::into)),
        active: body.active,
    };
    let version = seen.map(|seen| seen.0);
    let changed = ready
        .engine
        .change_member(&caller.context, id, version, command)
        .await;
    let member = changed.map_err(|error| caller.problem(error))?;
    Ok(show(&member))
}

fn show(member: &Member) -> Response {
    answer::document(member.stamp.version, MemberView::from(member))
}
