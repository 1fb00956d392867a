//! Making a change from a request, within bounds.
//!
//! Owns [`Cart::apply`], [`Cart::patch`] and the checks before a change is made. The checks are
//! advice: they see one state. A change that was made is never refused by a join.

use crate::cart::Cart;
use crate::entry::Entry;
use crate::limit::{
    MAX_ATTRIBUTES, MAX_CART_BYTES, MAX_COUPONS, MAX_FIELDS, MAX_LINES, MAX_PATCH_OPERATIONS,
    MAX_QUANTITY,
};
use crate::observed::{Observed, Tag};
use crate::operation::{Limit, Operation, OperationError, Stamp};
use crate::value::{Name, Quantity};
use crate::view::LineCap;
use alloc::borrow::Cow;
use core::fmt;

/// One operation of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchStep {
    /// What to do.
    pub operation: Operation,
    /// What its author had seen; without it, the state it arrives at counts as seen.
    pub tag: Option<Tag>,
}

/// Which operation of a patch failed, and why. Nothing of the patch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// Index of the operation.
    pub at: usize,
    /// Why it failed.
    pub error: OperationError,
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ops/{}: {}", self.at, self.error)
    }
}

impl core::error::Error for PatchError {}

impl Cart {
    /// Does one operation here, as its author sees this state, and gives the change to send on.
    ///
    /// # Errors
    /// [`OperationError`]; the cart is then as it was.
    pub fn apply(
        &mut self,
        operation: &Operation,
        stamp: Stamp,
        cap: LineCap<'_>,
    ) -> Result<Self, OperationError> {
        let delta = self.change(operation, None, stamp, cap)?;
        self.join(&delta);
        Ok(delta)
    }

    /// The change of several operations as one: all or nothing, on every replica.
    ///
    /// The operations take the dots from `first` on, one each, and may build on each other.
    ///
    /// # Errors
    /// [`PatchError`] with the first operation that fails.
    pub fn patch(
        &self,
        steps: &[PatchStep],
        first: Stamp,
        cap: LineCap<'_>,
    ) -> Result<Self, PatchError> {
        let mut delta = Self::new();
        let mut state = Cow::Borrowed(self);
        for (at, step) in steps.iter().enumerate() {
            let fail = |error| PatchError { at, error };
            let dot = u64::try_from(at).ok().and_then(|at| first.dot.later(at));
            let dot = dot.filter(|_| at < MAX_PATCH_OPERATIONS);
            let dot = dot.ok_or_else(|| fail(OperationError::Limit(Limit::Operations)))?;
            let stamp = Stamp { dot, ..first };
            let change = state
                .change(&step.operation, step.tag.as_ref(), stamp, cap)
                .map_err(fail)?;
            delta.join(&change);
            if at + 1 < steps.len() {
                state.to_mut().join(&change);
            }
        }
        Ok(delta)
    }

    fn change(
        &self,
        operation: &Operation,
        tag: Option<&Tag>,
        stamp: Stamp,
        cap: LineCap<'_>,
    ) -> Result<Self, OperationError> {
        if self.context().contains(stamp.dot) {
            return Err(OperationError::UsedDot);
        }
        let subject = operation.subject();
        let seen = match tag {
            Some(tag) if tag.subject == subject => Cow::Borrowed(&tag.seen),
            Some(_) => return Err(OperationError::WrongTag),
            None => Cow::Owned(self.observe(&subject, cap)),
        };
        self.within_bounds(operation, &seen)
            .map_err(OperationError::Limit)?;
        operation.delta(stamp, &seen)
    }

    fn within_bounds(&self, operation: &Operation, seen: &Observed) -> Result<(), Limit> {
        match operation {
            Operation::AddItem { quantity, .. } => {
                within_quantity(seen, *quantity)?;
                self.has_room_for_line(seen)?;
            }
            Operation::SetQuantity {
                quantity: Some(_), ..
            } => self.has_room_for_line(seen)?,
            Operation::Increment { by, .. } => within_quantity(seen, *by)?,
            Operation::Decrement { .. } => {}
            Operation::SetAttribute { name, .. } => {
                let names = seen.attributes.iter().map(|(name, _)| name);
                has_room(names, name, MAX_ATTRIBUTES, Limit::Attributes)?;
            }
            Operation::ApplyCoupon { code } => {
                let codes = self.entries().iter().filter_map(|(_, entry)| match entry {
                    Entry::Coupon { code } => Some(code),
                    _ => None,
                });
                has_room(codes, code, MAX_COUPONS, Limit::Coupons)?;
            }
            Operation::SetField { name, .. } => {
                let names = self.entries().iter().filter_map(|(_, entry)| match entry {
                    Entry::Field { name, .. } => Some(name),
                    _ => None,
                });
                has_room(names, name, MAX_FIELDS, Limit::Fields)?;
            }
            // What makes a cart smaller is always welcome.
            Operation::SetQuantity { quantity: None, .. }
            | Operation::RemoveItem { .. }
            | Operation::Clear
            | Operation::RemoveCoupon { .. } => return Ok(()),
        }
        if self.weight_bytes() > MAX_CART_BYTES {
            Err(Limit::Bytes)
        } else {
            Ok(())
        }
    }

    fn has_room_for_line(&self, seen: &Observed) -> Result<(), Limit> {
        // Counting lines sorts them; most carts have fewer entries than the bound has lines.
        let is_new = seen.quantity.is_none();
        if is_new
            && self.entries().len() >= MAX_LINES
            && self.view(&crate::limit::default_cap).lines.len() >= MAX_LINES
        {
            return Err(Limit::Lines);
        }
        Ok(())
    }

    /// About the bytes of the encoded cart, without encoding it.
    fn weight_bytes(&self) -> usize {
        const PER_ENTRY: usize = 12;
        let weight = |dot, entry: &Entry| match entry {
            Entry::Attribute { name, value, .. } | Entry::Field { name, value, .. } => {
                name.as_str().len() + value.as_str().len()
            }
            Entry::Coupon { code } => code.as_str().len(),
            Entry::Unknown(opaque) => opaque.payload().len(),
            // The entry that began a life of the line stands for the line's key.
            Entry::Add {
                line, instances, ..
            }
            | Entry::Set {
                line, instances, ..
            } if instances.as_slice() == [dot] => line.as_str().len(),
            Entry::Add { .. } | Entry::Set { .. } | Entry::Adjust { .. } => 0,
        };
        self.entries()
            .iter()
            .map(|(dot, entry)| PER_ENTRY + weight(*dot, entry))
            .sum()
    }
}

fn within_quantity(seen: &Observed, more: Quantity) -> Result<(), Limit> {
    if seen.raw + i64::from(more.get()) > i64::from(MAX_QUANTITY) {
        Err(Limit::Quantity)
    } else {
        Ok(())
    }
}

fn has_room<'a>(
    names: impl Iterator<Item = &'a Name>,
    wanted: &Name,
    max: usize,
    limit: Limit,
) -> Result<(), Limit> {
    let mut others: alloc::vec::Vec<&Name> = names.filter(|name| *name != wanted).collect();
    others.sort_unstable();
    others.dedup();
    if others.len() >= max {
        Err(limit)
    } else {
        Ok(())
    }
}
