//! Branches over HTTP.

use std::sync::Arc;

use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::BranchId;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::branch::{ChangeBranch, NewBranch};
use abasto_engine::zone;
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
use crate::etag::IfMatch;
use crate::openapi::RequiredIfMatch;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, Time, finish, optional};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change))
}

/// A place that sells and keeps stock.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Branch)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchView {
    id: Id,
    /// Unique in the business; begins the numbers of its orders.
    #[schema(example = "BOG")]
    code: String,
    #[schema(example = "Bogotá Centro")]
    name: String,
    /// IANA zone; business days and the year of order numbers follow it.
    #[schema(example = "America/Bogota")]
    time_zone: String,
    /// An inactive branch takes no new orders.
    active: bool,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl From<&Branch> for BranchView {
    fn from(branch: &Branch) -> Self {
        Self {
            id: branch.id.into(),
            code: branch.code.as_str().to_owned(),
            name: branch.name.clone(),
            time_zone: branch.time_zone.clone(),
            active: branch.active,
            version: branch.stamp.version,
            created_at: branch.stamp.created_at.into(),
            updated_at: branch.stamp.updated_at.into(),
        }
    }
}

/// A branch to be opened.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateBranch {
    #[schema(pattern = "^[A-Z0-9]{2,8}$", example = "BOG")]
    code: String,
    #[schema(min_length = 1, max_length = 200, example = "Bogotá Centro")]
    name: String,
    #[schema(min_length = 1, max_length = 64, example = "America/Bogota")]
    time_zone: String,
    #[schema(nullable = false, default = true)]
    active: Option<bool>,
}

impl CreateBranch {
    fn read(self) -> Result<NewBranch, Problem> {
        let mut faults = Faults::default();
        let code = faults.take("/code", BranchCode::parse(&self.code));
        let name = faults.take("/name", clean(&self.name, limits::NAME));
        let time_zone = faults.take("/timeZone", zone_name(self.time_zone));
        let branch = || {
            Some(NewBranch {
                code: code?,
                name: name?,
                time_zone: time_zone?,
                active: self.active.unwrap_or(true),
            })
        };
        finish(faults, branch())
    }
}

/// What is to change; what is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeBranch)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BranchChange {
    #[schema(pattern = "^[A-Z0-9]{2,8}$", nullable = false)]
    code: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    name: Option<String>,
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    time_zone: Option<String>,
    #[schema(nullable = false)]
    active: Option<bool>,
}

impl BranchChange {
    fn read(self) -> Result<ChangeBranch, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let code = optional(f, "/code", self.code, |code| BranchCode::parse(&code));
        let name = optional(f, "/name", self.name, |name| clean(&name, limits::NAME));
        let time_zone = optional(f, "/timeZone", self.time_zone, zone_name);
        let change = || {
            Some(ChangeBranch {
                code: code?,
                name: name?,
                time_zone: time_zone?,
                active: self.active,
            })
        };
        finish(faults, change())
    }
}

fn zone_name(name: String) -> Result<String, InvalidValue> {
    zone::check(&name).map(|()| name)
}

/// List branches
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/branches", operation_id = "listBranches", tag = "Tenancy",
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<BranchView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.branches(&caller.context, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        BranchView::from(&**row)
    }))
}

/// Open a branch
#[utoipa::path(
    post, path = "/v1/branches", operation_id = "createBranch", tag = "Tenancy",
    request_body = CreateBranch,
    responses((status = 201, description = "Opened", body = BranchView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateBranch>,
) -> Result<Response, Problem> {
    let made = ready
        .engine
        .create_branch(&caller.context, body.read()?)
        .await;
    let branch = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/branches/{}", branch.id);
    Ok(answer::created(
        location,
        branch.stamp.version,
        BranchView::from(&*branch),
    ))
}

/// Read a branch
#[utoipa::path(
    get, path = "/v1/branches/{id}", operation_id = "readBranch", tag = "Tenancy",
    params(("id" = Id, Path, description = "The branch")),
    responses((status = 200, description = "The branch", body = BranchView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<BranchId>,
) -> Result<Response, Problem> {
    let found = ready.engine.branch(&caller.context, id).await;
    let branch = found.map_err(|error| caller.problem(error))?;
    Ok(show(&branch))
}

/// Change a branch
#[utoipa::path(
    patch, path = "/v1/branches/{id}", operation_id = "changeBranch", tag = "Tenancy",
    params(("id" = Id, Path, description = "The branch"), RequiredIfMatch),
    request_body = BranchChange,
    responses((status = 200, description = "Changed", body = BranchView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<BranchId>,
    IfMatch(seen): IfMatch,
    Body(body): Body<BranchChange>,
) -> Result<Response, Problem> {
    let changed = ready
        .engine
        .change_branch(&caller.context, id, seen, body.read()?)
        .await;
    let branch = changed.map_err(|error| caller.problem(error))?;
    Ok(show(&branch))
}

fn show(branch: &Branch) -> Response {
    answer::document(branch.stamp.version, BranchView::from(branch))
}
