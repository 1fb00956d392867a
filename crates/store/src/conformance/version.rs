//! Documents change under their version, one event each.

use std::sync::Arc;

use abasto_domain::access::Role;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;

use super::tenant::{Tenant, valid};
use super::world::{World, answer, committed};
use crate::record::{Document, DocumentKey, HeadKey, Kind};
use crate::verdict::Verdict;

fn renamed(tenant: &Tenant, product: &Product, name: &str) -> Product {
    Product {
        name: name.to_owned(),
        stamp: tenant.next(product.stamp),
        ..product.clone()
    }
}

fn key_of(product: &Product) -> DocumentKey {
    DocumentKey::new(Kind::Product, product.id)
}

/// A new document under an id that is taken is stale, even when it is the same document.
pub async fn a_new_document_needs_an_empty_place(world: World) {
    let tenant = world.tenant().await;
    let product = tenant.product("PAN-1").await;
    let unit = tenant.unit_of([tenant.creation(Arc::clone(&product))]);
    let verdict = world.commit(unit).await;
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key_of(&product))));
}

/// Of two changes of one version the second is stale and changes nothing.
pub async fn a_change_of_an_old_version_is_stale(world: World) {
    let tenant = world.tenant().await;
    let product = tenant.product("PAN-1").await;
    let first = renamed(&tenant, &product, "Pan");
    tenant.update(Arc::clone(&product), first.clone()).await;
    let late = renamed(&tenant, &product, "Bread");
    let unit = tenant.unit_of([tenant.change(Arc::clone(&product), late)]);
    let verdict = world.commit(unit).await;
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key_of(&product))));
    let found = world.document(tenant.business(), key_of(&product)).await;
    assert_eq!(found, Some(first.into()));
}

/// A change of what was never written is stale.
pub async fn a_change_of_a_missing_document_is_stale(world: World) {
    let tenant = world.tenant().await;
    let ghost = tenant.draft_product("PAN-1");
    let next = renamed(&tenant, &ghost, "Pan");
    let key = key_of(&ghost);
    let unit = tenant.unit_of([tenant.change(ghost, next)]);
    assert_eq!(
        world.commit(unit).await,
        Verdict::Stale(HeadKey::Document(key))
    );
    assert_eq!(world.document(tenant.business(), key).await, None);
}

/// Twenty changes of one version at once: one commits.
pub async fn one_of_many_changes_of_a_version_wins(world: World) {
    let tenant = world.tenant().await;
    let product = tenant.product("PAN-1").await;
    let change = |number| {
        let next = renamed(&tenant, &product, &format!("Pan {number}"));
        tenant.unit_of([tenant.change(Arc::clone(&product), next)])
    };
    let verdicts = world.commit_all((0..20).map(change).collect()).await;
    let won = |verdict: &&Verdict| matches!(verdict, Verdict::Committed(_));
    assert_eq!(verdicts.iter().filter(won).count(), 1);
    let stale = Verdict::Stale(HeadKey::Document(key_of(&product)));
    assert_eq!(
        verdicts.iter().filter(|verdict| **verdict == stale).count(),
        19
    );
    let history = world.history(tenant.business(), key_of(&product)).await;
    assert_eq!(history.len(), 2);
}

/// The second change of a document in a unit builds on the first.
pub async fn a_document_changes_twice_in_one_unit(world: World) {
    let tenant = world.tenant().await;
    let first = tenant.product("PAN-1").await;
    let second = renamed(&tenant, &first, "Pan");
    let third = renamed(&tenant, &second, "Bread");
    let unit = tenant.unit_of([
        tenant.change(Arc::clone(&first), second.clone()),
        tenant.change(second, third.clone()),
    ]);
    committed(world.commit(unit).await);
    let key = key_of(&first);
    let found = world.document(tenant.business(), key).await;
    assert_eq!(found, Some(third.clone().into()));
    assert_eq!(world.history(tenant.business(), key).await.len(), 3);
    // Two changes of the same version are not such a pair.
    let twin = |name| {
        let next = renamed(&tenant, &third, name);
        tenant.change(third.clone(), next)
    };
    let unit = tenant.unit_of([twin("A"), twin("B")]);
    assert_eq!(
        world.commit(unit).await,
        Verdict::Stale(HeadKey::Document(key))
    );
}

/// Every field of every kind survives being written and read.
pub async fn documents_come_back_as_they_were_written(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let customer = tenant.customer().await;
    let now = world.now();
    let mut verified = tenant.draft_customer(Some("+573001234567"));
    verified.email = Some("Ana@Example.ORG".to_owned());
    verified.email_verified_at = Some(now);
    let product = Product {
        branches: Some(vec![branch.id]),
        max_per_order: Some(valid(Quantity::new(3))),
        attributes: [("color".to_owned(), "verde ñandú 🥖".to_owned())].into(),
        active: false,
        deleted_at: Some(now),
        ..tenant.draft_product("PAN-1")
    };
    let member = Member {
        role: Role::Customer,
        branches: Some(Vec::new()),
        customer: Some(customer.id),
        ..tenant.draft_member("user-1")
    };
    let key = ApiKey {
        role: Role::Staff,
        branches: Some(vec![branch.id]),
        customer: Some(customer.id),
        revoked_at: Some(now),
        secret_hash: std::array::from_fn(|i| u8::try_from(i).unwrap_or(0)),
        ..tenant.draft_key("integration")
    };
    let documents: [Document; 4] = [verified.into(), product.into(), member.into(), key.into()];
    for document in documents {
        tenant.save(document.clone()).await;
        let found = world.document(tenant.business(), document.key()).await;
        assert_eq!(found, Some(document));
    }
}

/// Answers stand in the order of the keys, repeated and unknown ones included.
pub async fn reads_keep_the_order_of_their_keys(world: World) {
    let tenant = world.tenant().await;
    let (one, two) = (tenant.product("PAN-1").await, tenant.product("PAN-2").await);
    let unknown = DocumentKey::new(Kind::Product, world.id());
    let other_kind = DocumentKey::new(Kind::Branch, one.id);
    let keys = [
        key_of(&two),
        unknown,
        key_of(&one),
        other_kind,
        key_of(&two),
    ];
    let store = world.store();
    let found = answer(store.documents(tenant.business(), &keys).await);
    let (one, two) = (Document::from(one), Document::from(two));
    let expected = [
        Some(two.clone()),
        None,
        Some(one.clone()),
        None,
        Some(two.clone()),
    ];
    assert_eq!(found, expected);
    let skus = ["PAN-2", "PAN-3", "PAN-1", "PAN-2"].map(str::to_owned);
    let found = answer(store.products_by_sku(tenant.business(), &skus).await);
    assert_eq!(found, [Some(two.clone()), None, Some(one), Some(two)]);
    assert!(answer(store.documents(tenant.business(), &[]).await).is_empty());
}
