//! Customers over HTTP.

use std::sync::Arc;

use abasto_domain::customer::{self, Customer};
use abasto_domain::fault::{Fault, Faults};
use abasto_domain::id::CustomerId;
use abasto_domain::limits;
use abasto_domain::text::clean;
use abasto_engine::customer::{ChangeCustomer, NewCustomer};
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
use crate::value::{Id, Time, finish, nullable, optional};

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(read, change))
}

/// A customer of the business.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Customer)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CustomerView {
    id: Id,
    #[schema(example = "Ana María Gómez")]
    name: String,
    /// In E.164 form; unique in the business.
    #[schema(required = true, example = "+573001234567")]
    phone: Option<String>,
    /// Unique in the business among verified ones.
    #[schema(required = true, example = "ana@example.org")]
    email: Option<String>,
    #[schema(required = true)]
    email_verified_at: Option<Time>,
    version: i64,
    created_at: Time,
    updated_at: Time,
}

impl From<&Customer> for CustomerView {
    fn from(customer: &Customer) -> Self {
        Self {
            id: customer.id.into(),
            name: customer.name.clone(),
            phone: customer.phone.clone(),
            email: customer.email.clone(),
            email_verified_at: customer.email_verified_at.map(Time::from),
            version: customer.stamp.version,
            created_at: customer.stamp.created_at.into(),
            updated_at: customer.stamp.updated_at.into(),
        }
    }
}

/// A customer to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateCustomer {
    #[schema(min_length = 1, max_length = 200, example = "Ana María Gómez")]
    name: String,
    /// In E.164 form.
    #[schema(max_length = 16, example = "+573001234567")]
    phone: Option<String>,
    #[schema(max_length = 254, example = "ana@example.org")]
    email: Option<String>,
    /// When the address was verified; without it the address is not.
    email_verified_at: Option<Time>,
}

impl CreateCustomer {
    fn read(self) -> Result<NewCustomer, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let name = f.take("/name", clean(&self.name, limits::NAME));
        let phone = optional(f, "/phone", self.phone, |phone| customer::phone(&phone));
        let has_email = self.email.is_some();
        let email = optional(f, "/email", self.email, |email| customer::email(&email));
        if !has_email && self.email_verified_at.is_some() {
            f.push(without_email());
        }
        let verified = optional(f, "/emailVerifiedAt", self.email_verified_at, |at| {
            at.read()
        });
        let command = || {
            Some(NewCustomer {
                name: name?,
                phone: phone?,
                email: email?,
                email_verified_at: verified?,
            })
        };
        finish(faults, command())
    }
}

fn without_email() -> Fault {
    Fault {
        pointer: "/emailVerifiedAt".to_owned(),
        code: "not-allowed",
        message: "without an address there is nothing verified".into(),
    }
}

/// What is to change; what is left out stays as it is, null takes it away. A new address is not
/// verified unless the change says when it was.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ChangeCustomer)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CustomerChange {
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    name: Option<String>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<String>, max_length = 16)]
    phone: Option<Option<String>>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<String>, max_length = 254)]
    email: Option<Option<String>>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<Time>)]
    email_verified_at: Option<Option<Time>>,
}

impl CustomerChange {
    fn read(self) -> Result<ChangeCustomer, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let name = optional(f, "/name", self.name, |name| clean(&name, limits::NAME));
        let phone = nullable(f, "/phone", self.phone, |phone| customer::phone(&phone));
        let email = nullable(f, "/email", self.email, |email| customer::email(&email));
        let verified = nullable(f, "/emailVerifiedAt", self.email_verified_at, |at| {
            at.read()
        });
        let command = || {
            Some(ChangeCustomer {
                name: name?,
                phone: phone?,
                email: email?,
                email_verified_at: verified?,
            })
        };
        finish(faults, command())
    }
}

/// List customers
///
/// Newest first.
#[utoipa::path(
    get, path = "/v1/customers", operation_id = "listCustomers", tag = "Customers",
    params(PageParams),
    responses((status = 200, description = "A page", body = ListPage<CustomerView>)),
)]
async fn list(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    listing: Listing<NoFilter>,
) -> Result<Response, Problem> {
    let page = listing.page(&ready, caller.tenant())?;
    let rows = ready.engine.customers(&caller.context, page).await;
    let rows = rows.map_err(|error| caller.problem(error))?;
    Ok(listing.answer(&ready, caller.tenant(), rows, |row| {
        CustomerView::from(&**row)
    }))
}

/// Create a customer
#[utoipa::path(
    post, path = "/v1/customers", operation_id = "createCustomer", tag = "Customers",
    request_body = CreateCustomer,
    responses((status = 201, description = "Made", body = CustomerView)),
)]
async fn create(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    Body(body): Body<CreateCustomer>,
) -> Result<Response, Problem> {
    let made = ready
        .engine
        .create_customer(&caller.context, body.read()?)
        .await;
    let customer = made.map_err(|error| caller.problem(error))?;
    let location = format!("/v1/customers/{}", customer.id);
    Ok(answer::created(
        location,
        customer.stamp.version,
        CustomerView::from(&*customer),
    ))
}

/// Read a customer
#[utoipa::path(
    get, path = "/v1/customers/{id}", operation_id = "readCustomer", tag = "Customers",
    params(("id" = Id, Path, description = "The customer")),
    responses((status = 200, description = "The customer", body = CustomerView)),
)]
async fn read(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CustomerId>,
) -> Result<Response, Problem> {
    let found = ready.engine.customer(&caller.context, id).await;
    let customer = found.map_err(|error| caller.problem(error))?;
    Ok(show(&customer))
}

/// Change a customer
#[utoipa::path(
    patch, path = "/v1/customers/{id}", operation_id = "changeCustomer", tag = "Customers",
    params(("id" = Id, Path, description = "The customer"), RequiredIfMatch),
    request_body = CustomerChange,
    responses((status = 200, description = "Changed", body = CustomerView)),
)]
async fn change(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    PathId(id): PathId<CustomerId>,
    IfMatch(seen): IfMatch,
    Body(body): Body<CustomerChange>,
) -> Result<Response, Problem> {
    let changed = ready
        .engine
        .change_customer(&caller.context, id, seen, body.read()?)
        .await;
    let customer = changed.map_err(|error| caller.problem(error))?;
    Ok(show(&customer))
}

fn show(customer: &Customer) -> Response {
    answer::document(customer.stamp.version, CustomerView::from(customer))
}
