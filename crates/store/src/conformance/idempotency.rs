//! One key, one intention, one answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::id::CustomerId;
use abasto_domain::idempotency::OperationKey;
use abasto_domain::product::Product;

use super::tenant::{Tenant, place};
use super::world::{World, answer, committed, stock_in};
use crate::record::{Document, DocumentKey, Kind};
use crate::unit::{Guard, OperationDraft, UnitOfWork};
use crate::verdict::{Rejection, Verdict};

struct Shop {
    tenant: Tenant,
    branch: Arc<Branch>,
    product: Arc<Product>,
}

impl Shop {
    async fn open(world: &World) -> Self {
        let tenant = world.tenant().await;
        let branch = tenant.branch("BOG").await;
        let product = tenant.product("PAN-1").await;
        tenant.receive(place(&branch, &product), 100).await;
        Self {
            tenant,
            branch,
            product,
        }
    }

    fn sale(&self, operation: OperationDraft) -> UnitOfWork {
        UnitOfWork {
            operation: Some(operation),
            ..self.tenant.sale(&self.branch, &self.product, 1)
        }
    }

    async fn units(&self) -> (i64, i64) {
        self.tenant.units(place(&self.branch, &self.product)).await
    }
}

/// The second time the first answer comes back and nothing else happens.
pub async fn a_key_answers_again(world: World) {
    let shop = Shop::open(&world).await;
    let first = committed(world.commit(shop.sale(Tenant::operation("k", 1))).await);
    for _ in 0..3 {
        let again = world.commit(shop.sale(Tenant::operation("k", 1))).await;
        assert_eq!(again, Verdict::Replayed(first.clone()));
    }
    assert_eq!(shop.units().await, (99, 1));
    let key = Tenant::operation("k", 1).key;
    let found = answer(world.store().operation(shop.tenant.business(), &key).await);
    assert_eq!(found.map(|operation| operation.reply), Some(first));
}

/// An answer of movements and levels comes back as it was, whatever moved since.
pub async fn a_key_answers_again_with_movements(world: World) {
    let shop = Shop::open(&world).await;
    let level = place(&shop.branch, &shop.product);
    let adjust = || UnitOfWork {
        operation: Some(Tenant::operation("k", 1)),
        ..shop.tenant.adjustment(&[(level, -3)])
    };
    let first = committed(world.commit(adjust()).await);
    shop.tenant.receive(level, 50).await;
    assert_eq!(
        world.commit(adjust()).await,
        Verdict::Replayed(first.clone())
    );
    let stock = stock_in(first);
    assert_eq!(stock.movements.len(), 1);
    assert_eq!(stock.levels[0].available, 97);
    assert_eq!(shop.units().await, (147, 0));
}

/// The same key for something else is refused and executes nothing.
pub async fn a_key_with_other_content_is_refused(world: World) {
    let shop = Shop::open(&world).await;
    committed(world.commit(shop.sale(Tenant::operation("k", 1))).await);
    let before = world.walk(shop.tenant.business()).await;
    let verdict = world.commit(shop.sale(Tenant::operation("k", 2))).await;
    assert_eq!(verdict, Verdict::KeyReused);
    assert_eq!(before, world.walk(shop.tenant.business()).await);
}

/// A unit that could not be leaves its key free, for the same content and for other.
pub async fn a_refused_unit_frees_its_key(world: World) {
    let shop = Shop::open(&world).await;
    let level = place(&shop.branch, &shop.product);
    let order = |content| UnitOfWork {
        operation: Some(Tenant::operation("k", content)),
        ..shop.tenant.sale(&shop.branch, &shop.product, 101)
    };
    for content in [1, 2, 1] {
        let verdict = world.commit(order(content)).await;
        assert!(
            matches!(verdict, Verdict::Rejected(Rejection::Short(_))),
            "{verdict:?}"
        );
    }
    shop.tenant.receive(level, 1).await;
    committed(world.commit(order(2)).await);
    assert_eq!(world.commit(order(1)).await, Verdict::KeyReused);
}

/// Twenty requests with one key and one content: one order, the same answer for all.
pub async fn the_same_key_twenty_times_at_once(world: World) {
    let shop = Shop::open(&world).await;
    let units = (0..20).map(|_| shop.sale(Tenant::operation("k", 1)));
    let verdicts = world.commit_all(units.collect()).await;
    let mut replies = Vec::new();
    let mut commits = 0;
    for verdict in verdicts {
        match verdict {
            Verdict::Committed(reply) => {
                commits += 1;
                replies.push(reply);
            }
            Verdict::Replayed(reply) => replies.push(reply),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(commits, 1);
    assert!(replies.iter().all(|reply| *reply == replies[0]));
    assert_eq!(shop.units().await, (99, 1));
}

/// Twenty contents under one key: one order, nineteen refusals.
pub async fn one_key_for_twenty_contents_at_once(world: World) {
    let shop = Shop::open(&world).await;
    let units = (0..20).map(|content| shop.sale(Tenant::operation("k", content)));
    let verdicts = world.commit_all(units.collect()).await;
    let reused = verdicts
        .iter()
        .filter(|verdict| **verdict == Verdict::KeyReused);
    assert_eq!(reused.count(), 19, "{verdicts:?}");
    assert_eq!(shop.units().await, (99, 1));
}

/// The same text is another key for another customer, and for no customer.
pub async fn a_key_belongs_to_a_customer(world: World) {
    let shop = Shop::open(&world).await;
    let customers = [
        None,
        Some(CustomerId(world.id())),
        Some(CustomerId(world.id())),
    ];
    let operation = |customer: Option<CustomerId>, content| {
        let mut operation = Tenant::operation("k", content);
        operation.key.customer = customer;
        operation
    };
    for (content, customer) in (1..).zip(customers) {
        committed(world.commit(shop.sale(operation(customer, content))).await);
    }
    for (content, customer) in (1..).zip(customers) {
        let again = world.commit(shop.sale(operation(customer, content))).await;
        assert!(matches!(again, Verdict::Replayed(_)), "{again:?}");
        let other = world.commit(shop.sale(operation(customer, 9))).await;
        assert_eq!(other, Verdict::KeyReused);
    }
}

/// Another business may use the same key for anything.
pub async fn a_key_belongs_to_a_business(world: World) {
    let (one, two) = (Shop::open(&world).await, Shop::open(&world).await);
    committed(world.commit(one.sale(Tenant::operation("k", 1))).await);
    committed(world.commit(two.sale(Tenant::operation("k", 2))).await);
    let again = world.commit(one.sale(Tenant::operation("k", 1))).await;
    assert!(matches!(again, Verdict::Replayed(_)), "{again:?}");
    let key = Tenant::operation("unused", 1).key;
    let found = answer(world.store().operation(one.tenant.business(), &key).await);
    assert_eq!(found, None);
}

/// A finished key answers although its guards are stale, its claim is taken and the stock is gone.
pub async fn a_key_is_looked_at_first(world: World) {
    let shop = Shop::open(&world).await;
    let (tenant, level) = (&shop.tenant, place(&shop.branch, &shop.product));
    let key = DocumentKey::new(Kind::Product, shop.product.id);
    let unit = UnitOfWork {
        guards: vec![Guard::Document(key, 1)],
        ..shop.sale(Tenant::operation("k", 1))
    };
    let first = committed(world.commit(unit.clone()).await);
    let next = Product {
        stamp: tenant.next(shop.product.stamp),
        ..Product::clone(&shop.product)
    };
    tenant.update(Arc::clone(&shop.product), next).await;
    committed(world.commit(tenant.adjustment(&[(level, -99)])).await);
    assert_eq!(world.commit(unit.clone()).await, Verdict::Replayed(first));
    let other = UnitOfWork {
        operation: Some(Tenant::operation("k", 2)),
        ..unit
    };
    assert_eq!(world.commit(other).await, Verdict::KeyReused);
}

/// Keys are bytes: case, length, quotes and wildcards tell them apart.
pub async fn keys_compare_bytes(world: World) {
    let tenant = world.tenant().await;
    let long = "x".repeat(255);
    let texts = [
        "k",
        "K",
        "k%",
        "k_",
        "\"k\"",
        "'",
        "$k",
        "k.k",
        "0",
        "00",
        &long,
        &long[1..],
    ];
    let unit = |text: &str| UnitOfWork {
        operation: Some(Tenant::operation(text, 1)),
        ..tenant.unit_of([tenant.creation(tenant.draft_customer(None))])
    };
    let mut ids = BTreeSet::new();
    for text in texts {
        let reply = committed(world.commit(unit(text)).await);
        assert_eq!(world.commit(unit(text)).await, Verdict::Replayed(reply));
    }
    for text in texts {
        let key = OperationKey {
            customer: None,
            key: text.to_owned(),
        };
        let found = answer(world.store().operation(tenant.business(), &key).await);
        let Some(operation) = found else {
            panic!("{text} is not found");
        };
        assert_eq!(operation.key, key);
        let document = super::world::document_in(operation.reply);
        ids.insert(Document::key(&document));
    }
    assert_eq!(ids.len(), texts.len());
}
