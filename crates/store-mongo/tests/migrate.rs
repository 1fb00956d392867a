//! Bringing a database to what it must be: what is missing, what is different, what breaks a rule.
#![cfg(test)]

mod support;

use abasto_store::{Store, StoreError};
use abasto_store_mongo::{MigrateError, MongoStore};
use abasto_testbed::mongo_cluster;
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Bson, Decimal128, Document, doc};
use mongodb::{Client, Database};
use support::{Shop, address, assert_committed, drop_database, migrated};

struct Bench {
    uri: String,
    store: MongoStore,
    database: Database,
    shop: Shop,
}

async fn bench(name: &str) -> Bench {
    let set = mongo_cluster::shared_uri().expect("a replica set");
    let uri = address(set, &format!("{name}_{}", std::process::id()));
    let store = migrated(&uri).await;
    let client = Client::with_uri_str(&uri).await.expect("connects");
    let shop = Shop::open(&store, 2, 10).await;
    let database = client.default_database().expect("named");
    Bench {
        uri,
        store,
        database,
        shop,
    }
}

impl Bench {
    async fn drop_index(&self, collection: &str, name: &str) {
        let drop = doc! { "dropIndexes": collection, "index": name };
        self.database.run_command(drop).await.expect("dropped");
    }

    async fn copy_of(&self, collection: &str) -> Document {
        let collection = self.database.collection::<Document>(collection);
        let mut copy = collection
            .find_one(doc! {})
            .await
            .expect("read")
            .expect("a document");
        copy.insert("_id", ObjectId::new());
        copy
    }

    async fn insert(&self, collection: &str, document: &Document) -> Result<(), i32> {
        let inserted = self
            .database
            .collection::<Document>(collection)
            .insert_one(document)
            .await;
        inserted.map(drop).map_err(|error| match *error.kind {
            mongodb::error::ErrorKind::Write(mongodb::error::WriteFailure::WriteError(error)) => {
                error.code
            }
            other => panic!("{other}"),
        })
    }

    async fn lines(&self) -> Vec<String> {
        let differences = self.store.differences().await.expect("compared");
        differences.iter().map(ToString::to_string).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_unique_index_stops_writes_until_it_is_back() {
    let bench = bench("drift").await;
    bench.drop_index("operations", "uq_operations_key").await;
    assert_eq!(
        bench.lines().await,
        ["index uq_operations_key on operations does not exist"]
    );
    let refused = bench.store.commit(bench.shop.order(&[0], "k")).await;
    assert!(
        matches!(&refused, Err(StoreError::Unavailable(why)) if why.contains("uq_operations_key")),
        "{refused:?}"
    );
    let done = bench.store.migrate().await.expect("migrates");
    assert_eq!(done, ["index uq_operations_key created"]);
    assert_committed(bench.store.commit(bench.shop.order(&[0], "k")).await);
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_list_index_is_reported_and_stops_nothing() {
    let bench = bench("slow").await;
    bench.drop_index("orders", "orders_newest").await;
    assert_eq!(
        bench.lines().await,
        ["index orders_newest on orders does not exist"]
    );
    assert_committed(bench.store.commit(bench.shop.order(&[0], "k")).await);
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn violators_of_a_unique_rule_are_named_and_kept() {
    let bench = bench("violators").await;
    bench.drop_index("products", "uq_products_sku").await;
    let mut twin = bench.copy_of("products").await;
    let twin_id = twin.get_object_id("_id").expect("an id").to_hex();
    bench
        .insert("products", &twin)
        .await
        .expect("no rule refuses it now");
    let refused = bench.store.migrate().await.expect_err("a rule is broken");
    let MigrateError::Violations(violations) = &refused else {
        panic!("{refused}");
    };
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].index, Some("uq_products_sku"));
    assert_eq!(violations[0].ids.len(), 2);
    assert!(violations[0].ids.contains(&twin_id), "{refused}");
    let products = bench.database.collection::<Document>("products");
    assert_eq!(
        products.count_documents(doc! {}).await.expect("counted"),
        3,
        "nothing was deleted"
    );
    products
        .delete_one(doc! { "_id": twin.get("_id") })
        .await
        .expect("cleaned by a person");
    let done = bench.store.migrate().await.expect("migrates");
    assert_eq!(done, ["index uq_products_sku made unique"]);
    twin.insert("_id", ObjectId::new());
    assert_eq!(bench.insert("products", &twin).await, Err(11000));
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_of_another_make_is_left_alone_and_named() {
    let bench = bench("other").await;
    bench.drop_index("customers", "uq_customers_phone").await;
    let other = doc! { "key": { "phone": 1 }, "name": "uq_customers_phone", "sparse": true };
    bench
        .database
        .run_command(doc! { "createIndexes": "customers", "indexes": [other] })
        .await
        .expect("created");
    let refused = bench.store.migrate().await.expect_err("in the way");
    assert!(matches!(refused, MigrateError::InTheWay(_)), "{refused}");
    assert!(
        refused
            .to_string()
            .contains("uq_customers_phone on customers has keys"),
        "{refused}"
    );
    let refused = bench.store.commit(bench.shop.order(&[0], "k")).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_index_of_the_right_make_becomes_unique() {
    let bench = bench("plain").await;
    bench.drop_index("branches", "uq_branches_code").await;
    let plain = doc! { "key": { "businessId": 1, "code": 1 }, "name": "uq_branches_code" };
    bench
        .database
        .run_command(doc! { "createIndexes": "branches", "indexes": [plain] })
        .await
        .expect("created");
    assert_eq!(
        bench.lines().await,
        ["index uq_branches_code on branches is not unique"]
    );
    assert_eq!(
        bench.store.migrate().await.expect("migrates"),
        ["index uq_branches_code made unique"]
    );
    assert_eq!(
        bench
            .insert("branches", &bench.copy_of("branches").await)
            .await,
        Err(11000)
    );
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_of_another_form_are_named_before_a_validator_is_set() {
    let bench = bench("form").await;
    bench
        .database
        .run_command(doc! { "collMod": "products", "validator": {} })
        .await
        .expect("removed");
    let mut wrong = bench.copy_of("products").await;
    wrong.insert("sku", "OTHER");
    wrong.insert("deletedAt", "");
    bench
        .insert("products", &wrong)
        .await
        .expect("nothing refuses it now");
    let refused = bench.store.migrate().await.expect_err("a rule is broken");
    let id = wrong.get_object_id("_id").expect("an id").to_hex();
    assert!(refused.to_string().contains(&id), "{refused}");
    drop_database(&bench.uri).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn validators_refuse_what_the_program_would_never_write() {
    const REFUSED: Result<(), i32> = Err(121);
    let bench = bench("validators").await;
    assert_committed(
        bench
            .store
            .commit(bench.shop.order(&[0, 1], "template"))
            .await,
    );
    let decimal = |text: &str| Bson::Decimal128(text.parse::<Decimal128>().expect("a decimal"));
    let cases: Vec<(&str, &str, Bson)> = vec![
        ("products", "deletedAt", "".into()),
        ("products", "deletedAt", Bson::Array(vec![])),
        ("products", "salePrice", 3500.0.into()),
        ("products", "salePrice", decimal("-1")),
        ("products", "salePrice", decimal("Infinity")),
        ("products", "salePrice", decimal("NaN")),
        ("products", "salePrice", decimal("1E+6000")),
        ("products", "taxRate", decimal("1.1")),
        ("products", "active", "yes".into()),
        ("products", "sku", "".into()),
        ("products", "createdAt", "2026-11-30".into()),
        ("products", "unheardOf", 1.into()),
        ("orders", "status", "Pending".into()),
        ("orders", "items", Bson::Array(vec![])),
        ("orders", "number", "1".into()),
        ("stockLevels", "available", Bson::Int64(-1)),
        ("stockLevels", "available", 1.5.into()),
        ("stockLevels", "available", Bson::Int32(1)),
        ("stockMovements", "type", "gift".into()),
        ("stockMovements", "sequence", Bson::Int64(0)),
        ("events", "subject", doc! { "kind": "order" }.into()),
        ("operations", "key", Bson::Null),
        ("counters", "lastNumber", Bson::Int64(-1)),
        ("branches", "code", "bog".into()),
    ];
    for (collection, field, value) in cases {
        let mut document = bench.copy_of(collection).await;
        document.insert(field, value.clone());
        assert_eq!(
            bench.insert(collection, &document).await,
            REFUSED,
            "{collection}.{field} = {value}"
        );
        let mut without = bench.copy_of(collection).await;
        if without.remove(field).is_some() {
            assert_eq!(
                bench.insert(collection, &without).await,
                REFUSED,
                "{collection} without {field}"
            );
        }
    }
    drop_database(&bench.uri).await;
}
