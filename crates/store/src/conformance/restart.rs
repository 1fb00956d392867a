//! What outlives the process: all that was acknowledged.

use abasto_domain::branch::Branch;
use abasto_domain::product::Product;

use super::Durable;
use super::list::Shelf;
use super::tenant::{Tenant, place};
use super::world::{World, answer, committed};
use crate::record::{Claim, Record, Unique};
use crate::unit::UnitOfWork;
use crate::verdict::{Rejection, Verdict};

/// Closes a store and opens it again under the same tenant.
async fn reopened<B: Durable>(backend: B, tenant: Tenant) -> (B, Tenant) {
    let Tenant { world, record } = tenant;
    let sources = world.sources();
    drop(world);
    let backend = backend.reopen().await;
    let world = World::with(backend.store(), sources);
    (backend, Tenant { world, record })
}

/// Records, keys, numbers and claims go on after the store is opened again.
pub async fn what_was_committed_outlives_the_process<B: Durable>() {
    let backend = B::fresh().await;
    let tenant = Shelf::fill(&World::new(backend.store())).await.tenant;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN").await;
    tenant.receive(place(&branch, &product), 10).await;
    let sale = UnitOfWork {
        operation: Some(Tenant::operation("k", 1)),
        ..tenant.sale(&branch, &product, 1)
    };
    let reply = committed(tenant.world.commit(sale.clone()).await);
    let before = tenant.world.walk(tenant.business()).await;
    let (backend, tenant) = reopened(backend, tenant).await;
    let world = &tenant.world;
    assert_eq!(before, world.walk(tenant.business()).await);
    assert_eq!(world.commit(sale).await, Verdict::Replayed(reply));
    let twin = tenant.unit_of([tenant.creation(tenant.draft_product("PAN"))]);
    let taken = Claim {
        rule: Unique::Sku,
        value: "PAN".to_owned(),
    };
    let refused = Verdict::Rejected(Rejection::Taken(taken));
    assert_eq!(world.commit(twin).await, refused);
    let next = tenant.order(tenant.sale(&branch, &product, 1)).await;
    assert_eq!(next.number.sequence, 2);
    world.must_hold().await;
    drop(tenant);
    backend.clean().await;
}

fn orders(tenant: &Tenant, branch: &Branch, product: &Product) -> Vec<UnitOfWork> {
    let order = |number: u8| UnitOfWork {
        operation: Some(Tenant::operation(&format!("k{number}"), number)),
        ..tenant.sale(branch, product, 1)
    };
    (0..200).map(order).collect()
}

/// The process ends while two hundred orders are under way; then all are sent again.
pub async fn a_restart_under_load_loses_nothing_it_acknowledged<B: Durable>() {
    let backend = B::fresh().await;
    let tenant = World::new(backend.store()).tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN").await;
    tenant.receive(place(&branch, &product), 200).await;
    let units = orders(&tenant, &branch, &product);
    let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let mut tasks = Vec::new();
    for (number, unit) in units.iter().cloned().enumerate() {
        let (world, report) = (tenant.world.clone(), report.clone());
        tasks.push(tokio::spawn(async move {
            let verdict = world.try_commit(unit).await;
            // Nobody may listen any more.
            let _ = report.send((number, verdict));
        }));
    }
    drop(report);
    let mut acknowledged = Vec::new();
    while acknowledged.len() < 50 {
        let Some((number, verdict)) = reports.recv().await else {
            panic!("the orders ended early");
        };
        acknowledged.push((number, committed(answer(verdict))));
    }
    for task in tasks {
        task.abort();
        // Either it ended or it was cut off: both are what a crash does.
        let _ = task.await;
    }
    drop(reports);
    let (backend, tenant) = reopened(backend, tenant).await;
    for (number, reply) in acknowledged {
        let again = tenant.world.commit(units[number].clone()).await;
        assert_eq!(again, Verdict::Replayed(reply));
    }
    for unit in units {
        let verdict = tenant.world.commit(unit).await;
        let kept = matches!(verdict, Verdict::Committed(_) | Verdict::Replayed(_));
        assert!(kept, "{verdict:?}");
    }
    let records = tenant.world.walk(tenant.business()).await;
    let operations = records.iter().filter(|r| matches!(r, Record::Operation(_)));
    assert_eq!(operations.count(), 200);
    let level = place(&branch, &product);
    assert_eq!(tenant.units(level).await, (0, 200));
    tenant.world.must_hold().await;
    drop(tenant);
    backend.clean().await;
}
