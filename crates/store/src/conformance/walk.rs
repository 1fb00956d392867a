//! Walks: everything of a business, in order, as of one point in time.

use std::sync::Arc;

use abasto_domain::order_state::Action;

use super::list::Shelf;
use super::tenant::{Tenant, place};
use super::world::{World, answer, committed};
use crate::invariants::Audit;
use crate::record::{Document, Record};
use crate::unit::UnitOfWork;

/// Each record once, by key; and all that was committed.
pub async fn a_walk_is_whole_and_in_order(world: World) {
    let shelf = Shelf::fill(&world).await;
    let tenant = &shelf.tenant;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("ZZZ").await;
    tenant.receive(place(&branch, &product), 3).await;
    let mut keys = Vec::new();
    for (number, customer) in [None, Some(world.id()), Some(world.id())]
        .into_iter()
        .enumerate()
    {
        for text in ["b", "a", "B", "~"] {
            let mut operation = Tenant::operation(text, 1);
            operation.key.customer = customer.map(Into::into);
            let unit = UnitOfWork {
                operation: Some(operation.clone()),
                ..tenant.unit_of([tenant.creation(tenant.draft_key(&number.to_string()))])
            };
            committed(world.commit(unit).await);
            keys.push(operation.key);
        }
    }
    let order = tenant.order(tenant.sale(&branch, &product, 1)).await;
    let order = tenant.order(tenant.step(&order, Action::Confirm)).await;
    let records = world.walk(tenant.business()).await;
    for pair in records.windows(2) {
        assert!(
            pair[0].key() < pair[1].key(),
            "{:?} then {:?}",
            pair[0].key(),
            pair[1].key()
        );
    }
    let count = |wanted: fn(&Record) -> bool| records.iter().filter(|r| wanted(r)).count();
    let versions = records.iter().map(|record| match record {
        Record::Document(document) => usize::try_from(document.version()).unwrap_or(0),
        _ => 0,
    });
    assert_eq!(
        count(|r| matches!(r, Record::Event(_))),
        versions.sum::<usize>()
    );
    assert_eq!(count(|r| matches!(r, Record::Operation(_))), keys.len());
    assert_eq!(count(|r| matches!(r, Record::Counter(_))), 3);
    let confirmed = Record::Document(Document::Order(Arc::clone(&order)));
    assert!(records.contains(&confirmed));
    let movements = records.iter().filter_map(|record| match record {
        Record::Movement(movement) => Some(movement.place),
        _ => None,
    });
    let levels: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            Record::Level(level) => Some((level.place, level.version)),
            _ => None,
        })
        .collect();
    let total: i64 = levels.iter().map(|(_, version)| version).sum();
    assert_eq!(i64::try_from(movements.count()), Ok(total));
}

/// The visitor's word ends it, and the store goes on.
pub async fn a_walk_ends_when_its_visitor_says_so(world: World) {
    let tenant = world.tenant().await;
    for number in 0..10 {
        tenant.product(&format!("PAN-{number}")).await;
    }
    let mut seen = 0;
    let mut visitor = |_| {
        seen += 1;
        if seen < 3 {
            Ok(())
        } else {
            Err("enough".to_owned())
        }
    };
    let result = world.store().walk(tenant.business(), &mut visitor).await;
    assert!(result.is_err(), "the visitor was not heard");
    assert_eq!(seen, 3);
    tenant.product("PAN-10").await;
    assert_eq!(world.walk(tenant.business()).await.len(), 24);
}

/// Nothing, and no error.
pub async fn a_walk_of_an_unknown_business_is_empty(world: World) {
    world.tenant().await;
    let nobody = world.id().into();
    assert!(world.walk(nobody).await.is_empty());
    assert!(world.audit(nobody).await.is_clean());
}

/// Walks while units move between branches: every one of them is whole.
pub async fn a_walk_is_of_one_point_in_time(world: World) {
    let tenant = world.tenant().await;
    let (bog, med) = (tenant.branch("BOG").await, tenant.branch("MED").await);
    let product = tenant.product("PAN-1").await;
    let (here, there) = (place(&bog, &product), place(&med, &product));
    tenant.receive(here, 100).await;
    tenant.receive(there, 50).await;
    let writer = {
        let (tenant, bog, med, product) = (tenant.clone(), bog, med, product);
        tokio::spawn(async move {
            for number in 0..120 {
                let transfer = match number % 2 {
                    0 => tenant.transfer(here, &med, 60),
                    _ => tenant.transfer(there, &bog, 60),
                };
                committed(tenant.world.commit(transfer).await);
                if number % 4 == 0 {
                    tenant.order(tenant.sale(&med, &product, 1)).await;
                }
            }
        })
    };
    let mut walks = 0;
    while walks < 5 || (!writer.is_finished() && walks < 200) {
        let mut audit = Audit::new(tenant.business());
        let mut on_hand = 0;
        let mut visitor = |record: Record| {
            if let Record::Level(level) = &record {
                on_hand += level.on_hand();
            }
            audit.take(&record);
            Ok(())
        };
        answer(world.store().walk(tenant.business(), &mut visitor).await);
        let report = audit.finish();
        assert!(report.is_clean(), "{report}");
        assert_eq!(on_hand, 150);
        walks += 1;
        tokio::task::yield_now().await;
    }
    if let Err(error) = writer.await {
        panic!("the writer failed: {error}");
    }
}

/// A store that serves has nothing to complain of.
pub async fn a_healthy_store_says_so(world: World) {
    let complaints = answer(world.store().health().await);
    assert!(complaints.is_empty(), "{complaints:?}");
}
