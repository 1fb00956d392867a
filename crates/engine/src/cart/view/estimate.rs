//! What a cart would cost now: prices of the catalogue, coupons as far as they are valid.
//!
//! Owns no rule of its own: validity and the split of discounts are the domain's. Redemptions are
//! counted at checkout, not here.

use std::collections::BTreeMap;

use abasto_cart::{Cart as Content, LineKey, Quantity, View};
use abasto_domain::cart::Cart;
use abasto_domain::coupon::{ApplyRejection, Coupon, CouponCode, KnownBuyer, apply};
use abasto_domain::id::ProductId;
use abasto_domain::limits::COUPONS_PER_ORDER_MAX;
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::pricing::{Line, price_line, totals};
use abasto_domain::quantity::Quantity as Units;
use abasto_store::record::{Claim, Document, DocumentKey, Kind, Unique};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::{Shelf, coupon_tag};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// What the lines that can be bought would cost now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    /// Before discounts.
    pub subtotal: Amount,
    /// What valid coupons take off.
    pub discount: Amount,
    /// Inside the total.
    pub tax: Amount,
    /// `subtotal − discount`.
    pub total: Amount,
}

/// A coupon code on a cart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CouponView {
    /// The code.
    pub code: String,
    /// Why it takes nothing off now; none when it does.
    pub reason: Option<String>,
    /// What taking it off sends back.
    pub tag: String,
}

impl CouponView {
    pub(super) fn tagged(
        self,
        cart: &Cart,
        content: &Content,
        cap: &dyn Fn(&LineKey) -> Quantity,
    ) -> Self {
        let tag = coupon_tag(cart, content, &self.code, cap);
        Self { tag, ..self }
    }
}

impl Engine {
    pub(super) async fn estimate(
        &self,
        cart: &Cart,
        view: &View,
        shelf: &Shelf,
    ) -> Result<(Vec<CouponView>, Estimate), Error> {
        let (lines, rates) = price(view, shelf);
        let coupons = self.coupons_on(cart, view).await?;
        let buyer = match cart.customer {
            Some(_) => KnownBuyer::Yes,
            None => KnownBuyer::No,
        };
        let mut used: Vec<&Coupon> = Vec::new();
        let mut priced = lines.clone();
        let mut views = Vec::with_capacity(coupons.len());
        for (code, coupon) in &coupons {
            let reason = match coupon {
                None => Some("unknown-coupon"),
                Some(_) if used.len() >= COUPONS_PER_ORDER_MAX => Some("too-many-coupons"),
                Some(coupon) => {
                    let mut trial = lines.clone();
                    used.push(coupon);
                    match apply(&mut trial, &rates, &used, buyer, self.now()) {
                        Ok(_) => {
                            priced = trial;
                            None
                        }
                        Err(why) => {
                            used.pop();
                            Some(reason(&why))
                        }
                    }
                }
            };
            views.push(CouponView {
                code: code.clone(),
                reason: reason.map(str::to_owned),
                tag: String::new(),
            });
        }
        // Amounts out of range show as nothing; the checkout refuses such a cart.
        let sums = totals(&priced, Amount::ZERO).ok();
        let estimate = sums.map(|sums| Estimate {
            subtotal: sums.subtotal,
            discount: sums.discount,
            tax: sums.tax,
            total: sums.total,
        });
        Ok((views, estimate.unwrap_or_default()))
    }

    /// The coupons of the codes on a cart, ascending by code.
    async fn coupons_on(
        &self,
        cart: &Cart,
        view: &View,
    ) -> Result<Vec<(String, Option<Arc<Coupon>>)>, Error> {
        if view.coupons.is_empty() {
            return Ok(Vec::new());
        }
        let codes: Vec<&str> = view.coupons.iter().map(|code| code.as_str()).collect();
        let claims: Vec<Claim> = codes
            .iter()
            .map(|code| Claim {
                rule: Unique::CouponCode,
                value: CouponCode::parse(code)
                    .map_or_else(|_| (*code).to_owned(), |it| it.to_string()),
            })
            .collect();
        let holders = self.store.holders(cart.business, &claims).await?;
        let keys: Vec<DocumentKey> = holders
            .iter()
            .flatten()
            .map(|id| DocumentKey::new(Kind::Coupon, *id))
            .collect();
        let found = self.read(cart.business, &keys, Freshness::Cached).await?;
        let mut found = found.into_iter();
        let mut coupon = |holder: Option<_>| {
            holder.and_then(|_| match found.next().flatten() {
                Some(Document::Coupon(coupon)) => Some(coupon),
                _ => None,
            })
        };
        let rows = codes.into_iter().zip(holders);
        Ok(rows
            .map(|(code, holder)| (code.to_owned(), coupon(holder)))
            .collect())
    }
}

/// The lines that can be bought, one per product, at the prices of now.
fn price(view: &View, shelf: &Shelf) -> (Vec<Line>, Vec<TaxRate>) {
    let mut units: BTreeMap<ProductId, i64> = BTreeMap::new();
    for line in &view.lines {
        if let Some(product) = shelf.product(&line.line)
            && shelf.is_sold(Some(product))
        {
            *units.entry(product.id).or_default() += i64::from(line.quantity.get());
        }
    }
    let lines = units.into_iter().filter_map(|(id, units)| {
        let product = shelf.products.get(&id)?;
        let line = price_line(product, Units::new(units).ok()?).ok()?;
        Some((line, product.tax_rate))
    });
    lines.unzip()
}

fn reason(why: &ApplyRejection) -> &'static str {
    match why {
        ApplyRejection::Refused(_, refusal) => refusal.code(),
        ApplyRejection::Overflow(_) => "out-of-range",
    }
}
