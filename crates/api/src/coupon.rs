//! Coupons over HTTP.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::coupon::{Coupon, CouponCode, Discount, Percent};
use abasto_domain::currency::Currency;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::CouponId;
use abasto_domain::money::Amount;
use abasto_domain::quantity::Quantity;
use abasto_engine::coupon::{ChangeCoupon, NewCoupon};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::app::Ready;
use crate::auth::Caller;
use crate::body::{self, Body};
use crate::etag::IfMatch;
use crate::openapi::RequiredIfMatch;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::path::PathId;
use crate::problem::Problem;
use crate::value::{Id, Money, Time, finish, ids, nullable, optional};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change))
}

/// What a coupon takes off.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
enum CouponKind {
    /// A part of a hundred of what the lines cost.
    Percent,
    /// An amount.
    Amount,
    /// So many units, the cheapest first.
    FreeUnits,
}

/// A coupon.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Coupon)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CouponView {
    id: Id,
    code: String,
    kind: CouponKind,
    /// A percentage, an amount, or a number of units.
    #[schema(example = "10")]
    value: String,
    #[schema(required = true)]
    product_ids: Option<Vec<Id>>,
    #[schema(required = true)]
    min_subtotal: Option<Money>,
    starts_at: Time,
    ends_at: Time,
    #[schema(required = true)]
    max_redemptions: Option<i64>,
    #[schema(required = true)]
    max_per_customer: Option<i64>,
    active: bool,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl CouponView {
    pub(crate) fn new(coupon: &Coupon, currency: Currency) -> Self {
        let (kind, value) = match coupon.discount {
            Discount::Percent(percent) => (CouponKind::Percent, percent.to_decimal()),
            Discount::Amount(amount) => (CouponKind::Amount, amount.to_decimal(currency)),
            Discount::FreeUnits(units) => (CouponKind::FreeUnits, units.units().to_string()),
        };
        let products = coupon.products.as_ref();
        Self {
            id: coupon.id.into(),
            code: coupon.code.as_str().to_owned(),
            kind,
            value,
            product_ids: products.map(|all| all.iter().copied().map(Id::from).collect()),
            min_subtotal: coupon
                .min_subtotal
                .map(|least| Money::show(least, currency)),
            starts_at: coupon.starts_at.into(),
            ends_at: coupon.ends_at.into(),
            max_redemptions: coupon.max_redemptions,
            max_per_customer: coupon.max_per_customer,
            active: coupon.active,
            version: coupon.stamp.version,
            created_at: coupon.stamp.created_at.into(),
            updated_at: coupon.stamp.updated_at.into(),
        }
    }
}

/// A percentage, an amount or a number of units, as text or as a whole number.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CouponValue)]
#[serde(untagged)]
enum ValueDocument {
    Text(String),
    Whole(i64),
}

/// A coupon to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateCoupon {
    /// Small letters are read as capitals.
    #[schema(min_length = 2, max_length = 40, example = "PAN-10")]
    code: String,
    kind: CouponKind,
    value: ValueDocument,
    /// The products it is for; all when left out.
    #[schema(max_items = 200)]
    product_ids: Option<BTreeSet<Id>>,
    /// The least sum of all lines before discounts.
    min_subtotal: Option<Money>,
    starts_at: Time,
    /// This moment excluded.
    ends_at: Time,
    #[schema(minimum = 1)]
    max_redemptions: Option<i64>,
    #[schema(minimum = 1)]
    max_per_customer: Option<i64>,
    active: Option<bool>,
}

impl CreateCoupon {
    fn read(self, currency: Currency) -> Result<NewCoupon, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let code = f.take("/code", CouponCode::parse(&self.code));
        let discount = f.take("/value", discount(self.kind, self.value, currency));
        let least = optional(f, "/minSubtotal", self.min_subtotal, |it| it.read(currency));
        let starts_at = f.take("/startsAt", self.starts_at.read());
        let ends_at = f.take("/endsAt", self.ends_at.read());
        let command = || {
            Some(NewCoupon {
                code: code?,
                discount: discount?,
                products: self.product_ids.map(ids),
                min_subtotal: least?,
                starts_at: starts_at?,
                ends_at: ends_at?,
                max_redemptions: self.max_redemptions,
                max_per_customer: self.max_per_customer,
                active: self.active.unwrap_or(true),
            })
        };
        finish(faults, command())
    }
}

fn discount(
    kind: CouponKind,
    value: ValueDocument,
    currency: Currency,
) -> Result<Discount, InvalidValue> {
    const UNITS: InvalidValue = InvalidValue::new("out-of-range", "a number of units from 1");
    const NOTHING: InvalidValue = InvalidValue::new("out-of-range", "an amount above zero");
    let text = match value {
        ValueDocument::Text(text) => text,
        ValueDocument::Whole(number) => number.to_string(),
    };
    match kind {
        CouponKind::Percent => Percent::parse(&text).map(Discount::Percent),
        CouponKind::Amount => match Amount::parse(&text, currency)? {
            Amount::ZERO => Err(NOTHING),
            amount => Ok(Discount::Amount(amount)),
        },
        CouponKind::FreeUnits => {
            let units = text.parse().map_err(|_| UNITS)?;
            Quantity::new(units).map(Discount::FreeUnits)
        }
    }
}

/// What is to change; what is left out stays as it is, null takes a limit away. What a coupon
/// takes off never changes.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeCoupon)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CouponChange {
    #[schema(nullable = false)]
    starts_at: Option<Time>,
    #[schema(nullable = false)]
    ends_at: Option<Time>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<Money>)]
    min_subtotal: Option<Option<Money>>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1)]
    max_redemptions: Option<Option<i64>>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1)]
    max_per_customer: Option<Option<i64>>,
    #[schema(nullable = false)]
    active: Option<bool>,
}

impl CouponChange {
    fn read(self, currency: Currency) -> Result<ChangeCoupon, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let starts_at = optional(f, "/startsAt", self.starts_at, |at| at.read());
        let ends_at = optional(f, "/endsAt", self.ends_at, |at| at.read());
        let least = nullable(f, "/minSubtotal", self.min_subtotal, |it| it.read(currency));
        let command = || {
            Some(ChangeCoupon {
                starts_at: starts_at?,
                ends_at: ends_at?,
                min_subtotal: least?,
                max_redemptions: self.max_redemptions,
                max_per_customer: self.max_per_customer,
                active: self.active,
            })
        };
        finish(faults, command())
    }
}

/// List coupons
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/coupons", operation_id = "listCoupons", tag = "Coupons",
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<CouponView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.coupons(&caller.context, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        CouponView::new(row, caller.currency)
    }))
}

/// Create a coupon
#[utoipa::path(
    post, path = "/v1/coupons", operation_id = "createCoupon", tag = "Coupons",
    request_body = CreateCoupon,
    responses((status = 201, description = "Made", body = CouponView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateCoupon>,
) -> Result<Response, Problem> {
    let command = body.read(caller.currency)?;
    let made = ready.engine.create_coupon(&caller.context, command).await;
    let coupon = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/coupons/{}", coupon.id);
    let view = CouponView::new(&coupon, caller.currency);
    Ok(answer::created(location, coupon.stamp.version, view))
}

/// Read a coupon
#[utoipa::path(
    get, path = "/v1/coupons/{id}", operation_id = "readCoupon", tag = "Coupons",
    params(("id" = Id, Path, description = "The coupon")),
    responses((status = 200, description = "The coupon", body = CouponView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CouponId>,
) -> Result<Response, Problem> {
    let found = ready.engine.coupon(&caller.context, id).await;
    let coupon = found.map_err(|error| caller.problem(error))?;
    let view = CouponView::new(&coupon, caller.currency);
    Ok(answer::document(coupon.stamp.version, view))
}

/// Change a coupon
#[utoipa::path(
    patch, path = "/v1/coupons/{id}", operation_id = "changeCoupon", tag = "Coupons",
    params(("id" = Id, Path, description = "The coupon"), RequiredIfMatch),
    request_body = CouponChange,
    responses((status = 200, description = "Changed", body = CouponView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CouponId>,
    IfMatch(seen): IfMatch,
    Body(body): Body<CouponChange>,
) -> Result<Response, Problem> {
    let command = body.read(caller.currency)?;
    let changed = ready
        .engine
        .change_coupon(&caller.context, id, seen, command)
        .await;
    let coupon = changed.map_err(|error| caller.problem(error))?;
    let view = CouponView::new(&coupon, caller.currency);
    Ok(answer::document(coupon.stamp.version, view))
}
