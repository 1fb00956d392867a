//! Checkouts over HTTP: opening one with its hold, reading and abandoning it.

use std::sync::Arc;

use abasto_domain::checkout::{Checkout, CheckoutStatus};
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::{CartId, CheckoutId};
use abasto_engine::checkout::OpenCheckout;
use abasto_engine::checkout_cart::CheckOutCart;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::{Body, NoFields, OptionalBody};
use crate::cart::{GuestSecret, Visitor};
use crate::idempotency::{IdempotencyKey, mark_replayed};
use crate::inventory_document::{ItemDocument, read_items};
use crate::openapi::RequiredKey;
use crate::order_document::{AppliedCouponView, FulfilmentView, LineView, TotalsView};
use crate::order_draft::{FulfilmentDraft, read_codes};
use crate::order_names::PaymentMethodName;
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, Time, finish};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(open))
        .routes(routes!(read))
        .routes(routes!(abandon))
}

/// A checkout: what was priced, and the units it holds until it ends.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Checkout)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckoutView {
    id: Id,
    branch_id: Id,
    /// A hold whose time is over is shown as expired, whether or not its units are back yet.
    status: StatusName,
    #[schema(required = true)]
    customer_id: Option<Id>,
    /// Snapshots: no later change of a product shows in them.
    items: Vec<LineView>,
    totals: TotalsView,
    #[schema(example = "COP")]
    currency: String,
    coupons: Vec<AppliedCouponView>,
    fulfilment: FulfilmentView,
    payment_method: PaymentMethodName,
    hold_expires_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    cart_id: Option<Id>,
    /// The order it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<Id>,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

/// How far a checkout has come.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[schema(as = CheckoutStatus)]
#[serde(rename_all = "lowercase")]
enum StatusName {
    Open,
    Completed,
    Expired,
    Abandoned,
}

impl From<CheckoutStatus> for StatusName {
    fn from(status: CheckoutStatus) -> Self {
        match status {
            CheckoutStatus::Open => Self::Open,
            CheckoutStatus::Completed => Self::Completed,
            CheckoutStatus::Expired => Self::Expired,
            CheckoutStatus::Abandoned => Self::Abandoned,
        }
    }
}

impl CheckoutView {
    fn new(checkout: &Checkout, status: CheckoutStatus) -> Self {
        let currency = checkout.currency;
        let lines = checkout.lines.iter();
        let coupons = checkout.coupons.iter();
        Self {
            id: checkout.id.into(),
            branch_id: checkout.branch.into(),
            status: status.into(),
            customer_id: checkout.customer.map(Id::from),
            items: lines.map(|line| LineView::new(line, currency)).collect(),
            totals: TotalsView::new(&checkout.totals, currency),
            currency: currency.code().to_owned(),
            coupons: coupons
                .map(|coupon| AppliedCouponView::new(coupon, currency))
                .collect(),
            fulfilment: FulfilmentView::from(&checkout.fulfilment),
            payment_method: checkout.payment_method.into(),
            hold_expires_at: checkout.hold_expires_at.into(),
            cart_id: checkout.cart.map(Id::from),
            order_id: checkout.order.map(Id::from),
            version: checkout.stamp.version,
            created_at: checkout.stamp.created_at.into(),
            updated_at: checkout.stamp.updated_at.into(),
        }
    }
}

/// A checkout to be opened. Prices are the catalogue's; none can be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = OpenCheckout)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CheckoutDraft {
    /// What is bought: a cart, in place of `items`, `customerId` and `couponCodes`. The same cart
    /// again renews its own checkout.
    #[schema(nullable = false)]
    cart_id: Option<Id>,
    /// Needed without a cart; with one it is the cart's.
    #[schema(nullable = false)]
    branch_id: Option<Id>,
    /// Items of one product are summed.
    #[schema(min_items = 1, max_items = 200, nullable = false)]
    items: Option<Vec<ItemDocument>>,
    /// Who buys, when known; a calling customer always buys for themselves.
    customer_id: Option<Id>,
    /// The coupons to use.
    #[schema(max_items = 5)]
    coupon_codes: Option<Vec<String>>,
    fulfilment: FulfilmentDraft,
    payment_method: PaymentMethodName,
}

/// What a draft asks for.
enum Wanted {
    Items(OpenCheckout),
    Cart(CheckOutCart),
}

const NEEDED: InvalidValue = InvalidValue::new("required", "needed without a cart");
const WITH_CART: InvalidValue = InvalidValue::new("not-allowed", "with a cart, the cart says");

impl CheckoutDraft {
    fn read(self) -> Result<Wanted, Problem> {
        match self.cart_id {
            Some(cart) => self.read_cart(cart.into()).map(Wanted::Cart),
            None => self.read_items().map(Wanted::Items),
        }
    }

    fn read_cart(self, cart: CartId) -> Result<CheckOutCart, Problem> {
        let mut faults = Faults::default();
        let there = [
            ("/items", self.items.is_some()),
            ("/customerId", self.customer_id.is_some()),
            ("/couponCodes", self.coupon_codes.is_some()),
        ];
        for (pointer, _) in there.into_iter().filter(|(_, is_there)| *is_there) {
            faults.push(WITH_CART.at(pointer));
        }
        let fulfilment = self.fulfilment.read(&mut faults);
        let command = || {
            let (fulfilment, address) = fulfilment?;
            Some(CheckOutCart {
                cart,
                branch: self.branch_id.map(Id::into),
                fulfilment,
                address,
                payment_method: self.payment_method.into(),
            })
        };
        finish(faults, command())
    }

    fn read_items(self) -> Result<OpenCheckout, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let branch = f.take("/branchId", self.branch_id.ok_or(NEEDED));
        let items = f.take("/items", self.items.ok_or(NEEDED));
        let items = items.and_then(|items| read_items(f, &items));
        let coupons = read_codes(f, self.coupon_codes);
        let fulfilment = self.fulfilment.read(f);
        let command = || {
            let (kind, address) = fulfilment?;
            Some(OpenCheckout {
                branch: branch?.into(),
                items: items?,
                customer: self.customer_id.map(Id::into),
                coupons: coupons?,
                fulfilment: kind,
                address,
                payment_method: self.payment_method.into(),
                cart: None,
            })
        };
        finish(faults, command())
    }
}

/// Open a checkout
///
/// Holds all units for the business's `holdMinutes`, or does nothing at all.
#[utoipa::path(
    post, path = "/v1/checkouts", operation_id = "openCheckout", tag = "Checkouts",
    params(RequiredKey, GuestSecret),
    request_body = CheckoutDraft,
    responses((status = 201, description = "Open", body = CheckoutView)),
)]
async fn open(
    visitor: Visitor,
    State(ready): State<Arc<Ready>>,
    key: IdempotencyKey,
    Body(body): Body<CheckoutDraft>,
) -> Result<Response, Problem> {
    let (engine, caller) = (&ready.engine, &visitor.caller);
    let done = match body.read()? {
        Wanted::Items(command) => engine.open_checkout(&caller.context, &key.0, command).await,
        Wanted::Cart(command) => engine.check_out_cart(&visitor.cart, &key.0, command).await,
    };
    let done = done.map_err(|error| caller.problem(error))?;
    let checkout = &*done.value;
    let location = format!("/v1/checkouts/{}", checkout.id);
    let view = CheckoutView::new(checkout, checkout.status);
    let mut response = answer::created(location, checkout.stamp.version, view);
    if done.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}

/// Read a checkout
#[utoipa::path(
    get, path = "/v1/checkouts/{id}", operation_id = "readCheckout", tag = "Checkouts",
    params(("id" = Id, Path, description = "The checkout")),
    responses((status = 200, description = "The checkout", body = CheckoutView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CheckoutId>,
) -> Result<Response, Problem> {
    let found = ready.engine.checkout(&caller.context, id).await;
    let checkout = found.map_err(|error| caller.problem(error))?;
    let status = ready.engine.checkout_status(&checkout);
    let view = CheckoutView::new(&checkout, status);
    Ok(answer::document(checkout.stamp.version, view))
}

/// Abandon a checkout
///
/// Its units go back, once. A checkout that has ended stays as it is.
#[utoipa::path(
    post, path = "/v1/checkouts/{id}/abandon", operation_id = "abandonCheckout",
    tag = "Checkouts",
    params(("id" = Id, Path, description = "The checkout"), RequiredKey),
    request_body = Option<NoFields>,
    responses((status = 200, description = "The checkout", body = CheckoutView)),
)]
async fn abandon(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CheckoutId>,
    key: IdempotencyKey,
    _body: OptionalBody<NoFields>,
) -> Result<Response, Problem> {
    let done = ready
        .engine
        .abandon_checkout(&caller.context, &key.0, id)
        .await;
    let done = done.map_err(|error| caller.problem(error))?;
    let checkout = &*done.value;
    let view = CheckoutView::new(checkout, checkout.status);
    let mut response = answer::document(checkout.stamp.version, view);
    if done.replayed {
        mark_replayed(&mut response);
    }
    Ok(response)
}
