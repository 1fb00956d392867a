//! Where carts end: bounds at the limit and one over, what does not belong into a request, who
//! reaches which cart, merges that cannot be.

use serde_json::{Value, json};

use crate::cart::{Corner, patch};
use crate::harness::{Answer, Shop};

fn path(cart: &Value) -> String {
    format!("/v1/carts/{}", cart["id"].as_str().unwrap())
}

#[track_caller]
fn over(answer: &Answer, bound: &str) {
    assert_eq!(answer.refused(422, "cart-limit")["bound"], bound);
}

impl Corner {
    /// Puts in a unit of a line of its own.
    fn option(&self, number: usize) -> Value {
        let options = json!({"n": number.to_string()});
        json!({"op": "addItem", "productId": self.product, "options": options, "quantity": 1})
    }

    async fn lease(&self, cart: &Value) -> Answer {
        self.shop
            .post(&format!("{}/devices", path(cart)), &json!({}))
            .await
    }

    async fn unchanged_after(&self, cart: &Value, before: &Value) {
        let now = self.shop.get(&path(cart)).await.expect(200);
        assert_eq!(&now, before, "a refused patch leaves nothing");
    }
}

#[tokio::test]
async fn a_cart_takes_500_lines_and_a_patch_50_operations() {
    let corner = Corner::new().await;
    for mode in ["crdt", "occ"] {
        let cart = corner.open(&corner.shop, mode).await;
        for patches in 0..10 {
            let ops: Vec<_> = (0..50).map(|at| corner.option(patches * 50 + at)).collect();
            patch(&corner.shop, &cart, json!({ "ops": ops }))
                .await
                .expect(200);
        }
        let full = corner.shop.get(&path(&cart)).await.expect(200);
        assert_eq!(full["lines"].as_array().unwrap().len(), 500, "{mode}");
        let problems = full["problems"].as_array().unwrap();
        assert!(
            problems
                .iter()
                .any(|problem| problem["code"] == "too-many-lines" && problem["count"] == 500)
        );
        let more = json!({"ops": [corner.option(0), corner.option(500)]});
        over(&patch(&corner.shop, &cart, more).await, "lines");
        corner.unchanged_after(&cart, &full).await;
        patch(&corner.shop, &cart, json!({"ops": [corner.option(0)]}))
            .await
            .expect(200);
    }
    let cart = corner.open(&corner.shop, "crdt").await;
    let ops: Vec<_> = (0..51).map(|_| corner.add(1)).collect();
    let many = patch(&corner.shop, &cart, json!({ "ops": ops })).await;
    many.refused(422, "validation");
    assert_eq!(many.faults()[0].0, "/ops");
    let none = patch(&corner.shop, &cart, json!({"ops": []})).await;
    none.refused(422, "validation");
    assert_eq!(none.faults()[0].0, "/ops");
}

#[tokio::test]
async fn a_cart_takes_32_devices_and_each_256_numbers_ahead() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "crdt").await;
    let spare = corner.lease(&cart).await.expect(201);
    for _ in 0..32 {
        let lease = corner.lease(&cart).await.expect(201);
        let body = json!({"device": lease["device"], "seq": 1, "ops": [corner.add(1)]});
        patch(&corner.shop, &cart, body).await.expect(200);
    }
    over(&corner.lease(&cart).await, "devices");
    let late = json!({"device": spare["device"], "seq": 1, "ops": [corner.add(1)]});
    over(&patch(&corner.shop, &cart, late).await, "devices");
    // Without a device there is no such bound.
    let view = patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]})).await;
    assert_eq!(view.expect(200)["lines"][0]["quantity"], 33);

    let cart = corner.open(&corner.shop, "crdt").await;
    let lease = corner.lease(&cart).await.expect(201);
    let at = |seq: u64| json!({"device": lease["device"], "seq": seq, "ops": [corner.add(1)]});
    over(&patch(&corner.shop, &cart, at(257)).await, "numbers ahead");
    patch(&corner.shop, &cart, at(256)).await.expect(200);
    let first = patch(&corner.shop, &cart, at(1)).await.expect(200);
    assert_eq!(first["lines"][0]["quantity"], 2);
}

#[tokio::test]
async fn quantities_attributes_coupons_and_clocks_have_their_bounds() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "crdt").await;
    let view = patch(&corner.shop, &cart, json!({"ops": [corner.add(1_000_000)]}))
        .await
        .expect(200);
    assert_eq!(view["lines"][0]["quantity"], 999);
    assert_eq!(view["lines"][0]["flags"], json!(["clamped"]));
    for units in [0, 1_000_001] {
        let out = patch(&corner.shop, &cart, json!({"ops": [corner.add(units)]})).await;
        out.refused(422, "validation");
        assert_eq!(out.faults()[0].0, "/ops/0/quantity", "{units}");
    }
    let line = view["lines"][0]["line"].clone();
    let name = |number: usize| json!({"op": "setAttribute", "line": line, "name": format!("a{number}"), "value": "x"});
    let ops: Vec<_> = (0..16).map(name).collect();
    patch(&corner.shop, &cart, json!({ "ops": ops }))
        .await
        .expect(200);
    over(
        &patch(&corner.shop, &cart, json!({"ops": [name(16)]})).await,
        "attributes of a line",
    );
    let code = |number: usize| json!({"op": "applyCoupon", "code": format!("C-{number}")});
    let ops: Vec<_> = (0..10).map(code).collect();
    patch(&corner.shop, &cart, json!({ "ops": ops }))
        .await
        .expect(200);
    over(
        &patch(&corner.shop, &cart, json!({"ops": [code(10)]})).await,
        "coupons",
    );
    let full = corner.shop.get(&path(&cart)).await.expect(200);
    let skewed = json!({"hlc": (4_102_444_800_000_u64 << 16).to_string(), "ops": [corner.add(1)]});
    let skewed = patch(&corner.shop, &cart, skewed)
        .await
        .refused(422, "clock-skew");
    assert!(skewed["aheadMs"].as_u64().unwrap() > 60_000);
    assert!(skewed["serverTime"].is_string());
    corner.unchanged_after(&cart, &full).await;
}

#[tokio::test]
async fn what_does_not_belong_into_an_operation_is_refused_with_its_place() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "crdt").await;
    let product = &corner.product;
    let refused = [
        (
            json!({"op": "addItem", "productId": product, "quantity": 1, "unitPrice": "1.00"}),
            "/ops/0/unitPrice",
        ),
        (
            json!({"op": "addItem", "productId": product, "quantity": 1, "by": 1}),
            "/ops/0/by",
        ),
        (
            json!({"op": "addItem", "productId": product}),
            "/ops/0/quantity",
        ),
        (json!({"op": "addItem", "quantity": 1}), "/ops/0/productId"),
        (
            json!({"op": "setQuantity", "line": "nothing", "quantity": 1}),
            "/ops/0/line",
        ),
        (
            json!({"op": "increment", "line": product, "by": 0}),
            "/ops/0/by",
        ),
        (json!({"op": "clear", "line": product}), "/ops/0/line"),
        (
            json!({"op": "setField", "field": "total", "value": "1"}),
            "/ops/0/field",
        ),
        (
            json!({"op": "setField", "field": "note", "value": {"a": "b"}}),
            "/ops/0/value",
        ),
        (json!({"op": "replace", "value": "x"}), "/ops/0/op"),
    ];
    for (operation, pointer) in refused {
        let answer = patch(&corner.shop, &cart, json!({"ops": [operation]})).await;
        assert_eq!(answer.status, 422, "{operation}");
        let places: Vec<_> = answer.faults().into_iter().map(|fault| fault.0).collect();
        assert_eq!(places, [pointer], "{operation}: {}", answer.json());
    }
    let top = patch(
        &corner.shop,
        &cart,
        json!({"ops": [corner.add(1)], "total": "1.00"}),
    )
    .await;
    top.refused(422, "unknown-field");
    let half = patch(
        &corner.shop,
        &cart,
        json!({"seq": 1, "ops": [corner.add(1)]}),
    )
    .await;
    assert_eq!(half.faults()[0].0, "/device");
    // One bad operation keeps the good ones out.
    let mixed = json!({"ops": [corner.add(1), {"op": "increment", "line": "nothing", "by": 1}]});
    patch(&corner.shop, &cart, mixed)
        .await
        .refused(422, "validation");
    corner
        .unchanged_after(&cart, &corner.shop.get(&path(&cart)).await.json())
        .await;
    assert_eq!(
        corner.shop.get(&path(&cart)).await.json()["lines"],
        json!([])
    );
}

#[tokio::test]
async fn a_cart_is_neither_replaced_nor_removed() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "crdt").await;
    for method in ["PUT", "DELETE", "POST"] {
        let call = corner.shop.call(method, &path(&cart)).json(&cart);
        let refused = call.send().await;
        refused.refused(405, "method-not-allowed");
        let allow = refused.header("allow").unwrap();
        assert!(
            allow.contains("GET") && allow.contains("PATCH") && !allow.contains("PUT"),
            "{allow}"
        );
    }
    let bad = corner
        .shop
        .get(&format!("{}?minCtx=%21", path(&cart)))
        .await;
    assert_eq!(bad.status, 422, "{}", bad.json());
}

/// The body of an answer without what differs from request to request.
fn lasting(answer: &Answer) -> (u16, Value) {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("requestId");
    (answer.status.as_u16(), body)
}

#[tokio::test]
async fn anothers_cart_is_not_to_be_told_from_none() {
    let corner = Corner::new().await;
    let stranger = corner.shop.world.business("Otra").await;
    let branch = stranger.branch("CAL").await;
    let own = stranger
        .post("/v1/carts", &json!({"branchId": branch}))
        .await
        .expect(201);
    let product = stranger.product("PAN", "1.00").await;
    for mode in ["crdt", "events", "occ"] {
        let there = corner.open(&corner.shop, mode).await;
        let there = there["id"].as_str().unwrap();
        let nowhere = "0123456789abcdef01234567";
        let operation = json!({"op": "addItem", "productId": product, "quantity": 1});
        for (method, tail, body) in [
            ("GET", "", Value::Null),
            ("PATCH", "", json!({"ops": [operation]})),
            ("POST", "/devices", json!({})),
            ("POST", "/merge", json!({"from": own["id"]})),
            ("GET", "/events", Value::Null),
        ] {
            let ask = |who: Shop, id: &str| {
                let call = who.call(method, &format!("/v1/carts/{id}{tail}"));
                if body.is_null() {
                    call.send()
                } else {
                    call.json(&body).send()
                }
            };
            let (theirs, none) = (
                ask(stranger.clone(), there).await,
                ask(stranger.clone(), nowhere).await,
            );
            theirs.refused(404, "not-found");
            assert_eq!(lasting(&theirs), lasting(&none), "{method} {tail} {mode}");
        }
        let merge = format!("{}/merge", path(&own));
        let theirs = stranger.post(&merge, &json!({"from": there})).await;
        let none = stranger.post(&merge, &json!({"from": nowhere})).await;
        assert_eq!(lasting(&theirs), lasting(&none));
        theirs.refused(404, "not-found");
    }
    // Another's product is none either.
    let foreign = json!({"ops": [corner.add(1)]});
    patch(&stranger, &own, foreign)
        .await
        .refused(404, "not-found");
}

#[tokio::test]
async fn a_guests_secret_is_told_once_and_ends_when_the_cart_gets_an_owner() {
    let corner = Corner::new().await;
    let (ana, eva) = (corner.buyer("Ana").await, corner.buyer("Eva").await);
    let guest = corner.open(&corner.shop, "crdt").await;
    let secret = guest["guestSecret"].as_str().unwrap().to_owned();
    let with = |who: &Shop, method: &str, path: &str| {
        who.call(method, path).header("cart-secret", &secret)
    };
    assert_eq!(
        corner
            .shop
            .get(&path(&guest))
            .await
            .expect(200)
            .get("guestSecret"),
        None
    );
    let edit = json!({"ops": [corner.add(2)]});
    let edited = with(&eva, "PATCH", &path(&guest))
        .json(&edit)
        .send()
        .await
        .expect(200);
    assert_eq!(edited.get("guestSecret"), None);
    let wrong = eva
        .call("GET", &path(&guest))
        .header("cart-secret", "AAAA")
        .send()
        .await;
    wrong.refused(404, "not-found");

    // The owner's cart goes into the guest's: it has an owner now.
    let own = corner.open(&ana, "crdt").await;
    assert_eq!(own.get("guestSecret"), None);
    patch(&ana, &own, json!({"ops": [corner.add(1)]}))
        .await
        .expect(200);
    let merge = format!("{}/merge", path(&guest));
    let from = json!({"from": own["id"]});
    let merged = with(&ana, "POST", &merge)
        .json(&from)
        .send()
        .await
        .expect(200);
    assert_eq!(merged["lines"][0]["quantity"], 3);
    assert!(merged["customerId"].is_string());
    with(&eva, "GET", &path(&guest))
        .send()
        .await
        .refused(404, "not-found");
    with(&eva, "PATCH", &path(&guest))
        .json(&edit)
        .send()
        .await
        .refused(404, "not-found");
    let active = ana
        .post("/v1/carts", &json!({"branchId": corner.branch}))
        .await;
    assert_eq!(
        active.expect(200)["id"],
        guest["id"],
        "it is the owner's active cart"
    );
    assert_eq!(ana.get(&path(&own)).await.expect(200)["status"], "merged");
}

#[tokio::test]
async fn carts_that_cannot_become_one_say_why() {
    let corner = Corner::new().await;
    let [a, b, c] = [
        corner.open(&corner.shop, "crdt").await,
        corner.open(&corner.shop, "events").await,
        corner.open(&corner.shop, "occ").await,
    ];
    let branch = corner.shop.branch("MED").await;
    let far = corner
        .shop
        .post("/v1/carts", &json!({"branchId": branch}))
        .await
        .expect(201);
    let merge = |into: &Value, from: &Value| {
        let (target, body) = (format!("{}/merge", path(into)), json!({"from": from["id"]}));
        let shop = corner.shop.clone();
        async move { shop.post(&target, &body).await }
    };
    for wrong in [&a, &far] {
        let refused = merge(&a, wrong).await;
        refused.refused(422, "validation");
        assert_eq!(refused.faults()[0].0, "/from");
    }
    for cart in [&a, &b, &c] {
        patch(&corner.shop, cart, json!({"ops": [corner.add(1)]}))
            .await
            .expect(200);
    }
    // Modes mix, and each cart counts once.
    for _ in 0..2 {
        merge(&a, &b).await.expect(200);
    }
    assert_eq!(merge(&a, &c).await.expect(200)["lines"][0]["quantity"], 3);
    let gone = merge(&b, &a).await.refused(410, "cart-sealed");
    assert_eq!(
        (&gone["status"], &gone["successor"]),
        (&json!("merged"), &a["id"])
    );
    let elsewhere = merge(&corner.open(&corner.shop, "crdt").await, &b).await;
    assert_eq!(elsewhere.refused(410, "cart-sealed")["successor"], a["id"]);
    let lease = corner.lease(&b).await;
    lease.refused(410, "cart-sealed");
}
