//! The top of a series of order numbers, for a counter that was found behind its orders.
//!
//! Owns the search. Numbers are 1..n without gaps, so whether a number exists says on which side
//! of n it lies: some tens of index keys are read, however many orders there are.

use abasto_domain::id::BusinessId;
use abasto_domain::number::{OrderNumber, Series};
use abasto_store::index::Collection;
use mongodb::Database;
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{Bson, doc};
use mongodb::error::Error;

use crate::collection::comment;
use crate::deadline::{Deadline, INTERACTIVE};
use crate::document::object_id;

/// Numbers asked for at once.
const PROBES: i64 = 64;

/// The last number of the series that an order has, at least `known`.
pub(crate) async fn top(
    database: &Database,
    business: BusinessId,
    series: &Series,
    known: i64,
) -> Result<i64, Error> {
    let mut low = known;
    // Doubling steps until a number is free, then ever finer ones between the last two.
    let mut probes: Vec<i64> = (0..50).map(|power| low + (1i64 << power)).collect();
    loop {
        let taken = highest(database, business, series, &probes)
            .await?
            .unwrap_or(low);
        let free = probes.iter().copied().find(|probe| *probe > taken);
        low = taken;
        let gap = free.map_or(1, |free| free - low);
        if gap <= 1 {
            return Ok(low);
        }
        let step = (gap / PROBES).max(1);
        probes = (1..=gap / step).map(|count| low + count * step).collect();
    }
}

async fn highest(
    database: &Database,
    business: BusinessId,
    series: &Series,
    probes: &[i64],
) -> Result<Option<i64>, Error> {
    let number = |sequence: &i64| {
        let series = series.clone();
        Bson::String(
            OrderNumber {
                series,
                sequence: *sequence,
            }
            .to_string(),
        )
    };
    let numbers: Vec<Bson> = probes.iter().map(number).collect();
    let filter = doc! { "businessId": object_id(business), "number": { "$in": numbers } };
    let orders = database.collection::<RawDocumentBuf>(Collection::Orders.name());
    let mut cursor = orders
        .find(filter)
        .projection(doc! { "number": 1, "_id": 0 })
        .max_time(Deadline::after(INTERACTIVE).max_time())
        .comment(Bson::String(comment("heal", Collection::Orders.name())))
        .await?;
    let mut highest = None;
    while cursor.advance().await? {
        let text = cursor.current().get_str("number").unwrap_or_default();
        let number = OrderNumber::parse(text).ok().map(|number| number.sequence);
        highest = highest.max(number);
    }
    Ok(highest)
}
