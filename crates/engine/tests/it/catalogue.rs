//! Catalogue and people: uniqueness, versions, soft deletion, import.

use std::sync::Arc;

use abasto_domain::money::Amount;
use abasto_engine::Error;
use abasto_engine::customer::{ChangeCustomer, NewCustomer};
use abasto_engine::product::ChangeProduct;
use abasto_engine::product_import::Imported;
use abasto_store::record::Unique;
use tokio::task::JoinSet;

use crate::world::{World, new_product};

#[tokio::test]
async fn a_deleted_products_sku_is_free_until_it_comes_back() {
    let world = World::on_model().await;
    let first = world.product("SKU", 100).await;
    let twin = world
        .engine
        .create_product(&world.owner, new_product("SKU", 100))
        .await;
    assert!(matches!(twin, Err(Error::Taken(claim)) if claim.rule == Unique::Sku));
    world
        .engine
        .delete_product(&world.owner, first.id, 1)
        .await
        .unwrap();
    let second = world.product("SKU", 200).await;
    let restored = world.engine.restore_product(&world.owner, first.id).await;
    assert!(matches!(restored, Err(Error::Taken(_))));
    world
        .engine
        .delete_product(&world.owner, second.id, 1)
        .await
        .unwrap();
    let restored = world
        .engine
        .restore_product(&world.owner, first.id)
        .await
        .unwrap();
    assert_eq!((restored.deleted_at, restored.stamp.version), (None, 3));
    let again = world
        .engine
        .restore_product(&world.owner, first.id)
        .await
        .unwrap();
    assert_eq!(again, restored, "restoring what is there changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_takes_a_sku_at_once() {
    let world = Arc::new(World::on_model().await);
    let mut tasks = JoinSet::new();
    for _ in 0..10 {
        let world = Arc::clone(&world);
        tasks.spawn(async move {
            world
                .engine
                .create_product(&world.owner, new_product("ONE", 100))
                .await
        });
    }
    let made = tasks.join_all().await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
}

#[tokio::test]
async fn a_change_needs_the_present_version() {
    let world = World::on_model().await;
    let product = world.product("A", 100).await;
    let rename = |name: &str| ChangeProduct {
        name: Some(name.into()),
        ..Default::default()
    };
    world
        .engine
        .change_product(&world.owner, product.id, 1, rename("one"))
        .await
        .unwrap();
    let stale = world
        .engine
        .change_product(&world.owner, product.id, 1, rename("two"))
        .await;
    assert!(matches!(stale, Err(Error::VersionMismatch(current)) if current.version() == 2));
    let same = world
        .engine
        .change_product(&world.owner, product.id, 2, rename("one"))
        .await;
    assert_eq!(
        same.unwrap().stamp.version,
        2,
        "a change that changes nothing makes no version"
    );
}

#[tokio::test]
async fn phones_are_unique_and_addresses_only_when_verified() {
    let world = World::on_model().await;
    let now = world.engine.clock().now();
    let customer = |phone: Option<&str>, email: Option<&str>, verified| NewCustomer {
        name: "Ana".into(),
        phone: phone.map(Into::into),
        email: email.map(Into::into),
        email_verified_at: verified,
    };
    let make = async |new| world.engine.create_customer(&world.owner, new).await;
    let ana = make(customer(Some("+573001"), Some("Ana@Example.org"), None))
        .await
        .unwrap();
    let bea = make(customer(None, Some("ana@example.org"), Some(now)))
        .await
        .unwrap();
    let taken = make(customer(Some("+573001"), None, None)).await;
    assert!(matches!(taken, Err(Error::Taken(claim)) if claim.rule == Unique::Phone));
    let verify = ChangeCustomer {
        email_verified_at: Some(Some(now)),
        ..Default::default()
    };
    let taken = world
        .engine
        .change_customer(&world.owner, ana.id, 1, verify.clone())
        .await;
    assert!(matches!(taken, Err(Error::Taken(claim)) if claim.rule == Unique::VerifiedEmail));
    let other = ChangeCustomer {
        email: Some(Some("bea@example.org".into())),
        ..Default::default()
    };
    let bea = world
        .engine
        .change_customer(&world.owner, bea.id, 1, other)
        .await
        .unwrap();
    assert_eq!(bea.email_verified_at, None, "a new address is not verified");
    world
        .engine
        .change_customer(&world.owner, ana.id, 1, verify)
        .await
        .unwrap();
}

#[tokio::test]
async fn rows_of_an_import_take_effect_in_their_order() {
    let world = World::on_model().await;
    let row = |sku: &str, price: Option<i64>| ChangeProduct {
        sku: Some(sku.into()),
        name: price.map(|_| format!("Product {sku}")),
        sale_price: price.map(|minor| Amount::from_minor(minor).unwrap()),
        ..ChangeProduct::default()
    };
    let rows = vec![
        row("A", Some(100)),
        row("B", Some(100)),
        row("A", Some(200)),
        row("C", None),
        row("A", Some(200)),
        row("A", None),
    ];
    let outcomes = world
        .engine
        .import_products(&world.owner, rows)
        .await
        .unwrap();
    let kinds: Vec<&str> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Imported::Created(_) => "created",
            Imported::Updated(_) => "updated",
            Imported::Unchanged(_) => "unchanged",
            Imported::Failed(_) => "failed",
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "created",
            "created",
            "updated",
            "failed",
            "unchanged",
            "unchanged"
        ]
    );
}
