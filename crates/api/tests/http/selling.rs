//! From basket to paid order over HTTP, with the sandbox's part played by a reader of ours.

use serde_json::{Value, json};

use crate::harness::{Answer, Shop, World};

async fn open(shop: &Shop, key: &str, body: &Value) -> Answer {
    let call = shop.call("POST", "/v1/checkouts").key(key);
    call.json(body).send().await
}

async fn furnished(shop: &Shop, units: i64) -> Value {
    let branch = shop.branch("BOG").await;
    let product = shop.product("PAN-1", "3500.00").await;
    shop.stock(&branch, &product, units).await;
    json!({"branchId": branch, "items": [{"productId": product, "quantity": 2}],
        "fulfilment": {"type": "pickup"}, "paymentMethod": "online"})
}

#[tokio::test]
async fn a_checkout_becomes_one_order_that_waits_for_its_payment() {
    let world = World::new();
    let shop = world.business("Shop").await;
    let basket = furnished(&shop, 2).await;
    let opened = open(&shop, "a", &basket).await;
    assert_eq!(opened.status, 201);
    let checkout = opened.json();
    assert_eq!(checkout["status"], "open");
    assert_eq!(checkout["totals"]["total"], "7000.00");
    let again = open(&shop, "a", &basket).await;
    assert_eq!(
        (again.status.as_u16(), again.json()),
        (201, checkout.clone())
    );
    open(&shop, "b", &basket)
        .await
        .refused(409, "insufficient-stock");
    let order = json!({"checkoutId": checkout["id"], "expectedTotal": "6999.00"});
    let place = async |key: &str, body: &Value| {
        let call = shop.call("POST", "/v1/orders").key(key);
        call.json(body).send().await
    };
    place("o", &order).await.refused(409, "price-changed");
    let order = json!({"checkoutId": checkout["id"]});
    let placed = place("o", &order).await;
    assert_eq!(placed.status, 201);
    assert_eq!(placed.json()["status"], "pending_payment");
    assert_eq!(placed.json()["checkoutId"], checkout["id"]);
    let twice = place("p", &order).await;
    twice.refused(409, "checkout-ended");
    assert_eq!(twice.json()["orderId"], placed.json()["id"]);
    let id = placed.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/orders/{id}/payments");
    let pay = shop.call("POST", &path).key("pay");
    let payment = pay.json(&json!({"provider": "sandbox"})).send().await;
    assert_eq!(payment.status, 201);
    let payment = payment.json();
    assert_eq!(payment["amount"], "7000.00");
    assert_eq!(payment["status"], "created");
    assert!(payment["providerRef"].is_string());
    let listed = shop.call("GET", &path).send().await;
    assert_eq!(listed.json()["items"][0]["id"], payment["id"]);
    let refund = shop
        .call("POST", &format!("/v1/orders/{id}/refunds"))
        .key("r");
    let refund = refund.json(&json!({"amount": "1.00"})).send().await;
    refund.refused(409, "refund-exceeds");
}

#[tokio::test]
async fn an_order_names_a_checkout_or_says_everything_itself() {
    let world = World::new();
    let shop = world.business("Shop").await;
    let basket = furnished(&shop, 9).await;
    let checkout = open(&shop, "a", &basket).await.json();
    let both = json!({"checkoutId": checkout["id"], "items": basket["items"]});
    let call = shop.call("POST", "/v1/orders").key("o");
    let refused = call.json(&both).send().await;
    refused.refused(422, "validation");
    assert_eq!(refused.json()["errors"][0]["pointer"], "/items");
    let call = shop.call("POST", "/v1/orders").key("o");
    let neither = call.json(&json!({})).send().await;
    let errors = neither.json()["errors"].as_array().unwrap().len();
    assert_eq!((neither.status.as_u16(), errors), (422, 4));
}

#[tokio::test]
async fn an_abandoned_checkout_releases_once_and_a_coupon_counts() {
    let world = World::new();
    let shop = world.business("Shop").await;
    let mut basket = furnished(&shop, 2).await;
    let coupon = json!({"code": "pan-10", "kind": "percent", "value": "10", "maxRedemptions": 1,
        "startsAt": "2026-01-01T00:00:00Z", "endsAt": "2099-01-01T00:00:00Z"});
    let coupon = shop.post("/v1/coupons", &coupon).await;
    assert_eq!(
        (coupon.status.as_u16(), coupon.json()["code"].clone()),
        (201, json!("PAN-10"))
    );
    basket["couponCodes"] = json!(["PAN-10"]);
    let checkout = open(&shop, "a", &basket).await.json();
    assert_eq!(checkout["totals"]["discount"], "700.00");
    let path = format!("/v1/checkouts/{}/abandon", checkout["id"].as_str().unwrap());
    for key in ["x", "x", "y"] {
        let call = shop.call("POST", &path).key(key);
        let done = call.json(&json!({})).send().await;
        assert_eq!(
            (done.status.as_u16(), done.json()["status"].clone()),
            (200, json!("abandoned"))
        );
    }
    let again = open(&shop, "b", &basket).await;
    assert_eq!(again.status, 201, "the redemption came back");
    basket["items"][0]["quantity"] = json!(1);
    let none = open(&shop, "c", &basket).await;
    assert!(none.status == 409);
}
