//! A business with a life behind it, as the records of a walk.

use std::sync::Arc;

use abasto_domain::access::Role;
use abasto_domain::coupon::Redemption;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::id::BusinessId;
use abasto_domain::order::Order;
use abasto_domain::order_state::{Action, Units};
use abasto_sim::model::ModelStore;
use abasto_store::conformance::sale::{YEAR, cancel};
use abasto_store::conformance::tenant::{Tenant, place};
use abasto_store::conformance::world::{World, committed};
use abasto_store::record::{Document, Record};
use abasto_store::unit::UnitOfWork;

/// The records of the business. The same at every call.
pub(crate) fn records() -> Vec<Record> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let tenant = World::new(Arc::new(ModelStore::new())).tenant().await;
        live(&tenant).await;
        tenant.world.walk(tenant.business()).await
    })
}

async fn live(tenant: &Tenant) {
    let world = &tenant.world;
    let (bog, med) = (tenant.branch("BOG").await, tenant.branch("MED").await);
    let customer = tenant.customer().await;
    let courier = tenant.draft_member("courier");
    tenant.save(courier.clone()).await;
    let limited = Member {
        branches: Some(vec![bog.id]),
        ..tenant.draft_member("staff")
    };
    tenant.save(limited).await;
    let key = ApiKey {
        role: Role::Customer,
        customer: Some(customer.id),
        ..tenant.draft_key("app")
    };
    tenant.save(key).await;
    let (bread, cake) = (tenant.product("PAN").await, tenant.product("TORTA").await);
    for product in [&bread, &cake] {
        let receipt = UnitOfWork {
            operation: Some(Tenant::operation(&product.sku, 1)),
            ..tenant.adjustment(&[(place(&bog, product), 100)])
        };
        committed(world.commit(receipt).await);
        let transfer = tenant.transfer(place(&bog, product), &med, 40);
        committed(world.commit(transfer).await);
    }
    let steps = [
        Action::Confirm,
        Action::Prepare,
        Action::Dispatch,
        Action::Deliver,
    ];
    for length in 0..=4_u8 {
        let branch = if length % 2 == 0 { &bog } else { &med };
        let lines = [(&*bread, 2), (&*cake, i64::from(length) + 1)];
        let mut order = tenant.draft_order(branch, &lines, YEAR);
        order.customer.id = Some(customer.id);
        order.fulfilment.courier = Some(courier.id);
        let mut order = sold(tenant, order, length).await;
        for step in steps.iter().take(usize::from(length)) {
            order = tenant.order(tenant.step(&order, step.clone())).await;
        }
    }
    let lost = Action::Cancel {
        reason: "fell".to_owned(),
        units: Units::WriteOff,
        coupons: Redemption::Returned,
    };
    for (number, ending) in (10..).zip([cancel(), lost]) {
        let order = tenant.draft_order(&bog, &[(&bread, 3)], YEAR);
        let order = sold(tenant, order, number).await;
        tenant.order(tenant.step(&order, ending)).await;
    }
}

async fn sold(tenant: &Tenant, order: Order, number: u8) -> Arc<Order> {
    let unit = UnitOfWork {
        operation: Some(Tenant::operation(&format!("order-{number}"), number)),
        ..tenant.placing(order)
    };
    tenant.order(unit).await
}

/// Whose records these are.
pub(crate) fn business(records: &[Record]) -> BusinessId {
    match records.first() {
        Some(Record::Document(Document::Business(business))) => business.id,
        other => panic!("a walk begins with the business, not with {other:?}"),
    }
}

/// Where the first such record is.
pub(crate) fn position(records: &[Record], wanted: impl Fn(&Record) -> bool) -> usize {
    records
        .iter()
        .position(wanted)
        .expect("a record to corrupt")
}
