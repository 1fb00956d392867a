//! Orders over HTTP: placing, reading, listing and their history. The steps of an order's life
//! are in `order_action.rs`.

use std::sync::Arc;

use abasto_domain::id::OrderId;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::Order;
use abasto_store::event::Event;
use abasto_store::query::OrderFilter;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::Body;
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::RequiredKey;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::{PathId, PathTexts};
use crate::problem::Problem;
use crate::value::{Id, Time};

pub(crate) use crate::order_document::OrderView;
use crate::order_draft::{OrderDraft, Placing};
use crate::order_names::StatusName;

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, place))
        .routes(routes!(read))
        .routes(routes!(read_by_number))
        .routes(routes!(events))
}

/// Which orders.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct OrderParams {
    /// Only those of this branch.
    #[param(nullable = false)]
    branch_id: Option<Id>,
    /// Only those in this state.
    #[param(nullable = false)]
    status: Option<StatusName>,
    /// Only those of this customer.
    #[param(nullable = false)]
    customer_id: Option<Id>,
    /// Only those created at or after this time.
    #[param(nullable = false)]
    from: Option<Time>,
    /// Only those created before this time.
    #[param(nullable = false)]
    to: Option<Time>,
}

impl OrderParams {
    fn filter(&self) -> Result<OrderFilter, Problem> {
        let mut faults = Vec::new();
        let mut time = |parameter: &str, text: &Option<Time>| {
            let read = text.as_ref().map(Time::read).transpose();
            read.unwrap_or_else(|invalid| {
                faults.push(invalid.at(parameter));
                None
            })
        };
        let (from, to) = (time("from", &self.from), time("to", &self.to));
        if !faults.is_empty() {
            return Err(Problem::invalid_query(&faults));
        }
        Ok(OrderFilter {
            branches: self.branch_id.map(|branch| vec![branch.into()]),
            status: self.status.map(Into::into),
            customer: self.customer_id.map(Id::into),
            courier: None,
            from,
            to,
        })
    }
}

/// One change of an order's state, or of its courier.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderEvent)]
#[serde(rename_all = "camelCase")]
struct EventView {
    id: Id,
    /// 1, 2, 3 … per order, without gap.
    sequence: i64,
    #[schema(example = "abasto.order.confirmed")]
    r#type: String,
    /// The state before; null for a new order.
    #[schema(required = true)]
    from: Option<String>,
    /// The state after.
    to: Option<String>,
    /// Who caused it.
    #[schema(example = "key:65f1c0ffee0123456789abcd")]
    actor: String,
    /// The request that caused it.
    request_id: String,
    occurred_at: Time,
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> Self {
        let state = |name: &str| event.data[name].as_str().map(str::to_owned);
        Self {
            id: event.id.into(),
            sequence: event.sequence,
            r#type: event.name.clone(),
            from: state("from"),
            to: state("to"),
            actor: event.actor.to_string(),
            request_id: event.request.clone(),
            occurred_at: event.at.into(),
        }
    }
}

/// List orders
///
/// Those in the caller's sight, newest first.
#[utoipa::path(
    get, path = "/v1/orders", operation_id = "listOrders", tag = "Orders",
    params(OrderParams, PageParams),
    responses((status = 200, description = "A page", body = ListPage<OrderView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<OrderParams>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let filter = listing.filter.filter()?;
    let rows = ready.engine.orders(&caller.context, filter, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| OrderView::from(&**row)))
}

/// Place an order
///
/// Reserves all units and gives the order its number, or does nothing at all.
#[utoipa::path(
    post, path = "/v1/orders", operation_id = "placeOrder", tag = "Orders",
    params(RequiredKey),
    request_body = OrderDraft,
    responses((status = 201, description = "Placed", body = OrderView)),
)]
async fn place(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    key: IdempotencyKey,
    Body(body): Body<OrderDraft>,
) -> Result<Response, Problem> {
    let (engine, context) = (&ready.engine, &caller.context);
    let done = match body.read(caller.currency)? {
        Placing::Direct(command) => engine.place_order(context, &key.0, command).await,
        Placing::OfCheckout(command) => engine.order_checkout(context, &key.0, command).await,
    };
    let done = done.map_err(|error| caller.problem(error))?;
    let order = &*done.value;
    let location = format!("/v1/orders/{}", order.id);
    let mut response = answer::created(location, order.stamp.version, OrderView::from(order));
    if done.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}

/// Read an order
#[utoipa::path(
    get, path = "/v1/orders/{id}", operation_id = "readOrder", tag = "Orders",
    params(("id" = Id, Path, description = "The order")),
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<OrderId>,
) -> Result<Response, Problem> {
    let found = ready.engine.order(&caller.context, id).await;
    let order = found.map_err(|error| caller.problem(error))?;
    Ok(show(&order))
}

/// Read an order by its number
#[utoipa::path(
    get, path = "/v1/orders/by-number/{number}", operation_id = "readOrderByNumber",
    tag = "Orders",
    params(("number" = String, Path, description = "The number", example = "BOG-2026-000184")),
    responses((status = 200, description = "The order", body = OrderView)),
)]
async fn read_by_number(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathTexts([number]): PathTexts<1>,
) -> Result<Response, Problem> {
    let number = OrderNumber::parse(&number).map_err(|_| Problem::not_found())?;
    let found = ready.engine.order_by_number(&caller.context, &number).await;
    let order = found.map_err(|error| caller.problem(error))?;
    Ok(show(&order))
}

/// Read the history of an order
///
/// Who changed its state, when, from what, to what, in which request; oldest first.
#[utoipa::path(
    get, path = "/v1/orders/{id}/events", operation_id = "listOrderEvents", tag = "Orders",
    params(("id" = Id, Path, description = "The order"), PageParams),
    responses((status = 200, description = "A page", body = ListPage<EventView>)),
)]
async fn events(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<OrderId>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.order_events(&caller.context, id, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| EventView::from(row)))
}

pub(crate) fn show(order: &Order) -> Response {
    answer::document(order.stamp.version, OrderView::from(order))
}
