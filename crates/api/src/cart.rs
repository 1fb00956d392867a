//! Carts over HTTP: making, leasing, editing, reading, merging. A cart is changed by operations
//! only; there is no route that replaces one.

use std::sync::Arc;

use abasto_domain::fault::Faults;
use abasto_domain::id::CartId;
use abasto_engine::cart::{CartCaller, Lease, NewCart, OpenedCart};
use abasto_store::cart::CartLogEntry;
use abasto_store::query::Position;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::Body;
use crate::business::CartModeName;
use crate::cart_document::CartDocument;
use crate::cart_patch::Patch;
use crate::etag::{self, IfMatch};
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::openapi::{OptionalIfMatch, OptionalKey};
use crate::page::{ListPage, Listed, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::{Code, Problem};
use crate::query::Query;
use crate::value::{Id, Time, finish, optional};

const CART_SECRET: HeaderName = HeaderName::from_static("cart-secret");

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(open))
        .routes(routes!(read, edit))
        .routes(routes!(lease))
        .routes(routes!(merge))
        .routes(routes!(events))
}

/// The secret of a guest's cart.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it documents a header that `Visitor` reads")]
pub(crate) struct GuestSecret {
    /// `guestSecret` of the answer that made the cart. A customer needs it to reach, or to merge,
    /// a guest's cart.
    #[param(rename = "Cart-Secret", max_length = 64, nullable = false)]
    cart_secret: Option<String>,
}

/// A caller with the secret of a guest's cart, if there is one.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    pub(crate) cart: CartCaller,
}

impl FromRequestParts<Arc<Ready>> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, ready: &Arc<Ready>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, ready).await?;
        let secret = parts.headers.get(CART_SECRET);
        let secret = secret.map(|text| text.to_str().map(str::to_owned));
        let guest_secret = secret.transpose().map_err(|_| {
            Problem::new(
                Code::MalformedHeader,
                "Cart-Secret is the text that was given.",
            )
        })?;
        let cart = CartCaller {
            context: caller.context.clone(),
            guest_secret,
        };
        Ok(Self { caller, cart })
    }
}

/// A cart to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenCart)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CartDraft {
    /// Where it is to be bought.
    branch_id: Id,
    /// Whose it shall be; a calling customer's is always their own. Nobody's is a guest's.
    customer_id: Option<Id>,
    /// How concurrent edits meet; by default as the business says.
    mode: Option<CartModeName>,
    /// The currency in which the shopper would like to see it; amounts stay in the business's.
    #[schema(pattern = "^[A-Z]{3}$", example = "USD")]
    currency_hint: Option<String>,
}

impl CartDraft {
    fn read(self) -> Result<NewCart, Problem> {
        let mut faults = Faults::default();
        let hint = optional(&mut faults, "/currencyHint", self.currency_hint, |code| {
            abasto_domain::currency::Currency::parse(&code)
        });
        let command = || {
            Some(NewCart {
                branch: self.branch_id.into(),
                customer: self.customer_id.map(Id::into),
                mode: self.mode.map(Into::into),
                currency_hint: hint?,
            })
        };
        finish(faults, command())
    }
}

/// A cart just made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OpenedCart)]
#[serde(rename_all = "camelCase")]
struct OpenedDocument {
    #[serde(flatten)]
    cart: CartDocument,
    /// Reaches a guest's cart; told this once. It ends when the cart gets an owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    guest_secret: Option<String>,
}

/// A name under which a device numbers its operations.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CartDevice)]
#[serde(rename_all = "camelCase")]
struct LeaseDocument {
    /// Opaque.
    device: String,
    /// The number of the first operation.
    next_seq: u64,
}

impl From<Lease> for LeaseDocument {
    fn from(lease: Lease) -> Self {
        Self {
            device: lease.device,
            next_seq: lease.next_sequence,
        }
    }
}

/// The cart to take in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct MergeCart {
    /// It becomes `merged`.
    from: Id,
}

/// How much the reader has seen.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
struct SeenParams {
    /// `ctx` of a view: the answer waits up to 200 ms until that much is there, else it carries
    /// `stale: true`.
    #[param(max_length = 16384, required = false, nullable = false)]
    min_ctx: Option<String>,
}

/// One operation in the history of a cart.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CartEvent)]
#[serde(rename_all = "camelCase")]
struct CartEventDocument {
    id: Id,
    /// The operation as it was sent, or what the system did.
    #[schema(value_type = Object)]
    operation: serde_json::Value,
    /// Its name: author and number.
    #[serde(skip_serializing_if = "Option::is_none")]
    dot: Option<String>,
    /// The change in the form of the cart type, as hexadecimal digits: joining all of them gives
    /// the cart.
    delta: String,
    #[schema(example = "key:65f1c0ffee0123456789abcd")]
    actor: String,
    request_id: String,
    occurred_at: Time,
}

impl From<&CartLogEntry> for CartEventDocument {
    fn from(entry: &CartLogEntry) -> Self {
        Self {
            id: entry.id.into(),
            operation: entry.operation.clone(),
            dot: entry
                .dot
                .map(|(rid, sequence)| format!("{rid:016x}:{sequence}")),
            delta: abasto_store::cart::hex::text(&entry.delta),
            actor: entry.actor.to_string(),
            request_id: entry.request.clone(),
            occurred_at: entry.at.into(),
        }
    }
}

impl Listed for CartLogEntry {
    fn position(&self) -> Position {
        Position {
            order: self.at.as_millis(),
            id: self.id,
        }
    }
}

/// Open a cart
///
/// A customer has one active cart per branch: when there is one, that is the answer, with 200.
#[utoipa::path(
    post, path = "/v1/carts", operation_id = "openCart", tag = "Carts",
    request_body = CartDraft,
    responses(
        (status = 201, description = "Opened", body = OpenedDocument),
        (status = 200, description = "There was one", body = OpenedDocument),
    ),
)]
async fn open(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CartDraft>,
) -> Result<Response, Problem> {
    let opened = ready.engine.create_cart(&visitor.cart, body.read()?).await;
    let OpenedCart {
        view,
        existed,
        guest_secret,
    } = opened.map_err(|error| visitor.caller.problem(error))?;
    let location = format!("/v1/carts/{}", view.id);
    let version = view.version;
    let body = OpenedDocument {
        cart: CartDocument::from(view),
        guest_secret,
    };
    let mut response = if existed {
        Json(body).into_response()
    } else {
        answer::placed(location, body)
    };
    put_version(&mut response, version);
    Ok(response)
}

/// Read a cart
///
/// Its lines at the prices of now, and what it would cost. Reading never writes.
#[utoipa::path(
    get, path = "/v1/carts/{id}", operation_id = "readCart", tag = "Carts",
    params(("id" = Id, Path, description = "The cart"), SeenParams, GuestSecret),
    responses((status = 200, description = "The cart", body = CartDocument)),
)]
async fn read(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CartId>,
    Query(seen): Query<SeenParams>,
) -> Result<Response, Problem> {
    let view = ready
        .engine
        .cart(&visitor.cart, id, seen.min_ctx.as_deref())
        .await;
    let view = view.map_err(|error| visitor.caller.problem(error))?;
    Ok(show(CartDocument::from(view)))
}

/// Edit a cart
///
/// Does all operations, or none. A device that numbers its operations may repeat them anywhere, in
/// any order; each counts once. Without a device, an `Idempotency-Key` tells repetitions.
#[utoipa::path(
    patch, path = "/v1/carts/{id}", operation_id = "editCart", tag = "Carts",
    params(
        ("id" = Id, Path, description = "The cart"),
        OptionalKey, OptionalIfMatch, GuestSecret,
    ),
    request_body = Patch,
    responses((status = 200, description = "The cart after it", body = CartDocument)),
)]
async fn edit(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CartId>,
    key: Option<IdempotencyKey>,
    if_match: Option<IfMatch>,
    Body(body): Body<Patch>,
) -> Result<Response, Problem> {
    let mut command = body.read()?;
    command.key = key.map(|key| key.0);
    command.if_match = if_match.map(|seen| seen.0);
    let edited = ready.engine.edit_cart(&visitor.cart, id, command).await;
    let edited = edited.map_err(|error| visitor.caller.problem(error))?;
    let mut response = show(CartDocument::from(edited.view));
    if edited.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}

/// Lease a device its own numbers
///
/// For clients that name their own operations: offline, or with retries through another server. A
/// device numbers 1, 2, 3 … and repeats an operation under its number.
#[utoipa::path(
    post, path = "/v1/carts/{id}/devices", operation_id = "leaseCartDevice", tag = "Carts",
    params(("id" = Id, Path, description = "The cart"), GuestSecret),
    responses((status = 201, description = "Leased", body = LeaseDocument)),
)]
async fn lease(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CartId>,
) -> Result<Response, Problem> {
    let lease = ready.engine.lease_device(&visitor.cart, id).await;
    let lease = lease.map_err(|error| visitor.caller.problem(error))?;
    Ok(answer::made(LeaseDocument::from(lease)))
}

/// Merge another cart into this one
///
/// Quantities add. Asked for twice, it happens once.
#[utoipa::path(
    post, path = "/v1/carts/{id}/merge", operation_id = "mergeCarts", tag = "Carts",
    params(("id" = Id, Path, description = "The cart that goes on"), GuestSecret),
    request_body = MergeCart,
    responses((status = 200, description = "The cart that goes on", body = CartDocument)),
)]
async fn merge(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CartId>,
    Body(body): Body<MergeCart>,
) -> Result<Response, Problem> {
    let merged = ready
        .engine
        .merge_carts(&visitor.cart, id, body.from.into())
        .await;
    let view = merged.map_err(|error| visitor.caller.problem(error))?;
    Ok(show(CartDocument::from(view)))
}

/// Read the history of a cart
///
/// Every operation of a cart in mode `events`, oldest first; other carts keep none.
#[utoipa::path(
    get, path = "/v1/carts/{id}/events", operation_id = "listCartEvents", tag = "Carts",
    params(("id" = Id, Path, description = "The cart"), PageParams, GuestSecret),
    responses((status = 200, description = "A page", body = ListPage<CartEventDocument>)),
)]
async fn events(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CartId>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let tenant = visitor.caller.tenant();
    let page = listing.page(&ready, tenant)?;
    let rows = ready.engine.cart_log(&visitor.cart, id, page).await;
    let rows = rows.map_err(|error| visitor.caller.problem(error))?;
    Ok(listing.answer(&ready, tenant, rows, |row| CartEventDocument::from(row)))
}

fn show(cart: CartDocument) -> Response {
    let version = cart.version();
    let mut response = (StatusCode::OK, Json(cart)).into_response();
    put_version(&mut response, version);
    response
}

fn put_version(response: &mut Response, version: Option<i64>) {
    if let Some(version) = version {
        let (name, value) = etag::of(version);
        response.headers_mut().insert(name, value);
    }
}
