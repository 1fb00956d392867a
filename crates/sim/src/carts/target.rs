//! Whom the clients ask: Abasto, or a server that takes a lock. Both speak the same requests.
//!
//! Owns making carts, the edit that is measured, and counting units afterwards.

use std::sync::Arc;

use abasto_client::{Call, Connection, Endpoint};
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::load::business::{Business, Identified};
use crate::load::server::Server;

/// Lines of each cart; the document says the number too.
const PRODUCTS: usize = 10;
/// How often one product may be in a cart; more than any run adds.
const UNITS_MAX: u32 = 1_000_000;

/// A server of carts.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) endpoint: Endpoint,
    authorization: HeaderValue,
    opening: Arc<str>,
    products: Arc<[String]>,
}

impl Target {
    /// A server that takes a lock; it knows the products that it is told.
    pub(super) fn lock(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            authorization: HeaderValue::from_static("Bearer none"),
            opening: "{}".into(),
            products: (0..PRODUCTS)
                .map(|number| format!("{number:024x}"))
                .collect(),
        }
    }

    /// Abasto with a new business, whose carts are in this mode.
    pub(super) async fn abasto(server: &Server, mode: &str) -> Result<Self> {
        let mut business = Business::open(server, "Carts").await?;
        let mut products = Vec::with_capacity(PRODUCTS);
        for number in 0..PRODUCTS {
            let product = json!({"sku": format!("P-{number}"), "name": format!("Product {number}"),
                "salePrice": "3.50", "maxPerOrder": UNITS_MAX});
            let call = Call::post("/v1/products", &product)?;
            let made = business.client.call(&call).await?;
            products.push(made.json::<Identified>()?.id);
        }
        let opening = json!({"branchId": business.branch, "mode": mode}).to_string();
        Ok(Self {
            endpoint: server.endpoint.clone(),
            authorization: HeaderValue::from_str(&format!("Bearer {}", business.key))?,
            opening: opening.into(),
            products: products.into(),
        })
    }

    fn request(&self, method: &str, path: &str, body: String) -> Result<Request<Full<Bytes>>> {
        Ok(Request::builder()
            .method(method)
            .uri(path)
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))?)
    }

    /// Makes a cart and gives its id.
    pub(super) async fn open(&self, connection: &mut Connection) -> Result<String> {
        let request = self.request("POST", "/v1/carts", self.opening.to_string())?;
        let (parts, body) = connection.send(request).await?;
        if !parts.status.is_success() {
            bail!("a cart was refused: {}", String::from_utf8_lossy(&body));
        }
        Ok(serde_json::from_slice::<Identified>(&body)?.id)
    }

    /// The edit with this number: one unit more of one of the products.
    pub(super) fn edit(&self, cart: &str, number: usize) -> Result<Request<Full<Bytes>>> {
        let product = &self.products[number % self.products.len()];
        let body = format!(
            "{{\"ops\":[{{\"op\":\"addItem\",\"productId\":\"{product}\",\"quantity\":1}}]}}"
        );
        self.request("PATCH", &format!("/v1/carts/{cart}"), body)
    }

    /// The units that are in a cart.
    pub(super) async fn units(&self, connection: &mut Connection, cart: &str) -> Result<u64> {
        let request = self.request("GET", &format!("/v1/carts/{cart}"), String::new())?;
        let (_, body) = connection.send(request).await?;
        let view: Value = serde_json::from_slice(&body)?;
        let lines = view["lines"].as_array().context("a cart without lines")?;
        Ok(lines
            .iter()
            .filter_map(|line| line["quantity"].as_u64())
            .sum())
    }
}
