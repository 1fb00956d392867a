//! Credentials: who gets in, as what, how often.

use std::num::NonZeroU32;

use abasto_api::Rates;
use abasto_api::jwt::{Expected, TokenKey, TokenKeys};
use serde_json::{Value, json};

use crate::document::operations_by_path;
use crate::harness::{PLATFORM_KEY, Shop, World};

#[tokio::test]
async fn every_route_that_says_so_needs_a_credential() {
    let world = World::new();
    let mut closed = 0;
    for (path, method, operation) in operations_by_path(&abasto_api::document()) {
        if operation["security"] == json!([]) || operation["security"] == json!([{}]) {
            continue;
        }
        closed += 1;
        let path = path.replace(['{', '}'], "");
        for credential in [
            None,
            Some("Bearer"),
            Some("Bearer x"),
            Some("Basic eDp5"),
            Some("Bearer abasto_65f1c0ffee0123456789abcd_AAAA"),
        ] {
            let mut call = world.call(&method.to_uppercase(), &path);
            if let Some(credential) = credential {
                call = call.header("authorization", credential);
            }
            let answer = call.send().await;
            answer.refused(401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert!(closed > 30, "{closed}");
}

#[tokio::test]
async fn a_path_that_is_no_text_names_nothing() {
    let world = World::new();
    let shop = world.business("La Espiga").await;
    let mut named = 0;
    for (path, method, _) in operations_by_path(&abasto_api::document()) {
        let Some((before, rest)) = path.split_once('{') else {
            continue;
        };
        named += 1;
        let path = rest.split('{').map(|part| part.split_once('}').unwrap().1);
        let path = path.fold(before.to_owned(), |path, part| path + "%ff" + part);
        let call = shop.call(&method.to_uppercase(), &path).key("k");
        let answer = call.json(&json!({})).send().await;
        if method == "get" {
            answer.refused(404, "not-found");
        } else {
            let media = answer.header("content-type");
            assert_eq!(media, Some("application/problem+json"), "{method} {path}");
        }
    }
    assert!(named > 30, "{named}");
}

#[tokio::test]
async fn the_operator_is_no_business_and_a_business_no_operator() {
    let world = World::new();
    let shop = world.business("La Espiga").await;
    let body = json!({"name": "n", "currency": "COP", "timeZone": "UTC"});
    shop.post("/v1/businesses", &body)
        .await
        .refused(404, "not-found");
    shop.get("/v1/businesses").await.refused(404, "not-found");
    let operator = Shop {
        world: world.clone(),
        credential: PLATFORM_KEY.to_owned(),
    };
    operator
        .get("/v1/business")
        .await
        .refused(401, "unauthenticated");
    let listed = operator.get("/v1/businesses").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let nobody = World::with(|app| app.platform_key = None);
    let operator = Shop {
        world: nobody,
        credential: PLATFORM_KEY.to_owned(),
    };
    operator
        .post("/v1/businesses", &body)
        .await
        .refused(404, "not-found");
}

#[tokio::test]
async fn a_key_is_shown_once_and_stops_at_once() {
    let shop = World::new().business("La Espiga").await;
    let made = shop
        .post("/v1/api-keys", &json!({"name": "till", "role": "service"}))
        .await
        .expect(201);
    let till = Shop {
        credential: made["secret"].as_str().unwrap().to_owned(),
        ..shop.clone()
    };
    till.get("/v1/products").await.expect(200);
    let listed = shop.get("/v1/api-keys").await;
    let text = String::from_utf8(listed.bytes.clone()).unwrap();
    assert!(
        !text.contains("secret") && !text.contains(till.credential.rsplit('_').next().unwrap())
    );
    let path = format!("/v1/api-keys/{}", made["id"].as_str().unwrap());
    for _ in 0..2 {
        shop.call("DELETE", &path).send().await.expect(204);
        till.get("/v1/products")
            .await
            .refused(401, "unauthenticated");
    }
    let mut other = shop.credential.clone();
    let last = if other.pop() == Some('A') { 'B' } else { 'A' };
    other.push(last);
    let forged = Shop {
        credential: other,
        ..shop.clone()
    };
    forged
        .get("/v1/products")
        .await
        .refused(401, "unauthenticated");
}

/// What each role gets: owner, manager, staff (here), service (here), courier, customer.
const REACH: &str = "
    GET    /v1/api-keys                             200 403 403 403 403 403
    GET    /v1/members                              200 200 200 403 403 403
    GET    /v1/customers                            200 200 200 200 403 200
    GET    /v1/products                             200 200 200 200 200 200
    POST   /v1/customers                            201 201 201 201 403 403
    PATCH  /v1/products/PRODUCT                     200 200 403 403 403 403
    PATCH  /v1/branches/HERE                        200 200 403 403 403 403
    PATCH  /v1/business                             200 200 403 403 403 403
    POST   /v1/branches/HERE/inventory/adjustments  201 201 201 201 403 403
    POST   /v1/branches/THERE/inventory/adjustments 201 201 403 403 403 403
    POST   /v1/orders?HERE                          201 201 201 201 403 201
    POST   /v1/orders?THERE                         201 201 403 403 403 201
";

/// A body for a line of the table.
fn reach_body(path: &str, product: &str) -> Value {
    let item = json!({"productId": product, "quantity": 1, "delta": 1, "reason": "found"});
    let only = |fields: [&str; 3]| {
        let fields = fields.into_iter().filter(|field| item.get(field).is_some());
        json!([Value::Object(
            fields
                .map(|field| (field.to_owned(), item[field].clone()))
                .collect()
        )])
    };
    match path.split_once("/orders?") {
        Some((_, branch)) => json!({
            "branchId": branch, "items": only(["productId", "quantity", ""]),
            "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery"
        }),
        None if path.ends_with("adjustments") => {
            json!({"items": only(["productId", "delta", "reason"])})
        }
        None if path.ends_with("customers") => json!({"name": "Luis"}),
        None => json!({}),
    }
}

#[tokio::test]
async fn roles_reach_as_far_as_the_table_says() {
    let shop = World::new().business("La Espiga").await;
    let (here, there) = (shop.branch("AA").await, shop.branch("BB").await);
    let product = shop.product("PAN-1", "1").await;
    let ana = shop.made(&shop.post("/v1/customers", &json!({"name": "Ana"})).await);
    for branch in [&here, &there] {
        shop.stock(branch, &product, 100).await;
    }
    let roles = [
        json!({"name": "k", "role": "owner"}),
        json!({"name": "k", "role": "manager"}),
        json!({"name": "k", "role": "staff", "branchIds": [here]}),
        json!({"name": "k", "role": "service", "branchIds": [here]}),
        json!({"name": "k", "role": "courier"}),
        json!({"name": "k", "role": "customer", "customerId": ana}),
    ];
    for (index, role) in roles.iter().enumerate() {
        let caller = shop.key(role).await;
        for line in REACH.trim().lines() {
            let filled = line.replace("PRODUCT", &product);
            let filled = filled.replace("THERE", &there).replace("HERE", &here);
            let cells: Vec<&str> = filled.split_whitespace().collect();
            let (method, target) = (cells[0], cells[1]);
            let path = target.split('?').next().unwrap();
            let key = format!("{index}-{target}");
            let call = caller
                .call(method, path)
                .key(&key)
                .header("if-match", "\"1\"");
            let answer = match method {
                "GET" => call.send().await,
                _ => call.json(&reach_body(target, &product)).send().await,
            };
            let text = String::from_utf8_lossy(&answer.bytes);
            assert_eq!(
                answer.status.as_str(),
                cells[2 + index],
                "{role} {line}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn tokens_act_as_the_membership_of_their_subject() {
    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
    let world = World::with(|app| {
        let key = TokenKey::hs256(None, SECRET).unwrap();
        app.token_keys = Some(TokenKeys::new(vec![key], None, Expected::default()));
    });
    let shop = world.business("La Espiga").await;
    let member = shop
        .post("/v1/members", &json!({"userId": "ana", "role": "manager"}))
        .await;
    let token = |subject: &str| {
        let claims = json!({"sub": subject, "exp": 4_000_000_000_i64});
        let key = jsonwebtoken::EncodingKey::from_secret(SECRET).unwrap();
        let token = jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key);
        Shop {
            credential: token.unwrap(),
            ..shop.clone()
        }
    };
    token("ana").get("/v1/business").await.expect(200);
    token("ana")
        .get("/v1/api-keys")
        .await
        .refused(403, "forbidden");
    token("luis")
        .get("/v1/business")
        .await
        .refused(401, "unauthenticated");
    shop.post("/v1/members", &json!({"userId": "ana", "role": "courier"}))
        .await
        .refused(409, "duplicate-member");
    let path = format!("/v1/members/{}", shop.made(&member));
    shop.call("PATCH", &path)
        .json(&json!({"active": false}))
        .send()
        .await
        .expect(200);
    token("ana")
        .get("/v1/business")
        .await
        .refused(401, "unauthenticated");
    let owner = json!({"userId": "boss", "role": "owner"});
    let manager = shop.key(&json!({"name": "m", "role": "manager"})).await;
    manager
        .post("/v1/members", &owner)
        .await
        .refused(403, "forbidden");
}

#[tokio::test]
async fn a_key_of_a_courier_has_the_rights_of_one_to_whom_nothing_is_assigned() {
    let shop = World::new().business("La Espiga").await;
    let (branch, product) = (
        shop.branch("BOG").await,
        shop.product("PAN-1", "3500").await,
    );
    shop.stock(&branch, &product, 5).await;
    let order = json!({
        "branchId": branch, "items": [{"productId": product, "quantity": 1}],
        "fulfilment": {"type": "pickup"}, "paymentMethod": "on_delivery",
    });
    let order = shop.call("POST", "/v1/orders").key("o").json(&order);
    let order = order.send().await.expect(201)["id"].clone();
    let order = order.as_str().unwrap();
    let courier = shop.key(&json!({"name": "c", "role": "courier"})).await;
    let listed = courier.get("/v1/orders").await.expect(200);
    assert_eq!(listed["items"], json!([]));
    let path = format!("/v1/orders/{order}");
    courier.get(&path).await.refused(404, "not-found");
    for action in ["dispatch", "deliver"] {
        let call = courier
            .call("POST", &format!("{path}/{action}"))
            .key(action);
        call.json(&json!({})).send().await.refused(404, "not-found");
    }
    courier.get("/v1/customers").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_flood_is_slowed_and_slows_nobody_else() {
    let rate = |per_s| NonZeroU32::new(per_s).unwrap();
    let world = World::with(|app| {
        app.rates = Some(Rates {
            reads_per_s: rate(5),
            writes_per_s: rate(2),
        });
    });
    let (loud, quiet) = (world.business("Loud").await, world.business("Quiet").await);
    let mut refused = 0;
    for _ in 0..50 {
        let answer = loud.get("/v1/products").await;
        if answer.status.as_u16() == 429 {
            answer.refused(429, "rate-limited");
            assert!(
                answer
                    .header("retry-after")
                    .unwrap()
                    .parse::<u64>()
                    .unwrap()
                    >= 1
            );
            refused += 1;
        }
    }
    assert!(refused > 0);
    quiet.get("/v1/products").await.expect(200);
}
