//! What operations on stock answer: levels and movements that can be joined with what is read later.

use serde_json::{Value, json};

use crate::harness::World;

#[tokio::test]
async fn answers_of_stock_join_with_levels_and_movements() {
    let shop = World::new().business("La Espiga").await;
    let (bog, med) = (shop.branch("BOG").await, shop.branch("MED").await);
    let pan = shop.product("PAN-1", "3500").await;
    let cafe = shop.product("CAFE", "5000").await;
    let post = async |path: &str, key: &str, body: &Value| {
        let call = shop.call("POST", path).key(key).json(body);
        call.send().await.expect(201)
    };
    let inventory = |branch: &str| format!("/v1/branches/{branch}/inventory");
    let receipt = json!({"items": [
        {"productId": pan, "delta": 7, "reason": "receipt"},
        {"productId": cafe, "delta": 5, "reason": "receipt"},
    ]});
    let adjusted = post(&format!("{}/adjustments", inventory(&bog)), "a", &receipt).await;
    let count = json!({"items": [{"productId": pan, "counted": 6, "expectedVersion": 1}]});
    let counted = post(&format!("{}/counts", inventory(&bog)), "c", &count).await;
    let transfer = json!({"fromBranchId": bog, "toBranchId": med,
        "items": [{"productId": pan, "quantity": 2}]});
    let moved = post("/v1/transfers", "t", &transfer).await;

    for answer in [&adjusted, &counted, &moved] {
        for level in answer["items"].as_array().unwrap() {
            let place = inventory(level["branchId"].as_str().unwrap());
            let place = format!("{place}/{}", level["productId"].as_str().unwrap());
            let read = shop.get(&place).await.expect(200);
            let names = |level: &Value| -> Vec<String> {
                level.as_object().unwrap().keys().cloned().collect()
            };
            assert_eq!(names(level), names(&read), "a level has one form");
            assert_eq!(level["sku"], read["sku"]);
        }
        for told in answer["movements"].as_array().unwrap() {
            assert_eq!(told["operationId"], answer["operationId"]);
            let place = inventory(told["branchId"].as_str().unwrap());
            let product = told["productId"].as_str().unwrap();
            let listed = shop.get(&format!("{place}/{product}/movements")).await;
            let listed = listed.expect(200);
            let rows = listed["items"].as_array().unwrap();
            let same = rows.iter().filter(|row| row["id"] == told["id"]);
            assert_eq!(same.collect::<Vec<_>>(), [told]);
        }
    }
    let effects = [&adjusted, &counted, &moved].into_iter();
    let effects = effects.flat_map(|answer| answer["movements"].as_array().unwrap().clone());
    let mut effects: Vec<_> = effects.map(|it| it["effectId"].to_string()).collect();
    effects.sort();
    effects.dedup();
    assert_eq!(effects.len(), 5, "effects are told apart");
}

/// The first answer comes again as it was, whatever the product is called by then.
#[tokio::test]
async fn a_repeated_operation_answers_as_it_did() {
    let shop = World::new().business("La Espiga").await;
    let (branch, other) = (shop.branch("BOG").await, shop.branch("MED").await);
    let product = shop.product("OLD", "3500").await;
    let inventory = format!("/v1/branches/{branch}/inventory");
    let requests = [
        (
            format!("{inventory}/adjustments"),
            json!({"items": [{"productId": product, "delta": 7, "reason": "receipt"}]}),
        ),
        (
            format!("{inventory}/counts"),
            json!({"items": [{"productId": product, "counted": 6, "expectedVersion": 1}]}),
        ),
        (
            "/v1/transfers".to_owned(),
            json!({"fromBranchId": branch, "toBranchId": other,
                "items": [{"productId": product, "quantity": 2}]}),
        ),
    ];
    let send = async |(path, body): &(String, Value)| {
        let call = shop.call("POST", path).key(path).json(body);
        call.send().await
    };
    let mut first = Vec::new();
    for request in &requests {
        first.push(send(request).await);
    }
    let renamed = shop.call("PATCH", &format!("/v1/products/{product}"));
    let renamed = renamed
        .header("if-match", "\"1\"")
        .json(&json!({"sku": "NEW"}));
    renamed.send().await.expect(200);
    for (request, first) in requests.iter().zip(&first) {
        let again = send(request).await;
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!((again.status, &again.bytes), (first.status, &first.bytes));
    }
}

#[tokio::test]
async fn a_level_that_never_moved_has_no_time() {
    let shop = World::new().business("La Espiga").await;
    let branch = shop.branch("BOG").await;
    let product = shop.product("PAN-1", "3500").await;
    let path = format!("/v1/branches/{branch}/inventory");
    let one = shop.get(&format!("{path}/{product}")).await.expect(200);
    let listed = shop.get(&format!("{path}?productIds={product}")).await;
    for level in [&one, &listed.expect(200)["items"][0]] {
        assert_eq!(
            (&level["version"], &level["updatedAt"]),
            (&json!(0), &Value::Null)
        );
    }
    let body = json!({"items": [{"productId": product, "counted": 1, "expectedVersion": 3}]});
    let call = shop
        .call("POST", &format!("{path}/counts"))
        .key("k")
        .json(&body);
    let refused = call.send().await.refused(409, "stock-changed");
    assert_eq!(refused["current"]["updatedAt"], Value::Null);
    assert_eq!(refused["current"]["sku"], "PAN-1");
    shop.stock(&branch, &product, 1).await;
    let one = shop.get(&format!("{path}/{product}")).await.expect(200);
    assert!(!one["updatedAt"].as_str().unwrap().starts_with("1970"));
}
