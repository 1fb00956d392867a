//! What the tests of the adapter share: a migrated store in a database of its own, and a small shop.
//!
//! Owns the values; each test owns what it shows.
#![cfg(test)]
#![expect(dead_code, reason = "each test binary uses its part")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use abasto_domain::access::{Actor, Role};
use abasto_domain::basket::Basket;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::business::{Business, Settings};
use abasto_domain::coupon::KnownBuyer;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::id::{BranchId, BusinessId, EventId, MovementId, OrderId, ProductId, RawId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::{
    Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, RESERVE, place,
};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::{Cause, MovementKind, OperationId, Place, Step, StockChange};
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::{Answer, Guard, OperationDraft, Put, UnitOfWork};
use abasto_store::verdict::{Skus, Verdict};
use abasto_store::{Store, StoreError};
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster;

mod cart;
pub(crate) mod load;
mod sale;

/// 2026-11-30T12:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_796_040_000_000);

/// The address of a database of a set.
pub(crate) fn address(set: &str, database: &str) -> String {
    set.replacen("/?", &format!("/{database}?"), 1)
}

/// A migrated store in its own database of the shared set.
pub(crate) async fn store(database: &str) -> MongoStore {
    let set = mongo_cluster::shared_uri().expect("a replica set");
    let name = format!("{database}_{}", std::process::id());
    migrated(&address(set, &name)).await
}

/// A migrated store.
pub(crate) async fn migrated(uri: &str) -> MongoStore {
    let store = MongoStore::connect(uri).await.expect("connects");
    store.migrate().await.expect("migrates");
    store
}

/// A new id.
pub(crate) fn id() -> RawId {
    static LAST: AtomicU32 = AtomicU32::new(1);
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&std::process::id().to_be_bytes());
    bytes[8..].copy_from_slice(&LAST.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    RawId(bytes)
}

/// A business with one branch and some stocked products.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    pub(crate) business: BusinessId,
    pub(crate) currency: Currency,
    pub(crate) branch: Branch,
    pub(crate) products: Vec<Product>,
}

impl Shop {
    /// Writes the shop with so many products and so many units of each.
    pub(crate) async fn open(store: &dyn Store, products: usize, units: i64) -> Self {
        let shop = Self::new(products);
        assert_committed(store.commit(shop.founding()).await);
        for chunk in shop.products.chunks(100) {
            let puts = chunk.iter().cloned().map(|product| create(product.into()));
            assert_committed(store.commit(shop.unit(puts.collect(), Vec::new())).await);
            let receipts = chunk.iter().map(|product| shop.receipt(product.id, units));
            assert_committed(
                store
                    .commit(shop.unit(Vec::new(), receipts.collect()))
                    .await,
            );
        }
        shop
    }

    pub(crate) fn new(products: usize) -> Self {
        let business = BusinessId(id());
        let branch = Branch {
            business,
            id: BranchId(id()),
            code: BranchCode::parse("BOG").expect("a code"),
            name: "Centro".into(),
            time_zone: "America/Bogota".into(),
            active: true,
            stamp: Stamp::first(NOW),
        };
        Self {
            business,
            currency: Currency::parse("COP").expect("a currency"),
            products: (0..products)
                .map(|number| product(business, number))
                .collect(),
            branch,
        }
    }

    fn founding(&self) -> UnitOfWork {
        let business = Business {
            id: self.business,
            name: "Tienda".into(),
            currency: self.currency,
            time_zone: "America/Bogota".into(),
            settings: Settings::default(),
            stamp: Stamp::first(NOW),
        };
        self.unit(
            vec![create(business.into()), create(self.branch.clone().into())],
            Vec::new(),
        )
    }

    /// A unit of the shop's branch.
    pub(crate) fn unit(&self, puts: Vec<Put>, stock: Vec<StockChange>) -> UnitOfWork {
        UnitOfWork {
            business: self.business,
            branch: Some(self.branch.id),
            actor: Actor::System,
            request: "test".into(),
            at: NOW,
            operation: None,
            guards: Vec::new(),
            answer: if puts.is_empty() {
                Answer::Stock(Skus::new())
            } else {
                Answer::Put(0)
            },
            puts,
            stock,
            carts: abasto_store::cart::CartWork::default(),
            tallies: Vec::new(),
        }
    }

    /// A member, a customer and an API key.
    pub(crate) fn people(&self) -> UnitOfWork {
        let member = Member {
            business: self.business,
            id: id().into(),
            user_id: "ana".into(),
            role: Role::Owner,
            branches: None,
            customer: None,
            active: true,
            stamp: Stamp::first(NOW),
        };
        let customer = Customer {
            business: self.business,
            id: id().into(),
            name: "Ana".into(),
            phone: None,
            email: None,
            email_verified_at: None,
            stamp: Stamp::first(NOW),
        };
        let key = ApiKey {
            business: self.business,
            id: id().into(),
            name: "till".into(),
            role: Role::Service,
            branches: None,
            customer: None,
            secret_hash: [1; 32],
            revoked_at: None,
            stamp: Stamp::first(NOW),
        };
        self.unit(
            vec![
                create(member.into()),
                create(customer.into()),
                create(key.into()),
            ],
            Vec::new(),
        )
    }

    pub(crate) fn place(&self, product: ProductId) -> Place {
        Place {
            branch: self.branch.id,
            product,
        }
    }

    /// Units that come in.
    pub(crate) fn receipt(&self, product: ProductId, units: i64) -> StockChange {
        StockChange {
            id: MovementId(id()),
            place: self.place(product),
            kind: MovementKind::Receipt,
            available: units,
            reserved: 0,
            operation: OperationId {
                source: id(),
                step: Step::Apply,
                line: 0,
            },
            cause: Cause::default(),
        }
    }

    /// An order of one unit of each of these products, under a key.
    pub(crate) fn order(&self, products: &[usize], key: &str) -> UnitOfWork {
        let order = self.draft(products);
        let stock = order.stock_changes(RESERVE, &mut id);
        let mut unit = self.unit(vec![create(order.into())], stock);
        unit.operation = Some(OperationDraft {
            key: OperationKey {
                customer: None,
                key: key.into(),
            },
            fingerprint: fingerprint(key),
        });
        unit.guards = vec![Guard::Document(
            DocumentKey::new(Kind::Branch, self.branch.id),
            1,
        )];
        let guarded = products.iter().map(|number| {
            Guard::Document(
                DocumentKey::new(Kind::Product, self.products[*number].id),
                1,
            )
        });
        unit.guards.extend(guarded);
        unit
    }

    pub(crate) fn draft(&self, products: &[usize]) -> Order {
        let products: Vec<&Product> = products
            .iter()
            .map(|number| &self.products[*number])
            .collect();
        let one = Quantity::new(1).expect("a quantity");
        let items: Vec<Item> = products
            .iter()
            .map(|product| Item {
                product: product.id,
                quantity: one,
            })
            .collect();
        let draft = Draft {
            id: OrderId(id()),
            basket: Basket {
                branch: &self.branch,
                items: &items,
                products: &products,
                coupons: &[],
                buyer: KnownBuyer::No,
                delivery_fee: Amount::ZERO,
            },
            currency: self.currency,
            year: 2026,
            checkout: None,
            cart: None,
            customer: Buyer {
                id: None,
                name: Some("Ana".into()),
                phone: None,
            },
            fulfilment: Fulfilment {
                kind: FulfilmentKind::Pickup,
                address: None,
                courier: None,
            },
            payment_method: PaymentMethod::OnDelivery,
            note: None,
            expected_total: None,
            unpaid_ms: 0,
        };
        place(draft, NOW).expect("placed")
    }
}

fn product(business: BusinessId, number: usize) -> Product {
    Product {
        business,
        id: ProductId(id()),
        sku: format!("SKU-{number}"),
        name: format!("Product {number}"),
        sale_price: Amount::from_minor(350_000).expect("an amount"),
        tax_rate: TaxRate::parse("0.19").expect("a rate"),
        active: true,
        branches: None,
        max_per_order: None,
        attributes: BTreeMap::from([("a.b".into(), "$c".into())]),
        deleted_at: None,
        stamp: Stamp::first(NOW),
    }
}

/// A put of a new document.
pub(crate) fn create(next: Document) -> Put {
    let event = match &next {
        Document::Order(order) => event(
            "abasto.order.created",
            serde_json::json!({ "from": null, "to": order.status.name() }),
        ),
        _ => event("abasto.test.created", rich()),
    };
    Put {
        base: None,
        next,
        event,
    }
}

/// A put that changes a document.
pub(crate) fn change(base: Document, next: Document) -> Put {
    Put {
        base: Some(base),
        next,
        event: event("abasto.test.changed", rich()),
    }
}

fn event(name: &'static str, data: serde_json::Value) -> EventDraft {
    EventDraft {
        id: EventId(id()),
        name,
        data,
    }
}

/// Data of every form.
fn rich() -> serde_json::Value {
    serde_json::json!({ "n": 1, "f": 1.5, "list": [null, true, "x"], "nested": { "a.b": "$c" } })
}

/// A fingerprint of a text.
pub(crate) fn fingerprint(text: &str) -> Fingerprint {
    let mut bytes = [0; 32];
    for (byte, letter) in bytes.iter_mut().zip(text.bytes()) {
        *byte = letter;
    }
    Fingerprint(bytes)
}

/// The reply of a unit that must have committed.
pub(crate) fn assert_committed(
    verdict: Result<Verdict, StoreError>,
) -> abasto_store::verdict::Reply {
    match verdict {
        Ok(Verdict::Committed(reply)) => reply,
        other => panic!("not committed: {other:?}"),
    }
}

/// Drops the database that an address names.
pub(crate) async fn drop_database(uri: &str) {
    let client = mongodb::Client::with_uri_str(uri).await.expect("connects");
    let database = client.default_database().expect("the address names one");
    database.drop().await.expect("dropped");
}
