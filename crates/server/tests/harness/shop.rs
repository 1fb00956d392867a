//! A business with one branch and some products, as most tests need it.

use serde_json::{Value, json};

use super::{Http, Server};

/// A business.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    /// The owner's key.
    pub(crate) key: String,
    pub(crate) branch: String,
    /// Ids; product n costs n + 1 units of the currency.
    pub(crate) products: Vec<String>,
}

impl Shop {
    /// Opens a business with so many products and so many units of each.
    pub(crate) async fn open(server: &Server, products: usize, units: i64) -> Self {
        let key = Self::business(server, "USD").await;
        let mut http = server.http(&key);
        let branch = json!({"code": "MAIN", "name": "Main", "timeZone": "America/Bogota"});
        let branch = http.post("/v1/branches", None, &branch).await.expect(201);
        let mut shop = Self {
            key,
            branch: text(&branch["id"]),
            products: Vec::new(),
        };
        for number in 0..products {
            let product = json!({
                "sku": format!("SKU-{number}"),
                "name": format!("Product {number}"),
                "salePrice": format!("{}.00", number + 1),
            });
            let product = http.post("/v1/products", None, &product).await.expect(201);
            shop.products.push(text(&product["id"]));
        }
        if units > 0 {
            shop.receive(&mut http, units).await;
        }
        shop
    }

    /// Opens an empty business; gives the owner's key.
    pub(crate) async fn business(server: &Server, currency: &str) -> String {
        let business = json!({"name": "Test", "currency": currency, "timeZone": "America/Bogota"});
        let opened = server
            .operator()
            .post("/v1/businesses", None, &business)
            .await;
        text(&opened.expect(201)["apiKey"]["secret"])
    }

    async fn receive(&self, http: &mut Http, units: i64) {
        let path = format!("/v1/branches/{}/inventory/adjustments", self.branch);
        for (number, products) in self.products.chunks(200).enumerate() {
            let item = |id: &String| json!({"productId": id, "delta": units, "reason": "receipt"});
            let items: Vec<_> = products.iter().map(item).collect();
            let key = format!("receipt-{number}");
            let received = http
                .post(&path, Some(&key), &json!({ "items": items }))
                .await;
            received.expect(201);
        }
    }

    /// The body of an order of these products, one unit each.
    pub(crate) fn order(&self, products: &[usize]) -> Value {
        let line = |index: &usize| json!({"productId": self.products[*index], "quantity": 1});
        json!({
            "branchId": self.branch,
            "items": products.iter().map(line).collect::<Vec<_>>(),
            "customer": {"name": "Somebody"},
            "fulfilment": {"type": "pickup"},
            "paymentMethod": "on_delivery",
        })
    }

    /// The level of a product.
    pub(crate) async fn level(&self, http: &mut Http, product: usize) -> Value {
        let path = format!(
            "/v1/branches/{}/inventory/{}",
            self.branch, self.products[product]
        );
        http.get(&path).await.expect(200)
    }
}

/// A text that must be there.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
