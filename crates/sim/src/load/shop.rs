//! The business that is measured: one branch, products, stock that does not run out.
//!
//! Owns its making and the bodies of its orders. Must not measure.

use abasto_client::{Call, Client};
use anyhow::Result;
use serde_json::json;

use super::business::{Business, Identified};
use super::server::Server;

/// Units of every product: a contract's largest quantity, more than any run sells.
const UNITS: u32 = 1_000_000;
/// Items of one adjustment.
const ITEMS: usize = 200;

/// Which products an order takes, and how many lines it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) products: usize,
    pub(super) lines: usize,
}

/// A business to buy from.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) key: String,
    branch: String,
    products: Vec<String>,
}

impl Shop {
    /// Opens a business.
    pub(super) async fn open(server: &Server, products: usize) -> Result<Self> {
        let Business {
            key,
            branch,
            mut client,
        } = Business::open(server, "Load").await?;
        let mut csv = "sku,name,salePrice\n".to_owned();
        for number in 0..products {
            csv.push_str(&format!("P-{number:05},Product {number},3.50\n"));
        }
        client
            .call(&Call::post_bytes("/v1/products:import", "text/csv", csv))
            .await?;
        let mut shop = Self {
            key,
            branch,
            products: Vec::with_capacity(products),
        };
        let each = |product: Identified| shop.products.push(product.id);
        client.walk("/v1/products", each).await?;
        shop.receive(&mut client).await?;
        Ok(shop)
    }

    async fn receive(&self, client: &mut Client) -> Result<()> {
        let target = format!("/v1/branches/{}/inventory/adjustments", self.branch);
        for (number, chunk) in self.products.chunks(ITEMS).enumerate() {
            let item = |id: &String| json!({"productId": id, "delta": UNITS, "reason": "receipt"});
            let items: Vec<_> = chunk.iter().map(item).collect();
            let call = Call::post(&target, &json!({ "items": items }))?;
            client.call(&call.key(format!("stock-{number}"))).await?;
        }
        Ok(())
    }

    /// The body of the order with this number. Its lines are of different products, far apart and
    /// not the same from order to order.
    pub(super) fn order(&self, number: usize, range: Range) -> String {
        let products = &self.products[..range.products.min(self.products.len())];
        let mut body = format!("{{\"branchId\":\"{}\",\"items\":[", self.branch);
        let first = number.wrapping_mul(7919);
        let apart = (products.len() / range.lines).max(1);
        for line in 0..range.lines {
            let product = &products[(first + line * apart) % products.len()];
            let comma = if line == 0 { "" } else { "," };
            body.push_str(&format!(
                "{comma}{{\"productId\":\"{product}\",\"quantity\":1}}"
            ));
        }
        body.push_str(
            "],\"customer\":{\"name\":\"Load\"},\"fulfilment\":{\"type\":\"pickup\"},\
             \"paymentMethod\":\"on_delivery\"}",
        );
        body
    }
}
