//! The index catalogue is whole: every query shape and every rule of uniqueness has its index.

use std::collections::BTreeSet;

use abasto_domain::id::{BranchId, CartId, CustomerId, MemberId, OrderId, ProductId, RawId};
use abasto_domain::order_state::Status;
use abasto_domain::stock::Place;
use abasto_store::index::{
    CATALOGUE, Collection, Condition, Direction, IndexKind, Purpose, Shape, named, serving,
};
use abasto_store::query::{Deleted, LevelFilter, OrderFilter, ProductFilter, Query};
use abasto_store::record::{DocumentKey, Kind, Unique};

/// Every combination of filters that a caller can send.
fn queries() -> Vec<Query> {
    let branch = BranchId(RawId::default());
    let place = Place {
        branch,
        product: ProductId(RawId::default()),
    };
    let mut queries = vec![
        Query::Branches,
        Query::Members,
        Query::ApiKeys,
        Query::Customers,
        Query::Coupons,
        Query::Payments(OrderId(RawId::default())),
        Query::Returns(OrderId(RawId::default())),
        Query::History(DocumentKey::new(Kind::Order, ProductId(RawId::default()))),
        Query::Movements(place),
        Query::CartLog(CartId(RawId::default())),
        Query::Levels(LevelFilter {
            branch,
            below_available: None,
        }),
        Query::Levels(LevelFilter {
            branch,
            below_available: Some(1),
        }),
    ];
    for deleted in [Deleted::Hidden, Deleted::Shown] {
        for active in [None, Some(true), Some(false)] {
            queries.push(Query::Products(ProductFilter {
                text: None,
                active,
                deleted,
            }));
        }
    }
    for bits in 0..16 {
        let has = |bit: u8| bits & (1 << bit) != 0;
        queries.push(Query::Orders(OrderFilter {
            branches: has(0).then(|| vec![branch]),
            status: has(1).then_some(Status::Pending),
            customer: has(2).then_some(CustomerId(RawId::default())),
            courier: has(3).then_some(MemberId(RawId::default())),
            from: None,
            to: None,
        }));
    }
    queries
}

#[test]
fn every_query_has_an_index_and_every_shape_a_query() {
    let shapes: BTreeSet<Shape> = queries().iter().map(Shape::of).collect();
    assert_eq!(shapes, Shape::ALL.into_iter().collect());
    for shape in Shape::ALL {
        assert!(shape.index().is_some(), "no index serves {}", shape.name());
    }
}

#[test]
fn a_list_is_served_in_its_order() {
    for query in queries() {
        let index = Shape::of(&query).index().unwrap();
        let last = index.keys.last().unwrap();
        let (field, direction) = match query {
            Query::Levels(_) => ("productId", Direction::Ascending),
            Query::History(_) => ("sequence", Direction::Ascending),
            Query::Movements(_) => ("sequence", Direction::Descending),
            Query::CartLog(_) => ("_id", Direction::Ascending),
            _ => ("_id", Direction::Descending),
        };
        assert_eq!(
            (last.field, last.direction),
            (field, direction),
            "{}",
            index.name
        );
        if field == "_id" {
            let before = index.keys[index.keys.len() - 2];
            let time = match query {
                Query::CartLog(_) => "at",
                _ => "createdAt",
            };
            assert_eq!((before.field, before.direction), (time, direction));
        }
    }
}

#[test]
fn every_rule_of_uniqueness_has_a_unique_index() {
    let rules = [
        Unique::BranchCode,
        Unique::ActiveMember,
        Unique::Sku,
        Unique::Phone,
        Unique::VerifiedEmail,
    ];
    for rule in rules {
        let index = serving(Purpose::Claim(rule)).unwrap();
        assert_eq!(index.kind, IndexKind::Unique, "{rule:?}");
    }
    let unique = |name: &str| named(name).is_some_and(|index| index.kind == IndexKind::Unique);
    for name in [
        "uq_orders_number",
        "uq_stock_levels_place",
        "uq_stock_movements_sequence",
        "uq_stock_movements_operation",
        "uq_events_sequence",
        "uq_counters_series",
        "uq_operations_key",
        "uq_api_keys_id",
    ] {
        assert!(unique(name), "{name}");
    }
}

#[test]
fn the_tenant_comes_first() {
    // Where tenants themselves are looked for, and where workers look for work of all of them.
    let tenantless = [
        "businesses_newest",
        "members_by_user",
        "uq_api_keys_id",
        "orders_due",
        "checkouts_due",
        "payments_due",
        "payment_events_due",
        "carts_due",
    ];
    for index in CATALOGUE {
        let first = index.keys[0].field;
        let exempt = tenantless.contains(&index.name);
        assert_eq!(
            first != "businessId",
            exempt,
            "{} begins with {first}",
            index.name
        );
    }
}

#[test]
fn names_are_unique_and_say_what_is_unique() {
    let names: BTreeSet<&str> = CATALOGUE.iter().map(|index| index.name).collect();
    assert_eq!(names.len(), CATALOGUE.len());
    for index in CATALOGUE {
        let says = index.name.starts_with("uq_");
        assert_eq!(says, index.kind == IndexKind::Unique, "{}", index.name);
        assert!(!index.serves.is_empty(), "{} serves nothing", index.name);
        assert!(!index.owner.is_empty(), "{} is nobody's", index.name);
    }
}

#[test]
fn no_two_indexes_are_the_same() {
    for (i, a) in CATALOGUE.iter().enumerate() {
        for b in &CATALOGUE[i + 1..] {
            let same = a.collection == b.collection && a.keys == b.keys && a.only == b.only;
            assert!(!same, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn a_purpose_has_one_index() {
    let purposes: Vec<Purpose> = CATALOGUE
        .iter()
        .flat_map(|index| index.serves)
        .copied()
        .collect();
    for (i, purpose) in purposes.iter().enumerate() {
        assert!(
            !purposes[i + 1..].contains(purpose),
            "{purpose:?} is served twice"
        );
    }
}

#[test]
fn uniqueness_over_some_records_says_which() {
    let only = |name: &str| named(name).unwrap().only;
    assert_eq!(only("uq_products_sku"), Some(Condition::Null("deletedAt")));
    assert_eq!(
        only("uq_members_active_user"),
        Some(Condition::True("active"))
    );
    assert_eq!(
        only("uq_customers_phone"),
        Some(Condition::Present("phone"))
    );
    assert_eq!(
        only("uq_customers_verified_email"),
        Some(Condition::Present("verifiedEmailKey"))
    );
    assert_eq!(only("uq_orders_number"), None);
}

#[test]
fn collections_have_different_names() {
    let names: BTreeSet<&str> = Collection::ALL.into_iter().map(Collection::name).collect();
    assert_eq!(names.len(), Collection::ALL.len());
}
