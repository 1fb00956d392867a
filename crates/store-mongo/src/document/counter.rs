//! `counters`: the last number of each series of order numbers.

use abasto_domain::branch::BranchCode;
use abasto_domain::id::BusinessId;
use abasto_domain::number::Series;
use abasto_store::record::Counter;
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, check_schema};

pub(crate) fn write(business: BusinessId, series: &Series, last: i64) -> RawDocumentBuf {
    fields(business, series, last).versioned()
}

/// The filter of a series that is still at a number.
pub(crate) fn at(business: BusinessId, series: &Series, last: i64) -> RawDocumentBuf {
    fields(business, series, last).done()
}

fn fields(business: BusinessId, series: &Series, last: i64) -> Fields {
    Fields::new()
        .id(cstr!("businessId"), business)
        .text(cstr!("code"), series.code.as_str())
        .int(cstr!("year"), i64::from(series.year))
        .int(cstr!("lastNumber"), last)
}

pub(crate) fn read(row: Row<'_>) -> Result<Counter, Unreadable> {
    check_schema(row)?;
    Ok(Counter {
        series: Series {
            code: row.parsed("code", BranchCode::parse)?,
            year: row.number("year")?,
        },
        last: row.int("lastNumber")?,
    })
}
