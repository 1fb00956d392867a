//! What every list costs: its index, no sorting, the same at any depth.

use std::sync::Arc;

use abasto_domain::id::{BusinessId, CustomerId, MemberId, RawId};
use abasto_domain::order::Order;
use abasto_domain::order_state::Status;
use abasto_domain::time::Timestamp;
use abasto_store::index::Shape;
use abasto_store::query::{
    Deleted, LevelFilter, OrderFilter, Page, Position, ProductFilter, Query,
};
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::{Answer, UnitOfWork};
use rusqlite::{Connection, StatementStatus, params_from_iter};

use super::world::{START, World};
use super::{commit_all, empty};
use crate::head::Memory;
use crate::list::list;
use crate::shape::{self, Scan, scans};

/// Enough to tell one cost from another, and enough to add up.
const MANY: usize = 20_000;
const SOME: usize = 2_000;
const BRANCHES: usize = 4;
const PRODUCTS: usize = 400;
const CUSTOMER: CustomerId = CustomerId(RawId([0xc; 12]));
const COURIER: MemberId = MemberId(RawId([0xd; 12]));

struct Data {
    connection: Connection,
    world: World,
}

/// A business with so many orders, in every state, and another beside it.
fn data(orders: usize) -> Data {
    let mut connection = empty();
    let mut memory = Memory::default();
    let other = World::new(2, 2, 50);
    let world = World::new(1, BRANCHES, PRODUCTS);
    for world in [&other, &world] {
        let units: Vec<UnitOfWork> = world
            .catalogue()
            .into_iter()
            .chain(world.stocked(0, 9))
            .collect();
        commit_all(&mut connection, &mut memory, &units);
    }
    let orders: Vec<usize> = (0..orders).collect();
    for chunk in orders.chunks(200) {
        let puts = chunk
            .iter()
            .map(|index| world.put(None, order(&world, *index)));
        let unit = UnitOfWork {
            puts: puts.collect(),
            answer: Answer::Put(0),
            ..world.unit(None)
        };
        commit_all(&mut connection, &mut memory, &[unit]);
    }
    Data { connection, world }
}

/// Ten orders share each millisecond; every other one has the customer, every third the courier.
fn order(world: &World, index: usize) -> Order {
    let at = i64::try_from(index / 10).unwrap();
    let customer = index.is_multiple_of(2).then_some(CUSTOMER);
    let unit = world.order_for(customer, "key", index % BRANCHES, &[index % PRODUCTS], at);
    let Some(Document::Order(order)) = unit.puts.into_iter().next().map(|put| put.next) else {
        panic!("no order");
    };
    let mut order = Arc::unwrap_or_clone(order);
    order.status = Status::ALL[(index / BRANCHES) % Status::ALL.len()];
    order.fulfilment.courier = index.is_multiple_of(3).then_some(COURIER);
    order
}

fn first(limit: u32) -> Page {
    Page { after: None, limit }
}

/// At least one query of every shape, and every combination of the filter for orders.
fn queries(world: &World) -> Vec<Query> {
    let mut queries = vec![
        Query::Branches,
        Query::Members,
        Query::ApiKeys,
        Query::Customers,
        Query::History(DocumentKey::new(Kind::Business, world.id())),
        Query::Movements(world.place(0, 0)),
    ];
    for deleted in [Deleted::Hidden, Deleted::Shown] {
        for active in [None, Some(true)] {
            for text in [None, Some("ARTESANAL".to_owned())] {
                queries.push(Query::Products(ProductFilter {
                    text,
                    active,
                    deleted,
                }));
            }
        }
    }
    for below_available in [None, Some(10)] {
        queries.push(Query::Levels(LevelFilter {
            branch: world.branches[0].id,
            below_available,
        }));
    }
    queries.extend((0..48).map(|combination| Query::Orders(orders(world, combination))));
    queries
}

/// The combination of filters with this number: none, one or three branches, and so on.
fn orders(world: &World, combination: usize) -> OrderFilter {
    let ids: Vec<_> = world.branches.iter().map(|branch| branch.id).collect();
    let has = |bit: usize| (combination / 3) >> bit & 1 == 1;
    let at = |ms| Timestamp::from_millis(START + ms);
    OrderFilter {
        branches: [None, Some(vec![ids[1]]), Some(ids[..3].to_vec())][combination % 3].clone(),
        status: has(0).then_some(Status::Pending),
        customer: has(1).then_some(CUSTOMER),
        courier: has(2).then_some(COURIER),
        from: has(3).then(|| at(20)),
        to: has(3).then(|| at(180)),
    }
}

/// Whether the query asks for more than its index is sorted by.
fn checks_rows(query: &Query) -> bool {
    match query {
        Query::Products(filter) => filter.text.is_some(),
        Query::Levels(filter) => filter.below_available.is_some(),
        Query::Orders(filter) => {
            let named = [filter.customer.is_some(), filter.courier.is_some()];
            let others = [filter.branches.is_some(), filter.status.is_some()];
            named.contains(&true) && (others.contains(&true) || named == [true, true])
        }
        _ => false,
    }
}

fn merges(query: &Query) -> bool {
    match query {
        Query::Orders(filter) => filter.branches.as_ref().is_some_and(|it| it.len() > 1),
        _ => false,
    }
}

fn plan(connection: &Connection, scan: &Scan) -> Vec<String> {
    let mut statement = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {}", scan.sql))
        .unwrap();
    let rows = statement
        .query_map(params_from_iter(&scan.values), |row| row.get(3))
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn check_plan(plan: &[String], index: &str, sql: &str) {
    let searches: Vec<&String> = plan
        .iter()
        .filter(|step| step.starts_with("SEARCH"))
        .collect();
    assert!(!searches.is_empty(), "{sql}\n{plan:#?}");
    for step in searches {
        assert!(step.contains(index), "{index}: {sql}\n{plan:#?}");
    }
    for step in plan {
        assert!(!step.contains("TEMP B-TREE"), "{sql}\n{plan:#?}");
        assert!(!step.starts_with("SCAN"), "{sql}\n{plan:#?}");
    }
}

#[test]
fn every_list_is_a_search_by_its_index() {
    let Data { connection, world } = data(SOME);
    // Statistics must not change a plan.
    for statistics in ["", "ANALYZE"] {
        connection.execute_batch(statistics).unwrap();
        for query in queries(&world) {
            let shape = Shape::of(&query);
            let index = match shape {
                Shape::History => "PRIMARY KEY",
                _ => shape.index().unwrap().name,
            };
            for scan in scans(world.id(), &query, first(50)) {
                check_plan(&plan(&connection, &scan), index, &scan.sql);
            }
        }
    }
}

#[test]
fn every_other_read_is_a_search_too() {
    let connection = empty();
    let explain = |sql: &str| -> Vec<String> {
        let mut statement = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap();
        let values = vec![rusqlite::types::Null; statement.parameter_count()];
        let rows = statement
            .query_map(params_from_iter(values), |row| row.get(3))
            .unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    for (sql, index) in [
        (shape::BUSINESSES, "businesses_newest"),
        (shape::MEMBERSHIPS, "members_by_user"),
        (crate::movement::READ, "PRIMARY KEY"),
        (crate::movement::FIND, "uq_stock_movements_milestone"),
        (crate::operation::READ, "PRIMARY KEY"),
    ] {
        check_plan(&explain(sql), index, sql);
    }
}

/// Steps of the virtual machine that one page takes, and how many rows it has.
fn cost(connection: &Connection, business: BusinessId, query: &Query, page: Page) -> (i32, i32) {
    let (mut steps, mut found) = (0, 0);
    for scan in scans(business, query, page) {
        let mut statement = connection.prepare(&scan.sql).unwrap();
        let mut rows = statement.query(params_from_iter(&scan.values)).unwrap();
        while rows.next().unwrap().is_some() {
            found += 1;
        }
        drop(rows);
        steps += statement.get_status(StatementStatus::VmStep);
        assert_eq!(statement.get_status(StatementStatus::Sort), 0, "{query:?}");
        let scanned = statement.get_status(StatementStatus::FullscanStep);
        assert_eq!(scanned, 0, "{query:?}");
    }
    (steps, found)
}

#[test]
fn a_page_costs_the_same_at_any_depth() {
    let Data { connection, world } = data(MANY);
    let read = |query: &Query| list(&connection, world.id(), query, first(1_000_000)).unwrap();
    let orders = read(&Query::Orders(OrderFilter::default()));
    for query in queries(&world) {
        let all = match &query {
            Query::Orders(_) => orders
                .iter()
                .filter(|it| query.matches(it))
                .cloned()
                .collect(),
            _ => read(&query),
        };
        let (steps, rows) = cost(&connection, world.id(), &query, first(50));
        if !checks_rows(&query) {
            // No row is looked at that is not on the page: so many steps per row suffice. A merge
            // hands each row through its levels.
            let per_row = if merges(&query) { 32 } else { 14 };
            let most = per_row * rows + 150;
            assert!(steps <= most, "{steps} steps, {rows} rows: {query:?}");
        }
        if all.len() < 200 || matches!(query, Query::Movements(_)) {
            continue;
        }
        let after = |row: usize| Page {
            after: Some(Position::of(&all[row - 1])),
            limit: 50,
        };
        let deep = all.len().min(10_050) - 50;
        let (near, rows) = cost(&connection, world.id(), &query, after(50));
        let (far, far_rows) = cost(&connection, world.id(), &query, after(deep));
        assert_eq!((rows, far_rows), (50, 50), "{query:?}");
        let apart = (near - far).abs();
        assert!(
            apart <= near / 8 + 20,
            "{near} steps near, {far} far: {query:?}"
        );
    }
}

/// The pages of every query together are what the port says the query means.
#[test]
fn pages_of_every_filter_add_up() {
    let Data { connection, world } = data(SOME);
    let everything = first(1_000_000);
    let orders = Query::Orders(OrderFilter::default());
    let orders = list(&connection, world.id(), &orders, everything).unwrap();
    assert_eq!(orders.len(), SOME);
    for combination in 0..48 {
        let query = Query::Orders(self::orders(&world, combination));
        let wanted: Vec<_> = orders.iter().filter(|order| query.matches(order)).collect();
        let mut page = first(97);
        let mut found = Vec::new();
        loop {
            let rows = list(&connection, world.id(), &query, page).unwrap();
            let Some(last) = rows.last() else { break };
            page.after = Some(Position::of(last));
            found.extend(rows);
        }
        assert!(found.iter().eq(wanted.iter().copied()), "{query:?}");
    }
}

/// More branches than one statement takes.
#[test]
fn hundreds_of_branches_are_one_list() {
    let mut connection = empty();
    let world = World::new(1, 250, 1);
    let mut memory = Memory::default();
    for branch in 0..250 {
        let at = i64::try_from(branch * 7919 % 250).unwrap();
        let unit = UnitOfWork {
            stock: Vec::new(),
            guards: Vec::new(),
            ..world.order(&format!("key-{branch}"), branch, &[0], at)
        };
        commit_all(&mut connection, &mut memory, &[unit]);
    }
    let query = Query::Orders(OrderFilter {
        branches: Some(world.branches.iter().map(|branch| branch.id).collect()),
        ..OrderFilter::default()
    });
    let all = Query::Orders(OrderFilter::default());
    let found = list(&connection, world.id(), &query, first(60)).unwrap();
    let wanted = list(&connection, world.id(), &all, first(60)).unwrap();
    assert_eq!(found, wanted);
}
