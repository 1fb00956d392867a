//! What the edge makes of panics, of too many requests and of callers who go away.

use abasto_engine::Engine;
use abasto_sim::model::ModelStore;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request as HttpRequest;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::{App, CursorKey, TestClock, assemble, routes};

const OPERATOR: &str = "Bearer the operator of these tests, long enough";

fn router(choose: impl FnOnce(&mut App)) -> Router {
    let engine = Engine::new(Arc::new(ModelStore::new())).unwrap();
    let mut app = App::new(engine, CursorKey::derive(b"secret"));
    app.platform_key = Some(OPERATOR.trim_start_matches("Bearer ").into());
    choose(&mut app);
    let broken = async || -> &'static str { panic!("the secret reason") };
    assemble(routes(TestClock::Absent).route("/broken", get(broken)), app).unwrap()
}

fn request(method: &str, path: &str, credential: &str, body: &Value) -> HttpRequest<Body> {
    HttpRequest::builder()
        .method(method)
        .uri(path)
        .header("authorization", credential)
        .header("content-type", "application/json")
        .header("idempotency-key", "key")
        .body(Body::from(body.to_string()))
        .unwrap()
}

async fn send(router: &Router, request: HttpRequest<Body>) -> (u16, Value) {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// A new business: the bearer of its owner.
async fn owner(router: &Router) -> String {
    let body = json!({"name": "La Espiga", "currency": "COP", "timeZone": "UTC"});
    let (_, opened) = send(router, request("POST", "/v1/businesses", OPERATOR, &body)).await;
    format!("Bearer {}", opened["apiKey"]["secret"].as_str().unwrap())
}

#[tokio::test]
async fn a_panic_is_an_internal_problem_without_its_reason() {
    let router = router(|_| {});
    let (status, body) = send(&router, request("GET", "/broken", "", &Value::Null)).await;
    assert_eq!((status, &body["code"]), (500, &json!("internal")));
    assert!(!body.to_string().contains("secret reason"));
    assert!(body["requestId"].is_string());
}

#[tokio::test]
async fn without_a_free_place_only_the_process_answers() {
    let router = router(|app| app.requests_max = 0);
    let get = |path: &str| request("GET", path, "", &Value::Null);
    let (status, body) = send(&router, get("/v1/limits")).await;
    assert_eq!((status, &body["code"]), (503, &json!("overloaded")));
    assert_eq!(send(&router, get("/healthz")).await.0, 200);
}

#[tokio::test]
async fn a_caller_who_goes_away_cancels_nothing() {
    let router = router(|_| {});
    let owner = owner(&router).await;
    let branch = json!({"code": "BOG", "name": "B", "timeZone": "UTC"});
    let create = request("POST", "/v1/branches", &owner, &branch);
    // Polled once, up to where the command runs in its own task, and dropped.
    assert!(router.clone().oneshot(create).now_or_never().is_none());
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let list = request("GET", "/v1/branches", &owner, &Value::Null);
    let (_, listed) = send(&router, list).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

#[test]
fn requests_and_refusals_are_counted_by_template_and_never_by_id() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    metrics::with_local_recorder(&recorder, || {
        runtime.block_on(async {
            let router = router(|_| {});
            let owner = owner(&router).await;
            let path = "/v1/products/65f1c0ffee0123456789abcd";
            for _ in 0..2 {
                send(&router, request("GET", path, &owner, &Value::Null)).await;
            }
            send(&router, request("GET", "/nowhere/65f1", "", &Value::Null)).await;
            send(&router, request("GET", "/broken", "", &Value::Null)).await;
        });
    });
    let text = metrics.render();
    for line in [
        r#"abasto_http_requests_total{route="/v1/products/{id}",method="GET",status="4xx"} 2"#,
        r#"abasto_http_refusals_total{route="/v1/products/{id}",code="not-found"} 2"#,
        r#"abasto_http_requests_total{route="/v1/businesses",method="POST",status="2xx"} 1"#,
        r#"abasto_http_requests_total{route="none",method="any",status="4xx"} 1"#,
        "abasto_http_panics_total 1",
    ] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    assert!(!text.contains("65f1"), "{text}");
}
