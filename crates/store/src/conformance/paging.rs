//! Pages under change: a row that was there when the walk began is seen exactly once, whatever is
//! inserted, changed or deleted meanwhile, as long as it keeps matching.

use std::collections::BTreeSet;
use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::id::RawId;
use abasto_domain::order_state::{Action, Status};
use abasto_domain::product::Product;

use super::sale::{cancel, order_in};
use super::tenant::{Tenant, place};
use super::world::World;
use crate::query::{OrderFilter, Position, ProductFilter, Query};
use crate::record::{Document, Record};

async fn shop(world: &World) -> (Tenant, Arc<Branch>, Arc<Product>) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 1_000).await;
    (tenant, branch, product)
}

fn id_of(record: &Record) -> RawId {
    Position::of(record).id
}

/// Walks a list in pages of three; after each page something happens.
async fn walked<F: Future<Output = ()>>(
    tenant: &Tenant,
    query: &Query,
    mut after_page: impl FnMut(Vec<Record>) -> F,
) -> Vec<RawId> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = tenant.world.page(tenant.business(), query, after, 3).await;
        let Some(last) = page.last() else { return seen };
        after = Some(Position::of(last));
        seen.extend(page.iter().map(id_of));
        after_page(page).await;
        assert!(seen.len() < 500, "the list has no end: {query:?}");
    }
}

#[track_caller]
fn each_once(seen: &[RawId], expected: impl IntoIterator<Item = RawId>) {
    let distinct: BTreeSet<RawId> = seen.iter().copied().collect();
    assert_eq!(distinct.len(), seen.len(), "a row was seen twice");
    for id in expected {
        assert!(distinct.contains(&id), "the row {id} was not seen");
    }
}

/// New orders arrive after every page.
pub async fn pages_while_rows_are_inserted(world: World) {
    let (tenant, branch, product) = shop(&world).await;
    let mut there = Vec::new();
    for _ in 0..20 {
        there.push(tenant.order(tenant.sale(&branch, &product, 1)).await.id.0);
    }
    let query = Query::Orders(OrderFilter::default());
    let arrive = |_| async {
        for _ in 0..4 {
            tenant.order(tenant.sale(&branch, &product, 1)).await;
        }
    };
    let seen = walked(&tenant, &query, arrive).await;
    each_once(&seen, there);
}

/// Orders are confirmed and cancelled while pending ones are listed: rows seen and rows to come.
pub async fn pages_while_rows_change_state(world: World) {
    let (tenant, branch, product) = shop(&world).await;
    let mut orders = Vec::new();
    for _ in 0..24 {
        orders.push(tenant.order(tenant.sale(&branch, &product, 1)).await);
    }
    // Newest first, as the list is: each page sends the next victim, far ahead of the walk.
    let mut victims = orders.iter().step_by(3).cloned().collect::<Vec<_>>();
    let stable: Vec<RawId> = orders
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 3 != 0)
        .map(|(_, order)| order.id.0)
        .collect();
    let query = Query::Orders(OrderFilter {
        status: Some(Status::Pending),
        ..OrderFilter::default()
    });
    let tenant = &tenant;
    let change = |page: Vec<Record>| {
        let victim = (!victims.is_empty()).then(|| victims.remove(0));
        async move {
            let Some(order) = victim else { return };
            let seen = page.iter().any(|record| id_of(record) == order.id.0);
            let action = if seen { cancel() } else { Action::Confirm };
            tenant.order(tenant.step(&order, action)).await;
        }
    };
    let seen = walked(tenant, &query, change).await;
    each_once(&seen, stable);
    // Nobody who is listed afterwards has left the state.
    for record in world.list(tenant.business(), &query, 3).await {
        let Record::Document(document) = record else {
            panic!("{record:?}");
        };
        assert_eq!(order_in(document).status, Status::Pending);
    }
}

/// Products are deleted and renamed while they are listed.
pub async fn pages_while_rows_are_deleted(world: World) {
    let tenant = world.tenant().await;
    let mut products = Vec::new();
    for number in 0..24 {
        products.push(tenant.product(&format!("PAN-{number}")).await);
    }
    let stays = |number: usize| number % 4 != 1;
    let stable: Vec<RawId> = products
        .iter()
        .enumerate()
        .filter(|(number, _)| stays(*number))
        .map(|(_, product)| product.id.0)
        .collect();
    let mut queue: Vec<(usize, Arc<Product>)> = products.iter().cloned().enumerate().collect();
    let query = Query::Products(ProductFilter::default());
    let tenant = &tenant;
    let change = |_| {
        let batch: Vec<_> = queue.drain(..queue.len().min(3)).collect();
        async move {
            for (number, product) in batch {
                let next = Product {
                    deleted_at: (!stays(number)).then(|| tenant.world.now()),
                    name: "renamed".to_owned(),
                    stamp: tenant.next(product.stamp),
                    ..Product::clone(&product)
                };
                tenant.update(product, next).await;
            }
        }
    };
    let seen = walked(tenant, &query, change).await;
    each_once(&seen, stable);
    for record in world.list(tenant.business(), &query, 5).await {
        let Record::Document(Document::Product(product)) = record else {
            panic!("{record:?}");
        };
        assert_eq!(product.deleted_at, None);
    }
}

/// Movements are added in front while the older ones are read.
pub async fn pages_of_movements_while_stock_moves(world: World) {
    let (tenant, branch, product) = shop(&world).await;
    let level = place(&branch, &product);
    for _ in 0..19 {
        tenant.receive(level, 1).await;
    }
    let there = world.movements(tenant.business(), level).await;
    assert_eq!(there.len(), 20);
    let query = Query::Movements(level);
    let arrive = |_| async { tenant.receive(level, 1).await };
    let seen = walked(&tenant, &query, arrive).await;
    each_once(&seen, there.into_iter().map(|movement| movement.id.0));
    assert_eq!(seen.len(), 20);
}
