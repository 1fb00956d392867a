//! Pricing: what lines cost, from the catalogue alone.
//!
//! Owns subtotal, tax and totals, and the merging of lines of one product. Must not take a price
//! from a caller. The order of lines changes no amount.

use alloc::string::String;
use alloc::vec::Vec;

use crate::fault::InvalidValue;
use crate::id::ProductId;
use crate::money::{Amount, AmountOverflow};
use crate::product::Product;
use crate::quantity::Quantity;

/// So many units of a product, as a caller asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Item {
    /// What.
    pub product: ProductId,
    /// How many.
    pub quantity: Quantity,
}

/// Sums the items of each product, in the order of first appearance. Fails with the index of the
/// item that makes a sum too large.
pub fn merge_items(items: &[Item]) -> Result<Vec<Item>, (usize, InvalidValue)> {
    let mut merged: Vec<Item> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match merged
            .iter_mut()
            .find(|known| known.product == item.product)
        {
            Some(known) => {
                known.quantity = known
                    .quantity
                    .plus(item.quantity)
                    .map_err(|invalid| (index, invalid))?;
            }
            None => merged.push(*item),
        }
    }
    Ok(merged)
}

/// One line of an order: a snapshot of what was sold and for how much.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The product, for reference only.
    pub product: ProductId,
    /// Its sku when it was sold.
    pub sku: String,
    /// Its name when it was sold.
    pub name: String,
    /// How many.
    pub quantity: Quantity,
    /// Price of one unit, tax included.
    pub unit_price: Amount,
    /// `unit_price × quantity`.
    pub subtotal: Amount,
    /// The line's part of the discount.
    pub discount: Amount,
    /// The tax inside `total`.
    pub tax: Amount,
    /// `subtotal − discount`.
    pub total: Amount,
}

/// The sums of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// Σ line subtotals.
    pub subtotal: Amount,
    /// Σ line discounts.
    pub discount: Amount,
    /// Σ line taxes; inside the prices, not on top.
    pub tax: Amount,
    /// The fee for the delivery.
    pub delivery_fee: Amount,
    /// `subtotal − discount + delivery_fee`.
    pub total: Amount,
}

/// Prices one line without discount.
pub fn price_line(product: &Product, quantity: Quantity) -> Result<Line, AmountOverflow> {
    let subtotal = product.sale_price.times(quantity.units())?;
    Ok(Line {
        product: product.id,
        sku: product.sku.clone(),
        name: product.name.clone(),
        quantity,
        unit_price: product.sale_price,
        subtotal,
        discount: Amount::ZERO,
        tax: product.tax_rate.tax_within(subtotal),
        total: subtotal,
    })
}

/// Sums lines.
pub fn totals(lines: &[Line], delivery_fee: Amount) -> Result<Totals, AmountOverflow> {
    let subtotal = Amount::sum(lines.iter().map(|line| line.subtotal))?;
    let discount = Amount::sum(lines.iter().map(|line| line.discount))?;
    Ok(Totals {
        subtotal,
        discount,
        tax: Amount::sum(lines.iter().map(|line| line.tax))?,
        delivery_fee,
        total: subtotal.minus(discount)?.plus(delivery_fee)?,
    })
}
