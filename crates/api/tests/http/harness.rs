//! A router with an operator and a business in it, and what tests ask of it.

use abasto_api::{App, CursorKey, TestClock};
use abasto_engine::Engine;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::store::{self, Kept};

pub(crate) const PLATFORM_KEY: &str = "the platform key of these tests, long";

/// An installation.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) router: Router,
    // Dropped behind the router, which uses what this holds.
    _kept: Kept,
}

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&self.bytes));
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body, when the status is this one.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.bytes)
        );
        if self.bytes.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// The body of a problem of this code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        body
    }

    /// The pointers and codes of the faults of a problem.
    pub(crate) fn faults(&self) -> Vec<(String, String)> {
        let body = self.json();
        let faults = body["errors"].as_array().cloned().unwrap_or_default();
        faults
            .iter()
            .map(|fault| {
                let place = fault.get("parameter").or_else(|| fault.get("pointer"));
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                (text(place.unwrap()), text(&fault["code"]))
            })
            .collect()
    }
}

/// A request under way.
pub(crate) struct Call {
    router: Router,
    request: axum::http::request::Builder,
    body: Body,
}

impl Call {
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text("application/json", &body.to_string())
    }

    pub(crate) fn text(mut self, media: &str, body: &str) -> Self {
        self.request = self.request.header("content-type", media);
        self.body = Body::from(body.to_owned());
        self
    }

    pub(crate) fn bytes(mut self, media: &str, body: &[u8]) -> Self {
        self.request = self.request.header("content-type", media);
        self.body = Body::from(body.to_vec());
        self
    }

    pub(crate) async fn send(self) -> Answer {
        let request = self.request.body(self.body).unwrap();
        let response = self.router.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            bytes: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// An installation with other choices.
    pub(crate) fn with(choose: impl FnOnce(&mut App)) -> Self {
        let (store, kept) = store::open();
        let engine = Engine::new(store).unwrap();
        let mut app = App::new(engine, CursorKey::derive(b"a secret of these tests"));
        app.platform_key = Some(PLATFORM_KEY.into());
        app.test_clock = TestClock::Present;
        choose(&mut app);
        Self {
            router: abasto_api::router(app).unwrap(),
            _kept: kept,
        }
    }

    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        Call {
            router: self.router.clone(),
            request: Request::builder().method(method).uri(path),
            body: Body::empty(),
        }
    }

    /// Opens a business and answers what its owner can do.
    pub(crate) async fn business(&self, name: &str) -> Shop {
        let opened = self
            .call("POST", "/v1/businesses")
            .header("authorization", &format!("Bearer {PLATFORM_KEY}"))
            .json(&json!({"name": name, "currency": "COP", "timeZone": "America/Bogota"}))
            .send()
            .await
            .expect(201);
        Shop {
            world: self.clone(),
            credential: opened["apiKey"]["secret"].as_str().unwrap().to_owned(),
        }
    }
}

/// A caller of a business.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) world: World,
    pub(crate) credential: String,
}

impl Shop {
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        let bearer = format!("Bearer {}", self.credential);
        self.world
            .call(method, path)
            .header("authorization", &bearer)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path).json(body).send().await
    }

    /// Makes something and answers its id.
    #[track_caller]
    pub(crate) fn made(&self, answer: &Answer) -> String {
        answer.expect(201)["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn branch(&self, code: &str) -> String {
        let body = json!({"code": code, "name": code, "timeZone": "America/Bogota"});
        let answer = self.post("/v1/branches", &body).await;
        self.made(&answer)
    }

    pub(crate) async fn product(&self, sku: &str, price: &str) -> String {
        let body = json!({"sku": sku, "name": sku, "salePrice": price});
        let answer = self.post("/v1/products", &body).await;
        self.made(&answer)
    }

    pub(crate) async fn stock(&self, branch: &str, product: &str, units: i64) {
        let body = json!({"items": [{"productId": product, "delta": units, "reason": "receipt"}]});
        let path = format!("/v1/branches/{branch}/inventory/adjustments");
        let key = format!("stock-{branch}-{product}-{units}");
        self.call("POST", &path)
            .key(&key)
            .json(&body)
            .send()
            .await
            .expect(201);
    }

    /// Another credential of the same business.
    pub(crate) async fn key(&self, body: &Value) -> Self {
        let made = self.post("/v1/api-keys", body).await.expect(201);
        Self {
            world: self.world.clone(),
            credential: made["secret"].as_str().unwrap().to_owned(),
        }
    }
}
