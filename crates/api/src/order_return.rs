//! Returns of sold units over HTTP.

use std::sync::Arc;

use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::OrderId;
use abasto_domain::limits;
use abasto_domain::order_return::{Fate, OrderReturn, ReturnedItem};
use abasto_domain::quantity::Quantity;
use abasto_domain::text::clean;
use abasto_engine::order_return::TakeBack;
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
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::RequiredKey;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, Time, finish};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new().routes(routes!(list, take))
}

/// Sold units that came back.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Return)]
#[serde(rename_all = "camelCase")]
struct ReturnView {
    id: Id,
    order_id: Id,
    items: Vec<ReturnItem>,
    reason: String,
    created_at: Time,
}

/// Units of one product that came back.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReturnItem {
    product_id: Id,
    #[schema(minimum = 1, maximum = 1_000_000)]
    quantity: i64,
    /// Whether the units can be sold again; otherwise they are recorded as lost.
    restock: bool,
}

impl From<&OrderReturn> for ReturnView {
    fn from(record: &OrderReturn) -> Self {
        let items = record.items.iter().map(|item| ReturnItem {
            product_id: item.product.into(),
            quantity: item.quantity.units(),
            restock: item.fate == Fate::Restock,
        });
        Self {
            id: record.id.into(),
            order_id: record.order.into(),
            items: items.collect(),
            reason: record.reason.clone(),
            created_at: record.stamp.created_at.into(),
        }
    }
}

/// Units to be taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TakeReturn)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReturnDraft {
    #[schema(min_items = 1, max_items = 200)]
    items: Vec<ReturnItem>,
    #[schema(min_length = 1, max_length = 200, example = "stale")]
    reason: String,
}

impl ReturnDraft {
    fn read(self, order: OrderId) -> Result<TakeBack, Problem> {
        let mut faults = Faults::default();
        let reason = faults.take("/reason", clean(&self.reason, limits::REASON));
        let mut items: Vec<ReturnedItem> = Vec::with_capacity(self.items.len());
        for (index, item) in self.items.iter().enumerate() {
            let pointer = format!("/items/{index}/quantity");
            if let Some(item) = faults.take(&*pointer, read_item(item, &items)) {
                match items.iter_mut().find(|known| same(known, &item)) {
                    Some(known) => *known = item,
                    None => items.push(item),
                }
            }
        }
        let command = || {
            Some(TakeBack {
                order,
                items,
                reason: reason?,
            })
        };
        finish(faults, command())
    }
}

fn same(known: &ReturnedItem, item: &ReturnedItem) -> bool {
    known.product == item.product && known.fate == item.fate
}

/// An item with what came before it of the same product and fate.
fn read_item(item: &ReturnItem, known: &[ReturnedItem]) -> Result<ReturnedItem, InvalidValue> {
    let fate = if item.restock {
        Fate::Restock
    } else {
        Fate::Discard
    };
    let read = ReturnedItem {
        product: item.product_id.into(),
        quantity: Quantity::new(item.quantity)?,
        fate,
    };
    match known.iter().find(|known| same(known, &read)) {
        None => Ok(read),
        Some(known) => Ok(ReturnedItem {
            quantity: read.quantity.plus(known.quantity)?,
            ..read
        }),
    }
}

/// List the returns of an order
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/orders/{id}/returns", operation_id = "listReturns", tag = "Returns",
    params(("id" = Id, Path, description = "The order"), PageParams),
    responses((status = 200, description = "A page", body = ListPage<ReturnView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<OrderId>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.returns(&caller.context, id, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        ReturnView::from(&**row)
    }))
}

/// Take units back
///
/// Of an order that was dispatched; never more than was sold minus what already came back.
#[utoipa::path(
    post, path = "/v1/orders/{id}/returns", operation_id = "takeReturn", tag = "Returns",
    params(("id" = Id, Path, description = "The order"), RequiredKey),
    request_body = ReturnDraft,
    responses((status = 201, description = "Taken back", body = ReturnView)),
)]
async fn take(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(order): PathId<OrderId>,
    key: IdempotencyKey,
    Body(body): Body<ReturnDraft>,
) -> Result<Response, Problem> {
    let command = body.read(order)?;
    let done = ready
        .engine
        .take_back(&caller.context, &key.0, command)
        .await;
    let done = done.map_err(|error| caller.problem(error))?;
    let mut response = answer::made(ReturnView::from(&*done.value));
    if done.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}
