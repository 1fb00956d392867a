//! No read and no write reaches another business.

use std::sync::Arc;

use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::ApiKeyId;
use abasto_domain::number::OrderNumber;
use abasto_domain::product::Product;

use super::list::{Shelf, queries};
use super::tenant::{Tenant, place};
use super::world::{World, answer};
use crate::cart::CartContent;
use crate::query::{Page, Position};
use crate::record::{Document, DocumentKey, HeadKey, Kind, Record};
use crate::unit::{Guard, UnitOfWork};
use crate::verdict::Verdict;

/// Every read of every id of one business, asked for in the name of another, finds nothing.
pub async fn another_tenants_ids_are_never_found(world: World) {
    let shelf = Shelf::fill(&world).await;
    let (owner, stranger) = (&shelf.tenant, world.tenant().await);
    let operation = UnitOfWork {
        operation: Some(Tenant::operation("k", 1)),
        ..owner.unit_of([owner.creation(owner.draft_customer(None))])
    };
    world.commit(operation).await;
    let (store, business) = (world.store(), stranger.business());
    for record in world.walk(owner.business()).await {
        match record {
            Record::Document(document) => {
                let key = document.key();
                assert_eq!(world.document(business, key).await, None);
                assert!(world.history(business, key).await.is_empty());
                if let Document::Order(order) = &document {
                    let number: &OrderNumber = &order.number;
                    assert_eq!(answer(store.order_by_number(business, number).await), None);
                }
                if let Document::Product(product) = &document {
                    let sku = [product.sku.clone()];
                    assert_eq!(answer(store.products_by_sku(business, &sku).await), [None]);
                }
            }
            Record::Level(level) => {
                assert_eq!(world.level(business, level.place).await, None);
                assert!(world.movements(business, level.place).await.is_empty());
            }
            Record::Operation(operation) => {
                assert_eq!(
                    answer(store.operation(business, &operation.key).await),
                    None
                );
            }
            Record::CartState(state) => {
                let content = answer(store.cart_content(business, state.cart).await);
                assert_eq!(content, CartContent::default());
            }
            Record::Movement(_)
            | Record::Event(_)
            | Record::Counter(_)
            | Record::Tally(_)
            | Record::CartAppend(_)
            | Record::CartLog(_) => {}
        }
    }
    for query in queries(&shelf) {
        assert!(
            world.list(business, &query, 200).await.is_empty(),
            "{query:?}"
        );
    }
    for record in world.walk(business).await {
        let own = match &record {
            Record::Document(document) => document.business() == business,
            Record::Event(event) => event.business == business,
            _ => false,
        };
        assert!(own, "{record:?}");
    }
}

/// A change, a guard or a movement in another's name touches nothing of the owner's.
pub async fn another_tenants_documents_are_never_changed(world: World) {
    let (owner, stranger) = (world.tenant().await, world.tenant().await);
    let branch = owner.branch("BOG").await;
    let product = owner.product("PAN-1").await;
    let level = place(&branch, &product);
    owner.receive(level, 5).await;
    let before = world.walk(owner.business()).await;
    let key = DocumentKey::new(Kind::Product, product.id);
    let next = Product {
        stamp: owner.next(product.stamp),
        ..Product::clone(&product)
    };
    let theft = stranger.unit_of([stranger.change(Arc::clone(&product), next)]);
    let stale = Verdict::Stale(HeadKey::Document(key));
    assert_eq!(world.commit(theft).await, stale);
    let guarded = UnitOfWork {
        guards: vec![Guard::Document(key, 1)],
        ..stranger.unit_of([stranger.creation(stranger.draft_customer(None))])
    };
    assert_eq!(world.commit(guarded).await, stale);
    let take = stranger.adjustment(&[(level, -1)]);
    assert!(matches!(world.commit(take).await, Verdict::Rejected(_)));
    assert_eq!(before, world.walk(owner.business()).await);
}

/// An API key is found by its id alone, and says whose it is.
pub async fn a_credential_leads_to_its_own_tenant(world: World) {
    let mut keys = Vec::new();
    for _ in 0..3 {
        let tenant = world.tenant().await;
        let key = tenant.draft_key("till");
        tenant.save(key.clone()).await;
        keys.push((tenant, key));
    }
    for (tenant, key) in keys {
        let found = answer(world.store().api_key(key.id).await);
        assert_eq!(found.as_ref(), Some(&key));
        let revoked = ApiKey {
            revoked_at: Some(world.now()),
            stamp: tenant.next(key.stamp),
            ..key.clone()
        };
        tenant.update(key, revoked.clone()).await;
        let found = answer(world.store().api_key(revoked.id).await);
        assert_eq!(found, Some(revoked));
    }
    let unknown = ApiKeyId(world.id());
    assert_eq!(answer(world.store().api_key(unknown).await), None);
}

/// The active memberships of one user, and nobody else's.
pub async fn memberships_of_a_user_in_all_businesses(world: World) {
    let mut expected = Vec::new();
    for number in 0..4 {
        let tenant = world.tenant().await;
        let member = tenant.draft_member("user-1");
        tenant.save(member.clone()).await;
        tenant.save(tenant.draft_member("user-2")).await;
        if number == 0 {
            let left = Member {
                active: false,
                stamp: tenant.next(member.stamp),
                ..member.clone()
            };
            tenant.update(member, left).await;
        } else {
            expected.push(member);
        }
    }
    let mut found = answer(world.store().memberships("user-1").await);
    found.sort_by_key(|member| member.id);
    expected.sort_by_key(|member| member.id);
    assert_eq!(found, expected);
    for nobody in ["user-3", "USER-1", "user-", "user-1 ", ""] {
        let found = answer(world.store().memberships(nobody).await);
        assert!(found.is_empty(), "{nobody:?}");
    }
}

/// All of them, newest first, page by page.
pub async fn businesses_are_listed_newest_first(world: World) {
    let mut expected = Vec::new();
    for _ in 0..7 {
        expected.push(world.tenant().await.record);
    }
    let position = |business: &abasto_domain::business::Business| Position {
        order: business.stamp.created_at.as_millis(),
        id: business.id.0,
    };
    expected.sort_by_key(|business| std::cmp::Reverse(position(business)));
    for limit in [1, 2, 3, 7, 200] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = Page { after, limit };
            let businesses = answer(world.store().businesses(page).await);
            let Some(last) = businesses.last() else { break };
            after = Some(position(last));
            found.extend(businesses);
        }
        let same = found.iter().eq(expected.iter().map(|business| &**business));
        assert!(same, "in pages of {limit}: {found:?}");
    }
}
