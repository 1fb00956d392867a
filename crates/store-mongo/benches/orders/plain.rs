//! The plain program: one transaction per order with the driver's own retries, the same documents.
//!
//! Owns nothing of the adapter's: finds, conditional updates and inserts as one would write them.

use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Bson, DateTime, Document, doc};
use mongodb::error::{Error, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT};
use mongodb::options::{ReadConcern, WriteConcern};
use mongodb::{Client, ClientSession, Database};

use super::Orders;
use crate::support::{NOW, Shop};

/// One transaction per order.
pub(crate) struct Plain {
    client: Client,
    database: Database,
    shop: Shop,
}

impl Plain {
    pub(crate) async fn new(uri: &str, shop: Shop) -> Self {
        let client = Client::with_uri_str(uri).await.expect("connects");
        let database = client.default_database().expect("named");
        Self {
            client,
            database,
            shop,
        }
    }

    async fn attempt(
        &self,
        session: &mut ClientSession,
        product: usize,
        key: &str,
    ) -> Result<(), Error> {
        let business = ObjectId::from_bytes(self.shop.business.0.0);
        let branch = ObjectId::from_bytes(self.shop.branch.id.0.0);
        let product = ObjectId::from_bytes(self.shop.products[product].id.0.0);
        let collection = |name| self.database.collection::<Document>(name);
        let found = collection("products")
            .find_one(doc! { "_id": product, "businessId": business, "deletedAt": Bson::Null })
            .session(&mut *session)
            .await?
            .expect("a product");
        collection("branches")
            .find_one(doc! { "_id": branch, "businessId": business, "active": true })
            .session(&mut *session)
            .await?
            .expect("a branch");
        let level = collection("stockLevels")
            .find_one_and_update(
                doc! { "businessId": business, "branchId": branch, "productId": product, "available": { "$gte": 1i64 } },
                doc! { "$inc": { "available": -1i64, "reserved": 1i64, "version": 1i64 } },
            )
            .return_document(mongodb::options::ReturnDocument::After)
            .session(&mut *session)
            .await?
            .expect("stock");
        let counter = collection("counters")
            .find_one_and_update(
                doc! { "businessId": business, "code": "BOG", "year": 2026i64 },
                doc! { "$inc": { "lastNumber": 1i64 } },
            )
            .return_document(mongodb::options::ReturnDocument::After)
            .session(&mut *session)
            .await?
            .expect("a counter");
        let number = counter.get_i64("lastNumber").expect("a number");
        let order = self.order(&found, number);
        let id = order.get_object_id("_id").expect("an id");
        collection("orders")
            .insert_one(&order)
            .session(&mut *session)
            .await?;
        let movement = movement(&level, id);
        collection("stockMovements")
            .insert_one(movement)
            .session(&mut *session)
            .await?;
        collection("events")
            .insert_one(event(business, id))
            .session(&mut *session)
            .await?;
        let operation = doc! {
            "businessId": business, "customerId": Bson::Null, "key": key,
            "fingerprint": mongodb::bson::Binary { subtype: mongodb::bson::spec::BinarySubtype::Generic, bytes: vec![1; 32] },
            "reply": { "type": "document", "kind": "order", "document": order },
            "createdAt": now(), "schemaVersion": 1i64,
        };
        collection("operations")
            .insert_one(operation)
            .session(&mut *session)
            .await?;
        Ok(())
    }

    fn order(&self, product: &Document, number: i64) -> Document {
        let (price, zero) = (product.get("salePrice").expect("a price"), decimal("0.00"));
        let sums = doc! { "subtotal": price, "discount": &zero, "tax": &zero };
        let mut line = doc! {
            "productId": product.get("_id"), "skuAtPurchase": product.get("sku"),
            "nameAtPurchase": product.get("name"), "quantity": 1i64, "unitPrice": price, "total": price,
        };
        line.extend(sums.clone());
        let mut totals = doc! { "deliveryFee": &zero, "total": price };
        totals.extend(sums);
        doc! {
            "_id": ObjectId::new(), "businessId": product.get("businessId"),
            "number": format!("BOG-2026-{number:06}"),
            "branchId": ObjectId::from_bytes(self.shop.branch.id.0.0), "status": "pending",
            "paymentStatus": "unpaid", "paymentMethod": "on_delivery",
            "customer": { "id": Bson::Null, "nameAtPurchase": "Ana", "phoneAtPurchase": Bson::Null },
            "items": [line], "totals": totals, "currency": "COP", "coupons": [],
            "fulfilment": { "type": "pickup", "address": Bson::Null, "courierId": Bson::Null },
            "note": Bson::Null, "checkoutId": Bson::Null, "cartId": Bson::Null,
            "reservationExpiresAt": Bson::Null, "confirmedAt": Bson::Null, "preparingAt": Bson::Null,
            "dispatchedAt": Bson::Null, "deliveredAt": Bson::Null, "cancelledAt": Bson::Null,
            "expiredAt": Bson::Null, "paidAt": Bson::Null, "cancelReason": Bson::Null,
            "reservedAnewId": Bson::Null, "returnedItems": [], "returnCount": 0i64,
            "version": 1i64, "createdAt": now(), "updatedAt": now(), "schemaVersion": 1i64,
        }
    }
}

fn now() -> DateTime {
    DateTime::from_millis(NOW.as_millis())
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse().expect("a decimal"))
}

fn movement(level: &Document, order: ObjectId) -> Document {
    doc! {
        "_id": ObjectId::new(), "businessId": level.get("businessId"), "branchId": level.get("branchId"),
        "productId": level.get("productId"), "sequence": level.get("version"), "type": "reservation",
        "quantity": -1i64, "reservedDelta": 1i64, "balanceAfter": level.get("available"),
        "reservedAfter": level.get("reserved"), "operationId": format!("{}-reserve-0", order.to_hex()),
        "orderId": order, "checkoutId": Bson::Null, "reason": Bson::Null, "reference": Bson::Null,
        "actor": { "type": "system" }, "occurredAt": now(), "schemaVersion": 1i64,
    }
}

fn event(business: ObjectId, order: ObjectId) -> Document {
    doc! {
        "_id": ObjectId::new(), "businessId": business, "subject": { "kind": "order", "id": order },
        "sequence": 1i64, "type": "abasto.order.created", "actor": { "type": "system" },
        "requestId": "test", "occurredAt": now(), "data": { "from": Bson::Null, "to": "pending" },
        "schemaVersion": 1i64,
    }
}

#[async_trait::async_trait]
impl Orders for Plain {
    async fn place(&self, product: usize, key: String) -> usize {
        let mut retries = 0;
        let mut session = self.client.start_session().await.expect("a session");
        loop {
            let begun = session
                .start_transaction()
                .read_concern(ReadConcern::snapshot())
                .write_concern(WriteConcern::majority());
            begun.await.expect("started");
            let ran = self.attempt(&mut session, product, &key).await;
            let ended = match ran {
                Ok(()) => loop {
                    match session.commit_transaction().await {
                        Err(error) if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) => {}
                        other => break other,
                    }
                },
                Err(error) => {
                    session.abort_transaction().await.ok();
                    Err(error)
                }
            };
            match ended {
                Ok(()) => return retries,
                Err(error) if error.contains_label(TRANSIENT_TRANSACTION_ERROR) => retries += 1,
                Err(error) => panic!("{error}"),
            }
            let wait = 5.0 * 1.5f64.powi(i32::try_from(retries.min(12)).expect("small"));
            let share = f64::from(getrandom::u32().expect("random")) / f64::from(u32::MAX);
            tokio::time::sleep(std::time::Duration::from_secs_f64(
                wait.min(500.0) * share / 1_000.0,
            ))
            .await;
        }
    }
}
