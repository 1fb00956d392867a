//! What an order costs above the store: routing, credential, body, schema, use case, answer. The
//! store is the model in memory, so its share is small; allocations are counted.
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use abasto_api::{App, CursorKey};
use abasto_engine::Engine;
use abasto_sim::model::ModelStore;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use divan::{AllocProfiler, Bencher};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const OPERATOR: &str = "the platform key of this bench, long";

fn main() {
    divan::main();
}

/// A router with a shop behind it.
struct Shop {
    runtime: Runtime,
    router: Router,
    bearer: String,
    count: AtomicU64,
}

impl Shop {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let engine = Engine::new(Arc::new(ModelStore::new())).unwrap();
        let mut app = App::new(engine, CursorKey::derive(b"secret"));
        app.platform_key = Some(OPERATOR.into());
        app.rates = None;
        let router = runtime.block_on(async { abasto_api::router(app).unwrap() });
        let mut shop = Self {
            runtime,
            router,
            bearer: format!("Bearer {OPERATOR}"),
            count: AtomicU64::new(0),
        };
        let business = json!({"name": "La Espiga", "currency": "COP", "timeZone": "UTC"});
        let opened = shop.send("POST", "/v1/businesses", &business.to_string());
        shop.bearer = format!("Bearer {}", opened["apiKey"]["secret"].as_str().unwrap());
        shop
    }

    fn send(&self, method: &str, path: &str, body: &str) -> Value {
        let key = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", &self.bearer)
            .header("content-type", "application/json")
            .header("idempotency-key", key)
            .body(Body::from(body.to_owned()))
            .unwrap();
        let bytes = self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            assert!(
                response.status().is_success(),
                "{path}: {}",
                response.status()
            );
            to_bytes(response.into_body(), usize::MAX).await.unwrap()
        });
        serde_json::from_slice(&bytes).unwrap()
    }

    fn id(&self, path: &str, body: &Value) -> String {
        self.send("POST", path, &body.to_string())["id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

fn order(shop: &Shop, lines: usize) -> String {
    let branch = json!({"code": "BOG", "name": "B", "timeZone": "UTC"});
    let branch = shop.id("/v1/branches", &branch);
    let products: Vec<String> = (0..lines)
        .map(|n| {
            shop.id(
                "/v1/products",
                &json!({"sku": n.to_string(), "name": "P", "salePrice": "1"}),
            )
        })
        .collect();
    let item = |id: &String| json!({"productId": id, "delta": 1_000_000, "reason": "receipt"});
    let stock = json!({"items": products.iter().map(item).collect::<Vec<_>>()});
    for _ in 0..10 {
        shop.send(
            "POST",
            &format!("/v1/branches/{branch}/inventory/adjustments"),
            &stock.to_string(),
        );
    }
    let item = |id: &String| json!({"productId": id, "quantity": 1});
    json!({
        "branchId": branch,
        "items": products.iter().map(item).collect::<Vec<_>>(),
        "customer": {"name": "Ana", "phone": "+573001234567"},
        "fulfilment": {"type": "pickup"},
        "paymentMethod": "on_delivery",
    })
    .to_string()
}

/// One order of so many lines, placed.
#[divan::bench(args = [1, 3, 20])]
fn place(bencher: Bencher<'_, '_>, lines: usize) {
    let shop = Shop::new();
    let order = order(&shop, lines);
    bencher.bench_local(|| shop.send("POST", "/v1/orders", &order));
}

/// The cheapest route with a credential: what every request pays.
#[divan::bench]
fn read_business(bencher: Bencher<'_, '_>) {
    let shop = Shop::new();
    bencher.bench_local(|| shop.send("GET", "/v1/business", ""));
}
