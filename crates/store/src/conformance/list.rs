//! Lists: what each holds, in which order, in pages of any size.
//!
//! The reference is the walk: a list is the records that its query matches, sorted by position.

use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::customer::Customer;
use abasto_domain::id::{BranchId, CustomerId, MemberId, ProductId};
use abasto_domain::order::Order;
use abasto_domain::order_state::{Action, Status};
use abasto_domain::product::Product;
use abasto_domain::stock::Place;

use super::sale::{YEAR, cancel};
use super::tenant::{Tenant, place};
use super::world::World;
use crate::query::{Deleted, LevelFilter, OrderFilter, Position, ProductFilter, Query};
use crate::record::{DocumentKey, Kind, Record};

/// A business with some of everything.
pub(super) struct Shelf {
    pub(super) tenant: Tenant,
    branches: Vec<Arc<Branch>>,
    customers: Vec<Arc<Customer>>,
    products: Vec<Arc<Product>>,
    orders: Vec<Arc<Order>>,
    couriers: Vec<MemberId>,
}

impl Shelf {
    pub(super) async fn fill(world: &World) -> Self {
        let tenant = world.tenant().await;
        let mut shelf = Self {
            branches: Vec::new(),
            customers: Vec::new(),
            products: Vec::new(),
            orders: Vec::new(),
            couriers: Vec::new(),
            tenant,
        };
        shelf.people().await;
        shelf.goods().await;
        for number in 0..36 {
            shelf.sell(number).await;
        }
        shelf
    }

    async fn people(&mut self) {
        let tenant = &self.tenant;
        for number in 0..3 {
            self.branches
                .push(tenant.branch(&format!("B{number}")).await);
            self.customers.push(tenant.customer().await);
            let member = tenant.draft_member(&format!("user-{number}"));
            self.couriers.push(member.id);
            tenant.save(member).await;
            tenant.save(tenant.draft_key("till")).await;
        }
    }

    async fn goods(&mut self) {
        let tenant = &self.tenant;
        for number in 0..14_u8 {
            let mut product = tenant.draft_product(&format!("PAN-{number}"));
            product.active = number % 3 != 0;
            product.name =
                ["Pan de yuca", "ALMOJÁBANA", "100% Bread_"][usize::from(number) % 3].into();
            product.deleted_at = (number % 5 == 4).then(|| tenant.world.now());
            let product = Arc::new(product);
            tenant.save(Arc::clone(&product)).await;
            for (branch, units) in self.branches.iter().zip([1_000, 2_000, i64::from(number)]) {
                tenant.receive(place(branch, &product), units + 1).await;
            }
            self.products.push(product);
        }
    }

    async fn sell(&mut self, number: usize) {
        let tenant = &self.tenant;
        let branch = &self.branches[number % 2];
        // As it was sold, before it was taken off the shelf.
        let product = Product {
            active: true,
            deleted_at: None,
            ..Product::clone(&self.products[number % self.products.len()])
        };
        let mut order = tenant.draft_order(branch, &[(&product, 1)], YEAR);
        order.customer.id = (number % 4 != 3).then(|| self.customers[number % 3].id);
        order.fulfilment.courier = (number % 5 < 2).then(|| self.couriers[number % 2]);
        let mut order = tenant.order(tenant.placing(order)).await;
        let steps = [
            Action::Confirm,
            Action::Prepare,
            Action::Dispatch,
            Action::Deliver,
        ];
        for step in steps.into_iter().take(number % 6) {
            order = tenant.order(tenant.step(&order, step)).await;
        }
        if number % 6 < 2 && number.is_multiple_of(4) {
            order = tenant.order(tenant.step(&order, cancel())).await;
        }
        self.orders.push(order);
    }
}

/// Every list with every kind of filter.
pub(super) fn queries(shelf: &Shelf) -> Vec<Query> {
    let mut queries = vec![
        Query::Branches,
        Query::Members,
        Query::ApiKeys,
        Query::Customers,
        Query::History(DocumentKey::new(Kind::Order, shelf.orders[3].id)),
        Query::Movements(place(&shelf.branches[1], &shelf.products[1])),
    ];
    for branch in &shelf.branches {
        for below_available in [None, Some(0), Some(5), Some(1_001)] {
            let branch = branch.id;
            queries.push(Query::Levels(LevelFilter {
                branch,
                below_available,
            }));
        }
    }
    for deleted in [Deleted::Hidden, Deleted::Shown] {
        for active in [None, Some(true), Some(false)] {
            for text in [
                None,
                Some("pan"),
                Some("bread"),
                Some("-1"),
                Some("nothing"),
            ] {
                let text = text.map(str::to_owned);
                queries.push(Query::Products(ProductFilter {
                    text,
                    active,
                    deleted,
                }));
            }
        }
    }
    queries.extend(order_filters(shelf).into_iter().map(Query::Orders));
    queries
}

fn order_filters(shelf: &Shelf) -> Vec<OrderFilter> {
    let ids: Vec<BranchId> = shelf.branches.iter().map(|branch| branch.id).collect();
    let time = |index: usize| Some(shelf.orders[index].stamp.created_at);
    let branches = [None, Some(vec![ids[0]]), Some(vec![ids[2], ids[1], ids[0]])];
    let mut filters = Vec::new();
    for branches in branches {
        for status in [None, Some(Status::Pending), Some(Status::Cancelled)] {
            for customer in [None, Some(shelf.customers[0].id)] {
                for courier in [None, Some(shelf.couriers[0])] {
                    for (from, to) in [(None, None), (time(8), time(25)), (time(20), None)] {
                        filters.push(OrderFilter {
                            branches: branches.clone(),
                            status,
                            customer,
                            courier,
                            from,
                            to,
                        });
                    }
                }
            }
        }
    }
    filters.push(OrderFilter {
        from: time(9),
        to: time(9),
        ..OrderFilter::default()
    });
    filters
}

/// What a list must hold, from a walk.
fn expected(records: &[Record], query: &Query) -> Vec<Record> {
    let mut rows: Vec<Record> = records
        .iter()
        .filter(|record| query.matches(record))
        .cloned()
        .collect();
    rows.sort_by_cached_key(Position::of);
    if !query.ascends() {
        rows.reverse();
    }
    rows
}

/// Each list with each filter, against the records of the walk.
pub async fn every_list_holds_what_its_filter_says(world: World) {
    let shelf = Shelf::fill(&world).await;
    let business = shelf.tenant.business();
    let records = world.walk(business).await;
    let mut filled = 0;
    for query in queries(&shelf) {
        let rows = world.list(business, &query, 200).await;
        let expected = expected(&records, &query);
        filled += usize::from(!expected.is_empty());
        assert_eq!(rows, expected, "{query:?}");
    }
    assert!(
        filled > 80,
        "only {filled} lists have rows: the case shows too little"
    );
}

/// Pages of 1, 2, 3 and 7 rows.
pub async fn pages_of_any_size_make_the_same_list(world: World) {
    let shelf = Shelf::fill(&world).await;
    let business = shelf.tenant.business();
    let records = world.walk(business).await;
    for query in queries(&shelf) {
        let expected = expected(&records, &query);
        for limit in [1, 2, 3, 7] {
            let rows = world.list(business, &query, limit).await;
            assert_eq!(rows, expected, "{query:?} in pages of {limit}");
        }
    }
}

/// A caller who sees no branch sees no order.
pub async fn an_empty_choice_of_branches_lists_nothing(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let product = tenant.product("PAN-1").await;
    tenant.receive(place(&branch, &product), 5).await;
    tenant.order(tenant.sale(&branch, &product, 1)).await;
    let lists = |branches: Option<Vec<BranchId>>| {
        let tenant = &tenant;
        async move {
            let filter = OrderFilter {
                branches,
                ..OrderFilter::default()
            };
            let query = Query::Orders(filter);
            tenant
                .world
                .list(tenant.business(), &query, 200)
                .await
                .len()
        }
    };
    assert_eq!(lists(None).await, 1);
    assert_eq!(lists(Some(vec![branch.id, branch.id])).await, 1);
    assert_eq!(lists(Some(Vec::new())).await, 0);
    assert_eq!(lists(Some(vec![BranchId(world.id())])).await, 0);
    let nobody = [
        OrderFilter {
            customer: Some(CustomerId(world.id())),
            ..OrderFilter::default()
        },
        OrderFilter {
            courier: Some(MemberId(world.id())),
            ..OrderFilter::default()
        },
    ];
    for filter in nobody {
        let query = Query::Orders(filter);
        assert!(world.list(tenant.business(), &query, 200).await.is_empty());
    }
    let nowhere = Place {
        branch: branch.id,
        product: ProductId(world.id()),
    };
    assert!(world.movements(tenant.business(), nowhere).await.is_empty());
}

/// Wildcards, quotes and patterns in a search are only characters.
pub async fn a_search_takes_its_text_literally(world: World) {
    let tenant = world.tenant().await;
    let names = [
        "100% Bread",
        "100 Bread",
        "a_b",
        "axb",
        "a.b",
        "it's \"good\"",
        "back\\slash",
        "[abc]",
        "ÁRBOL",
        "árbol",
        "(a|b)*",
        "^start",
        "end$",
        "İstanbul",
        "STRASSE",
        "straße",
    ];
    for (number, name) in names.iter().enumerate() {
        let mut product = tenant.draft_product(&format!("{number:04}"));
        product.name = (*name).to_owned();
        tenant.save(product).await;
    }
    let records = world.walk(tenant.business()).await;
    let texts = [
        "%", "_", ".", "'", "\"", "\\", "[", "]", "(", "|", "*", "^", "$", "a_b", "A.B", "100%",
        "árbol", "ÁRBOL", "Árbol", "i", "İ", "ss", "SS", "ß", "0003", " ", ".*", "\\d", "bread",
    ];
    for text in texts {
        let query = Query::Products(ProductFilter {
            text: Some(text.to_owned()),
            ..ProductFilter::default()
        });
        let rows = world.list(tenant.business(), &query, 200).await;
        assert_eq!(rows, expected(&records, &query), "{text:?}");
    }
}
