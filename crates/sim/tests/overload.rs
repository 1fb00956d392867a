//! More than the store can take, over the whole way from HTTP to a file: who sends too much is told
//! to come back, who sends little is not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_api::{App, CursorKey};
use abasto_engine::Engine;
use abasto_store_sqlite::{Limits, Options, SqliteStore};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tower::ServiceExt;

const PLATFORM_KEY: &str = "the platform key of the overload test";
/// Units that may wait for one business, and go into one commit.
const WAITING: usize = 8;
const GROUP: usize = 4;
const SENT: usize = 60;

async fn send(router: &Router, key: &str, request: (&str, &str, &str, Value)) -> Response<Body> {
    let (method, path, operation, body) = request;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("idempotency-key", operation)
        .body(Body::from(body.to_string()));
    router.clone().oneshot(request.unwrap()).await.unwrap()
}

async fn read(response: Response<Body>) -> Value {
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// A business with one stocked product.
#[derive(Clone)]
struct Shop {
    router: Router,
    key: String,
    order: Value,
}

impl Shop {
    async fn open(router: &Router, name: &str) -> Self {
        let body = json!({"name": name, "currency": "COP", "timeZone": "UTC"});
        let opened = send(router, PLATFORM_KEY, ("POST", "/v1/businesses", "b", body));
        let key = read(opened.await).await["apiKey"]["secret"].clone();
        let key = key.as_str().unwrap().to_owned();
        let make = async |path: &str, body: Value| {
            let made = send(router, &key, ("POST", path, path, body)).await;
            assert_eq!(made.status(), 201, "{path}");
            read(made).await["id"].clone()
        };
        let branch = json!({"code": "BOG", "name": "B", "timeZone": "UTC"});
        let branch = make("/v1/branches", branch).await;
        let product = json!({"sku": "A", "name": "A", "salePrice": "1"});
        let product = make("/v1/products", product).await;
        let receipt =
            json!({"items": [{"productId": product, "delta": 1000, "reason": "receipt"}]});
        let path = format!(
            "/v1/branches/{}/inventory/adjustments",
            branch.as_str().unwrap()
        );
        make(&path, receipt).await;
        let order = json!({
            "branchId": branch, "items": [{"productId": product, "quantity": 1}],
            "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery",
        });
        Self {
            router: router.clone(),
            key,
            order,
        }
    }

    async fn place(self, operation: String) -> (String, Response<Body>) {
        let request = ("POST", "/v1/orders", operation.as_str(), self.order.clone());
        let placed = send(&self.router, &self.key, request).await;
        (operation, placed)
    }

    /// The numbers of its orders.
    async fn numbers(&self) -> BTreeSet<String> {
        let request = ("GET", "/v1/orders?limit=200", "l", Value::Null);
        let listed = read(send(&self.router, &self.key, request).await).await;
        let items = listed["items"].as_array().unwrap().iter();
        items
            .map(|order| order["number"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_full_queue_says_when_to_come_back_and_is_full_for_its_business_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let mut options = Options::new(&path);
    options.limits = Limits {
        lane: WAITING,
        business: WAITING,
        total: 1_000,
        group: GROUP,
    };
    let engine = Engine::new(Arc::new(SqliteStore::open(options).unwrap())).unwrap();
    let mut app = App::new(engine, CursorKey::derive(b"a secret of the overload test"));
    app.platform_key = Some(PLATFORM_KEY.into());
    let router = abasto_api::router(app).unwrap();
    let large = Shop::open(&router, "Large").await;
    let small = Shop::open(&router, "Small").await;

    // Somebody else holds the file, so that nothing is committed for now.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut sent = JoinSet::new();
    for number in 0..SENT {
        sent.spawn(large.clone().place(format!("large-{number}")));
    }
    // All but those that wait or are being committed are refused, and at once.
    let mut refused = Vec::new();
    while refused.len() < SENT - WAITING - GROUP {
        let (operation, answer) = sent.join_next().await.unwrap().unwrap();
        assert_eq!(answer.status(), 503);
        assert!(answer.headers().contains_key("retry-after"));
        assert_eq!(read(answer).await["code"], "overloaded");
        refused.push(operation);
    }
    let little = tokio::spawn(small.clone().place("small".to_owned()));
    other.execute_batch("ROLLBACK").unwrap();

    let (_, placed) = little.await.unwrap();
    assert_eq!(placed.status(), 201, "the small one is not refused");
    while let Some(ended) = sent.join_next().await {
        let (operation, answer) = ended.unwrap();
        match answer.status().as_u16() {
            201 => {}
            503 => refused.push(operation),
            other => panic!("{other}"),
        }
    }
    for operation in refused {
        let (_, placed) = large.clone().place(operation).await;
        assert_eq!(placed.status(), 201, "what was refused left nothing behind");
    }
    let numbers = large.numbers().await;
    assert_eq!(numbers.len(), SENT);
    assert!(numbers.last().unwrap().ends_with("-000060"), "{numbers:?}");
    assert_eq!(small.numbers().await.len(), 1);
}
