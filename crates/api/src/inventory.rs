//! Stock over HTTP: levels, movements, adjustments, counts and transfers.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::id::{BranchId, ProductId};
use abasto_domain::stock::Place;
use abasto_engine::Done;
use abasto_engine::stock::{LevelView, MoveStock};
use abasto_store::query::LevelFilter;
use abasto_store::verdict::StockReply;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::Body;
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::RequiredKey;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::{PathId, PathIds};
use crate::problem::Problem;
use crate::value::{Id, ids};

pub(crate) use crate::inventory_document::{
    AdjustStock, CountStock, LevelDocument, MovementDocument, StockMoved, TransferStock,
};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(read))
        .routes(routes!(movements))
        .routes(routes!(adjust))
        .routes(routes!(count))
        .routes(routes!(transfer))
}

/// Which levels.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct LevelParams {
    /// Exactly these products (commas between them, at most 100), in one page; those that never
    /// moved at the branch have a level of zero.
    #[param(min_items = 1, max_items = 100, style = Form, explode = false, nullable = false)]
    product_ids: Option<BTreeSet<Id>>,
    /// Only levels with fewer available units than this.
    #[param(minimum = 1, maximum = 1_000_000_000_000_i64, nullable = false)]
    below_available: Option<i64>,
}

/// List the stock of a branch
///
/// By product id. Products that never moved at the branch are not listed, unless asked for by id.
#[utoipa::path(
    get, path = "/v1/branches/{branchId}/inventory", operation_id = "listStock", tag = "Inventory",
    params(("branchId" = Id, Path, description = "The branch"), LevelParams, PageParams),
    responses((status = 200, description = "A page", body = ListPage<LevelDocument>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(branch): PathId<BranchId>,
    mut listing: Listing<LevelParams>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let below_available = listing.filter.below_available;
    let found = match listing.filter.product_ids.take() {
        None => {
            let filter = LevelFilter {
                branch,
                below_available,
            };
            ready.engine.levels(&caller.context, filter, page).await
        }
        Some(products) => {
            let products: Vec<ProductId> = ids(products);
            listing.take_whole(products.len());
            ready
                .engine
                .levels_of(&caller.context, branch, &products)
                .await
        }
    };
    let mut rows = found.map_err(|error| caller.problem(error))?;
    rows.retain(|row| below_available.is_none_or(|bound| row.level.available < bound));
    let show = |row: &LevelView| LevelDocument::from(row);
    Ok(listing.answer(&ready, caller.tenant(), rows, show))
}

/// Read the stock of a product at a branch
#[utoipa::path(
    get, path = "/v1/branches/{branchId}/inventory/{productId}", operation_id = "readStock",
    tag = "Inventory",
    params(
        ("branchId" = Id, Path, description = "The branch"),
        ("productId" = Id, Path, description = "The product"),
    ),
    responses((status = 200, description = "The level", body = LevelDocument)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathIds(branch, product): PathIds<BranchId, ProductId>,
) -> Result<Response, Problem> {
    let found = ready
        .engine
        .levels_of(&caller.context, branch, &[product])
        .await;
    let levels = found.map_err(|error| caller.problem(error))?;
    let level = levels.first().ok_or_else(Problem::internal)?;
    Ok(answer::document(
        level.level.version,
        LevelDocument::from(level),
    ))
}

/// List the movements of a product at a branch
///
/// Newest first; `sequence` has no gap.
#[utoipa::path(
    get, path = "/v1/branches/{branchId}/inventory/{productId}/movements",
    operation_id = "listMovements", tag = "Inventory",
    params(
        ("branchId" = Id, Path, description = "The branch"),
        ("productId" = Id, Path, description = "The product"),
        PageParams,
    ),
    responses((status = 200, description = "A page", body = ListPage<MovementDocument>)),
)]
async fn movements(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathIds(branch, product): PathIds<BranchId, ProductId>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let place = Place { branch, product };
    let found = ready.engine.movements(&caller.context, place, page).await;
    let rows = found.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        MovementDocument::from(row)
    }))
}

/// Adjust stock
///
/// All of it or nothing.
#[utoipa::path(
    post, path = "/v1/branches/{branchId}/inventory/adjustments", operation_id = "adjustStock",
    tag = "Inventory",
    params(("branchId" = Id, Path, description = "The branch"), RequiredKey),
    request_body = AdjustStock,
    responses((status = 201, description = "Adjusted", body = StockMoved)),
)]
async fn adjust(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(branch): PathId<BranchId>,
    key: IdempotencyKey,
    Body(body): Body<AdjustStock>,
) -> Result<Response, Problem> {
    let items = body.read()?;
    move_stock(&ready, &caller, &key, MoveStock::Adjust { branch, items }).await
}

/// Count stock
///
/// A physical count of all units on the shelf, reserved ones included. A level that moved since
/// `expectedVersion` refuses the count; version 0 is a level that never moved.
#[utoipa::path(
    post, path = "/v1/branches/{branchId}/inventory/counts", operation_id = "countStock",
    tag = "Inventory",
    params(("branchId" = Id, Path, description = "The branch"), RequiredKey),
    request_body = CountStock,
    responses((status = 201, description = "Counted", body = StockMoved)),
)]
async fn count(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(branch): PathId<BranchId>,
    key: IdempotencyKey,
    Body(body): Body<CountStock>,
) -> Result<Response, Problem> {
    let items = body.read();
    move_stock(&ready, &caller, &key, MoveStock::Count { branch, items }).await
}

/// Transfer stock
///
/// From one branch to another, in one step, all of it or nothing.
#[utoipa::path(
    post, path = "/v1/transfers", operation_id = "transferStock", tag = "Inventory",
    params(RequiredKey),
    request_body = TransferStock,
    responses((status = 201, description = "Transferred", body = StockMoved)),
)]
async fn transfer(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    key: IdempotencyKey,
    Body(body): Body<TransferStock>,
) -> Result<Response, Problem> {
    move_stock(&ready, &caller, &key, body.read()?).await
}

async fn move_stock(
    ready: &Ready,
    caller: &Caller,
    key: &IdempotencyKey,
    command: MoveStock,
) -> Result<Response, Problem> {
    let done: Result<Done<Arc<StockReply>>, _> = ready
        .engine
        .move_stock(&caller.context, &key.0, command)
        .await;
    let done = done.map_err(|error| caller.problem(error))?;
    let levels = ready.engine.moved_levels(&caller.context, &done.value);
    let levels = levels.await.map_err(|error| caller.problem(error))?;
    let moved = StockMoved::new(&done.value, &levels).ok_or_else(Problem::internal)?;
    let mut response = answer::made(moved);
    if done.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}
