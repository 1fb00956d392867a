//! `stockLevels` and `stockMovements`.
//!
//! Owns both forms and the text form of an operation id (`<source>-<step>-<line>`), whose unique
//! index refuses an effect that was already applied.

use abasto_domain::id::RawId;
use abasto_domain::stock::{Cause, Movement, OperationId, Place, Step, StockLevel};
use mongodb::bson::raw::{RawDocumentBuf, cstr};

use super::actor;
use super::field::{Fields, Row, Unreadable};
use super::name::Named;
use super::stamp::{Stamped, check_schema};

/// A level; its `_id` is the server's own.
pub(crate) fn write_level(level: &StockLevel) -> RawDocumentBuf {
    Fields::new()
        .id(cstr!("businessId"), level.business)
        .id(cstr!("branchId"), level.place.branch)
        .id(cstr!("productId"), level.place.product)
        .int(cstr!("available"), level.available)
        .int(cstr!("reserved"), level.reserved)
        .int(cstr!("version"), level.version)
        .date(cstr!("updatedAt"), level.updated_at)
        .versioned()
}

pub(crate) fn read_level(row: Row<'_>) -> Result<StockLevel, Unreadable> {
    check_schema(row)?;
    Ok(StockLevel {
        business: row.id("businessId")?,
        place: place(row)?,
        available: row.int("available")?,
        reserved: row.int("reserved")?,
        version: row.int("version")?,
        updated_at: row.date("updatedAt")?,
    })
}

fn place(row: Row<'_>) -> Result<Place, Unreadable> {
    Ok(Place {
        branch: row.id("branchId")?,
        product: row.id("productId")?,
    })
}

pub(crate) fn write_movement(movement: &Movement) -> RawDocumentBuf {
    let cause = &movement.cause;
    Fields::new()
        .id(cstr!("_id"), movement.id)
        .id(cstr!("businessId"), movement.business)
        .id(cstr!("branchId"), movement.place.branch)
        .id(cstr!("productId"), movement.place.product)
        .int(cstr!("sequence"), movement.sequence)
        .name(cstr!("type"), movement.kind)
        .int(cstr!("quantity"), movement.available)
        .int(cstr!("reservedDelta"), movement.reserved)
        .int(cstr!("balanceAfter"), movement.available_after)
        .int(cstr!("reservedAfter"), movement.reserved_after)
        .text(cstr!("operationId"), &movement.operation.to_string())
        .opt_id(cstr!("orderId"), cause.order)
        .opt_id(cstr!("checkoutId"), cause.checkout)
        .opt_text(cstr!("reason"), cause.reason.as_deref())
        .opt_text(cstr!("reference"), cause.reference.as_deref())
        .doc(cstr!("actor"), actor::write(&movement.actor))
        .date(cstr!("occurredAt"), movement.at)
        .versioned()
}

pub(crate) fn read_movement(row: Row<'_>) -> Result<Movement, Unreadable> {
    check_schema(row)?;
    Ok(Movement {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        place: place(row)?,
        sequence: row.int("sequence")?,
        kind: row.name("type")?,
        available: row.int("quantity")?,
        reserved: row.int("reservedDelta")?,
        available_after: row.int("balanceAfter")?,
        reserved_after: row.int("reservedAfter")?,
        operation: row.parsed("operationId", |text| {
            operation_id(text).ok_or("not an operation id")
        })?,
        cause: Cause {
            order: row.opt_id("orderId")?,
            checkout: row.opt_id("checkoutId")?,
            reason: row.opt_text("reason")?,
            reference: row.opt_text("reference")?,
        },
        actor: actor::read(row.row("actor")?)?,
        at: row.date("occurredAt")?,
    })
}

fn operation_id(text: &str) -> Option<OperationId> {
    let (source, rest) = text.split_once('-')?;
    let (step, line) = rest.rsplit_once('-')?;
    Some(OperationId {
        source: RawId::parse(source).ok()?,
        step: Step::from_name(step)?,
        line: line.parse().ok()?,
    })
}
