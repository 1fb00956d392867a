//! Another tenant's ids, on every route of the document: the same bytes as an unknown id.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::document::operations_by_path;
use crate::harness::{Answer, Shop, World};

const UNKNOWN: &str = "0123456789abcdef01234567";

/// The ids that exist in a business, by what they are of.
async fn furnish(shop: &Shop) -> BTreeMap<&'static str, String> {
    let branch = shop.branch("BOG").await;
    let product = shop.product("PAN-1", "1").await;
    shop.stock(&branch, &product, 10).await;
    let customer = shop.made(&shop.post("/v1/customers", &json!({"name": "Ana"})).await);
    let member = json!({"userId": "luis", "role": "courier"});
    let member = shop.made(&shop.post("/v1/members", &member).await);
    let key = shop.made(
        &shop
            .post("/v1/api-keys", &json!({"name": "k", "role": "service"}))
            .await,
    );
    let order = json!({"branchId": branch, "items": [{"productId": product, "quantity": 1}],
        "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery"});
    let order = shop
        .call("POST", "/v1/orders")
        .key("o")
        .json(&order)
        .send()
        .await;
    let checkout = json!({"branchId": branch, "items": [{"productId": product, "quantity": 1}],
        "fulfilment": {"type": "pickup"}, "paymentMethod": "online"});
    let checkout = shop.call("POST", "/v1/checkouts").key("c").json(&checkout);
    let checkout = checkout.send().await;
    let coupon = json!({"code": "PAN-10", "kind": "percent", "value": "10",
        "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z"});
    let coupon = shop.made(&shop.post("/v1/coupons", &coupon).await);
    let cart = shop.post("/v1/carts", &json!({"branchId": branch})).await;
    BTreeMap::from([
        ("cart", shop.made(&cart)),
        ("branch", branch),
        ("product", product),
        ("customer", customer),
        ("member", member),
        ("key", key),
        ("order", shop.made(&order)),
        ("checkout", shop.made(&checkout)),
        ("coupon", coupon),
        (
            "number",
            order.json()["number"].as_str().unwrap().to_owned(),
        ),
    ])
}

/// What the first id of a path is of.
fn noun(path: &str) -> &'static str {
    match path.split('/').nth(2).unwrap() {
        "branches" => "branch",
        "products" => "product",
        "customers" => "customer",
        "members" => "member",
        "api-keys" => "key",
        "orders" if path.contains("by-number") => "number",
        "orders" => "order",
        "checkouts" => "checkout",
        "coupons" => "coupon",
        "carts" => "cart",
        other => panic!("{other}: say what its ids are of"),
    }
}

/// A body that the route takes, with these ids in it.
fn body(method: &str, path: &str, ids: &BTreeMap<&str, String>) -> Value {
    let item = json!({"productId": ids["product"], "quantity": 1});
    match path {
        _ if path.ends_with("/adjustments") => {
            json!({"items": [{"productId": ids["product"], "delta": 1, "reason": "found"}]})
        }
        _ if path.ends_with("/counts") => {
            json!({"items": [{"productId": ids["product"], "counted": 1, "expectedVersion": 0}]})
        }
        _ if path.ends_with("/cancel") => json!({"reason": "late"}),
        _ if path.ends_with("/payments") => json!({"provider": "sandbox"}),
        _ if path.ends_with("/refunds") => json!({"amount": "1.00"}),
        _ if path.ends_with("/returns") => {
            let item = json!({"productId": ids["product"], "quantity": 1, "restock": true});
            json!({"items": [item], "reason": "stale"})
        }
        _ if path.ends_with("/courier") => json!({"memberId": ids["member"]}),
        "/v1/transfers" => {
            json!({"fromBranchId": ids["branch"], "toBranchId": ids["other"], "items": [item]})
        }
        "/v1/orders" => json!({"branchId": ids["branch"], "items": [item],
            "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery"}),
        "/v1/carts/{id}" if method == "patch" => json!({"ops": [{"op": "clear"}]}),
        "/v1/carts/{id}/merge" => json!({"from": ids["cart"]}),
        _ if method == "patch" => json!({}),
        _ => json!({}),
    }
}

async fn send(shop: &Shop, method: &str, path: &str, body: &Value) -> Answer {
    let call = shop
        .call(&method.to_uppercase(), path)
        .key("k")
        .header("if-match", "\"1\"");
    let call = call.header("x-request-id", "same");
    if method == "get" {
        call.send().await
    } else {
        call.json(body).send().await
    }
}

#[tokio::test]
async fn an_id_of_another_business_is_an_id_that_does_not_exist() {
    let world = World::new();
    let (mine, theirs) = (world.business("Mine").await, world.business("Theirs").await);
    let (own, foreign) = (furnish(&mine).await, furnish(&theirs).await);
    let own_other = mine.branch("OTHER").await;
    let mut checked = 0;
    for (path, method, _) in operations_by_path(&abasto_api::document()) {
        // Messages of providers are believed for their signature, not for a credential.
        let public = path.starts_with("/v1/webhooks/");
        if public || !path.starts_with("/v1/") || !path.contains('{') {
            continue;
        }
        let noun = noun(&path);
        let mut ids = own.clone();
        ids.insert("other", own_other.clone());
        let body = body(&method, &path, &ids);
        // Each id of the path in turn is the foreign one, then an unknown one.
        let holes: Vec<&str> = path
            .split('/')
            .filter(|part| part.starts_with('{'))
            .collect();
        for (turn, hole) in holes.iter().enumerate() {
            let fill = |other: &str| {
                let mut filled = path.clone();
                for (at, name) in holes.iter().enumerate() {
                    let own = if at == 0 { &own[noun] } else { &own["product"] };
                    filled = filled.replace(name, if at == turn { other } else { own });
                }
                filled
            };
            let foreign = if turn == 0 {
                &foreign[noun]
            } else {
                &foreign["product"]
            };
            let unknown = if noun == "number" {
                "BOG-2026-999999"
            } else {
                UNKNOWN
            };
            let unknown = send(&mine, &method, &fill(unknown), &body).await;
            unknown.refused(404, "not-found");
            if noun == "number" {
                continue; // The first number of a branch of the same code exists in both.
            }
            let foreign = send(&mine, &method, &fill(foreign), &body).await;
            assert_eq!(
                (foreign.status, &foreign.bytes, &foreign.headers),
                (unknown.status, &unknown.bytes, &unknown.headers),
                "{method} {path} {hole}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 25, "only {checked} places of ids were found");
}

type Ids = BTreeMap<&'static str, String>;

/// Requests in whose bodies one id is not of the caller's business: a method, a path, a body each.
fn strange_bodies(own: &Ids, strange: &Ids) -> Vec<(&'static str, String, Value)> {
    let order = |branch: &Ids, product: &Ids, customer: &Ids| {
        json!({"branchId": branch["branch"],
            "items": [{"productId": product["product"], "quantity": 1}],
            "customer": {"id": customer["customer"]}, "fulfilment": {"type": "pickup"},
            "paymentMethod": "on_delivery"})
    };
    let transfer = |from: &str, to: &str, product: &Ids| {
        json!({"fromBranchId": from, "toBranchId": to,
            "items": [{"productId": product["product"], "quantity": 1}]})
    };
    let staff = |name: &str| json!({name: "n", "role": "staff", "branchIds": [strange["branch"]]});
    let branches = json!([strange["branch"]]);
    let product = json!({"sku": "N", "name": "N", "salePrice": "1", "branchIds": branches});
    let customer = json!({"name": "n", "role": "customer", "customerId": strange["customer"]});
    let post = |path: &str, body: Value| ("post", path.to_owned(), body);
    let (here, there, away) = (&own["branch"], &own["other"], &strange["branch"]);
    vec![
        post("/v1/orders", order(strange, own, own)),
        post("/v1/orders", order(own, strange, own)),
        post("/v1/orders", order(own, own, strange)),
        post("/v1/transfers", transfer(away, there, own)),
        post("/v1/transfers", transfer(there, away, own)),
        post("/v1/transfers", transfer(here, there, strange)),
        post(
            &format!("/v1/orders/{}/courier", own["order"]),
            json!({"memberId": strange["member"]}),
        ),
        (
            "patch",
            format!("/v1/products/{}", own["product"]),
            json!({"branchIds": branches}),
        ),
        post("/v1/products", product),
        post("/v1/api-keys", staff("name")),
        post("/v1/api-keys", customer),
        post("/v1/members", staff("userId")),
    ]
}

#[tokio::test]
async fn ids_in_bodies_stay_inside_the_business_too() {
    let world = World::new();
    let (mine, theirs) = (world.business("Mine").await, world.business("Theirs").await);
    let (mut own, foreign) = (furnish(&mine).await, furnish(&theirs).await);
    own.insert("other", mine.branch("OTHER").await);
    let unknown: Ids = own.keys().map(|noun| (*noun, UNKNOWN.to_owned())).collect();
    for ((method, path, foreign), (_, _, unknown)) in strange_bodies(&own, &foreign)
        .into_iter()
        .zip(strange_bodies(&own, &unknown))
    {
        let foreign_answer = send(&mine, method, &path, &foreign).await;
        let unknown_answer = send(&mine, method, &path, &unknown).await;
        unknown_answer.refused(404, "not-found");
        assert_eq!(
            foreign_answer.bytes, unknown_answer.bytes,
            "{method} {path} {foreign}"
        );
        assert_eq!(foreign_answer.status, unknown_answer.status);
    }
    let listed = mine.get("/v1/orders").await.expect(200);
    assert_eq!(
        listed["items"].as_array().unwrap().len(),
        1,
        "nothing was placed"
    );
}

#[tokio::test]
async fn lists_and_keys_stay_inside_the_business() {
    let world = World::new();
    let (mine, theirs) = (world.business("Mine").await, world.business("Theirs").await);
    furnish(&theirs).await;
    for list in ["products", "customers", "members", "orders", "branches"] {
        let page = mine.get(&format!("/v1/{list}")).await.expect(200);
        assert_eq!(page["items"], json!([]), "{list}");
    }
    // A key used by another business is another key.
    let (branch, product) = (mine.branch("BOG").await, mine.product("PAN-1", "1").await);
    mine.stock(&branch, &product, 1).await;
    let order = json!({"branchId": branch, "items": [{"productId": product, "quantity": 1}],
        "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery"});
    let placed = mine
        .call("POST", "/v1/orders")
        .key("o")
        .json(&order)
        .send()
        .await;
    placed.expect(201);
    assert_eq!(placed.header("idempotency-replayed"), None);
}
