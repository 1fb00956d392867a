//! A day in a shop: everything from the first key to the last delivery.

use serde_json::{Value, json};

use crate::harness::{Answer, Shop, World};

/// A shop with one product in stock and a courier, and an order that it takes.
struct Day {
    shop: Shop,
    branch: String,
    product: String,
    courier: String,
    order: Value,
}

impl Day {
    async fn new() -> Self {
        let shop = World::new().business("La Espiga").await;
        let branch = shop.branch("BOG").await;
        let product = shop.product("PAN-1", "3500").await;
        shop.stock(&branch, &product, 10).await;
        let courier = json!({"userId": "luis", "role": "courier"});
        let courier = shop.made(&shop.post("/v1/members", &courier).await);
        let order = json!({
            "branchId": branch,
            "items": [{"productId": product, "quantity": 2}, {"productId": product, "quantity": 1}],
            "customer": {"name": " Ana ", "phone": "+573001234567"},
            "fulfilment": {"type": "delivery", "address": {"street": "Calle 1", "city": "Bogotá"}},
            "paymentMethod": "on_delivery",
            "deliveryFee": "1000.5",
            "expectedTotal": "11500.50",
            "note": "two bells\nring twice",
        });
        Self {
            shop,
            branch,
            product,
            courier,
            order,
        }
    }

    async fn place(&self, key: &str) -> Answer {
        let call = self.shop.call("POST", "/v1/orders").key(key);
        call.json(&self.order).send().await
    }

    async fn step(&self, order: &str, name: &str, body: Option<Value>) -> Answer {
        let path = format!("/v1/orders/{order}/{name}");
        let call = self.shop.call("POST", &path).key(name);
        match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        }
    }
}

#[tokio::test]
async fn an_order_is_placed_once_and_told_whole() {
    let day = Day::new().await;
    let placed = day.place("first").await;
    let body = placed.expect(201);
    let place = format!("/v1/orders/{}", body["id"].as_str().unwrap());
    assert_eq!(placed.header("location"), Some(place.as_str()));
    assert_eq!(placed.header("etag"), Some("\"1\""));
    assert_eq!(placed.header("idempotency-replayed"), None);
    assert_eq!(body["status"], "pending");
    assert_eq!(body["customer"]["nameAtPurchase"], "Ana");
    assert_eq!(body["items"].as_array().unwrap().len(), 1);
    assert_eq!(body["items"][0]["quantity"], 3);
    assert_eq!(body["items"][0]["unitPrice"], "3500.00");
    assert_eq!(body["totals"]["total"], "11500.50");
    let number = body["number"].as_str().unwrap();
    assert!(number.starts_with("BOG-") && number.ends_with("-000001"));
    let again = day.place("\"first\"").await;
    assert_eq!(again.expect(201), body);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    let found = day
        .shop
        .get(&format!("/v1/orders/by-number/{number}"))
        .await;
    assert_eq!(found.expect(200), body);
}

#[tokio::test]
async fn an_order_goes_through_its_life_to_the_door() {
    let day = Day::new().await;
    let order = day.shop.made(&day.place("first").await);
    let courier = Some(json!({"memberId": day.courier}));
    day.step(&order, "courier", courier).await.expect(200);
    let early = day.step(&order, "dispatch", None).await;
    let early = early.refused(409, "invalid-transition");
    assert_eq!(early["allowed"], json!(["confirmed", "cancelled"]));
    for name in ["confirm", "prepare", "dispatch", "deliver"] {
        day.step(&order, name, Some(json!({}))).await.expect(200);
    }
    let late = day
        .step(&order, "cancel", Some(json!({"reason": "late"})))
        .await;
    late.refused(409, "invalid-transition");
    let now = day
        .shop
        .get(&format!("/v1/orders/{order}"))
        .await
        .expect(200);
    assert_eq!(now["status"], "delivered");
    assert_eq!(now["fulfilment"]["courierId"], day.courier);
    let events = day.shop.get(&format!("/v1/orders/{order}/events")).await;
    let events = events.expect(200);
    let told: Vec<_> = events["items"].as_array().unwrap().iter().collect();
    let sequences: Vec<_> = told.iter().map(|event| event["sequence"].clone()).collect();
    assert_eq!(json!(sequences), json!([1, 2, 3, 4, 5, 6]));
    assert_eq!(
        (&told[0]["from"], &told[0]["to"]),
        (&Value::Null, &json!("pending"))
    );
    assert_eq!(
        (&told[5]["from"], &told[5]["to"]),
        (&json!("dispatched"), &json!("delivered"))
    );
}

#[tokio::test]
async fn an_order_shows_in_levels_and_movements() {
    let day = Day::new().await;
    let order = day.shop.made(&day.place("first").await);
    for name in ["confirm", "prepare", "dispatch"] {
        day.step(&order, name, None).await.expect(200);
    }
    let path = format!("/v1/branches/{}/inventory/{}", day.branch, day.product);
    let level = day.shop.get(&path).await.expect(200);
    assert_eq!(level["sku"], "PAN-1");
    let units = json!([level["available"], level["reserved"], level["onHand"]]);
    assert_eq!(units, json!([7, 0, 7]));
    let movements = day.shop.get(&format!("{path}/movements")).await.expect(200);
    let newest = &movements["items"][0];
    assert_eq!(
        (&newest["type"], &newest["sequence"]),
        (&json!("dispatch"), &json!(3))
    );
    let changes = json!([newest["quantity"], newest["reservedDelta"]]);
    assert_eq!(changes, json!([0, -3]));
    let balances = json!([newest["balanceAfter"], newest["reservedAfter"]]);
    assert_eq!(balances, json!([7, 0]));
    assert_eq!(newest["orderId"], order);
}

#[tokio::test]
async fn refusals_of_an_order_carry_their_facts_and_leave_the_key_free() {
    let shop = World::new().business("La Espiga").await;
    let (branch, product) = (
        shop.branch("BOG").await,
        shop.product("PAN-1", "3500").await,
    );
    shop.stock(&branch, &product, 1).await;
    let order = |quantity: i64, total: &str| {
        json!({
            "branchId": branch, "items": [{"productId": product, "quantity": quantity}],
            "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery", "expectedTotal": total,
        })
    };
    let place = async |shop: &crate::harness::Shop, body: &serde_json::Value| {
        shop.call("POST", "/v1/orders")
            .key("k")
            .json(body)
            .send()
            .await
    };
    let short = place(&shop, &order(2, "7000"))
        .await
        .refused(409, "insufficient-stock");
    assert_eq!(
        short["items"],
        json!([{"productId": product, "requested": 2, "available": 1}])
    );
    let till = shop
        .key(&json!({"name": "app", "role": "customer", "customerId":
        shop.made(&shop.post("/v1/customers", &json!({"name": "Ana"})).await)}))
        .await;
    let short = place(&till, &order(2, "7000"))
        .await
        .refused(409, "insufficient-stock");
    assert_eq!(
        short["items"],
        json!([{"productId": product, "requested": 2}])
    );
    let changed = place(&shop, &order(1, "1.00"))
        .await
        .refused(409, "price-changed");
    assert_eq!(
        (&changed["old"], &changed["new"]),
        (&json!("1.00"), &json!("3500.00"))
    );
    let placed = place(&shop, &order(1, "3500.0")).await.expect(201);
    place(&shop, &order(1, "1"))
        .await
        .refused(409, "idempotency-key-reuse");
    assert_eq!(place(&shop, &order(1, "3500")).await.expect(201), placed);
}

#[tokio::test]
async fn stock_is_adjusted_counted_and_transferred() {
    let shop = World::new().business("La Espiga").await;
    let (here, there) = (shop.branch("AA").await, shop.branch("BB").await);
    let product = shop.product("PAN-1", "1").await;
    shop.stock(&here, &product, 10).await;
    let post = async |path: String, key: &str, body: serde_json::Value| {
        shop.call("POST", &path).key(key).json(&body).send().await
    };
    let transfer = json!({"fromBranchId": here, "toBranchId": there,
        "items": [{"productId": product, "quantity": 4}]});
    let moved = post("/v1/transfers".to_owned(), "t", transfer)
        .await
        .expect(201);
    assert_eq!(moved["items"].as_array().unwrap().len(), 2);
    assert_eq!(moved["movements"].as_array().unwrap().len(), 2);
    let count = |counted: i64, version: i64| json!({"items": [{"productId": product, "counted": counted, "expectedVersion": version}]});
    let counts = format!("/v1/branches/{here}/inventory/counts");
    let stale = post(counts.clone(), "c1", count(5, 1))
        .await
        .refused(409, "stock-changed");
    assert_eq!(
        (&stale["current"]["version"], &stale["current"]["onHand"]),
        (&json!(2), &json!(6))
    );
    let counted = post(counts, "c2", count(5, 2)).await.expect(201);
    assert_eq!(counted["items"][0]["onHand"], 5);
    let listed = shop
        .get(&format!("/v1/branches/{here}/inventory?belowAvailable=6"))
        .await
        .expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let none = shop
        .get(&format!("/v1/branches/{here}/inventory?belowAvailable=5"))
        .await
        .expect(200);
    assert_eq!(none["items"], json!([]));
    let other = shop.product("PAN-2", "1").await;
    let path = format!("/v1/branches/{there}/inventory?productIds={product},{other}");
    let both = shop.get(&path).await.expect(200);
    assert_eq!(both["items"].as_array().unwrap().len(), 2);
    assert_eq!(both["items"][1]["version"], 0);
}

#[tokio::test]
async fn products_change_by_version_and_come_back_from_deletion() {
    let shop = World::new().business("La Espiga").await;
    let product = shop.product("PAN-1", "3500").await;
    let path = format!("/v1/products/{product}");
    let patch = async |version: &str, body: serde_json::Value| {
        shop.call("PATCH", &path)
            .header("if-match", version)
            .json(&body)
            .send()
            .await
    };
    let changed = patch("\"1\"", json!({"salePrice": "4000.5", "maxPerOrder": 5})).await;
    assert_eq!(changed.header("etag"), Some("\"2\""));
    assert_eq!(changed.expect(200)["salePrice"], "4000.50");
    let same = patch("\"2\"", json!({"maxPerOrder": 5})).await;
    assert_eq!(same.header("etag"), Some("\"2\""), "nothing changed");
    let stale = patch("\"1\"", json!({"maxPerOrder": null}))
        .await
        .refused(412, "version-mismatch");
    assert_eq!(
        (&stale["currentVersion"], &stale["current"]["maxPerOrder"]),
        (&json!(2), &json!(5))
    );
    assert_eq!(
        patch("\"2\"", json!({"maxPerOrder": null}))
            .await
            .expect(200)["maxPerOrder"],
        json!(null)
    );
    let delete = async || {
        shop.call("DELETE", &path)
            .header("if-match", "\"3\"")
            .send()
            .await
    };
    delete().await.expect(204);
    assert!(shop.get(&path).await.expect(200)["deletedAt"].is_string());
    let listed = shop.get("/v1/products").await.expect(200);
    assert_eq!(listed["items"], json!([]));
    let listed = shop
        .get("/v1/products?includeDeleted=true")
        .await
        .expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    shop.product("PAN-1", "1").await;
    let restore = shop.call("POST", &format!("{path}/restore"));
    restore.send().await.refused(409, "duplicate-sku");
}

#[tokio::test]
async fn an_import_answers_each_row_in_order() {
    let shop = World::new().business("La Espiga").await;
    shop.product("OLD", "1").await;
    let rows = [
        r#"{"sku":"NEW","name":"New","salePrice":"2.50"}"#,
        r#"{"sku":"OLD","name":"OLD","salePrice":"1.00"}"#,
        r#"{"sku":"NEW","salePrice":"3"}"#,
        r#"{"sku":"BAD","name":"Bad","salePrice":"-1"}"#,
        "",
        "no json",
        r#"{"sku":"OTHER","name":"Other"}"#,
        r#"{"sku":"LAST","name":"Last","salePrice":"1","total":"1"}"#,
    ];
    let import = async |accept: &str, media: &str, body: &str| {
        let call = shop
            .call("POST", "/v1/products:import")
            .header("accept", accept);
        call.text(media, body).send().await
    };
    let answer = import("*/*", "application/x-ndjson", &rows.join("\n")).await;
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let text = String::from_utf8(answer.bytes).unwrap();
    let outcomes: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let statuses: Vec<&str> = outcomes
        .iter()
        .map(|row| row["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        [
            "created",
            "unchanged",
            "updated",
            "failed",
            "failed",
            "failed",
            "failed"
        ]
    );
    assert_eq!(outcomes[3]["code"], "validation");
    assert_eq!(outcomes[3]["errors"][0]["pointer"], "/salePrice");
    assert_eq!(outcomes[4]["code"], "malformed-body");
    assert_eq!(outcomes[5]["errors"][0]["pointer"], "/salePrice");
    assert_eq!(outcomes[6]["code"], "unknown-field");
    let csv = "sku,name,salePrice,department\nP-1,\"BEANS, BAKED\",0.89,GROCERY\nP-2,X\n";
    let answer = import("application/json", "text/csv; charset=utf-8", csv)
        .await
        .expect(200);
    assert_eq!(answer["items"][0]["status"], "created");
    assert_eq!(answer["items"][1]["status"], "failed");
    assert_eq!(
        answer["items"][0]["attributeColumns"],
        json!(["department"])
    );
    assert_eq!(answer["items"][1].get("attributeColumns"), None);
    let csv = "sku,name,total,salePrice,sku,color\nP-9,X,1,1,P-9,red\n";
    let refused = import("application/json", "text/csv", csv).await;
    refused.refused(422, "unknown-field");
    let at = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    assert_eq!(
        refused.faults(),
        [at("/total", "unknown-field"), at("/sku", "duplicate-field")]
    );
    assert_eq!(
        import("application/json", "text/csv", "").await.expect(200)["items"],
        json!([])
    );
    let none = shop.get("/v1/products?q=P-9").await.expect(200);
    assert_eq!(
        none["items"],
        json!([]),
        "nothing of a refused file is kept"
    );
    let found = shop.get("/v1/products?q=beans").await.expect(200);
    assert_eq!(found["items"][0]["attributes"]["department"], "GROCERY");
}
