//! Products over HTTP. Import is in `product_import.rs`.

use std::sync::Arc;

use abasto_domain::currency::Currency;
use abasto_domain::id::ProductId;
use abasto_domain::product::Product;
use abasto_store::query::{Deleted, ProductFilter};
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
use crate::etag::IfMatch;
use crate::openapi::RequiredIfMatch;
use crate::page::{ListPage, Listing, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::Id;

pub(crate) use crate::product_document::{CreateProduct, ProductChange, ProductView};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change, delete))
        .routes(routes!(restore))
}

/// Which products.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct ProductParams {
    /// Only those whose sku or name contains the text; the case of ASCII letters does not count.
    #[param(min_length = 1, max_length = 100, nullable = false)]
    q: Option<String>,
    /// Only active, or only inactive ones.
    #[param(nullable = false)]
    active: Option<bool>,
    /// Whether deleted ones are listed too.
    #[param(nullable = false)]
    include_deleted: Option<bool>,
}

impl ProductParams {
    fn filter(&self) -> ProductFilter {
        ProductFilter {
            text: self.q.clone(),
            active: self.active,
            deleted: match self.include_deleted {
                Some(true) => Deleted::Shown,
                Some(false) | None => Deleted::Hidden,
            },
        }
    }
}

/// List products
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/products", operation_id = "listProducts", tag = "Catalogue",
    params(ProductParams, PageParams),
    responses((status = 200, description = "A page", body = ListPage<ProductView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<ProductParams>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let filter = listing.filter.filter();
    let rows = ready.engine.products(&caller.context, filter, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    let show = |row: &Arc<Product>| ProductView::new(row, caller.currency);
    Ok(listing.answer(&ready, caller.tenant(), rows, show))
}

/// Create a product
#[utoipa::path(
    post, path = "/v1/products", operation_id = "createProduct", tag = "Catalogue",
    request_body = CreateProduct,
    responses((status = 201, description = "Made", body = ProductView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateProduct>,
) -> Result<Response, Problem> {
    let command = body.read(caller.currency)?;
    let made = ready.engine.create_product(&caller.context, command).await;
    let product = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/products/{}", product.id);
    Ok(answer::created(
        location,
        product.stamp.version,
        ProductView::new(&product, caller.currency),
    ))
}

/// Read a product
///
/// Deleted ones too; `deletedAt` tells.
#[utoipa::path(
    get, path = "/v1/products/{id}", operation_id = "readProduct", tag = "Catalogue",
    params(("id" = Id, Path, description = "The product")),
    responses((status = 200, description = "The product", body = ProductView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<ProductId>,
) -> Result<Response, Problem> {
    let found = ready.engine.product(&caller.context, id).await;
    let product = found.map_err(|error| caller.problem(error))?;
    Ok(show(&product, caller.currency))
}

/// Change a product
///
/// `attributes`, when given, replaces all of them.
#[utoipa::path(
    patch, path = "/v1/products/{id}", operation_id = "changeProduct", tag = "Catalogue",
    params(("id" = Id, Path, description = "The product"), RequiredIfMatch),
    request_body = ProductChange,
    responses((status = 200, description = "Changed", body = ProductView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<ProductId>,
    IfMatch(seen): IfMatch,
    Body(body): Body<ProductChange>,
) -> Result<Response, Problem> {
    let command = body.read(caller.currency)?;
    let changed = ready
        .engine
        .change_product(&caller.context, id, seen, command)
        .await;
    let product = changed.map_err(|error| caller.problem(error))?;
    Ok(show(&product, caller.currency))
}

/// Delete a product
///
/// Softly: it can be restored, its stock and history stay, its sku is free.
#[utoipa::path(
    delete, path = "/v1/products/{id}", operation_id = "deleteProduct", tag = "Catalogue",
    params(("id" = Id, Path, description = "The product"), RequiredIfMatch),
    responses((status = 204, description = "Deleted")),
)]
async fn delete(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<ProductId>,
    IfMatch(seen): IfMatch,
) -> Result<Response, Problem> {
    let deleted = ready.engine.delete_product(&caller.context, id, seen).await;
    deleted.map_err(|error| caller.problem(error))?;
    Ok(answer::nothing())
}

/// Restore a product
///
/// Refused when its sku has another holder now.
#[utoipa::path(
    post, path = "/v1/products/{id}/restore", operation_id = "restoreProduct", tag = "Catalogue",
    params(("id" = Id, Path, description = "The product")),
    responses((status = 200, description = "Restored", body = ProductView)),
)]
async fn restore(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<ProductId>,
) -> Result<Response, Problem> {
    let restored = ready.engine.restore_product(&caller.context, id).await;
    let product = restored.map_err(|error| caller.problem(error))?;
    Ok(show(&product, caller.currency))
}

fn show(product: &Product, currency: Currency) -> Response {
    answer::document(product.stamp.version, ProductView::new(product, currency))
}
