//! What answers about carts say: versions, flags, coupons in the estimate, attributes, fields,
//! repetitions and the history.

use serde_json::{Value, json};

use crate::cart::{Corner, patch};
use crate::harness::Answer;

const MODES: [&str; 3] = ["crdt", "events", "occ"];

fn path(cart: &Value) -> String {
    format!("/v1/carts/{}", cart["id"].as_str().unwrap())
}

impl Corner {
    /// Changes a document under its present version.
    async fn change(&self, path: &str, body: &Value) {
        let seen = self.shop.get(path).await;
        let etag = seen.header("etag").unwrap().to_owned();
        let call = self.shop.call("PATCH", path).header("if-match", &etag);
        call.json(body).send().await.expect(200);
    }

    fn product_path(&self) -> String {
        format!("/v1/products/{}", self.product)
    }
}

/// The line of a cart that has one.
#[track_caller]
fn only_line(view: &Value) -> Value {
    assert_eq!(view["lines"].as_array().unwrap().len(), 1, "{view}");
    view["lines"][0].clone()
}

fn codes(view: &Value) -> Vec<String> {
    let problems = view["problems"].as_array().unwrap().iter();
    problems
        .map(|problem| problem["code"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn occ_counts_versions_and_a_stale_one_changes_nothing() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "occ").await;
    assert_eq!(cart["version"], 1);
    let send = |etag: &'static str, quantity| {
        let call = corner.shop.call("PATCH", &path(&cart));
        let body = json!({"ops": [corner.add(quantity)]});
        call.header("if-match", etag).json(&body).send()
    };
    let first = send("\"1\"", 2).await;
    assert_eq!(first.expect(200)["version"], 2);
    assert_eq!(first.header("etag"), Some("\"2\""));
    for stale in ["\"1\"", "\"3\""] {
        let refused = send(stale, 5).await.refused(412, "version-mismatch");
        assert_eq!(refused["currentVersion"], 2);
        let read = corner.shop.get(&path(&cart)).await;
        assert_eq!(
            refused["current"],
            read.json(),
            "the present cart comes along"
        );
        assert_eq!(read.header("etag"), Some("\"2\""));
    }
    let unconditional = patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]})).await;
    let view = unconditional.expect(200);
    assert_eq!(
        (&view["version"], &only_line(&view)["quantity"]),
        (&json!(3), &json!(3))
    );
}

#[tokio::test]
async fn what_changed_in_the_catalogue_is_flagged_in_every_mode() {
    let corner = Corner::new().await;
    for mode in MODES {
        let cart = corner.open(&corner.shop, mode).await;
        corner
            .change(
                &corner.product_path(),
                &json!({"salePrice": "3500.00", "maxPerOrder": null}),
            )
            .await;
        let put = patch(&corner.shop, &cart, json!({"ops": [corner.add(12)]})).await;
        assert_eq!(only_line(&put.expect(200))["flags"], json!([]), "{mode}");

        corner
            .change(&corner.product_path(), &json!({"salePrice": "4000.00"}))
            .await;
        let view = corner.shop.get(&path(&cart)).await.expect(200);
        let line = only_line(&view);
        assert_eq!(line["flags"], json!(["priceChanged"]), "{mode}");
        assert_eq!(
            (&line["unitPrice"], &line["subtotal"]),
            (&json!("4000.00"), &json!("48000.00"))
        );
        let again = patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]})).await;
        assert_eq!(
            only_line(&again.expect(200))["flags"],
            json!([]),
            "{mode}: seen anew"
        );

        corner
            .change(&corner.product_path(), &json!({"maxPerOrder": 10}))
            .await;
        let view = corner.shop.get(&path(&cart)).await.expect(200);
        let line = only_line(&view);
        assert_eq!(
            (&line["quantity"], &line["flags"]),
            (&json!(10), &json!(["clamped"]))
        );
        assert_eq!(codes(&view), ["clamped"]);
        assert_eq!(
            view["estimate"]["total"], "40000.00",
            "{mode}: what shows is what counts"
        );
        let step = json!({"ops": [{"op": "decrement", "line": line["line"], "by": 1}]});
        let view = patch(&corner.shop, &cart, step).await.expect(200);
        assert_eq!(
            only_line(&view)["quantity"],
            9,
            "{mode}: a step counts from what shows"
        );
        assert_eq!(only_line(&view)["flags"], json!([]));

        corner
            .change(&corner.product_path(), &json!({"active": false}))
            .await;
        let view = corner.shop.get(&path(&cart)).await.expect(200);
        assert_eq!(only_line(&view)["flags"], json!(["unavailable"]), "{mode}");
        assert_eq!(codes(&view), ["unavailable"]);
        assert_eq!(
            view["estimate"]["total"], "0.00",
            "{mode}: it cannot be bought"
        );
        corner
            .change(&corner.product_path(), &json!({"active": true}))
            .await;
    }
}

#[tokio::test]
async fn coupons_count_in_the_estimate_as_far_as_they_are_valid() {
    let corner = Corner::new().await;
    for (code, value, active) in [("PAN-10", "10", true), ("OFF", "50", false)] {
        let coupon = json!({"code": code, "kind": "percent", "value": value, "active": active,
            "startsAt": "2020-01-01T00:00:00.000Z", "endsAt": "2099-01-01T00:00:00.000Z"});
        corner.shop.post("/v1/coupons", &coupon).await.expect(201);
    }
    for mode in MODES {
        let cart = corner.open(&corner.shop, mode).await;
        let codes = ["pan-10", "OFF", "NOBODYS"];
        let ops = codes.map(|code| json!({"op": "applyCoupon", "code": code}));
        let ops: Vec<_> = ops.into_iter().chain([corner.add(2)]).collect();
        let view = patch(&corner.shop, &cart, json!({ "ops": ops }))
            .await
            .expect(200);
        let coupons: Vec<_> = view["coupons"].as_array().unwrap().iter().collect();
        let shown = |index: usize| (&coupons[index]["code"], &coupons[index]["valid"]);
        assert_eq!(shown(0), (&json!("NOBODYS"), &json!(false)), "{mode}");
        assert_eq!(coupons[0]["reason"], "unknown-coupon");
        assert_eq!(shown(1), (&json!("OFF"), &json!(false)));
        assert!(coupons[1]["reason"].is_string());
        assert_eq!(shown(2), (&json!("PAN-10"), &json!(true)));
        assert_eq!(
            (
                &view["estimate"]["subtotal"],
                &view["estimate"]["discount"],
                &view["estimate"]["total"]
            ),
            (&json!("7000.00"), &json!("700.00"), &json!("6300.00")),
            "{mode}"
        );
        let remove =
            json!({"ops": [{"op": "removeCoupon", "code": "PAN-10", "tag": coupons[2]["tag"]}]});
        let view = patch(&corner.shop, &cart, remove).await.expect(200);
        assert_eq!(view["estimate"]["total"], "7000.00", "{mode}");
        assert_eq!(view["coupons"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn attributes_and_fields_are_values_that_come_and_go() {
    let corner = Corner::new().await;
    for mode in MODES {
        let cart = corner.open(&corner.shop, mode).await;
        let view = patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]}))
            .await
            .expect(200);
        let line = only_line(&view)["line"].clone();
        let address = json!({"street": "Calle 10", "city": "Bogotá"});
        let set = json!({"ops": [
            {"op": "setAttribute", "line": line, "name": "gift", "value": "Para Ana"},
            {"op": "setField", "field": "note", "value": " Timbre roto "},
            {"op": "setField", "field": "shippingAddress", "value": address},
            {"op": "setField", "field": "deliverySlot", "value": "AM"},
        ]});
        let view = patch(&corner.shop, &cart, set).await.expect(200);
        assert_eq!(
            only_line(&view)["attributes"],
            json!({"gift": "Para Ana"}),
            "{mode}"
        );
        let fields =
            json!({"note": "Timbre roto", "shippingAddress": address, "deliverySlot": "AM"});
        assert_eq!(view["fields"], fields, "{mode}");
        assert_eq!(view["conflictedFields"], json!([]));
        let unset = json!({"ops": [
            {"op": "setAttribute", "line": line, "name": "gift", "value": ""},
            {"op": "setField", "field": "note", "value": ""},
        ]});
        let view = patch(&corner.shop, &cart, unset).await.expect(200);
        assert_eq!(only_line(&view)["attributes"], json!({}));
        assert_eq!(view["fields"].get("note"), None);
        // An address is one value: the second replaces the first with all its parts.
        let moved = json!({"ops": [{"op": "setField", "field": "shippingAddress", "value": {"city": "Cali"}}]});
        let view = patch(&corner.shop, &cart, moved).await.expect(200);
        assert_eq!(view["fields"]["shippingAddress"], json!({"city": "Cali"}));
    }
}

async fn keyed(corner: &Corner, cart: &Value, key: &str, quantity: u32) -> Answer {
    let call = corner.shop.call("PATCH", &path(cart)).key(key);
    call.json(&json!({"ops": [corner.add(quantity)]}))
        .send()
        .await
}

#[tokio::test]
async fn a_key_gives_the_first_answer_again_to_the_byte() {
    let corner = Corner::new().await;
    for mode in MODES {
        let cart = corner.open(&corner.shop, mode).await;
        let key = format!("edit-{mode}");
        let first = keyed(&corner, &cart, &key, 2).await;
        first.expect(200);
        assert_eq!(first.header("idempotency-replayed"), None);
        patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]}))
            .await
            .expect(200);
        let again = keyed(&corner, &cart, &key, 2).await;
        assert_eq!(again.header("idempotency-replayed"), Some("true"), "{mode}");
        assert_eq!(again.header("etag"), first.header("etag"));
        assert_eq!(
            String::from_utf8_lossy(&again.bytes),
            String::from_utf8_lossy(&first.bytes),
            "{mode}"
        );
        keyed(&corner, &cart, &key, 3)
            .await
            .refused(409, "idempotency-key-reuse");
        let other = corner.open(&corner.shop, mode).await;
        keyed(&corner, &other, &key, 2)
            .await
            .refused(409, "idempotency-key-reuse");
        let now = corner.shop.get(&path(&cart)).await.expect(200);
        assert_eq!(
            only_line(&now)["quantity"],
            3,
            "{mode}: once, and the other edit"
        );
    }
}

#[tokio::test]
async fn a_cart_with_a_history_tells_every_operation_in_pages() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "events").await;
    for quantity in 1..=5 {
        let ops = json!([corner.add(quantity), {"op": "setField", "field": "note", "value": "x"}]);
        patch(&corner.shop, &cart, json!({ "ops": ops }))
            .await
            .expect(200);
    }
    let events = format!("{}/events", path(&cart));
    let (mut target, mut seen) = (format!("{events}?limit=3"), Vec::new());
    for _ in 0..4 {
        let page = corner.shop.get(&target).await.expect(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        seen.extend(items.iter().cloned());
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        target = format!("{events}?limit=3&cursor={cursor}");
    }
    assert_eq!(seen.len(), 10);
    let operation = |index: usize, name: &str| seen[index]["operation"][name].clone();
    for (at, quantity) in (0..10).step_by(2).zip(1..) {
        assert_eq!(
            (operation(at, "op"), operation(at, "quantity")),
            (json!("addItem"), json!(quantity))
        );
        assert_eq!(operation(at + 1, "op"), "setField");
    }
    let dots: std::collections::BTreeSet<_> =
        seen.iter().map(|event| event["dot"].to_string()).collect();
    assert_eq!(dots.len(), 10, "a name is used once");
    for event in &seen {
        for name in ["delta", "actor", "requestId", "occurredAt"] {
            assert!(!event[name].as_str().unwrap().is_empty(), "{name}: {event}");
        }
    }
    for mode in ["crdt", "occ"] {
        let other = corner.open(&corner.shop, mode).await;
        let none = corner.shop.get(&format!("{}/events", path(&other))).await;
        none.refused(404, "not-found");
    }
}
