//! The operations of an edit: their names, which of them are new, and what they change.
//!
//! Owns the way from operations to appends. Must not read or write: `edit.rs` hands in what is
//! held.

use abasto_cart::{Arrival, Cart as Content, Dot, Hlc, PatchStep, Stamp};
use abasto_domain::business::CartMode;
use abasto_domain::cart::Cart;
use abasto_domain::fault::InvalidValue;
use abasto_domain::product::Product;
use abasto_domain::time::Timestamp;
use abasto_store::cart::{CartAppend, DotKey, SeenPrice};

use super::author::Taken;
use super::edit::EditCart;
use super::held::Held;
use super::operation::EditStep;
use super::refusal::{self, CartRefusal};
use super::token;
use super::view::Shelf;
use crate::error::Error;

/// Operations with their names.
pub(super) struct Named {
    pub(super) dots: Vec<Dot>,
    /// Numbers of this process, to be given back when they were not used.
    pub(super) taken: Option<Taken>,
}

pub(super) fn device_dots(
    cart: &Cart,
    text: &str,
    first: u64,
    command: &EditCart,
) -> Result<Named, Error> {
    const UNKNOWN: InvalidValue =
        InvalidValue::new("unknown-device", "a device that this cart leased");
    const RANGE: InvalidValue =
        InvalidValue::new("out-of-range", "a whole number from 1 to 2^53 - 1");
    let rid = token::read_device(cart, text).ok_or_else(|| Error::fault("/device", UNKNOWN))?;
    let first = Dot::new(rid, first).ok_or_else(|| Error::fault("/seq", RANGE))?;
    let steps = (0_u64..).zip(&command.steps);
    let dots: Option<Vec<Dot>> = steps.map(|(at, _)| first.later(at)).collect();
    Ok(Named {
        dots: dots.ok_or_else(|| Error::fault("/seq", RANGE))?,
        taken: None,
    })
}

/// The operations that are not done yet, by index.
pub(super) fn fresh_steps(
    held: &Held,
    steps: &[PatchStep],
    dots: &[Dot],
    sent: Option<Hlc>,
) -> Result<Vec<usize>, Error> {
    let mut fresh = Vec::with_capacity(steps.len());
    for (at, (step, dot)) in steps.iter().zip(dots).enumerate() {
        let content = &held.content;
        match content.arrival(&step.operation, *dot, sent, &held.recent) {
            Arrival::Fresh => fresh.push(at),
            Arrival::Repeated => {}
            Arrival::Reused => {
                let sequence = dot.seq();
                return Err(CartRefusal::DotReused { sequence }.into());
            }
        }
    }
    // The others follow the first one without a gap.
    if let Some(&first) = fresh.first() {
        held.content.admit(dots[first]).map_err(refusal::of_dot)?;
    }
    Ok(fresh)
}

/// The changes of the fresh operations, each built on the ones before it.
pub(super) fn make(
    held: &Held,
    steps: &[PatchStep],
    fresh: &[usize],
    dots: &[Dot],
    hlc: Hlc,
    shelf: &Shelf,
) -> Result<Vec<(usize, Content)>, Error> {
    let cap = |line: &abasto_cart::LineKey| shelf.cap(line);
    let mut state = std::borrow::Cow::Borrowed(&held.content);
    let mut made = Vec::with_capacity(fresh.len());
    for &at in fresh {
        let stamp = Stamp { dot: dots[at], hlc };
        let step = std::slice::from_ref(&steps[at]);
        let change = state
            .patch(step, stamp, &cap)
            .map_err(|failed| refusal::of_operation(at, failed.error))?;
        if made.len() + 1 < fresh.len() {
            state.to_mut().join(&change);
        }
        made.push((at, change));
    }
    Ok(made)
}

pub(super) fn append(
    cart: &Cart,
    step: &PatchStep,
    dot: Dot,
    change: &Content,
    sent: Option<Hlc>,
    now: Timestamp,
) -> CartAppend {
    CartAppend {
        business: cart.business,
        dot: DotKey {
            cart: cart.id,
            rid: dot.rid().bits(),
            sequence: dot.seq(),
        },
        fingerprint: step.operation.fingerprint(sent),
        delta: change.encode().into(),
        price: None,
        at: now,
    }
}

/// What a product costs at the moment at which units of it are put in.
pub(super) fn seen_price(shelf: &Shelf, step: &PatchStep, now: Timestamp) -> Option<SeenPrice> {
    use abasto_cart::Operation as O;
    let line = match &step.operation {
        O::AddItem { line, .. }
        | O::SetQuantity {
            line,
            quantity: Some(_),
        }
        | O::Increment { line, .. } => line,
        _ => return None,
    };
    let product: &Product = shelf.product(line)?;
    Some(SeenPrice {
        product: product.id,
        at: now,
        price: product.sale_price,
    })
}

/// Only products of the business can be put in; what is not sold now is no reason to refuse.
pub(super) fn check_products(shelf: &Shelf, steps: &[EditStep]) -> Result<(), Error> {
    let all_known = steps.iter().all(|step| match &step.operation {
        super::EditOperation::AddItem { product_id, .. } => shelf.knows(*product_id),
        _ => true,
    });
    if all_known {
        Ok(())
    } else {
        Err(Error::NotFound)
    }
}

/// Counts operations that are done: once each, when they are committed.
pub(super) fn count(cart: &Cart, operations: &[&'static str]) {
    let mode = match cart.mode {
        CartMode::Crdt => "crdt",
        CartMode::Occ => "occ",
        CartMode::Events => "events",
    };
    for operation in operations {
        let labels = [("mode", mode), ("op", *operation)];
        metrics::counter!("abasto_cart_operations_total", &labels).increment(1);
    }
}
