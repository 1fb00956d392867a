//! A unit is written whole or not at all, alone or among others.

use std::sync::Arc;

use abasto_domain::stock::{Place, StockChange};

use super::sale::YEAR;
use super::tenant::{Tenant, place};
use super::world::{World, answer, committed, document_in};
use crate::record::{Document, DocumentKey, HeadKey, Kind};
use crate::unit::{Answer, Guard, UnitOfWork};
use crate::verdict::{Rejection, Verdict};

/// Sends a unit that cannot be, and compares everything stored before and after.
async fn leaves_nothing(tenant: &Tenant, unit: UnitOfWork) -> Verdict {
    let before = tenant.world.walk(tenant.business()).await;
    let verdict = tenant.world.commit(unit).await;
    assert_eq!(before, tenant.world.walk(tenant.business()).await);
    verdict
}

/// Documents, stock, events and the key of a unit are all there after it.
pub async fn a_unit_is_written_whole(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let customer = Arc::new(tenant.draft_customer(Some("+573001234567")));
    let product = Arc::new(tenant.draft_product("PAN-1"));
    let puts = [
        tenant.creation(Arc::clone(&customer)),
        tenant.creation(Arc::clone(&product)),
    ];
    let level = place(&branch, &product);
    let unit = UnitOfWork {
        stock: vec![tenant.stock_change(level, 7)],
        operation: Some(Tenant::operation("whole", 1)),
        ..tenant.unit_of(puts)
    };
    let reply = committed(world.commit(unit).await);
    assert_eq!(document_in(reply), Document::from(Arc::clone(&customer)));
    let business = tenant.business();
    for document in [Document::from(customer), Document::from(product)] {
        let key = document.key();
        assert_eq!(world.document(business, key).await, Some(document));
        assert_eq!(world.history(business, key).await.len(), 1);
    }
    assert_eq!(tenant.units(level).await, (7, 0));
    let key = Tenant::operation("whole", 1).key;
    assert!(answer(world.store().operation(business, &key).await).is_some());
}

/// One line short among ten: no order, number, movement, event or key is kept.
pub async fn a_rejected_unit_leaves_nothing(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let mut products = Vec::new();
    for number in 0..10 {
        let product = tenant.product(&format!("PAN-{number}")).await;
        tenant.receive(place(&branch, &product), 5).await;
        products.push(product);
    }
    let lines: Vec<_> = products
        .iter()
        .enumerate()
        .map(|(i, product)| (&**product, if i == 6 { 6 } else { 5 }))
        .collect();
    let unit = UnitOfWork {
        operation: Some(Tenant::operation("short", 1)),
        ..tenant.placing(tenant.draft_order(&branch, &lines, YEAR))
    };
    let Verdict::Rejected(Rejection::Short(short)) = leaves_nothing(&tenant, unit).await else {
        panic!("a line was short");
    };
    let places: Vec<Place> = short.iter().map(|short| short.place).collect();
    assert_eq!(places, [place(&branch, &products[6])]);
}

/// A unit with a guard that fails.
pub async fn a_stale_unit_leaves_nothing(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 5).await;
    let key = DocumentKey::new(Kind::Branch, branch.id);
    let unit = UnitOfWork {
        guards: vec![Guard::Document(key, 2)],
        operation: Some(Tenant::operation("stale", 1)),
        ..tenant.sale(&branch, &product, 1)
    };
    let verdict = leaves_nothing(&tenant, unit).await;
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key)));
}

/// A unit whose second document wants what another one has.
pub async fn a_refused_claim_leaves_nothing(world: World) {
    let tenant = world.tenant().await;
    tenant.product("PAN-1").await;
    let unit = tenant.unit_of([
        tenant.creation(tenant.draft_product("PAN-2")),
        tenant.creation(tenant.draft_product("PAN-1")),
    ]);
    let verdict = leaves_nothing(&tenant, unit).await;
    assert!(
        matches!(verdict, Verdict::Rejected(Rejection::Taken(_))),
        "{verdict:?}"
    );
}

/// Possible, short and stale units sent at once get their own verdicts.
pub async fn a_refused_unit_does_not_hurt_its_neighbours(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let (plenty, none) = (tenant.product("PAN-1").await, tenant.product("PAN-2").await);
    tenant.receive(place(&branch, &plenty), 1_000).await;
    let stale = Guard::Document(DocumentKey::new(Kind::Product, plenty.id), 9);
    let units = (0..96).map(|number| match number % 3 {
        0 => tenant.sale(&branch, &plenty, 1),
        1 => tenant.sale(&branch, &none, 1),
        _ => UnitOfWork {
            guards: vec![stale],
            ..tenant.sale(&branch, &plenty, 1)
        },
    });
    let verdicts = world.commit_all(units.collect()).await;
    for (number, verdict) in verdicts.iter().enumerate() {
        let as_expected = match number % 3 {
            0 => matches!(verdict, Verdict::Committed(_)),
            1 => matches!(verdict, Verdict::Rejected(Rejection::Short(_))),
            _ => matches!(verdict, Verdict::Stale(HeadKey::Document(_))),
        };
        assert!(as_expected, "unit {number}: {verdict:?}");
    }
    assert_eq!(tenant.units(place(&branch, &plenty)).await, (968, 32));
}

/// An effect on stock happens once: its second coming is an error, whatever unit brings it, and
/// the store goes on.
pub async fn a_repeated_effect_is_refused_and_leaves_nothing(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    let level = place(&branch, &product);
    let first = tenant.adjustment(&[(level, 3)]);
    let again = UnitOfWork {
        stock: vec![StockChange {
            operation: first.stock[0].operation,
            ..tenant.stock_change(level, 3)
        }],
        operation: Some(Tenant::operation("again", 1)),
        ..tenant.unit()
    };
    committed(world.commit(first).await);
    let before = world.walk(tenant.business()).await;
    let result = world.try_commit(again).await;
    assert!(result.is_err(), "the same effect came twice: {result:?}");
    assert_eq!(before, world.walk(tenant.business()).await);
    tenant.receive(level, 1).await;
    assert_eq!(tenant.units(level).await, (4, 0));
}

/// A step that was taken already: the answer is kept under the key, nothing else is written.
pub async fn a_unit_may_change_nothing(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let document = Document::from(Arc::clone(&branch));
    let unit = || UnitOfWork {
        guards: vec![Guard::Document(document.key(), 1)],
        operation: Some(Tenant::operation("again", 1)),
        answer: Answer::Unchanged(document.clone()),
        ..tenant.unit()
    };
    let reply = committed(world.commit(unit()).await);
    assert_eq!(document_in(reply.clone()), document);
    assert_eq!(world.commit(unit()).await, Verdict::Replayed(reply));
    assert_eq!(
        world.history(tenant.business(), document.key()).await.len(),
        1
    );
}

/// A read that begins after a verdict sees its unit.
pub async fn reads_see_what_was_committed(world: World) {
    let tenant = world.tenant().await;
    let business = tenant.business();
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    let level = place(&branch, &product);
    for round in 1..=50 {
        tenant.receive(level, 2).await;
        assert_eq!(tenant.units(level).await, (round + 1, round - 1));
        let order = tenant.order(tenant.sale(&branch, &product, 1)).await;
        let document = Document::from(Arc::clone(&order));
        let found = world.document(business, document.key()).await;
        assert_eq!(found, Some(document));
        let found = answer(world.store().order_by_number(business, &order.number).await);
        assert_eq!(found.as_ref(), Some(&*order));
        assert_eq!(tenant.units(level).await, (round, round));
    }
}
