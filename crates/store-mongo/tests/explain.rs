//! Every named query on 50 000 documents: what the server really did, as its profiler tells.
//!
//! A query must be one or more index scans, sort nothing in memory, look at hardly more than it
//! returns, and carry its name and nothing else as comment.
#![cfg(test)]

mod support;

use std::collections::BTreeSet;

use abasto_domain::id::{
    ApiKeyId, BranchId, BusinessId, CartId, CustomerId, MemberId, OrderId, ProductId, RawId,
};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::order_state::Status;
use abasto_domain::time::Timestamp;
use abasto_store::Store;
use abasto_store::index::Shape;
use abasto_store::query::{
    Deleted, LevelFilter, OrderFilter, Page, Position, ProductFilter, Query,
};
use abasto_store::record::{Claim, DocumentKey, Kind, Unique};
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster;
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Bson, DateTime, Document, doc};
use mongodb::{Client, Database};
use support::{NOW, Shop, address, assert_committed, drop_database, migrated};

const MANY: usize = 50_000;
const LIMIT: u32 = 50;

/// What fills the shop's collections: copies of documents that the store itself wrote.
struct Crowd<'a> {
    database: &'a Database,
    shop: &'a Shop,
}

fn numbered(number: usize) -> ObjectId {
    let mut bytes = [0x11; 12];
    bytes[8..].copy_from_slice(&u32::try_from(number).expect("small").to_be_bytes());
    ObjectId::from_bytes(bytes)
}

fn as_id(id: ObjectId) -> RawId {
    RawId(id.bytes())
}

fn spread(number: usize) -> DateTime {
    // Ten rows share each moment, so that pages end between equals.
    DateTime::from_millis(NOW.as_millis() - i64::try_from(number / 10).expect("small"))
}

impl Crowd<'_> {
    async fn copy(&self, collection: &str, change: impl Fn(usize, &mut Document)) {
        let collection = self.database.collection::<Document>(collection);
        let scope = doc! { "businessId": ObjectId::from_bytes(self.shop.business.0.0) };
        let template = collection
            .find_one(scope)
            .await
            .expect("read")
            .expect("a document to copy");
        for chunk in (0..MANY).collect::<Vec<_>>().chunks(5_000) {
            let copies = chunk.iter().map(|number| {
                let mut copy = template.clone();
                copy.insert("_id", numbered(*number));
                change(*number, &mut copy);
                copy
            });
            collection
                .insert_many(copies.collect::<Vec<_>>())
                .await
                .expect("inserted");
        }
    }

    async fn gather(&self) {
        self.gather_orders().await;
        self.gather_catalogue().await;
        self.gather_history().await;
        self.gather_selling().await;
        self.gather_carts().await;
        for (collection, unique) in [
            ("branches", "code"),
            ("members", "userId"),
            ("apiKeys", "name"),
        ] {
            self.copy(collection, |number, document| {
                document.insert("createdAt", spread(number));
                document.insert(unique, code(number));
            })
            .await;
        }
    }

    async fn gather_orders(&self) {
        let states = Status::ALL.map(Status::name);
        self.copy("orders", |number, order| {
            order.insert("number", format!("CRO-2026-{:06}", number + 1));
            order.insert("createdAt", spread(number));
            order.insert("status", states[number % states.len()]);
            order.insert("branchId", numbered(number % 40));
            let fulfilment = order.get_document_mut("fulfilment").expect("there");
            fulfilment.insert(
                "courierId",
                if number % 3 == 0 {
                    Bson::Null
                } else {
                    numbered(number % 5).into()
                },
            );
            let customer = order.get_document_mut("customer").expect("there");
            customer.insert(
                "id",
                if number % 3 == 0 {
                    Bson::Null
                } else {
                    numbered(number % 100).into()
                },
            );
        })
        .await;
    }

    async fn gather_catalogue(&self) {
        self.copy("products", |number, product| {
            product.insert("sku", format!("CROWD-{number}"));
            product.insert("createdAt", spread(number));
            product.insert("active", number % 4 != 0);
            product.insert(
                "deletedAt",
                if number % 5 == 0 {
                    spread(number).into()
                } else {
                    Bson::Null
                },
            );
        })
        .await;
        self.copy("customers", |number, customer| {
            customer.insert("createdAt", spread(number));
            customer.insert(
                "phone",
                if number % 2 == 0 {
                    Bson::Null
                } else {
                    format!("+57{number:08}").into()
                },
            );
            customer.insert(
                "verifiedEmailKey",
                if number % 2 == 0 {
                    Bson::Null
                } else {
                    format!("c{number}@x.co").into()
                },
            );
        })
        .await;
    }

    /// The fields beside the record, and the same inside it.
    async fn gather_selling(&self) {
        let id_inside = |number, document: &mut Document| {
            document.insert("createdAt", spread(number));
            let record = document.get_document_mut("record").expect("there");
            record.insert("id", numbered(number).to_hex());
            let stamp = record.get_document_mut("stamp").expect("there");
            stamp.insert("createdAt", spread(number).timestamp_millis());
        };
        self.copy("coupons", |number, coupon| {
            id_inside(number, coupon);
            coupon.insert("code", code(number));
        })
        .await;
        self.copy("checkouts", |number, checkout| {
            id_inside(number, checkout);
            checkout.insert("dueAt", spread(number));
        })
        .await;
        for collection in ["payments", "orderReturns"] {
            self.copy(collection, |number, document| {
                id_inside(number, document);
                if number % 50 != 0 {
                    document.insert("orderId", numbered(number % 50));
                }
                if collection == "payments" {
                    document.insert("providerKey", code(number));
                    document.insert("dueAt", spread(number));
                }
            })
            .await;
        }
        self.copy("paymentEvents", |number, event| {
            id_inside(number, event);
            event.insert("providerKey", code(number));
            event.insert("dueAt", spread(number));
        })
        .await;
    }

    async fn gather_carts(&self) {
        let one = ObjectId::from_bytes(SHOPPING.0.0);
        self.copy("carts", |number, cart| {
            cart.insert("createdAt", spread(number));
            cart.insert("dueAt", spread(number));
            let record = cart.get_document_mut("record").expect("there");
            record.insert("id", numbered(number).to_hex());
        })
        .await;
        self.copy("cartStates", |number, state| {
            drop(state.insert("cartId", numbered(number)))
        })
        .await;
        // Most are of other carts; the queries are about one that has hundreds.
        self.copy("cartAppends", |number, edit| {
            edit.insert("sequence", i64::try_from(number).expect("small") + 10);
            if number % 100 != 0 {
                edit.insert("cartId", numbered(number));
            }
        })
        .await;
        self.copy("cartLogs", |number, entry| {
            entry.insert("at", spread(number));
            entry.insert(
                "cartId",
                if number % 100 == 0 {
                    one
                } else {
                    numbered(number)
                },
            );
        })
        .await;
    }

    async fn gather_history(&self) {
        self.copy("stockLevels", |number, level| {
            drop(level.insert("productId", numbered(number)))
        })
        .await;
        self.copy("stockMovements", |number, movement| {
            movement.insert(
                "productId",
                ObjectId::from_bytes(self.shop.products[0].id.0.0),
            );
            movement.insert("sequence", i64::try_from(number).expect("small") + 10);
            movement.insert(
                "operationId",
                format!("{}-apply-0", numbered(number).to_hex()),
            );
        })
        .await;
        self.copy("events", |number, event| {
            let business = ObjectId::from_bytes(self.shop.business.0.0);
            event.insert("subject", doc! { "kind": "business", "id": business });
            event.insert("sequence", i64::try_from(number).expect("small") + 10);
        })
        .await;
        self.copy("operations", |number, operation| {
            drop(operation.insert("key", format!("k{number}")))
        })
        .await;
    }
}

/// The order that attempts and returns belong to.
const SOLD: OrderId = OrderId(RawId([0x77; 12]));

/// The cart that has a history.
const SHOPPING: CartId = CartId(RawId([0x78; 12]));

/// Up to eight of A-Z and 0-9.
fn code(number: usize) -> String {
    format!("C{number:06}")
}

fn queries(shop: &Shop) -> Vec<Query> {
    let branch = |number| BranchId(as_id(numbered(number)));
    let orders = |filter| Query::Orders(filter);
    let products = |active, deleted| {
        Query::Products(ProductFilter {
            text: None,
            active,
            deleted,
        })
    };
    vec![
        Query::Branches,
        Query::Members,
        Query::ApiKeys,
        Query::Customers,
        Query::Coupons,
        Query::Payments(SOLD),
        Query::Returns(SOLD),
        products(None, Deleted::Hidden),
        products(Some(false), Deleted::Hidden),
        products(None, Deleted::Shown),
        products(Some(true), Deleted::Shown),
        orders(OrderFilter::default()),
        orders(OrderFilter {
            from: Some(Timestamp::from_millis(NOW.as_millis() - 4_000)),
            to: Some(Timestamp::from_millis(NOW.as_millis() - 1_000)),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            status: Some(Status::Pending),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            branches: Some(vec![branch(1)]),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            branches: Some((0..4).map(branch).collect()),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            branches: Some((0..4).map(branch).collect()),
            status: Some(Status::Pending),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            customer: Some(CustomerId(as_id(numbered(7)))),
            ..OrderFilter::default()
        }),
        orders(OrderFilter {
            courier: Some(MemberId(as_id(numbered(2)))),
            ..OrderFilter::default()
        }),
        Query::History(DocumentKey::new(Kind::Business, shop.business)),
        Query::CartLog(SHOPPING),
        Query::Levels(LevelFilter {
            branch: shop.branch.id,
            below_available: None,
        }),
        Query::Movements(shop.place(shop.products[0].id)),
    ]
}

/// A command as the profiler recorded it.
struct Seen(Document);

impl Seen {
    fn number(&self, field: &str) -> i64 {
        match self.0.get(field) {
            Some(Bson::Int32(number)) => i64::from(*number),
            Some(Bson::Int64(number)) => *number,
            _ => 0,
        }
    }

    fn comment(&self) -> &str {
        let command = self.0.get_document("command").expect("a command");
        command.get_str("comment").unwrap_or_default()
    }

    fn plan(&self) -> &str {
        self.0.get_str("planSummary").unwrap_or_default()
    }

    /// Index scans only, nothing sorted in memory, hardly more examined than returned.
    fn check(&self, what: &str) {
        let returned = self.number("nreturned");
        let most = returned + returned / 10 + 20;
        let (keys, documents) = (self.number("keysExamined"), self.number("docsExamined"));
        assert!(!self.plan().contains("COLLSCAN"), "{what}: {}", self.plan());
        assert!(
            self.plan().contains("IXSCAN") || self.plan() == "IDHACK",
            "{what}: {}",
            self.plan()
        );
        assert!(
            !self.0.get_bool("hasSortStage").unwrap_or(false),
            "{what} sorts in memory"
        );
        assert!(
            keys <= most,
            "{what} examined {keys} keys for {returned}: {}",
            self.plan()
        );
        assert!(
            documents <= most,
            "{what} examined {documents} documents for {returned}"
        );
        let mut stages = BTreeSet::new();
        if let Ok(stats) = self.0.get_document("execStats") {
            gather_stages(stats, &mut stages);
        }
        assert!(
            !stages.contains("SORT") && !stages.contains("COLLSCAN"),
            "{what}: {stages:?}"
        );
        assert!(
            self.comment().starts_with("abasto "),
            "{what} has no name: {}",
            self.comment()
        );
    }
}

fn gather_stages(stage: &Document, found: &mut BTreeSet<String>) {
    if let Ok(name) = stage.get_str("stage") {
        found.insert(name.to_owned());
    }
    for value in stage.values() {
        match value {
            Bson::Document(inner) => gather_stages(inner, found),
            Bson::Array(inner) => inner
                .iter()
                .filter_map(Bson::as_document)
                .for_each(|inner| gather_stages(inner, found)),
            _ => {}
        }
    }
}

/// What the profiler saw of our own reads and writes since the last look.
async fn seen(database: &Database) -> Vec<Seen> {
    database
        .run_command(doc! { "profile": 0 })
        .await
        .expect("profiler off");
    let profile = database.collection::<Document>("system.profile");
    let filter = doc! { "ns": { "$not": { "$regex": "system" } }, "op": { "$ne": "getmore" } };
    let mut cursor = profile
        .find(filter)
        .sort(doc! { "ts": 1 })
        .await
        .expect("read");
    let mut rows = Vec::new();
    while cursor.advance().await.expect("read") {
        rows.push(Seen(cursor.deserialize_current().expect("a document")));
    }
    profile.drop().await.expect("dropped");
    database
        .run_command(doc! { "profile": 2 })
        .await
        .expect("profiler on");
    rows
}

async fn check_lists(store: &MongoStore, database: &Database, shop: &Shop) {
    let mut shapes = BTreeSet::new();
    for query in queries(shop) {
        shapes.insert(Shape::of(&query));
        let mut after: Option<Position> = None;
        for page in 0..4 {
            let rows = store
                .list(
                    shop.business,
                    &query,
                    Page {
                        after,
                        limit: LIMIT,
                    },
                )
                .await
                .expect("listed");
            assert_eq!(
                rows.len(),
                usize::try_from(LIMIT).expect("small"),
                "{query:?} page {page}"
            );
            assert!(rows.iter().all(|row| query.matches(row)), "{query:?}");
            after = rows.last().map(Position::of);
            let seen = seen(database).await;
            assert_eq!(seen.len(), 1, "{query:?}");
            seen[0].check(&format!("{query:?} page {page}"));
            assert_eq!(
                seen[0].comment(),
                format!("abasto read {}", Shape::of(&query).name())
            );
        }
    }
    assert_eq!(
        shapes.into_iter().collect::<Vec<_>>(),
        Shape::ALL,
        "a shape was not tried"
    );
}

async fn check_reads(store: &MongoStore, database: &Database, shop: &Shop) {
    let business = shop.business;
    let product = |number| ProductId(as_id(numbered(number)));
    for kind in Kind::ALL {
        let keys: Vec<_> = (0..20)
            .map(|number| DocumentKey::new(kind, as_id(numbered(number))))
            .collect();
        let keys = if kind == Kind::Business {
            vec![DocumentKey::new(kind, business)]
        } else {
            keys
        };
        let found = store.documents(business, &keys).await.expect("read");
        assert!(found.iter().all(Option::is_some), "{kind:?}");
    }
    let places: Vec<_> = (0..20).map(|number| shop.place(product(number))).collect();
    assert!(
        store
            .levels(business, &places)
            .await
            .expect("read")
            .iter()
            .all(Option::is_some)
    );
    let key = OperationKey {
        customer: None,
        key: "k77".into(),
    };
    assert!(
        store
            .operation(business, &key)
            .await
            .expect("read")
            .is_some()
    );
    let number = abasto_domain::number::OrderNumber::parse("CRO-2026-000077").expect("a number");
    assert!(
        store
            .order_by_number(business, &number)
            .await
            .expect("read")
            .is_some()
    );
    let skus: Vec<String> = (1..20).map(|number| format!("CROWD-{number}")).collect();
    store.products_by_sku(business, &skus).await.expect("read");
    assert!(
        store
            .api_key(ApiKeyId(as_id(numbered(1))))
            .await
            .expect("read")
            .is_some()
    );
    assert_eq!(store.memberships(&code(5)).await.expect("read").len(), 1);
    store
        .businesses(Page {
            after: None,
            limit: LIMIT,
        })
        .await
        .expect("read");
    check_due(store, business).await;
    let content = store.cart_content(business, SHOPPING).await;
    assert_eq!(content.expect("read").tail.len(), 1 + MANY / 100);
    for seen in seen(database).await {
        let name = seen.comment().to_owned();
        seen.check(&name);
    }
}

async fn check_due(store: &MongoStore, business: BusinessId) {
    let at = Timestamp::from_millis(NOW.as_millis() + 1);
    for kind in [
        Kind::Checkout,
        Kind::Payment,
        Kind::PaymentEvent,
        Kind::Cart,
    ] {
        for business in [None, Some(business)] {
            let due = store.due(business, kind, at, LIMIT).await.expect("read");
            assert_eq!(
                due.len(),
                usize::try_from(LIMIT).expect("small"),
                "{kind:?}"
            );
        }
    }
    let claims: Vec<Claim> = (0..20)
        .map(|number| Claim {
            rule: Unique::CouponCode,
            value: code(number),
        })
        .collect();
    let holders = store.holders(business, &claims).await.expect("read");
    assert!(holders.iter().all(Option::is_some));
}

/// All finds of a batch are one command, whose plan the profiler does not tell: the server explains
/// each of them.
async fn check_heads(database: &Database, seen: &Seen) {
    assert_eq!(seen.comment(), "abasto heads batch");
    let command = seen.0.get_document("command").expect("a command");
    let stages = command.get_array("pipeline").expect("a pipeline");
    let finds = stages.iter().filter_map(|stage| {
        let stage = stage.as_document().expect("a stage");
        stage.get_document("$lookup").ok()
    });
    let finds: Vec<_> = finds.collect();
    assert!(finds.len() > 1, "{stages:?}");
    for find in finds {
        let (from, pipeline) = (find.get_str("from"), find.get_array("pipeline"));
        let find = doc! {
            "aggregate": from.expect("a collection"), "pipeline": pipeline.expect("stages"),
            "cursor": {},
        };
        let plan = doc! { "explain": find.clone(), "verbosity": "queryPlanner" };
        let plan = database.run_command(plan).await.expect("explained");
        let mut stages = BTreeSet::new();
        gather_stages(&plan, &mut stages);
        let scans = |name: &str| stages.contains(name);
        assert!(scans("IXSCAN") || scans("IDHACK"), "{find}: {stages:?}");
        assert!(!scans("COLLSCAN") && !scans("SORT"), "{find}: {stages:?}");
    }
}

async fn check_commits(store: &MongoStore, database: &Database, shop: &Shop) {
    assert_committed(store.commit(shop.order(&[0, 1], "explained")).await);
    let product = abasto_store::record::Document::from(shop.products[0].clone());
    let mut changed = shop.products[0].clone();
    changed.stamp = changed.stamp.next(NOW);
    let unit = shop.unit(vec![support::change(product, changed.into())], Vec::new());
    assert_committed(store.commit(unit).await);
    let mut commands = BTreeSet::new();
    for seen in seen(database).await {
        let kind = seen.0.get_str("op").unwrap_or_default().to_owned();
        match kind.as_str() {
            "command" => check_heads(database, &seen).await,
            "query" => seen.check(seen.comment()),
            _ => assert!(!seen.plan().contains("COLLSCAN"), "{:?}", seen.0),
        }
        if kind == "insert" {
            assert!(seen.comment().starts_with("abasto insert "), "{:?}", seen.0);
        }
        assert!(seen.number("keysExamined") <= 20, "{:?}", seen.0);
        commands.insert(kind);
    }
    assert!(
        ["command", "insert", "update"]
            .iter()
            .all(|kind| commands.contains(*kind)),
        "{commands:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_query_is_an_index_scan_on_many_documents() {
    let set = mongo_cluster::shared_uri().expect("a replica set");
    let uri = address(set, &format!("explain_{}", std::process::id()));
    let store = migrated(&uri).await;
    let database = Client::with_uri_str(&uri)
        .await
        .expect("connects")
        .default_database()
        .expect("named");
    let shop = Shop::open(&store, 2, 10).await;
    assert_committed(store.commit(shop.order(&[0, 1], "template")).await);
    assert_committed(store.commit(shop.people()).await);
    assert_committed(store.commit(shop.selling(SOLD)).await);
    assert_committed(store.commit(shop.shopping(SHOPPING)).await);
    let crowd = Crowd {
        database: &database,
        shop: &shop,
    };
    crowd.gather().await;
    database
        .run_command(doc! { "profile": 2 })
        .await
        .expect("profiler on");
    check_lists(&store, &database, &shop).await;
    check_reads(&store, &database, &shop).await;
    check_commits(&store, &database, &shop).await;
    drop_database(&uri).await;
}
