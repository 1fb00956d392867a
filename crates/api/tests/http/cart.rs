//! Carts over HTTP: devices, repetitions, tags, contexts, refusals, guests and their secrets.

use serde_json::{Value, json};

use crate::harness::{Answer, Shop, World};

/// A shop with a product, a customer's key and what both can reach.
pub(crate) struct Corner {
    pub(crate) shop: Shop,
    pub(crate) branch: String,
    pub(crate) product: String,
}

impl Corner {
    pub(crate) async fn new() -> Self {
        let shop = World::new().business("La Espiga").await;
        let branch = shop.branch("BOG").await;
        let product = shop.product("PAN-1", "3500").await;
        Self {
            shop,
            branch,
            product,
        }
    }

    pub(crate) async fn buyer(&self, name: &str) -> Shop {
        let customer = self
            .shop
            .post("/v1/customers", &json!({"name": name}))
            .await;
        let customer = self.shop.made(&customer);
        let key = json!({"name": name, "role": "customer", "customerId": customer});
        self.shop.key(&key).await
    }

    pub(crate) async fn open(&self, who: &Shop, mode: &str) -> Value {
        let cart = json!({"branchId": self.branch, "mode": mode});
        who.post("/v1/carts", &cart).await.expect(201)
    }

    pub(crate) fn add(&self, quantity: u32) -> Value {
        json!({"op": "addItem", "productId": self.product, "quantity": quantity})
    }
}

pub(crate) async fn patch(who: &Shop, cart: &Value, body: Value) -> Answer {
    let path = format!("/v1/carts/{}", cart["id"].as_str().unwrap());
    who.call("PATCH", &path).json(&body).send().await
}

#[tokio::test]
async fn a_device_numbers_its_operations_and_each_counts_once() {
    let corner = Corner::new().await;
    for mode in ["crdt", "events", "occ"] {
        let cart = corner.open(&corner.shop, mode).await;
        let path = format!("/v1/carts/{}", cart["id"].as_str().unwrap());
        let lease = corner
            .shop
            .post(&format!("{path}/devices"), &json!({}))
            .await;
        let lease = lease.expect(201);
        assert_eq!(lease["nextSeq"], 1);
        let body =
            |quantity| json!({"device": lease["device"], "seq": 1, "ops": [corner.add(quantity)]});
        for _ in 0..2 {
            let view = patch(&corner.shop, &cart, body(2)).await.expect(200);
            assert_eq!(view["lines"][0]["quantity"], 2, "{mode}");
            assert_eq!(view["estimate"]["total"], "7000.00");
        }
        let reused = patch(&corner.shop, &cart, body(3)).await;
        reused.refused(409, "dot-reuse");
        let view = corner.shop.get(&path).await.expect(200);
        assert_eq!(view["lines"][0]["quantity"], 2, "{mode}: nothing was done");
        assert_eq!(view["version"].is_number(), mode == "occ");
        let put = corner.shop.call("PUT", &path).json(&view).send().await;
        assert_eq!(put.status, 405);
    }
}

#[tokio::test]
async fn refusals_of_edits_have_their_codes() {
    let corner = Corner::new().await;
    let cart = corner.open(&corner.shop, "crdt").await;
    let path = format!("/v1/carts/{}", cart["id"].as_str().unwrap());
    let view = patch(&corner.shop, &cart, json!({"ops": [corner.add(1)]})).await;
    let line = view.expect(200)["lines"][0].clone();
    let remove =
        |line: &Value, tag: &str| json!({"ops": [{"op": "removeItem", "line": line, "tag": tag}]});
    let forged = patch(&corner.shop, &cart, remove(&line["line"], "AAAA")).await;
    forged.refused(422, "bad-tag");
    let removed = patch(
        &corner.shop,
        &cart,
        remove(&line["line"], line["tag"].as_str().unwrap()),
    );
    assert_eq!(removed.await.expect(200)["lines"], json!([]));
    let step = json!({"ops": [{"op": "increment", "line": line["line"], "by": 1}]});
    let absent = patch(&corner.shop, &cart, step).await;
    absent.refused(422, "no-such-line");
    let late = json!({"hlc": u64::MAX.to_string(), "ops": [corner.add(1)]});
    patch(&corner.shop, &cart, late)
        .await
        .refused(422, "clock-skew");
    let coupons: Vec<_> = (0..11)
        .map(|number| json!({"op": "applyCoupon", "code": format!("C-{number}")}))
        .collect();
    let many = patch(&corner.shop, &cart, json!({"ops": coupons})).await;
    many.refused(422, "cart-limit");
    let seen = corner.shop.get(&path).await.expect(200);
    let ctx = seen["ctx"].as_str().unwrap();
    let again = corner.shop.get(&format!("{path}?minCtx={ctx}")).await;
    assert_eq!(again.expect(200).get("stale"), None);
    let elsewhere = corner.open(&corner.shop, "crdt").await;
    let elsewhere = patch(&corner.shop, &elsewhere, json!({"ops": [corner.add(1)]})).await;
    let ctx = elsewhere.expect(200)["ctx"].as_str().unwrap().to_owned();
    let stale = corner.shop.get(&format!("{path}?minCtx={ctx}")).await;
    assert_eq!(stale.expect(200)["stale"], true);
}

#[tokio::test]
async fn a_guests_cart_goes_to_its_owner_once_and_nobody_else_reaches_it() {
    let corner = Corner::new().await;
    let (ana, eva) = (corner.buyer("Ana").await, corner.buyer("Eva").await);
    let guest = corner.open(&corner.shop, "crdt").await;
    let secret = guest["guestSecret"].as_str().unwrap();
    patch(&corner.shop, &guest, json!({"ops": [corner.add(2)]})).await;
    let path = format!("/v1/carts/{}", guest["id"].as_str().unwrap());
    let own = corner.open(&ana, "crdt").await;
    let second = ana
        .post("/v1/carts", &json!({"branchId": corner.branch}))
        .await;
    assert_eq!(second.expect(200)["id"], own["id"]);
    patch(&ana, &own, json!({"ops": [corner.add(1)]}))
        .await
        .expect(200);
    let merge = format!("/v1/carts/{}/merge", own["id"].as_str().unwrap());
    let from = json!({"from": guest["id"]});
    ana.post(&merge, &from).await.refused(404, "not-found");
    eva.get(&path).await.refused(404, "not-found");
    let with =
        |who: &Shop, method: &str, path: &str| who.call(method, path).header("cart-secret", secret);
    with(&ana, "GET", &path).send().await.expect(200);
    for _ in 0..2 {
        let merged = with(&ana, "POST", &merge).json(&from).send().await;
        assert_eq!(merged.expect(200)["lines"][0]["quantity"], 3);
    }
    // The secret ended with the cart, for everybody.
    for who in [&ana, &eva] {
        with(who, "GET", &path)
            .send()
            .await
            .refused(404, "not-found");
    }
    let others = corner.open(&eva, "crdt").await;
    let others = format!("/v1/carts/{}/merge", others["id"].as_str().unwrap());
    let stolen = with(&eva, "POST", &others).json(&from).send().await;
    stolen.refused(404, "not-found");
    let late = patch(&corner.shop, &guest, json!({"ops": [corner.add(1)]})).await;
    assert_eq!(late.refused(410, "cart-sealed")["successor"], own["id"]);
}
