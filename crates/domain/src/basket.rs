//! A basket: products and quantities at a branch, checked against the catalogue and priced.
//!
//! Owns what checkouts and orders check alike. Must not take a price from a caller or know stock.

use alloc::vec::Vec;

use crate::branch::Branch;
use crate::coupon::{
    AppliedCoupon, ApplyRejection, Coupon, CouponCode, CouponRefusal, KnownBuyer, apply,
};
use crate::id::ProductId;
use crate::money::{Amount, AmountOverflow, TaxRate};
use crate::pricing::{Item, Line, Totals, price_line, totals};
use crate::product::{Product, Unsellable};
use crate::quantity::Quantity;
use crate::time::Timestamp;

/// What is to be priced.
#[derive(Debug, Clone, Copy)]
pub struct Basket<'a> {
    /// Where it is sold.
    pub branch: &'a Branch,
    /// What is bought: one item per product (see [`crate::pricing::merge_items`]).
    pub items: &'a [Item],
    /// The product of each item, in the same order.
    pub products: &'a [&'a Product],
    /// The coupons to take off, each once.
    pub coupons: &'a [&'a Coupon],
    /// Whether the buyer is a customer.
    pub buyer: KnownBuyer,
    /// The fee for the delivery.
    pub delivery_fee: Amount,
}

/// A priced basket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced {
    /// One line per item, in the same order.
    pub lines: Vec<Line>,
    /// The sums.
    pub totals: Totals,
    /// The coupons used.
    pub coupons: Vec<AppliedCoupon>,
}

/// A product that cannot be sold, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The product.
    pub product: ProductId,
    /// Why.
    pub why: Unsellable,
}

/// More units of a product than one order may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit {
    /// The product.
    pub product: ProductId,
    /// How many were asked for.
    pub requested: Quantity,
    /// How many one order may have.
    pub limit: Quantity,
}

/// Why a basket cannot be sold; stock is not looked at here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceRejection {
    /// The branch takes no orders.
    #[error("the branch is not active")]
    BranchInactive,
    /// Some products are not sold (any more, or here).
    #[error("some products cannot be sold")]
    Unsellable(Vec<Refused>),
    /// Some products have a limit per order.
    #[error("more units than one order may have")]
    OverLimit(Vec<OverLimit>),
    /// A coupon cannot be used.
    #[error("a coupon cannot be used")]
    Coupon(CouponCode, CouponRefusal),
    /// The caller saw other prices.
    #[error("the total is not what the caller expected")]
    PriceChanged {
        /// What the caller expected.
        expected: Amount,
        /// What it is.
        actual: Amount,
    },
    /// The total is out of range.
    #[error(transparent)]
    Overflow(#[from] AmountOverflow),
}

impl From<ApplyRejection> for PlaceRejection {
    fn from(rejection: ApplyRejection) -> Self {
        match rejection {
            ApplyRejection::Refused(code, why) => Self::Coupon(code, why),
            ApplyRejection::Overflow(overflow) => Self::Overflow(overflow),
        }
    }
}

impl Basket<'_> {
    /// Checks and prices the basket, all prices from the catalogue.
    pub fn price(&self, now: Timestamp) -> Result<Priced, PlaceRejection> {
        self.check_sellable()?;
        let priced = self.items.iter().zip(self.products);
        let priced = priced.map(|(item, product)| price_line(product, item.quantity));
        let mut lines = priced.collect::<Result<Vec<Line>, _>>()?;
        let rates: Vec<TaxRate> = self
            .products
            .iter()
            .map(|product| product.tax_rate)
            .collect();
        let coupons = apply(&mut lines, &rates, self.coupons, self.buyer, now)?;
        let totals = totals(&lines, self.delivery_fee)?;
        Ok(Priced {
            lines,
            totals,
            coupons,
        })
    }

    fn check_sellable(&self) -> Result<(), PlaceRejection> {
        if !self.branch.active {
            return Err(PlaceRejection::BranchInactive);
        }
        let refused: Vec<Refused> = self
            .products
            .iter()
            .filter_map(|it| self.refusal(it))
            .collect();
        if !refused.is_empty() {
            return Err(PlaceRejection::Unsellable(refused));
        }
        let items = self.items.iter().zip(self.products);
        let over: Vec<OverLimit> = items
            .filter_map(|(item, product)| excess(item, product))
            .collect();
        if over.is_empty() {
            Ok(())
        } else {
            Err(PlaceRejection::OverLimit(over))
        }
    }

    fn refusal(&self, product: &Product) -> Option<Refused> {
        let why = product.sellable_at(self.branch.id).err()?;
        Some(Refused {
            product: product.id,
            why,
        })
    }
}

fn excess(item: &Item, product: &Product) -> Option<OverLimit> {
    let limit = product
        .max_per_order
        .filter(|limit| item.quantity > *limit)?;
    Some(OverLimit {
        product: product.id,
        requested: item.quantity,
        limit,
    })
}
