//! What is shown of a cart: its lines at the prices of now, and what it would cost.
//!
//! Owns flags, problems and the estimate. Nothing of it is stored: it is computed from the content
//! and the catalogue each time, so no order of merging can price a unit that the rules do not.
//! Reading writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_cart::{
    Cart as Content, LineKey, PatchStep, Problem, Quantity, Register, Subject, View,
};
use abasto_domain::branch::Branch;
use abasto_domain::business::{Business, CartMode};
use abasto_domain::cart::{Cart, CartStatus};
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, CartId, CustomerId, ProductId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::product::Product;
use abasto_domain::time::Timestamp;
use abasto_store::record::{Document, DocumentKey, Kind};
use serde::{Deserialize, Serialize};

use super::held::Held;
use super::operation::EditStep;
use super::{CartCaller, token};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

mod estimate;

pub use estimate::{CouponView, Estimate};

/// A cart as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CartView {
    /// Its id.
    pub id: CartId,
    /// How concurrent edits meet.
    pub mode: CartMode,
    /// Where it is to be bought.
    pub branch: BranchId,
    /// Whose it is.
    pub customer: Option<CustomerId>,
    /// How far its life has come.
    pub status: CartStatus,
    /// The cart that goes on in its place.
    pub successor: Option<CartId>,
    /// The visible lines, ascending by key.
    pub lines: Vec<LineView>,
    /// The coupon codes, ascending.
    pub coupons: Vec<CouponView>,
    /// The fields, by name.
    pub fields: BTreeMap<String, String>,
    /// Fields that were written side by side, none seeing the other.
    pub conflicted_fields: Vec<String>,
    /// What it would cost now.
    pub estimate: Estimate,
    /// Of all amounts.
    pub currency: Currency,
    /// Why it cannot be bought before the shopper has looked at it.
    pub problems: Vec<ViewProblem>,
    /// In mode `occ`: 1 for an empty cart, then one more with every edit.
    pub version: Option<i64>,
    /// How much is in this view.
    pub ctx: String,
    /// Whether what the reader had seen elsewhere is missing.
    pub stale: bool,
    /// When the last edit arrived.
    pub updated_at: Timestamp,
}

/// One line as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineView {
    /// Its key.
    pub line: String,
    /// The product.
    pub product: ProductId,
    /// Its sku now; none when the product is not known.
    pub sku: Option<String>,
    /// Its name now.
    pub name: Option<String>,
    /// What makes these units different from others of the product.
    pub options: BTreeMap<String, String>,
    /// Units, at most what one order may have.
    pub quantity: u32,
    /// What one unit costs now.
    pub unit_price: Option<Amount>,
    /// `unit_price × quantity`.
    pub subtotal: Option<Amount>,
    /// Its attributes.
    pub attributes: BTreeMap<String, String>,
    /// What the shopper should look at.
    pub flags: Vec<LineFlag>,
    /// What an operation on the line sends back.
    pub tag: String,
}

/// What a shopper should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LineFlag {
    /// More units were put in than one order may have.
    Clamped,
    /// Edits that did not see each other compete.
    Conflicted,
    /// The product is not sold here now.
    Unavailable,
    /// The product costs something else than when it was put in.
    PriceChanged,
}

/// A reason why a cart cannot be bought before the shopper has looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViewProblem {
    /// More units of the line than one order may have.
    Clamped(String),
    /// The line's product is not sold here now.
    Unavailable(String),
    /// So many lines are too many.
    TooManyLines(usize),
    /// So many coupons are too many.
    TooManyCoupons(usize),
    /// A coupon cannot be used, and why.
    Coupon(String, String),
}

/// The products of a cart, and where they are to be bought.
pub(super) struct Shelf {
    branch: Arc<Branch>,
    products: BTreeMap<ProductId, Arc<Product>>,
}

impl Shelf {
    pub(super) fn product(&self, line: &LineKey) -> Option<&Product> {
        let id = ProductId::parse(line.product()).ok()?;
        self.products.get(&id).map(Arc::as_ref)
    }

    /// Whether the business has the product, sold now or not.
    pub(super) fn knows(&self, product: ProductId) -> bool {
        self.products.contains_key(&product)
    }

    /// How many units of a line a cart may show.
    pub(super) fn cap(&self, line: &LineKey) -> Quantity {
        let product = self.product(line);
        let limit = product.and_then(|product| product.max_per_order);
        let units = limit.and_then(|limit| u32::try_from(limit.units()).ok());
        let cap = units.and_then(|units| Quantity::new(units).ok());
        cap.unwrap_or(Quantity::DEFAULT_CAP)
    }

    fn is_sold(&self, product: Option<&Product>) -> bool {
        self.branch.active
            && product.is_some_and(|product| product.sellable_at(self.branch.id).is_ok())
    }
}

impl Engine {
    /// The products of a cart's lines and of the operations that come.
    pub(super) async fn shelf_for(
        &self,
        cart: &Cart,
        content: &Content,
        steps: &[PatchStep],
    ) -> Result<Shelf, Error> {
        let held = content.entries().iter();
        let lines = held.filter_map(|(_, entry)| entry.line());
        let coming = steps.iter().filter_map(|step| match &step.operation {
            abasto_cart::Operation::AddItem { line, .. }
            | abasto_cart::Operation::SetQuantity { line, .. } => Some(line),
            _ => None,
        });
        // Many entries are of few lines.
        let lines: BTreeSet<&LineKey> = lines.chain(coming).collect();
        let ids = lines
            .into_iter()
            .filter_map(|line| ProductId::parse(line.product()).ok());
        let ids: BTreeSet<ProductId> = ids.collect();
        let keys: Vec<DocumentKey> = ids
            .iter()
            .map(|id| DocumentKey::new(Kind::Product, *id))
            .collect();
        let found = self.read(cart.business, &keys, Freshness::Cached).await?;
        let products = ids
            .into_iter()
            .zip(found)
            .filter_map(|(id, found)| match found {
                Some(Document::Product(product)) => Some((id, product)),
                _ => None,
            });
        Ok(Shelf {
            products: products.collect(),
            branch: self
                .find(cart.business, RawId::from(cart.branch), Freshness::Cached)
                .await?,
        })
    }

    /// The view of a cart as it is now.
    pub(super) async fn view_of(
        &self,
        _caller: &CartCaller,
        cart: &Cart,
    ) -> Result<CartView, Error> {
        let held = self.content_of(cart).await?;
        self.view(cart, &held).await
    }

    /// The view after an edit that is about to be committed: what is told of it is made before, so
    /// that nothing can fail after.
    pub(super) async fn next_view(&self, cart: &Cart, next: &Held) -> Result<CartView, Error> {
        let mut view = self.view(cart, next).await?;
        if let Some(version) = &mut view.version {
            // The edit that it answers is the next version.
            *version += 1;
        }
        Ok(view)
    }

    /// The view of a content.
    pub(super) async fn view(&self, cart: &Cart, held: &Held) -> Result<CartView, Error> {
        let content = &held.content;
        let shelf = self.shelf_for(cart, content, &[]).await?;
        let tenant = self
            .find::<Business>(cart.business, cart.business, Freshness::Cached)
            .await?;
        let cap = |line: &LineKey| shelf.cap(line);
        let shown = content.view(&cap);
        let tags = content.line_tags(&cap);
        let lines: Vec<LineView> = shown
            .lines
            .iter()
            .zip(&tags)
            .map(|(line, tag)| show_line(cart, line, token::tag(cart, tag), &shelf, held))
            .collect::<Result<_, Error>>()?;
        let (coupons, estimate) = self.estimate(cart, &shown, &shelf).await?;
        let mut problems = problems(&shown, &lines);
        problems.extend(coupons.iter().filter_map(|coupon| {
            let reason = coupon.reason.clone()?;
            Some(ViewProblem::Coupon(coupon.code.clone(), reason))
        }));
        Ok(CartView {
            id: cart.id,
            mode: cart.mode,
            branch: cart.branch,
            customer: cart.customer,
            status: cart.status,
            successor: cart.successor,
            coupons: coupons
                .into_iter()
                .map(|coupon| coupon.tagged(cart, content, &cap))
                .collect(),
            fields: values(&shown.fields),
            conflicted_fields: conflicted(&shown.fields),
            estimate,
            currency: tenant.currency,
            problems,
            version: (cart.mode == CartMode::Occ).then_some(held.version + 1),
            ctx: token::context(content.context()),
            stale: false,
            updated_at: held.edited_at.max(cart.stamp.updated_at),
            lines,
        })
    }
}

fn show_line(
    cart: &Cart,
    line: &abasto_cart::LineView,
    tag: String,
    shelf: &Shelf,
    held: &Held,
) -> Result<LineView, Error> {
    let product = shelf.product(&line.line);
    let id = ProductId::parse(line.line.product());
    let id = id.map_err(|_| Error::defect("a line of a cart is of no product"))?;
    let price = product.map(|product| product.sale_price);
    let subtotal = price.and_then(|price| price.times(i64::from(line.quantity.get())).ok());
    let seen = held.prices.get(&id).map(|seen| seen.price);
    let flags = [
        (LineFlag::Clamped, line.is_clamped()),
        (LineFlag::Conflicted, line.is_conflicted()),
        (LineFlag::Unavailable, !shelf.is_sold(product)),
        (
            LineFlag::PriceChanged,
            seen.is_some() && price.is_some() && seen != price,
        ),
    ];
    debug_assert_eq!(cart.branch, shelf.branch.id);
    Ok(LineView {
        line: line.line.as_str().to_owned(),
        product: id,
        sku: product.map(|product| product.sku.clone()),
        name: product.map(|product| product.name.clone()),
        options: line.line.options().collect(),
        quantity: line.quantity.get(),
        unit_price: price,
        subtotal,
        attributes: values(&line.attributes),
        flags: flags
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(flag, _)| flag)
            .collect(),
        tag,
    })
}

fn problems(view: &View, lines: &[LineView]) -> Vec<ViewProblem> {
    let of_view = view.problems().into_iter().map(|problem| match problem {
        Problem::Clamped(line) => ViewProblem::Clamped(line.as_str().to_owned()),
        Problem::TooManyLines(lines) => ViewProblem::TooManyLines(lines),
        Problem::TooManyCoupons(coupons) => ViewProblem::TooManyCoupons(coupons),
    });
    let gone = lines
        .iter()
        .filter(|line| line.flags.contains(&LineFlag::Unavailable));
    of_view
        .chain(gone.map(|line| ViewProblem::Unavailable(line.line.clone())))
        .collect()
}

/// Empty values are values that were taken away.
fn values(registers: &[Register]) -> BTreeMap<String, String> {
    let set = registers
        .iter()
        .filter(|register| !register.value.as_str().is_empty());
    set.map(|register| {
        (
            register.name.as_str().to_owned(),
            register.value.as_str().to_owned(),
        )
    })
    .collect()
}

fn conflicted(registers: &[Register]) -> Vec<String> {
    let conflicted = registers.iter().filter(|register| register.is_conflicted());
    conflicted
        .map(|register| register.name.as_str().to_owned())
        .collect()
}

/// Counts what the lines of a finished edit show: what merging cut, and where values compete.
/// Reading counts nothing.
pub(super) fn note_flags(view: &CartView, steps: &[EditStep]) {
    let lines = view.lines.iter();
    let edited = lines.filter(|line| steps.iter().any(|step| step.operation.is_about(line)));
    for flag in edited.flat_map(|line| &line.flags) {
        match flag {
            LineFlag::Clamped => metrics::counter!("abasto_cart_clamped_total").increment(1),
            LineFlag::Conflicted => metrics::counter!("abasto_cart_conflicted_total").increment(1),
            LineFlag::Unavailable | LineFlag::PriceChanged => {}
        }
    }
}

/// The tag of a coupon.
pub(super) fn coupon_tag(
    cart: &Cart,
    content: &Content,
    code: &str,
    cap: &dyn Fn(&LineKey) -> Quantity,
) -> String {
    let code = abasto_cart::Name::new(code).ok();
    let tag = code.map(|code| content.tag(Subject::Coupon(code), cap));
    tag.map(|tag| token::tag(cart, &tag)).unwrap_or_default()
}
