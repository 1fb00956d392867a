//! From cart to paid order over the real wire: the sandbox's messages, signed as a provider signs.

use abasto_relay::signature::sign_standard;
use hyper::Method;
use serde_json::{Value, json};

use super::harness::{
    Http, Reply, Server, Setup, Shop, StoreKind, from_now, on_both_stores, run, text,
};

on_both_stores!(
    a_rush_for_few_units_ends_with_as_many_paid_orders,
    only_a_message_that_is_signed_now_for_this_business_pays,
    the_sandbox_is_played_from_the_command_line,
);

/// `whsec_` and the base64 of 32 bytes.
const SECRET: &str = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
const OTHER: &str = "whsec_eDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

fn open(kind: StoreKind) -> Server {
    let setup = Setup::on(kind).variable("ABASTO_SANDBOX_WEBHOOK_SECRET", SECRET);
    setup.start()
}

/// A message of the sandbox to one business.
#[derive(Clone)]
struct Message {
    business: String,
    id: String,
    sent_s: i64,
    body: String,
}

impl Message {
    fn captured(business: &str, payment: &Value) -> Self {
        let id = format!("evt-{}", text(&payment["id"]));
        let body = json!({
            "eventId": id, "type": "payment.captured", "providerRef": payment["providerRef"],
            "amount": payment["amount"], "currency": payment["currency"],
            "occurredAt": "2026-01-01T00:00:00Z",
        });
        Self {
            business: business.to_owned(),
            id,
            sent_s: from_now(0),
            body: body.to_string(),
        }
    }

    fn signed(&self, secret: &str) -> String {
        sign_standard(&self.id, self.sent_s, self.body.as_bytes(), secret).expect("a signature")
    }

    async fn send(&self, http: &mut Http, signature: &str) -> Reply {
        let path = format!("/v1/webhooks/payments/sandbox/{}", self.business);
        let sent = self.sent_s.to_string();
        let headers = [
            ("content-type", "application/json"),
            ("webhook-id", &self.id),
            ("webhook-timestamp", &sent),
            ("webhook-signature", signature),
        ];
        let sent = http.send(Method::POST, &path, &headers, self.body.clone());
        sent.await.expect("an answer")
    }
}

/// Goes from an empty cart to an attempt to pay; `None` when there were no units left.
async fn shop_for_one(http: &mut Http, shop: &Shop, who: usize) -> Option<(String, Value)> {
    let key = |what: &str| format!("{what}-{who}");
    let cart = json!({"branchId": shop.branch});
    let cart = http.post("/v1/carts", None, &cart).await.expect(201);
    let cart = text(&cart["id"]);
    let add = json!({"ops": [{"op": "addItem", "productId": shop.products[0], "quantity": 1}]});
    let path = format!("/v1/carts/{cart}");
    let headers = [("content-type", "application/json")];
    let patched = http.send(Method::PATCH, &path, &headers, add.to_string());
    patched.await.expect("an answer").expect(200);
    let checkout = json!({"cartId": cart, "fulfilment": {"type": "pickup"},
        "paymentMethod": "online"});
    let checkout = http
        .insist("/v1/checkouts", &key("checkout"), &checkout)
        .await;
    if checkout.status == 409 {
        assert_eq!(checkout.json()["code"], "insufficient-stock");
        return None;
    }
    let order = json!({"checkoutId": checkout.expect(201)["id"], "customer": {"name": "Ana"}});
    let order = http.insist("/v1/orders", &key("order"), &order).await;
    let order = text(&order.expect(201)["id"]);
    let path = format!("/v1/orders/{order}/payments");
    let payment = json!({"provider": "sandbox"});
    let payment = http.insist(&path, &key("pay"), &payment).await;
    Some((order, payment.expect(201)))
}

async fn business_of(http: &mut Http) -> String {
    text(&http.get("/v1/business").await.expect(200)["id"])
}

async fn order(http: &mut Http, id: &str) -> Value {
    http.get(&format!("/v1/orders/{id}")).await.expect(200)
}

async fn a_rush_for_few_units_ends_with_as_many_paid_orders(kind: StoreKind) {
    const UNITS: usize = 5;
    const SHOPPERS: usize = 20;
    let server = open(kind);
    let shop = Shop::open(&server, 1, i64::try_from(UNITS).unwrap()).await;
    let business = business_of(&mut server.http(&shop.key)).await;
    let shoppers = (0..SHOPPERS).map(|who| {
        let (mut http, mut provider) = (server.http(&shop.key), server.nobody());
        let (shop, business) = (shop.clone(), business.clone());
        tokio::spawn(async move {
            let (id, payment) = shop_for_one(&mut http, &shop, who).await?;
            let message = Message::captured(&business, &payment);
            let signature = message.signed(SECRET);
            // Told twice, as providers do.
            for _ in 0..2 {
                message.send(&mut provider, &signature).await.expect(200);
            }
            Some(order(&mut http, &id).await)
        })
    });
    let shoppers: Vec<_> = shoppers.collect();
    let mut paid = 0;
    for shopper in shoppers {
        if let Some(order) = shopper.await.unwrap() {
            assert_eq!(
                (&order["paymentStatus"], &order["status"]),
                (&json!("paid"), &json!("pending"))
            );
            paid += 1;
        }
    }
    assert_eq!(paid, UNITS);
    let level = shop.level(&mut server.http(&shop.key), 0).await;
    assert_eq!(
        (&level["available"], &level["reserved"]),
        (&json!(0), &json!(UNITS))
    );
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}

async fn the_sandbox_is_played_from_the_command_line(kind: StoreKind) {
    let server = open(kind);
    let shop = Shop::open(&server, 1, 2).await;
    let mut http = server.http(&shop.key);
    let sandbox = |order: &str, secret: &str, more: &[&str]| {
        let mut command = server.command(&shop.key);
        command
            .args(["sandbox", order, "--output", "json"])
            .args(more)
            .env("ABASTO_SANDBOX_WEBHOOK_SECRET", secret);
        run(&mut command)
    };
    let (paid, payment) = shop_for_one(&mut http, &shop, 0).await.expect("units");
    for (secret, code) in [("whsec_short", 2), ("no secret at all", 2), (OTHER, 1)] {
        let ran = sandbox(&paid, secret, &[]);
        assert_eq!(ran.code, Some(code), "{secret}: {ran:?}");
        assert!(
            ran.stderr.contains("sign") || ran.stderr.contains("secret"),
            "{ran:?}"
        );
    }
    assert_eq!(order(&mut http, &paid).await["status"], "pending_payment");
    let ran = sandbox(&paid, SECRET, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(told["amount"], payment["amount"]);
    let now = order(&mut http, &paid).await;
    assert_eq!(
        (&now["status"], &now["paymentStatus"]),
        (&json!("pending"), &json!("paid"))
    );

    let (unpaid, _) = shop_for_one(&mut http, &shop, 1).await.expect("units");
    let ran = sandbox(&unpaid, SECRET, &["--event", "failed"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let now = order(&mut http, &unpaid).await;
    assert_eq!(
        (&now["status"], &now["paymentStatus"]),
        (&json!("pending_payment"), &json!("failed"))
    );
    let unknown = sandbox(&text(&payment["id"]), SECRET, &[]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
}

async fn only_a_message_that_is_signed_now_for_this_business_pays(kind: StoreKind) {
    let server = open(kind);
    let shop = Shop::open(&server, 1, 1).await;
    let mut http = server.http(&shop.key);
    let mut provider = server.nobody();
    let business = business_of(&mut http).await;
    let (id, payment) = shop_for_one(&mut http, &shop, 0).await.unwrap();
    let good = Message::captured(&business, &payment);
    let old = Message {
        sent_s: from_now(-360),
        ..good.clone()
    };
    let altered = Message {
        body: good.body.replace("captured", "failed"),
        ..good.clone()
    };
    let refused = [
        ("another secret", &good, good.signed(OTHER)),
        ("no signature", &good, String::new()),
        ("six minutes old", &old, old.signed(SECRET)),
        ("altered on the way", &altered, good.signed(SECRET)),
    ];
    for (what, message, signature) in refused {
        let reply = message.send(&mut provider, &signature).await;
        assert_eq!(reply.status, 401, "{what}");
        assert_eq!(reply.json()["code"], "bad-signature", "{what}");
    }
    // Rightly signed, but of no payment of the business it is sent to, or of another amount or
    // currency: taken in, and nothing is paid by it.
    let stranger = Shop::business(&server, "USD").await;
    let stranger = business_of(&mut server.http(&stranger)).await;
    let variant = |number: usize, business: &str, from: &str, to: &str| Message {
        business: business.to_owned(),
        id: format!("variant-{number}"),
        body: good
            .body
            .replace(from, to)
            .replace(&good.id, &format!("variant-{number}")),
        ..good.clone()
    };
    let harmless = [
        variant(1, &stranger, "", ""),
        variant(2, &business, "\"1.00\"", "\"1.01\""),
        variant(3, &business, "USD", "EUR"),
    ];
    for message in &harmless {
        let signature = message.signed(SECRET);
        let reply = message.send(&mut provider, &signature).await;
        assert!(reply.status < 500, "{}: {}", message.id, reply.status);
        assert_eq!(order(&mut http, &id).await["paymentStatus"], "unpaid");
    }
    good.send(&mut provider, &good.signed(SECRET))
        .await
        .expect(200);
    assert_eq!(order(&mut http, &id).await["paymentStatus"], "paid");
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
