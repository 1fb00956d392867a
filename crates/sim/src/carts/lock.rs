//! The HTTP server of a lock: carts as documents, changed by whoever holds the lock.
//!
//! Owns its routes, on the HTTP framework of Abasto, with answers of the same shape. It has no
//! tenants, credentials, schemas or history: what it leaves out speaks for the lock.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::postgres::PostgresCarts;
use super::redis::RedisCarts;

/// Where the lock is.
#[derive(Debug, Args)]
pub struct LockArguments {
    /// `redis://…` or `postgresql://…`.
    url: String,
}

/// A cart as such a shop stores it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Basket {
    lines: BTreeMap<String, u64>,
}

impl Basket {
    pub(super) fn add(&mut self, step: Step<'_>) {
        *self.lines.entry(step.product.to_owned()).or_default() += step.quantity;
    }

    fn view(&self, id: &str) -> Value {
        let cents = |units: &u64| format!("{}.{:02}", units * 350 / 100, units * 350 % 100);
        let lines = self.lines.iter().map(|(product, units)| {
            json!({"line": product, "productId": product, "sku": product, "name": "Product",
                "quantity": units, "unitPrice": "3.50", "subtotal": cents(units),
                "options": {}, "attributes": {}, "flags": []})
        });
        let total = cents(&self.lines.values().sum());
        json!({"id": id, "status": "active", "lines": lines.collect::<Vec<_>>(), "coupons": [],
            "estimate": {"subtotal": total, "discount": "0.00", "tax": "0.00", "total": total}})
    }
}

/// What to add.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    product: &'a str,
    quantity: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// The lock was not free in time.
    #[error("the lock was not free in time")]
    Busy,
    #[error(transparent)]
    Redis(#[from] ::redis::RedisError),
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Busy => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, self.to_string()).into_response()
    }
}

#[derive(Debug)]
enum Carts {
    Redis(RedisCarts),
    Postgres(PostgresCarts),
}

#[derive(Debug)]
struct Shop {
    carts: Carts,
    next: AtomicU64,
}

impl Shop {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

#[derive(Debug, Deserialize)]
struct Patch {
    ops: Vec<Operation>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    product_id: String,
    quantity: u64,
}

/// Serves until it is told to end; the first line says where.
pub fn serve(arguments: &LockArguments) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(listen(&arguments.url))
}

async fn listen(url: &str) -> Result<()> {
    let carts = if url.starts_with("redis:") {
        Carts::Redis(RedisCarts::connect(url).await?)
    } else {
        Carts::Postgres(PostgresCarts::connect(url).await?)
    };
    let shop = Shop {
        carts,
        next: AtomicU64::new(1),
    };
    let router = Router::new()
        .route("/v1/carts", post(open))
        .route("/v1/carts/{id}", get(read).patch(edit))
        .with_state(Arc::new(shop));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}", listener.local_addr()?)?;
    Ok(axum::serve(listener, router).await?)
}

async fn open(State(shop): State<Arc<Shop>>) -> Result<Response, Failed> {
    let id = format!("{:024x}", shop.number());
    if let Carts::Postgres(carts) = &shop.carts {
        carts.open(&id).await?;
    }
    let view = Basket::default().view(&id);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

async fn read(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Failed> {
    let basket = match &shop.carts {
        Carts::Redis(carts) => carts.read(&id).await?,
        Carts::Postgres(carts) => carts.read(&id).await?,
    };
    Ok(Json(basket.view(&id)))
}

async fn edit(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<String>,
    Json(patch): Json<Patch>,
) -> Result<Json<Value>, Failed> {
    let [operation] = patch.ops.as_slice() else {
        return Err(anyhow::anyhow!("one operation").into());
    };
    let step = Step {
        product: &operation.product_id,
        quantity: operation.quantity,
    };
    let basket = match &shop.carts {
        Carts::Redis(carts) => carts.add(&id, shop.number(), step).await?,
        Carts::Postgres(carts) => carts.add(&id, step).await?,
    };
    Ok(Json(basket.view(&id)))
}
