//! The walk over everything a business has, as of one point in time.
//!
//! Owns the order of records and how each order is got without an index of its own: ids of
//! documents and places of movements are sorted here, in memory, 12 or 24 bytes each.

use abasto_domain::id::{BranchId, BusinessId, ProductId, RawId};
use abasto_domain::stock::Place;
use abasto_store::StoreError;
use abasto_store::index::Collection;
use abasto_store::port::Visitor;
use abasto_store::record::{Kind, Record};
use abasto_store::tally::TallyKind;
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{Bson, Document as Filter, doc};
use mongodb::options::ReadConcern;
use mongodb::{ClientSession, Database};

use crate::collection::{self, comment};
use crate::deadline::{Deadline, JOB};
use crate::document::name::Named;
use crate::document::{
    Row, Unreadable, cart, counter, event, object_id, operation, read_document, stock, tally,
};
use crate::fault::store_error;
use crate::heads::by_ids;

/// Documents fetched at once.
const CHUNK: usize = 500;

// Every find names read concern snapshot itself: the driver lets the concern of the client win over
// that of the session, and each find would then see its own time.
struct Walk<'a, 'v> {
    database: &'a Database,
    session: ClientSession,
    business: BusinessId,
    visitor: Visitor<'v>,
}

/// Calls the visitor for every record.
pub(crate) async fn walk(
    database: &Database,
    business: BusinessId,
    visitor: Visitor<'_>,
) -> Result<(), StoreError> {
    let session = database.client().start_session().snapshot(true).await;
    let mut walk = Walk {
        database,
        session: session.map_err(store_error)?,
        business,
        visitor,
    };
    for kind in Kind::ALL {
        walk.documents(kind).await?;
    }
    let scope = doc! { "businessId": object_id(business) };
    let by_place = doc! { "branchId": 1, "productId": 1 };
    walk.rows(Collection::StockLevels, scope.clone(), by_place, |row| {
        stock::read_level(row).map(Record::Level)
    })
    .await?;
    walk.movements().await?;
    for kind in Kind::ALL {
        let mut filter = scope.clone();
        filter.insert("subject.kind", Named::name(kind));
        let by_subject = doc! { "subject.id": 1, "sequence": 1 };
        walk.rows(Collection::Events, filter, by_subject, |row| {
            event::read(row).map(Record::Event)
        })
        .await?;
    }
    let by_series = doc! { "code": 1, "year": 1 };
    walk.rows(Collection::Counters, scope.clone(), by_series, |row| {
        counter::read(row).map(Record::Counter)
    })
    .await?;
    let by_tally = doc! { "kind": 1, "subjectId": 1, "byId": 1 };
    walk.tallies(scope.clone(), by_tally).await?;
    let by_key = doc! { "customerId": 1, "key": 1 };
    walk.rows(Collection::Operations, scope.clone(), by_key, |row| {
        operation::read(row).map(Record::Operation)
    })
    .await?;
    let by_cart = doc! { "cartId": 1 };
    walk.rows(Collection::CartStates, scope.clone(), by_cart, |row| {
        cart::read_state(row).map(Record::CartState)
    })
    .await?;
    let by_dot = doc! { "cartId": 1, "rid": 1, "sequence": 1 };
    walk.rows(Collection::CartAppends, scope.clone(), by_dot, |row| {
        cart::read_append(row).map(Record::CartAppend)
    })
    .await?;
    let by_time = doc! { "cartId": 1, "at": 1, "_id": 1 };
    walk.rows(Collection::CartLogs, scope, by_time, |row| {
        cart::read_log(row).map(Record::CartLog)
    })
    .await
}

impl Walk<'_, '_> {
    fn visit(&mut self, record: Record) -> Result<(), StoreError> {
        (self.visitor)(record).map_err(|why| StoreError::Backend(why.into()))
    }

    /// Every row of a find, in the order of its sort.
    async fn rows(
        &mut self,
        collection: Collection,
        filter: Filter,
        sort: Filter,
        read: impl Fn(Row<'_>) -> Result<Record, Unreadable>,
    ) -> Result<(), StoreError> {
        let handle = self
            .database
            .collection::<RawDocumentBuf>(collection.name());
        let find = handle
            .find(filter)
            .read_concern(ReadConcern::snapshot())
            .sort(sort)
            .max_time(Deadline::after(JOB).max_time())
            .comment(Bson::String(comment("walk", collection.name())));
        let mut cursor = find.session(&mut self.session).await.map_err(store_error)?;
        while cursor
            .advance(&mut self.session)
            .await
            .map_err(store_error)?
        {
            let record = read(Row::new(collection.name(), cursor.current()))?;
            self.visit(record)?;
        }
        Ok(())
    }

    /// What `read` makes of each row of an aggregation.
    async fn collected<T>(
        &mut self,
        collection: Collection,
        pipeline: Vec<Filter>,
        read: impl Fn(Row<'_>) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, StoreError> {
        let handle = self
            .database
            .collection::<RawDocumentBuf>(collection.name());
        let aggregate = handle
            .aggregate(pipeline)
            .read_concern(ReadConcern::snapshot())
            .max_time(Deadline::after(JOB).max_time())
            .comment(Bson::String(comment("walk", collection.name())));
        let mut cursor = aggregate
            .session(&mut self.session)
            .await
            .map_err(store_error)?;
        let mut found = Vec::new();
        while cursor
            .advance(&mut self.session)
            .await
            .map_err(store_error)?
        {
            found.push(read(Row::new(collection.name(), cursor.current()))?);
        }
        Ok(found)
    }

    async fn documents(&mut self, kind: Kind) -> Result<(), StoreError> {
        let collection = collection::of(kind);
        let scope = match kind {
            Kind::Business => doc! { "_id": object_id(self.business) },
            _ => doc! { "businessId": object_id(self.business) },
        };
        let only_ids = vec![doc! { "$match": scope }, doc! { "$project": { "_id": 1 } }];
        let mut ids = self
            .collected(collection, only_ids, |row| row.id::<RawId>("_id"))
            .await?;
        ids.sort_unstable();
        for chunk in ids.chunks(CHUNK) {
            let filter = by_ids(self.business, kind, chunk);
            self.rows(collection, filter, doc! { "_id": 1 }, |row| {
                read_document(kind, row).map(Record::Document)
            })
            .await?;
        }
        Ok(())
    }

    /// Contended numbers, in the order of their keys: kinds are sorted as they are declared.
    async fn tallies(&mut self, scope: Filter, sort: Filter) -> Result<(), StoreError> {
        for kind in TallyKind::ALL {
            let mut filter = scope.clone();
            filter.insert("kind", Named::name(kind));
            self.rows(Collection::Tallies, filter, sort.clone(), |row| {
                tally::read(row).map(Record::Tally)
            })
            .await?;
        }
        Ok(())
    }

    async fn movements(&mut self) -> Result<(), StoreError> {
        let collection = Collection::StockMovements;
        let scope = doc! { "businessId": object_id(self.business) };
        let place = doc! { "branchId": "$branchId", "productId": "$productId" };
        let distinct = vec![
            doc! { "$match": scope },
            doc! { "$group": { "_id": place } },
        ];
        let read = |row: Row<'_>| {
            let id = row.row("_id")?;
            Ok(Place {
                branch: id.id::<BranchId>("branchId")?,
                product: id.id::<ProductId>("productId")?,
            })
        };
        let mut places = self.collected(collection, distinct, read).await?;
        places.sort_unstable();
        for place in places {
            let filter = doc! {
                "businessId": object_id(self.business),
                "branchId": object_id(place.branch),
                "productId": object_id(place.product),
            };
            self.rows(collection, filter, doc! { "sequence": 1 }, |row| {
                stock::read_movement(row).map(Record::Movement)
            })
            .await?;
        }
        Ok(())
    }
}
