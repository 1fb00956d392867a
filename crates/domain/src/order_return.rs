//! A return: sold units that come back after the order has left the house.
//!
//! Owns the bound (never more than was sold minus what already came back) and what each returned
//! unit does to stock. The sums are kept on the order, whose version lets one return at a time.

use alloc::string::String;
use alloc::vec::Vec;

use crate::effect::{Owner, RETURN, WRITE_OFF};
use crate::id::{BranchId, BusinessId, OrderId, ProductId, RawId, ReturnId};
use crate::limits::RETURNS_PER_ORDER_MAX;
use crate::order::Order;
use crate::order_state::Status;
use crate::pricing::Item;
use crate::quantity::Quantity;
use crate::stamp::Stamp;
use crate::stock::{Cause, StockChange};
use crate::time::Timestamp;

/// One return of units of an order. It is never changed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderReturn {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: ReturnId,
    /// The order.
    pub order: OrderId,
    /// The order's branch, where the units go.
    pub branch: BranchId,
    /// What came back; one item per product and fate.
    pub items: Vec<ReturnedItem>,
    /// Why.
    pub reason: String,
    /// Version and times.
    pub stamp: Stamp,
}

/// Units that came back.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub struct ReturnedItem {
    /// What.
    pub product: ProductId,
    /// How many.
    pub quantity: Quantity,
    /// What becomes of them.
    pub fate: Fate,
}

/// What becomes of units that came back.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// They can be sold again.
    Restock,
    /// They are recorded as lost.
    Discard,
}

/// Why units cannot be taken back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReturnRejection {
    /// The order has not left the house, or was cancelled.
    #[error("only orders that were dispatched can be returned")]
    NotDispatched(Status),
    /// More units than were sold and have not come back; by product, what is left.
    #[error("nothing is left to return of some products")]
    NothingLeft(Vec<(ProductId, i64)>),
    /// The order had as many returns as it may have.
    #[error("the order had too many returns")]
    TooMany,
}

/// What a return comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returning {
    /// The order with the new sums.
    pub order: Order,
    /// The return.
    pub record: OrderReturn,
    /// The stock.
    pub stock: Vec<StockChange>,
}

/// Decides a return.
pub fn take_back(
    order: &Order,
    items: &[ReturnedItem],
    reason: String,
    now: Timestamp,
    ids: &mut dyn FnMut() -> RawId,
) -> Result<Returning, ReturnRejection> {
    if !matches!(order.status, Status::Dispatched | Status::Delivered) {
        return Err(ReturnRejection::NotDispatched(order.status));
    }
    if order.returns >= RETURNS_PER_ORDER_MAX {
        return Err(ReturnRejection::TooMany);
    }
    let mut next = order.clone();
    let mut beyond = Vec::new();
    for item in items {
        if add(&mut next, item).is_none() {
            beyond.push((item.product, order.left_to_return(item.product)));
        }
    }
    if !beyond.is_empty() {
        beyond.dedup();
        return Err(ReturnRejection::NothingLeft(beyond));
    }
    next.returns += 1;
    next.stamp = order.stamp.next(now);
    let record = OrderReturn {
        business: order.business,
        id: ReturnId(ids()),
        order: order.id,
        branch: order.branch,
        items: items.to_vec(),
        reason,
        stamp: Stamp::first(now),
    };
    let stock = record.stock_changes(order, ids);
    Ok(Returning {
        order: next,
        record,
        stock,
    })
}

/// Adds to what came back, when so much is left.
fn add(order: &mut Order, item: &ReturnedItem) -> Option<()> {
    if item.quantity.units() > order.left_to_return(item.product) {
        return None;
    }
    let returned = &mut order.returned;
    match returned
        .iter_mut()
        .find(|known| known.product == item.product)
    {
        Some(known) => known.quantity = known.quantity.plus(item.quantity).ok()?,
        None => returned.push(Item {
            product: item.product,
            quantity: item.quantity,
        }),
    }
    Some(())
}

impl Order {
    /// How many units of a product were sold and have not come back.
    pub fn left_to_return(&self, product: ProductId) -> i64 {
        let sold = self.lines.iter().filter(|line| line.product == product);
        let sold: i64 = sold.map(|line| line.quantity.units()).sum();
        let back = self.returned.iter().filter(|item| item.product == product);
        sold - back.map(|item| item.quantity.units()).sum::<i64>()
    }
}

impl OrderReturn {
    fn stock_changes(&self, order: &Order, ids: &mut dyn FnMut() -> RawId) -> Vec<StockChange> {
        let owner = Owner {
            branch: self.branch,
            source: self.id.0,
            cause: Cause {
                order: Some(order.id),
                checkout: order.checkout,
                ..Cause::default()
            },
        };
        let all = self.items.iter().map(|item| (item.product, item.quantity));
        let mut changes = owner.changes(all, RETURN, ids);
        let lost = self.items.iter().filter(|item| item.fate == Fate::Discard);
        let lost = lost.map(|item| (item.product, item.quantity));
        changes.extend(owner.changes(lost, WRITE_OFF, ids));
        changes
    }
}
