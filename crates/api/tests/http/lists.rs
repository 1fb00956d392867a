//! Lists: pages, cursors and filters.

use serde_json::{Value, json};

use crate::harness::{Shop, World};

async fn shop_with_products(count: usize) -> (Shop, Vec<String>) {
    let shop = World::new().business("La Espiga").await;
    let mut ids = Vec::new();
    for number in 0..count {
        ids.push(shop.product(&format!("P-{number:03}"), "1").await);
    }
    (shop, ids)
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_walk_sees_each_row_once_newest_first_whatever_comes_meanwhile() {
    let (shop, mut made) = shop_with_products(7).await;
    made.reverse();
    let mut seen = Vec::new();
    let mut path = "/v1/products?limit=3".to_owned();
    for page_number in 0.. {
        let answer = shop.get(&path).await;
        let page = answer.expect(200);
        seen.extend(ids(&page));
        shop.product(&format!("NEW-{page_number}"), "1").await;
        let link = answer.header("link").map(str::to_owned);
        let Some(cursor) = page["nextCursor"].as_str() else {
            assert_eq!(link, None);
            break;
        };
        let link = link.unwrap();
        let next = link
            .strip_prefix('<')
            .unwrap()
            .strip_suffix(">; rel=\"next\"")
            .unwrap();
        assert_eq!(next, format!("/v1/products?limit=3&cursor={cursor}"));
        path = next.to_owned();
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn the_last_full_page_has_no_cursor() {
    let (shop, _) = shop_with_products(2).await;
    let page = shop.get("/v1/products?limit=2").await;
    assert_eq!(page.expect(200)["nextCursor"], json!(null));
    assert_eq!(page.header("link"), None);
    assert!(shop.get("/v1/products?limit=1").await.expect(200)["nextCursor"].is_string());
}

#[tokio::test]
async fn a_cursor_is_good_only_where_it_was_given() {
    let (shop, _) = shop_with_products(3).await;
    let page = shop
        .get("/v1/products?limit=1&active=true")
        .await
        .expect(200);
    let cursor = page["nextCursor"].as_str().unwrap();
    let good = format!("/v1/products?active=true&limit=200&cursor={cursor}");
    assert_eq!(
        ids(&shop.get(&good).await.expect(200)).len(),
        2,
        "the limit is free"
    );
    let refused = async |shop: &Shop, path: String| {
        shop.get(&path).await.refused(400, "invalid-cursor");
    };
    refused(&shop, format!("/v1/products?cursor={cursor}")).await;
    refused(&shop, format!("/v1/products?active=false&cursor={cursor}")).await;
    refused(&shop, format!("/v1/customers?cursor={cursor}")).await;
    let other = shop.world.business("Other").await;
    refused(&other, format!("/v1/products?active=true&cursor={cursor}")).await;
    for at in 0..cursor.len() {
        let mut flipped = cursor.to_owned().into_bytes();
        flipped[at] = if flipped[at] == b'A' { b'B' } else { b'A' };
        let flipped = String::from_utf8(flipped).unwrap();
        refused(&shop, format!("/v1/products?active=true&cursor={flipped}")).await;
    }
    let long = "A".repeat(4_000);
    for text in [
        "",
        "x",
        "%20",
        "null",
        "%00",
        "%ff",
        "%zz",
        "%0A",
        long.as_str(),
    ] {
        refused(&shop, format!("/v1/products?active=true&cursor={text}")).await;
    }
}

#[tokio::test]
async fn query_strings_are_as_strict_as_bodies() {
    let (shop, _) = shop_with_products(1).await;
    for (query, parameter, code, problem) in [
        ("limit=0", "limit", "out-of-range", "validation"),
        ("limit=201", "limit", "out-of-range", "validation"),
        ("limit=ten", "limit", "invalid-type", "validation"),
        ("limit=1&limit=2", "limit", "duplicate-field", "validation"),
        ("active=yes", "active", "invalid-type", "validation"),
        (
            "businessId=1",
            "businessId",
            "unknown-field",
            "unknown-field",
        ),
    ] {
        let refused = shop.get(&format!("/v1/products?{query}")).await;
        refused.refused(422, problem);
        assert_eq!(
            refused.faults(),
            [(parameter.to_owned(), code.to_owned())],
            "{query}"
        );
    }
    for path in ["/v1/business", "/v1/branches/65f1c0ffee0123456789abcd"] {
        let refused = shop.get(&format!("{path}?businessId=1")).await;
        refused.refused(422, "unknown-field");
    }
    for (query, parameter) in [
        ("status=lost", "status"),
        ("branchId=1", "branchId"),
        ("from=yesterday", "from"),
        ("to=2026-02-30T00:00:00Z", "to"),
    ] {
        let refused = shop.get(&format!("/v1/orders?{query}")).await;
        assert_eq!(refused.faults()[0].0, parameter, "{query}");
    }
}

#[tokio::test]
async fn orders_are_found_by_branch_state_customer_and_time() {
    let shop = World::new().business("La Espiga").await;
    let (here, there) = (shop.branch("AA").await, shop.branch("BB").await);
    let product = shop.product("PAN-1", "1").await;
    let ana = shop.made(&shop.post("/v1/customers", &json!({"name": "Ana"})).await);
    for branch in [&here, &there] {
        shop.stock(branch, &product, 10).await;
        for customer in [json!({"id": ana}), json!({"name": "Luis"})] {
            let body = json!({"branchId": branch, "items": [{"productId": product, "quantity": 1}],
                "customer": customer, "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery"});
            let key = format!("{branch}-{customer}");
            shop.call("POST", "/v1/orders")
                .key(&key)
                .json(&body)
                .send()
                .await
                .expect(201);
        }
    }
    let count = async |query: String| {
        ids(&shop.get(&format!("/v1/orders?{query}")).await.expect(200)).len()
    };
    assert_eq!(count(String::new()).await, 4);
    assert_eq!(count(format!("branchId={here}")).await, 2);
    assert_eq!(count(format!("branchId={here}&customerId={ana}")).await, 1);
    assert_eq!(count("status=pending".to_owned()).await, 4);
    assert_eq!(count("status=delivered".to_owned()).await, 0);
    assert_eq!(
        count("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00-05:00".to_owned()).await,
        0
    );
    assert_eq!(count("from=2020-01-01T00:00:00Z".to_owned()).await, 4);
    let staff = shop
        .key(&json!({"name": "s", "role": "staff", "branchIds": [here]}))
        .await;
    let seen = staff.get("/v1/orders").await.expect(200);
    assert!(
        seen["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|order| order["branchId"] == here)
    );
    assert_eq!(ids(&seen).len(), 2);
    let elsewhere = staff
        .get(&format!("/v1/orders?branchId={there}"))
        .await
        .expect(200);
    assert_eq!(ids(&elsewhere), Vec::<String>::new());
}
