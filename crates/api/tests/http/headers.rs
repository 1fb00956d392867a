//! Headers: what each answer has, and what requests must and must not say.

use serde_json::json;

use crate::harness::{PLATFORM_KEY, World};

#[tokio::test]
async fn every_answer_has_a_request_id_and_is_not_stored() {
    let world = World::new();
    let shop = world.business("La Espiga").await;
    for answer in [
        world.call("GET", "/healthz").send().await,
        world.call("GET", "/nowhere").send().await,
        world.call("PUT", "/healthz").send().await,
        shop.get("/v1/business").await,
        shop.post("/v1/branches", &json!({})).await,
    ] {
        assert!(!answer.header("x-request-id").unwrap().is_empty());
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let own = world
        .call("GET", "/nowhere")
        .header("x-request-id", "my.Own_id-1")
        .send()
        .await;
    assert_eq!(own.header("x-request-id"), Some("my.Own_id-1"));
    assert_eq!(own.refused(404, "not-found")["requestId"], "my.Own_id-1");
    for other in ["", "a b", &"x".repeat(65), "<script>"] {
        let answer = world
            .call("GET", "/healthz")
            .header("x-request-id", other)
            .send()
            .await;
        assert_ne!(answer.header("x-request-id"), Some(other));
    }
}

#[tokio::test]
async fn problems_have_one_form() {
    let world = World::new();
    let call = world.call("GET", "/nowhere").header("x-request-id", "r1");
    insta::assert_json_snapshot!(call.send().await.json(), @r#"
    {
      "code": "not-found",
      "detail": "There is nothing here, or nothing that this credential may see.",
      "requestId": "r1",
      "status": 404,
      "title": "Not found",
      "type": "/problems/not-found"
    }
    "#);
}

#[tokio::test]
async fn a_wrong_method_names_the_right_ones() {
    let world = World::new();
    for (path, allowed) in [
        ("/v1/products", ["GET", "POST"].as_slice()),
        (
            "/v1/products/65f1c0ffee0123456789abcd",
            &["GET", "PATCH", "DELETE"],
        ),
        ("/v1/products:import", &["POST"]),
        ("/healthz", &["GET"]),
    ] {
        let answer = world.call("PUT", path).send().await;
        answer.refused(405, "method-not-allowed");
        let allow = answer.header("allow").unwrap();
        for method in allowed {
            assert!(allow.contains(method), "{path}: {allow}");
        }
        assert!(!allow.contains("PUT"));
    }
}

#[tokio::test]
async fn media_types_are_looked_at() {
    let shop = World::new().business("La Espiga").await;
    let branch = json!({"code": "BOG", "name": "B", "timeZone": "UTC"}).to_string();
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/merge-patch+json",
        "application/json; charset=latin1",
        "application/json; charset=\"iso-8859-1\"",
        "application/json;charset=utf-16",
        "application/json; version=1; Charset = UTF-16LE",
        "application/json; charset",
    ] {
        let answer = shop
            .call("POST", "/v1/branches")
            .text(media, &branch)
            .send()
            .await;
        answer.refused(415, "unsupported-media-type");
    }
    shop.call("POST", "/v1/branches")
        .send()
        .await
        .refused(415, "unsupported-media-type");
    shop.call("POST", "/v1/products:import")
        .text("application/json", "{}")
        .send()
        .await
        .refused(415, "unsupported-media-type");
    shop.call("POST", "/v1/products:import")
        .text("text/csv; charset=windows-1252", "sku\n")
        .send()
        .await
        .refused(415, "unsupported-media-type");
    for (path, media, body) in [
        ("/v1/branches", "application/json", branch.as_str()),
        (
            "/v1/products:import",
            "text/csv",
            "sku,name,salePrice\nA,A,1\n",
        ),
    ] {
        let call = shop.call("POST", path).text(media, body);
        let packed = call.header("content-encoding", "gzip").send().await;
        packed.refused(415, "unsupported-media-type");
    }
    for (code, media) in [
        ("B1", "Application/JSON; charset=utf-8"),
        ("B2", "application/json;charset=\"UTF-8\""),
        ("B3", "application/json; version=1; CHARSET=Utf-8"),
        ("B4", "application/json;"),
    ] {
        let branch = json!({"code": code, "name": "B", "timeZone": "UTC"}).to_string();
        let made = shop.call("POST", "/v1/branches").text(media, &branch);
        made.send().await.expect(201);
    }
}

#[tokio::test]
async fn routes_that_change_stock_or_orders_need_a_key() {
    let shop = World::new().business("La Espiga").await;
    let id = "65f1c0ffee0123456789abcd";
    let mut paths = vec!["/v1/orders".to_owned(), "/v1/transfers".to_owned()];
    for action in [
        "confirm", "prepare", "dispatch", "deliver", "cancel", "courier",
    ] {
        paths.push(format!("/v1/orders/{id}/{action}"));
    }
    for operation in ["adjustments", "counts"] {
        paths.push(format!("/v1/branches/{id}/inventory/{operation}"));
    }
    for path in paths {
        let call = |key: Option<&str>| {
            let call = shop.call("POST", &path).json(&json!({}));
            match key {
                Some(key) => call.key(key),
                None => call,
            }
        };
        call(None)
            .send()
            .await
            .refused(400, "idempotency-key-missing");
        for bad in ["", "\"\"", "a b", &"k".repeat(256), "\"a"] {
            let answer = call(Some(bad)).send().await;
            if bad != "\"a" {
                answer.refused(400, "idempotency-key-invalid");
            }
        }
        call(Some("a"))
            .key("b")
            .send()
            .await
            .refused(400, "idempotency-key-invalid");
    }
}

#[tokio::test]
async fn changes_need_the_version_that_was_seen() {
    let shop = World::new().business("La Espiga").await;
    let product = shop.product("PAN-1", "1").await;
    let branch = shop.branch("BOG").await;
    let customer = shop.made(&shop.post("/v1/customers", &json!({"name": "Ana"})).await);
    let paths = [
        ("PATCH", format!("/v1/products/{product}")),
        ("DELETE", format!("/v1/products/{product}")),
        ("PATCH", format!("/v1/branches/{branch}")),
        ("PATCH", format!("/v1/customers/{customer}")),
    ];
    for (method, path) in &paths {
        let call = || shop.call(method, path).json(&json!({"name": "Other"}));
        call().send().await.refused(428, "precondition-required");
        call()
            .header("if-match", "1")
            .send()
            .await
            .refused(400, "malformed-header");
        for stale in ["\"2\"", "W/\"1\"", "\"x\""] {
            let refused = call().header("if-match", stale).send().await;
            let body = refused.refused(412, "version-mismatch");
            assert_eq!(
                (&body["currentVersion"], &body["current"]["version"]),
                (&json!(1), &json!(1))
            );
        }
    }
    let business = shop
        .call("PATCH", "/v1/business")
        .json(&json!({"settings": {"holdMinutes": 20}}));
    assert_eq!(
        business.send().await.expect(200)["settings"]["holdMinutes"],
        20
    );
    let business = shop
        .call("PATCH", "/v1/business")
        .header("if-match", "\"1\"")
        .json(&json!({}));
    business.send().await.refused(412, "version-mismatch");
}

#[tokio::test]
async fn the_clock_moves_only_where_it_may_and_for_the_operator() {
    let bearer = format!("Bearer {PLATFORM_KEY}");
    let advance = async |world: &World, ms: i64| {
        let call = world
            .call("POST", "/test/clock")
            .header("authorization", &bearer);
        call.json(&json!({"advanceMs": ms})).send().await
    };
    let absent = World::with(|app| app.test_clock = abasto_api::TestClock::Absent);
    advance(&absent, 1).await.refused(404, "not-found");
    let world = World::new();
    let time =
        |answer: crate::harness::Answer| answer.expect(200)["now"].as_str().unwrap().to_owned();
    let before = time(advance(&world, 1).await);
    let after = time(advance(&world, 86_400_000).await);
    assert!(after[..10] > before[..10], "{before} {after}");
    assert_eq!(
        advance(&world, -1).await.faults(),
        [("/advanceMs".into(), "out-of-range".into())]
    );
    let shop = world.business("La Espiga").await;
    let call = shop
        .call("POST", "/test/clock")
        .json(&json!({"advanceMs": 1}));
    call.send().await.refused(404, "not-found");
}

#[tokio::test]
async fn health_and_limits_are_open() {
    let world = World::with(|app| {
        app.metrics = Some(std::sync::Arc::new(|| "abasto_up 1\n".to_owned()));
    });
    world.call("GET", "/healthz").send().await.expect(200);
    assert_eq!(
        world.call("GET", "/readyz").send().await.expect(200)["reasons"],
        json!([])
    );
    assert_eq!(
        world.call("GET", "/v1/limits").send().await.expect(200)["quantityMax"],
        1_000_000
    );
    assert_eq!(
        world.call("GET", "/metrics").send().await.bytes,
        b"abasto_up 1\n"
    );
    let draining = World::with(|app| {
        app.not_ready = std::sync::Arc::new(|| vec!["draining".to_owned()]);
    });
    let answer = draining.call("GET", "/readyz").send().await;
    assert_eq!(answer.expect(503)["reasons"], json!(["draining"]));
}
