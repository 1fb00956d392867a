//! The OpenAPI document: what every operation has in common, around what the routes say.
//!
//! Owns titles, tags, credentials, the shared answers of refusals and the headers that routes
//! share. Each route is documented where it is registered, so none can be missing.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{IntoParams, Modify, OpenApi, PartialSchema, ToSchema};

use crate::problem::Code;

/// The version of a resource that the caller saw.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it documents a header that `etag` reads")]
pub(crate) struct RequiredIfMatch {
    /// The `ETag` of the version that the caller saw.
    #[param(rename = "If-Match", example = "\"3\"")]
    if_match: String,
}

/// The version of a resource that the caller saw, when it cares.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it documents a header that `etag` reads")]
pub(crate) struct OptionalIfMatch {
    /// The `ETag` of the version that the caller saw; another version is then refused.
    #[param(rename = "If-Match", example = "\"3\"", nullable = false)]
    if_match: Option<String>,
}

/// The key of an intention.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it documents a header that `idempotency` reads")]
pub(crate) struct RequiredKey {
    /// Names the intention: sent again with the same content, it gets the first answer again.
    #[param(
        rename = "Idempotency-Key",
        min_length = 1,
        max_length = 257,
        example = "5b0a3c9e-till-4-000184"
    )]
    idempotency_key: String,
}

/// The key of an intention, when the caller keeps one.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it documents a header that `idempotency` reads")]
pub(crate) struct OptionalKey {
    /// Names the intention: sent again with the same content, it gets the first answer again.
    #[param(
        rename = "Idempotency-Key",
        min_length = 1,
        max_length = 257,
        example = "5b0a3c9e-phone-7-000184",
        nullable = false
    )]
    idempotency_key: Option<String>,
}

/// Why a request was refused (RFC 9457). Some codes have fields of their own; their pages tell.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
#[serde(rename_all = "camelCase")]
struct ProblemView {
    /// The page that explains the code.
    #[schema(example = "/problems/validation")]
    r#type: String,
    #[schema(example = "The input is not valid")]
    title: String,
    #[schema(example = 422)]
    status: u16,
    /// About this occurrence.
    detail: String,
    /// Stable; programs can rely on it.
    #[schema(value_type = Code)]
    code: String,
    /// Finds the request in the log.
    request_id: String,
    /// All faults of the input, for `validation` and `unknown-field`.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<Vec<FaultView>>,
}

impl PartialSchema for Code {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Each has a page under `/problems/`."))
            .enum_values(Some(Self::ALL.iter().map(|code| code.name())))
            .into()
    }
}

impl ToSchema for Code {
    fn name() -> Cow<'static, str> {
        "ProblemCode".into()
    }
}

/// One fault of an input.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Fault)]
pub(crate) struct FaultView {
    /// JSON pointer into the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/items/0/quantity")]
    pointer: Option<String>,
    /// Name of a query parameter, in place of the pointer.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Stable; programs can rely on it.
    #[schema(example = "out-of-range")]
    code: &'static str,
    /// For people.
    #[schema(example = "at least 1")]
    message: String,
}

/// The frame of the document; the routes fill it.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Abasto",
        version = "1",
        description = "Orders and inventory of many businesses. Money is a decimal string, times \
            are RFC 3339 in UTC, ids are 24 hexadecimal digits. Every refusal is a problem \
            document (RFC 9457) with a stable code. An `Idempotency-Key` counts where a route \
            lists it, and is not read elsewhere.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "Tenancy", description = "Businesses, branches, credentials"),
        (name = "Catalogue", description = "Products"),
        (name = "Customers", description = "The people who buy"),
        (name = "Inventory", description = "Levels and movements of stock"),
        (name = "Coupons", description = "What takes something off a basket"),
        (name = "Checkouts", description = "Baskets that hold their units for a while"),
        (name = "Carts", description = "Edits that merge: no lock, no lost edit"),
        (name = "Orders", description = "Placing orders and working them off"),
        (name = "Payments", description = "Attempts to pay, refunds, messages of providers"),
        (name = "Returns", description = "Sold units that come back"),
        (name = "Health and meta", description = "About the process and this API"),
    ),
    components(schemas(ProblemView)),
    security(("bearer" = [])),
    modifiers(&Credentials),
)]
pub(crate) struct Frame;

struct Credentials;

impl Modify for Credentials {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = |description: &str| {
            let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
            SecurityScheme::Http(bearer.description(Some(description)).build())
        };
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(
            "bearer",
            scheme("An API key of a business, or a JWT of one of its members."),
        );
        components.add_security_scheme(
            "platform",
            scheme("The credential of the operator of the installation."),
        );
    }
}

/// The whole document: what the routes said, and the refusals that each can meet.
pub(crate) fn finish(document: &utoipa::openapi::OpenApi) -> Value {
    let mut document = serde_json::to_value(document).unwrap_or_default();
    document["components"]["responses"] = shared_responses();
    // Without a checkout, an order says itself what a checkout would say.
    let order = &mut document["components"]["schemas"]["PlaceOrder"];
    order["if"] = json!({"not": {"required": ["checkoutId"]}});
    let needed = ["branchId", "items", "fulfilment", "paymentMethod"];
    order["then"] = json!({"required": needed});
    let paths = document["paths"].as_object_mut();
    for (method, operation) in paths
        .into_iter()
        .flatten()
        .flat_map(|(_, item)| methods(item))
    {
        for status in refusals(method, operation) {
            operation["responses"][status] =
                json!({"$ref": format!("#/components/responses/{status}")});
        }
    }
    document
}

fn methods(item: &mut Value) -> impl Iterator<Item = (&str, &mut Value)> {
    let methods = item.as_object_mut().into_iter().flatten();
    methods
        .filter(|(_, operation)| operation.is_object())
        .map(|(method, operation)| (method.as_str(), operation))
}

/// The statuses of refusals that an operation can meet, by what it takes.
fn refusals(method: &str, operation: &Value) -> Vec<&'static str> {
    let public = operation["security"] == json!([{}]) || operation["security"] == json!([]);
    let parameters = operation["parameters"].as_array();
    let takes = |place: &str, name: Option<&str>| {
        parameters.into_iter().flatten().any(|parameter| {
            parameter["in"] == place && name.is_none_or(|name| parameter["name"] == name)
        })
    };
    let body = operation["requestBody"].is_object();
    let mut statuses = vec!["500", "503"];
    if !public {
        statuses.extend(["401", "403", "404", "429"]);
    }
    if !public && method != "get" {
        statuses.push("409");
    }
    if takes("path", None) {
        statuses.push("404");
    }
    if takes("query", None) {
        statuses.extend(["400", "422"]);
    }
    if takes("header", Some("webhook-signature")) {
        // A raw body, whatever it says it is.
        statuses.extend(["400", "401", "413"]);
    } else if body {
        statuses.extend(["400", "413", "415", "422"]);
    }
    if takes("header", Some("Idempotency-Key")) {
        statuses.push("400");
    }
    if takes("header", Some("If-Match")) {
        statuses.extend(["400", "412"]);
    }
    let required =
        |parameter: &Value| parameter["name"] == "If-Match" && parameter["required"] == true;
    if parameters.into_iter().flatten().any(required) {
        statuses.push("428");
    }
    // The document of readiness is its own answer with this status.
    statuses.retain(|status| operation["responses"][status].is_null());
    statuses
}

fn shared_responses() -> Value {
    let statuses: std::collections::BTreeSet<u16> =
        Code::ALL.iter().map(|code| code.status_number()).collect();
    let responses = statuses.into_iter().map(|status| {
        let codes: Vec<String> = Code::ALL
            .iter()
            .filter(|code| code.status_number() == status)
            .map(|code| format!("`{}`", code.name()))
            .collect();
        let response = json!({
            "description": codes.join(", "),
            "content": {"application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"}
            }}
        });
        (status.to_string(), response)
    });
    Value::Object(responses.collect())
}
