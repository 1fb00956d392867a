//! Input that must be refused, each kind as a whole: how, where, and that nothing happened.

use serde_json::{Value, json};

use crate::harness::{Answer, Shop, World};

fn order(branch: &str, product: &str) -> Value {
    json!({
        "branchId": branch,
        "items": [{"productId": product, "quantity": 1}],
        "fulfilment": {"type": "pickup"},
        "paymentMethod": "on_delivery",
    })
}

/// A shop with one product in stock, and a way to place orders in it.
struct Till {
    shop: Shop,
    order: Value,
}

impl Till {
    async fn new() -> Self {
        let shop = World::new().business("La Espiga").await;
        let (branch, product) = (
            shop.branch("BOG").await,
            shop.product("PAN-1", "3500").await,
        );
        shop.stock(&branch, &product, 1_000).await;
        let order = order(&branch, &product);
        Self { shop, order }
    }

    async fn place(&self, body: &Value) -> Answer {
        self.raw(&body.to_string()).await
    }

    async fn raw(&self, body: &str) -> Answer {
        let call = self.shop.call("POST", "/v1/orders").key("one-key-for-all");
        call.text("application/json", body).send().await
    }

    /// That nothing of what was refused left a trace: the key is free, the first number is unused.
    async fn untouched(&self) {
        let placed = self.place(&self.order).await;
        assert_eq!(placed.header("idempotency-replayed"), None);
        let number = placed.expect(201)["number"].as_str().unwrap().to_owned();
        assert!(number.ends_with("-000001"), "{number}");
    }
}

#[tokio::test]
async fn fields_that_a_client_has_no_say_in_are_unknown() {
    let till = Till::new().await;
    for field in [
        "total",
        "unitPrice",
        "status",
        "businessId",
        "version",
        "number",
        "$where",
    ] {
        let mut body = till.order.clone();
        body[field] = json!("1");
        let refused = till.place(&body).await;
        refused.refused(422, "unknown-field");
        let at = (format!("/{field}"), "unknown-field".to_owned());
        assert_eq!(refused.faults(), [at]);
    }
    for field in ["unitPrice", "price", "discount", "a/b~c"] {
        let mut body = till.order.clone();
        body["items"][0][field] = json!("1");
        let refused = till.place(&body).await;
        refused.refused(422, "unknown-field");
        let escaped = field.replace('~', "~0").replace('/', "~1");
        assert_eq!(refused.faults()[0].0, format!("/items/0/{escaped}"));
    }
    till.untouched().await;
}

#[tokio::test]
async fn quantities_out_of_range_or_of_another_type_are_refused() {
    let till = Till::new().await;
    let place = async |quantity: &str| {
        let body = till
            .order
            .to_string()
            .replace("\"quantity\":1", &format!("\"quantity\":{quantity}"));
        till.raw(&body).await
    };
    for (quantity, code) in [
        ("0", "out-of-range"),
        ("-1", "out-of-range"),
        ("1000001", "out-of-range"),
        ("2147483648", "out-of-range"),
        ("9223372036854775808", "out-of-range"),
        ("1.5", "invalid-type"),
        ("1.0", "invalid-type"),
        ("1e3", "invalid-type"),
        ("1e400", "out-of-range"),
        ("-1e999", "out-of-range"),
        ("\"2\"", "invalid-type"),
        ("null", "invalid-type"),
        ("true", "invalid-type"),
        ("[1]", "invalid-type"),
        ("{\"$gt\": 0}", "invalid-type"),
    ] {
        let refused = place(quantity).await;
        refused.refused(422, "validation");
        let expected = ("/items/0/quantity".to_owned(), code.to_owned());
        assert!(
            refused.faults().contains(&expected),
            "{quantity}: {:?}",
            refused.faults()
        );
    }
    for none in ["01", "+1", "1.", "0x1", "NaN"] {
        place(none).await.refused(400, "malformed-body");
    }
    let mut many = till.order.clone();
    many["items"] = json!(vec![
        json!({"productId": many["items"][0]["productId"], "quantity": 1_000_000});
        2
    ]);
    assert_eq!(
        till.place(&many).await.faults(),
        [("/items/1/quantity".into(), "out-of-range".into())]
    );
    till.untouched().await;
}

#[tokio::test]
async fn objects_and_lists_where_a_text_belongs_are_refused() {
    let till = Till::new().await;
    for field in [
        "/branchId",
        "/items/0/productId",
        "/paymentMethod",
        "/fulfilment/type",
    ] {
        for value in [
            json!({"$gt": ""}),
            json!([]),
            json!(1),
            json!(null),
            json!(true),
            json!(""),
        ] {
            let mut body = till.order.clone();
            *body.pointer_mut(field).unwrap() = value.clone();
            let refused = till.place(&body).await;
            refused.refused(422, "validation");
            assert_eq!(refused.faults()[0].0, field, "{value}");
        }
    }
    for body in ["[]", "1", "null", "\"a\"", "true"] {
        assert_eq!(till.raw(body).await.faults()[0].0, "");
    }
    till.untouched().await;
}

#[tokio::test]
async fn money_is_a_plain_decimal_string() {
    let till = Till::new().await;
    let forty = "1".repeat(40);
    for money in [
        json!("+1"),
        json!("-1"),
        json!("1e3"),
        json!("1.234"),
        json!(forty),
        json!(""),
        json!("."),
        json!("1."),
        json!(".5"),
        json!("1,5"),
        json!(" 1"),
        json!("0x1"),
        json!("1.2345"),
        json!("９"),
        json!(1),
        json!(1.5),
        json!({"$numberDecimal": "1"}),
        json!("9999999999999999"),
    ] {
        let product = json!({"sku": "X", "name": "X", "salePrice": money});
        let refused = till.shop.post("/v1/products", &product).await;
        refused.refused(422, "validation");
        assert_eq!(refused.faults()[0].0, "/salePrice", "{money}");
        let mut body = till.order.clone();
        body["expectedTotal"] = money.clone();
        let refused = till.place(&body).await;
        refused.refused(422, "validation");
        assert_eq!(refused.faults()[0].0, "/expectedTotal", "{money}");
    }
    till.untouched().await;
}

#[tokio::test]
async fn texts_are_measured_in_characters_after_normalising() {
    let shop = World::new().business("La Espiga").await;
    let post = async |name: &str, sku: &str| {
        shop.post(
            "/v1/products",
            &json!({"sku": sku, "name": name, "salePrice": "1"}),
        )
        .await
    };
    for (index, unit) in ["a", "é", "🥐", "e\u{301}", "\u{200f}", "日"]
        .iter()
        .enumerate()
    {
        post(&unit.repeat(200), &format!("fits-{index}"))
            .await
            .expect(201);
        let over = post(&unit.repeat(201), "over").await;
        over.refused(422, "validation");
        assert_eq!(
            over.faults(),
            [("/name".into(), "too-long".into())],
            "{unit}"
        );
    }
    let trimmed = post(&format!("  {}\u{a0} ", "e\u{301}".repeat(200)), "trimmed").await;
    assert_eq!(trimmed.expect(201)["name"], "é".repeat(200));
    for (name, code) in [
        ("", "required"),
        ("   ", "required"),
        ("a\0b", "control-character"),
        ("a\nb", "control-character"),
        ("a\tb", "control-character"),
        ("\u{85}x", "control-character"),
    ] {
        assert_eq!(
            post(name, "none").await.faults(),
            [("/name".into(), code.into())],
            "{name:?}"
        );
    }
}

#[tokio::test]
async fn a_body_that_is_no_json_is_told_apart_from_one_that_is_wrong() {
    let till = Till::new().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for body in [
        "",
        "{",
        "{}{}",
        "{'a':1}",
        "{\"a\":1,}",
        "\u{feff}{}",
        "{\"note\":\"\\ud800\"}",
        "{\"note\":\"\\udc00x\"}",
        "{\"note\":\"a\nb\"}",
        &deep,
    ] {
        till.raw(body).await.refused(400, "malformed-body");
    }
    let call = till.shop.call("POST", "/v1/orders").key("k");
    call.bytes("application/json", b"{\"note\":\"\xff\"}")
        .send()
        .await
        .refused(400, "malformed-body");
    till.untouched().await;
}

#[tokio::test]
async fn a_field_that_stands_twice_is_refused_at_every_depth() {
    let till = Till::new().await;
    let body = till
        .order
        .to_string()
        .replace("\"quantity\":1", "\"quantity\":1,\"quantity\":2");
    let refused = till.raw(&body).await;
    refused.refused(422, "validation");
    assert_eq!(
        refused.faults(),
        [("/items/0/quantity".into(), "duplicate-field".into())]
    );
    let body = till
        .order
        .to_string()
        .replacen('{', "{\"branchId\":\"x\",", 1);
    assert_eq!(
        till.raw(&body).await.faults()[0],
        ("/branchId".into(), "duplicate-field".into())
    );
    till.untouched().await;
}

#[tokio::test]
async fn all_faults_come_at_once() {
    let till = Till::new().await;
    let refused = till
        .place(&json!({
            "items": [{"quantity": 0}, {"productId": "x", "quantity": "1", "price": 1}],
            "customer": {"name": "", "phone": 1},
            "fulfilment": {"type": "drone", "address": {"street": 1}},
            "note": "n".repeat(1001),
            "total": "1",
        }))
        .await;
    let mut faults = refused.faults();
    faults.sort();
    let expected = [
        ("/branchId", "required"),
        ("/customer/name", "required"),
        ("/customer/phone", "invalid-type"),
        ("/fulfilment/address/street", "invalid-type"),
        ("/fulfilment/type", "not-one-of"),
        ("/items/0/productId", "required"),
        ("/items/0/quantity", "out-of-range"),
        ("/items/1/price", "unknown-field"),
        ("/items/1/productId", "invalid-format"),
        ("/items/1/quantity", "invalid-type"),
        ("/note", "too-long"),
        ("/paymentMethod", "required"),
        ("/total", "unknown-field"),
    ];
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|(at, code)| ((*at).to_owned(), (*code).to_owned()))
        .collect();
    assert_eq!(faults, expected);
    let mut body = refused.json();
    body["requestId"] = json!("…");
    let errors = body["errors"].as_array_mut().unwrap();
    errors.sort_by_key(|fault| fault["pointer"].as_str().unwrap().to_owned());
    // The same for every store on which this runs.
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_json_snapshot!(body));
}

#[tokio::test]
async fn a_body_is_at_most_one_mebibyte() {
    let till = Till::new().await;
    let padded = |bytes: usize| {
        let body = till.order.to_string();
        format!("{body}{}", " ".repeat(bytes - body.len()))
    };
    till.raw(&padded((1 << 20) + 1))
        .await
        .refused(413, "body-too-large");
    till.raw(&padded(1 << 20)).await.expect(201);
}

#[tokio::test]
async fn sets_of_items_have_bounds_and_counts_name_a_product_once() {
    let shop = World::new().business("La Espiga").await;
    let (branch, product) = (shop.branch("BOG").await, shop.product("PAN-1", "1").await);
    let post = async |path: &str, body: Value| {
        let path = format!("/v1/branches/{branch}/inventory/{path}");
        shop.call("POST", &path).key("k").json(&body).send().await
    };
    let item = json!({"productId": product, "delta": 1, "reason": "found"});
    let items = |count: usize| json!({"items": vec![item.clone(); count]});
    assert_eq!(post("adjustments", items(0)).await.faults()[0].1, "too-few");
    assert_eq!(
        post("adjustments", items(201)).await.faults()[0].1,
        "too-many"
    );
    for (delta, reason, at) in [
        (0, "found", "/items/0/delta"),
        (1, "theft", "/items/0/reason"),
    ] {
        let body = json!({"items": [{"productId": product, "delta": delta, "reason": reason}]});
        assert_eq!(post("adjustments", body).await.faults()[0].0, at);
    }
    let counted = json!({"productId": product, "counted": 1, "expectedVersion": 0});
    let twice = post("counts", json!({"items": [counted, counted]})).await;
    assert_eq!(
        twice.faults(),
        [("/items/1/productId".into(), "duplicate-product".into())]
    );
    let same = json!({"fromBranchId": branch, "toBranchId": branch, "items": [{"productId": product, "quantity": 1}]});
    let same = shop
        .call("POST", "/v1/transfers")
        .key("k")
        .json(&same)
        .send()
        .await;
    assert_eq!(
        same.faults(),
        [("/toBranchId".into(), "same-branch".into())]
    );
}

#[tokio::test]
async fn people_and_places_have_forms() {
    let shop = World::new().business("La Espiga").await;
    let customer = async |field: &str, value: &str| {
        let mut body = json!({"name": "Ana"});
        body[field] = json!(value);
        shop.post("/v1/customers", &body).await
    };
    for phone in [
        "3001234567",
        "+0123456789",
        "+57 300 123",
        "+573001234567890123",
        "+57abc",
    ] {
        assert_eq!(
            customer("phone", phone).await.faults()[0].0,
            "/phone",
            "{phone}"
        );
    }
    for email in [
        "ana",
        "ana@",
        "@x.org",
        "a@b",
        "a b@x.org",
        "a\u{200b}@x.org",
        "a@@x.org",
    ] {
        assert_eq!(
            customer("email", email).await.faults()[0].0,
            "/email",
            "{email}"
        );
    }
    for at in ["yesterday", "2026-01-31", "2026-02-30T00:00:00Z"] {
        let body = json!({"name": "Ana", "email": "a@x.org", "emailVerifiedAt": at});
        let refused = shop.post("/v1/customers", &body).await;
        assert_eq!(refused.faults()[0].0, "/emailVerifiedAt", "{at}");
    }
    for (code, zone, at) in [
        ("bog", "UTC", "/code"),
        ("A", "UTC", "/code"),
        ("ABCDEFGHI", "UTC", "/code"),
        ("BOG", "Bogota", "/timeZone"),
        ("BOG", "America/Macondo", "/timeZone"),
        ("BOG", "../etc/passwd", "/timeZone"),
    ] {
        let body = json!({"code": code, "name": "B", "timeZone": zone});
        assert_eq!(
            shop.post("/v1/branches", &body).await.faults()[0].0,
            at,
            "{code} {zone}"
        );
    }
    for (role, extra, at) in [
        ("staff", json!({}), "/branchIds"),
        ("owner", json!({"branchIds": []}), "/branchIds"),
        ("customer", json!({}), "/customerId"),
        ("king", json!({}), "/role"),
    ] {
        let mut body = json!({"name": "k", "role": role});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        assert_eq!(
            shop.post("/v1/api-keys", &body).await.faults()[0].0,
            at,
            "{role}"
        );
    }
}
