//! Businesses over HTTP: opened by the operator, read and changed by their own people.

use std::sync::Arc;

use abasto_domain::business::{Business, CartMode, Settings, hold_minutes, unpaid_order_minutes};
use abasto_domain::currency::Currency;
use abasto_domain::fault::Faults;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::business::{ChangeBusiness, OpenBusiness};
use abasto_engine::{Freshness, zone};
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer;
use crate::api_key::NewKeyView;
use crate::app::Ready;
use crate::auth::{Caller, Operator};
use crate::body::Body;
use crate::etag::IfMatch;
use crate::openapi::OptionalIfMatch;
use crate::page::{ListPage, Listing, NoFilter, PageParams};
use crate::problem::Problem;
use crate::value::{Id, Time, finish, optional};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(open, list))
        .routes(routes!(read, change))
}

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Business)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BusinessView {
    id: Id,
    #[schema(example = "Panadería La Espiga")]
    name: String,
    /// ISO 4217; of all amounts of the business.
    #[schema(example = "COP")]
    currency: String,
    /// IANA zone.
    #[schema(example = "America/Bogota")]
    time_zone: String,
    settings: SettingsView,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl From<&Business> for BusinessView {
    fn from(business: &Business) -> Self {
        Self {
            id: business.id.into(),
            name: business.name.clone(),
            currency: business.currency.code().to_owned(),
            time_zone: business.time_zone.clone(),
            settings: (&business.settings).into(),
            version: business.stamp.version,
            created_at: business.stamp.created_at.into(),
            updated_at: business.stamp.updated_at.into(),
        }
    }
}

/// The policies of a business.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BusinessSettings)]
#[serde(rename_all = "camelCase")]
struct SettingsView {
    /// Minutes that a checkout holds stock.
    hold_minutes: u32,
    /// Minutes that an unpaid online order keeps its units.
    unpaid_order_minutes: u32,
    /// Whether a paid order is confirmed at once.
    auto_confirm_paid: bool,
    /// Whether a cancelled order gives its units back when the caller does not say.
    restock_on_cancel: bool,
    /// Whether an order that is cancelled before dispatch gives its coupons back.
    return_coupons_on_cancel: bool,
    /// The mode of new carts.
    cart_mode: CartModeName,
}

impl From<&Settings> for SettingsView {
    fn from(settings: &Settings) -> Self {
        Self {
            hold_minutes: settings.hold_minutes,
            unpaid_order_minutes: settings.unpaid_order_minutes,
            auto_confirm_paid: settings.auto_confirm_paid,
            restock_on_cancel: settings.restock_on_cancel,
            return_coupons_on_cancel: settings.return_coupons_on_cancel,
            cart_mode: settings.cart_mode.into(),
        }
    }
}

/// How concurrent edits of a cart meet.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[schema(as = CartMode)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CartModeName {
    Crdt,
    Occ,
    Events,
}

impl From<CartMode> for CartModeName {
    fn from(mode: CartMode) -> Self {
        match mode {
            CartMode::Crdt => Self::Crdt,
            CartMode::Occ => Self::Occ,
            CartMode::Events => Self::Events,
        }
    }
}

impl From<CartModeName> for CartMode {
    fn from(mode: CartModeName) -> Self {
        match mode {
            CartModeName::Crdt => Self::Crdt,
            CartModeName::Occ => Self::Occ,
            CartModeName::Events => Self::Events,
        }
    }
}

/// A business to be opened.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateBusiness {
    #[schema(min_length = 1, max_length = 200, example = "Panadería La Espiga")]
    name: String,
    /// ISO 4217; never changes.
    #[schema(pattern = "^[A-Z]{3}$", example = "COP")]
    currency: String,
    /// IANA zone.
    #[schema(min_length = 1, max_length = 64, example = "America/Bogota")]
    time_zone: String,
}

impl CreateBusiness {
    fn read(self) -> Result<OpenBusiness, Problem> {
        let mut faults = Faults::default();
        let name = faults.take("/name", clean(&self.name, limits::NAME));
        let currency = faults.take("/currency", Currency::parse(&self.currency));
        faults.take("/timeZone", zone::check(&self.time_zone));
        let time_zone = self.time_zone;
        finish(
            faults,
            name.zip(currency).map(|(name, currency)| OpenBusiness {
                name,
                currency,
                time_zone,
            }),
        )
    }
}

/// A new business with its first key, an owner's, whose secret is shown this once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct OpenedBusiness {
    #[serde(flatten)]
    business: BusinessView,
    api_key: NewKeyView,
}

/// What is to change; what is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeBusiness)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BusinessChange {
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    name: Option<String>,
    #[schema(nullable = false)]
    settings: Option<SettingsChange>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = ChangeBusinessSettings)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SettingsChange {
    #[schema(minimum = 1, maximum = 1440, nullable = false)]
    hold_minutes: Option<i64>,
    #[schema(minimum = 1, maximum = 10080, nullable = false)]
    unpaid_order_minutes: Option<i64>,
    #[schema(nullable = false)]
    auto_confirm_paid: Option<bool>,
    #[schema(nullable = false)]
    restock_on_cancel: Option<bool>,
    #[schema(nullable = false)]
    return_coupons_on_cancel: Option<bool>,
    #[schema(nullable = false)]
    cart_mode: Option<CartModeName>,
}

impl BusinessChange {
    fn read(self) -> Result<ChangeBusiness, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let name = optional(f, "/name", self.name, |name| clean(&name, limits::NAME));
        let set = self.settings.unwrap_or_default();
        let hold = optional(f, "/settings/holdMinutes", set.hold_minutes, hold_minutes);
        let unpaid = optional(
            f,
            "/settings/unpaidOrderMinutes",
            set.unpaid_order_minutes,
            unpaid_order_minutes,
        );
        let change = || {
            Some(ChangeBusiness {
                name: name?,
                hold_minutes: hold?,
                unpaid_order_minutes: unpaid?,
                auto_confirm_paid: set.auto_confirm_paid,
                restock_on_cancel: set.restock_on_cancel,
                return_coupons_on_cancel: set.return_coupons_on_cancel,
                cart_mode: set.cart_mode.map(Into::into),
            })
        };
        finish(faults, change())
    }
}

/// Open a business
///
/// Only for the operator of the installation. The answer shows the first owner key, once.
#[utoipa::path(
    post, path = "/v1/businesses", operation_id = "openBusiness", tag = "Tenancy",
    security(("platform" = [])),
    request_body = CreateBusiness,
    responses((status = 201, description = "Opened", body = OpenedBusiness)),
)]
async fn open(
    operator: Operator,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateBusiness>,
) -> Result<Response, Problem> {
    let (business, key) = ready
        .engine
        .open_business(&operator.request, body.read()?)
        .await?;
    let opened = OpenedBusiness {
        business: (&*business).into(),
        api_key: (&key).into(),
    };
    let version = business.stamp.version;
    Ok(answer::created("/v1/business".to_owned(), version, opened))
}

/// List businesses
///
/// Only for the operator of the installation. Newest first.
#[utoipa::path(
    get, path = "/v1/businesses", operation_id = "listBusinesses", tag = "Tenancy",
    security(("platform" = [])),
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<BusinessView>)),
)]
async fn list(
    _operator: Operator,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let rows = ready.engine.businesses(listing.page(&ready, None)?).await?;
    Ok(listing.answer(&ready, None, rows, |row| BusinessView::from(row)))
}

/// Read the business
#[utoipa::path(
    get, path = "/v1/business", operation_id = "readBusiness", tag = "Tenancy",
    responses((status = 200, description = "The caller's business", body = BusinessView)),
)]
async fn read(caller: Caller, State(ready): State<Arc<Ready>>) -> Result<Response, Problem> {
    let found = ready
        .engine
        .business(&caller.context, Freshness::Fresh)
        .await;
    let business = found.map_err(|error| caller.problem(error))?;
    Ok(show(&business))
}

/// Change the business
///
/// Its name and policies. The currency never changes.
#[utoipa::path(
    patch, path = "/v1/business", operation_id = "changeBusiness", tag = "Tenancy",
    params(OptionalIfMatch),
    request_body = BusinessChange,
    responses((status = 200, description = "Changed", body = BusinessView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    seen: Option<IfMatch>,
    Body(body): Body<BusinessChange>,
) -> Result<Response, Problem> {
    let version = seen.map(|seen| seen.0);
    let changed = ready
        .engine
        .change_business(&caller.context, version, body.read()?)
        .await;
    let business = changed.map_err(|error| caller.problem(error))?;
    Ok(show(&business))
}

fn show(business: &Business) -> Response {
    answer::document(business.stamp.version, BusinessView::from(business))
}
