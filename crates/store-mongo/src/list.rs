//! Lists: one find per shape, one page at a time.
//!
//! Owns filters, sorts and the predicate that goes on after a position. It repeats the bound on
//! the first sort field (`createdAt <= c`) beside the `$or`, so that it stays one scan.

use abasto_domain::business::Business;
use abasto_domain::id::BusinessId;
use abasto_store::StoreError;
use abasto_store::index::{Collection, Shape};
use abasto_store::query::{Deleted, OrderFilter, Page, Position, ProductFilter, Query};
use abasto_store::record::{Document, Kind, Record};
use mongodb::Database;
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{Bson, DateTime, Document as Filter, doc};

use crate::collection;
use crate::document::name::Named;
use crate::document::{Row, cart, date, event, object_id, stock};
use crate::read::{Find, decoded, interactive};

/// One page of a list.
pub(crate) async fn list(
    database: &Database,
    business: BusinessId,
    query: &Query,
    page: Page,
) -> Result<Vec<Record>, StoreError> {
    let find = find(business, query, page);
    let rows = find.run(database, interactive()).await?;
    records(query, &rows)
}

/// The find behind a page.
pub(crate) fn find(business: BusinessId, query: &Query, page: Page) -> Find {
    let kind = kind(query);
    let collection = match query {
        Query::History(_) => Collection::Events,
        Query::CartLog(_) => Collection::CartLogs,
        Query::Levels(_) => Collection::StockLevels,
        Query::Movements(_) => Collection::StockMovements,
        _ => kind.map_or(Collection::Orders, collection::of),
    };
    let mut filter = doc! { "businessId": object_id(business) };
    filter.extend(conditions(query));
    let sort = match query {
        Query::History(_) => by_sequence(&mut filter, page.after, "$gt", 1),
        Query::Movements(_) => by_sequence(&mut filter, page.after, "$lt", -1),
        Query::CartLog(_) => oldest_first(&mut filter, page.after),
        Query::Levels(_) => by_product(&mut filter, page.after),
        _ => newest_first(&mut filter, page.after),
    };
    Find {
        sort: Some(sort),
        limit: Some(i64::from(page.limit)),
        ..Find::new(collection, Shape::of(query).name(), filter)
    }
}

/// The kind of document that a query lists, if it lists documents.
const fn kind(query: &Query) -> Option<Kind> {
    match query {
        Query::Branches => Some(Kind::Branch),
        Query::Members => Some(Kind::Member),
        Query::ApiKeys => Some(Kind::ApiKey),
        Query::Products(_) => Some(Kind::Product),
        Query::Customers => Some(Kind::Customer),
        Query::Orders(_) => Some(Kind::Order),
        Query::Coupons => Some(Kind::Coupon),
        Query::Payments(_) => Some(Kind::Payment),
        Query::Returns(_) => Some(Kind::OrderReturn),
        Query::History(_) | Query::CartLog(_) | Query::Levels(_) | Query::Movements(_) => None,
    }
}

fn conditions(query: &Query) -> Filter {
    match query {
        Query::Branches | Query::Members | Query::ApiKeys | Query::Customers | Query::Coupons => {
            doc! {}
        }
        Query::Payments(order) | Query::Returns(order) => doc! { "orderId": object_id(*order) },
        Query::CartLog(cart) => doc! { "cartId": object_id(*cart) },
        Query::Products(filter) => products(filter),
        Query::Orders(filter) => orders(filter),
        Query::History(subject) => doc! {
            "subject.kind": Named::name(subject.kind),
            "subject.id": object_id(subject.id),
        },
        Query::Levels(filter) => {
            let mut conditions = doc! { "branchId": object_id(filter.branch) };
            if let Some(bound) = filter.below_available {
                conditions.insert("available", doc! { "$lt": bound });
            }
            conditions
        }
        Query::Movements(place) => doc! {
            "branchId": object_id(place.branch),
            "productId": object_id(place.product),
        },
    }
}

fn products(filter: &ProductFilter) -> Filter {
    let mut conditions = doc! {};
    if filter.deleted == Deleted::Hidden {
        conditions.insert("deletedAt", Bson::Null);
    }
    if let Some(active) = filter.active {
        conditions.insert("active", active);
    }
    if let Some(text) = &filter.text {
        let holds = doc! { "$regex": ignoring_ascii_case(text) };
        conditions.insert(
            "$or",
            vec![doc! { "sku": holds.clone() }, doc! { "name": holds }],
        );
    }
    conditions
}

/// A pattern that finds the text with ASCII letters in either case, and nothing else by pattern.
fn ignoring_ascii_case(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, c| {
        if c.is_ascii_alphabetic() {
            pattern.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
        } else if c.is_ascii_punctuation() {
            pattern.extend(['\\', c]);
        } else {
            pattern.push(c);
        }
        pattern
    })
}

fn orders(filter: &OrderFilter) -> Filter {
    let mut conditions = doc! {};
    if let Some(branches) = &filter.branches {
        let ids: Vec<Bson> = branches.iter().map(|id| object_id(*id).into()).collect();
        conditions.insert("branchId", doc! { "$in": ids });
    }
    if let Some(status) = filter.status {
        conditions.insert("status", Named::name(status));
    }
    // The type is said again because only then the partial index is used.
    if let Some(customer) = filter.customer {
        let wanted = doc! { "$eq": object_id(customer), "$type": "objectId" };
        conditions.insert("customer.id", wanted);
    }
    if let Some(courier) = filter.courier {
        let wanted = doc! { "$eq": object_id(courier), "$type": "objectId" };
        conditions.insert("fulfilment.courierId", wanted);
    }
    let mut created = doc! {};
    if let Some(from) = filter.from {
        created.insert("$gte", date(from));
    }
    if let Some(to) = filter.to {
        created.insert("$lt", date(to));
    }
    if !created.is_empty() {
        conditions.insert("createdAt", created);
    }
    conditions
}

fn newest_first(filter: &mut Filter, after: Option<Position>) -> Filter {
    if let Some(after) = after {
        let at = DateTime::from_millis(after.order);
        let mut created = match filter.remove("createdAt") {
            Some(Bson::Document(created)) => created,
            _ => doc! {},
        };
        created.insert("$lte", at);
        filter.insert("createdAt", created);
        let earlier = doc! { "createdAt": { "$lt": at } };
        let tied = doc! { "createdAt": at, "_id": { "$lt": object_id(after.id) } };
        filter.insert("$and", vec![doc! { "$or": [earlier, tied] }]);
    }
    doc! { "createdAt": -1, "_id": -1 }
}

fn oldest_first(filter: &mut Filter, after: Option<Position>) -> Filter {
    if let Some(after) = after {
        let at = DateTime::from_millis(after.order);
        filter.insert("at", doc! { "$gte": at });
        let later = doc! { "at": { "$gt": at } };
        let tied = doc! { "at": at, "_id": { "$gt": object_id(after.id) } };
        filter.insert("$and", vec![doc! { "$or": [later, tied] }]);
    }
    doc! { "at": 1, "_id": 1 }
}

fn by_sequence(filter: &mut Filter, after: Option<Position>, beyond: &str, order: i32) -> Filter {
    if let Some(after) = after {
        filter.insert("sequence", doc! { beyond: after.order });
    }
    doc! { "sequence": order }
}

fn by_product(filter: &mut Filter, after: Option<Position>) -> Filter {
    if let Some(after) = after {
        filter.insert("productId", doc! { "$gt": object_id(after.id) });
    }
    doc! { "productId": 1 }
}

fn records(query: &Query, rows: &[RawDocumentBuf]) -> Result<Vec<Record>, StoreError> {
    if let Some(kind) = kind(query) {
        let documents = decoded(rows, kind)?;
        return Ok(documents.into_iter().map(Record::Document).collect());
    }
    let records = rows.iter().map(|row| match query {
        Query::History(_) => {
            event::read(Row::new(Collection::Events.name(), row)).map(Record::Event)
        }
        Query::CartLog(_) => {
            let row = Row::new(Collection::CartLogs.name(), row);
            cart::read_log(row).map(Record::CartLog)
        }
        Query::Movements(_) => {
            let row = Row::new(Collection::StockMovements.name(), row);
            stock::read_movement(row).map(Record::Movement)
        }
        _ => stock::read_level(Row::new(Collection::StockLevels.name(), row)).map(Record::Level),
    });
    Ok(records.collect::<Result<_, _>>()?)
}

/// The businesses, newest first.
pub(crate) async fn businesses(
    database: &Database,
    page: Page,
) -> Result<Vec<Business>, StoreError> {
    let mut filter = doc! {};
    let sort = newest_first(&mut filter, page.after);
    let find = Find {
        sort: Some(sort),
        limit: Some(i64::from(page.limit)),
        ..Find::new(Collection::Businesses, "businesses", filter)
    };
    let rows = find.run(database, interactive()).await?;
    let documents = decoded(&rows, Kind::Business)?.into_iter();
    let businesses = documents.filter_map(|document| match document {
        Document::Business(business) => Some((*business).clone()),
        _ => None,
    });
    Ok(businesses.collect())
}
