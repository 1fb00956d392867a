//! What a shopper sees: a pure function of a cart.
//!
//! Owns [`View`]. It must not know prices, stock or promotions; those are applied to the view by
//! others, at the time of reading.

use crate::cart::{Cart, LineEntry};
use crate::dot::Dot;
use crate::entry::Entry;
use crate::fold::{Weighed, weigh};
use crate::hlc::Hlc;
use crate::limit::{ADVISED_LINES, MAX_COUPONS};
use crate::line_key::LineKey;
use crate::value::{Name, Quantity, Text};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// How many units of a line a cart may show: usually the product's maximum per order.
pub type LineCap<'a> = &'a dyn Fn(&LineKey) -> Quantity;

/// A cart as people read it. Equal carts and equal caps give equal views.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The visible lines, ascending by key.
    pub lines: Vec<LineView>,
    /// The coupon codes, ascending, each once.
    pub coupons: Vec<Name>,
    /// The fields, ascending by name.
    pub fields: Vec<Register>,
}

/// One visible line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineView {
    /// Which line.
    pub line: LineKey,
    /// Units shown: at least 1, at most the cap.
    pub quantity: Quantity,
    /// Units before the cap.
    pub raw: i64,
    /// Attributes, ascending by name.
    pub attributes: Vec<Register>,
    /// How many quantities were set side by side, none seeing the other; 0 or 1 is normal.
    pub sets: usize,
}

/// A named value, and the values that lost against it without having been seen by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: Name,
    /// The value that counts: the one with the latest stamp.
    pub value: Text,
    /// The others, latest first. They go when the next value is written by someone who saw them.
    pub others: Vec<Text>,
}

/// A reason why this cart cannot be bought before the shopper has looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// More units were put in than the cap shows.
    Clamped(LineKey),
    /// More lines than [`ADVISED_LINES`].
    TooManyLines(usize),
    /// More coupons than [`MAX_COUPONS`].
    TooManyCoupons(usize),
}

impl LineView {
    /// Whether the cap cut the quantity.
    #[must_use]
    pub fn is_clamped(&self) -> bool {
        self.raw > i64::from(self.quantity.get())
    }

    /// Whether edits that did not see each other compete on this line.
    #[must_use]
    pub fn is_conflicted(&self) -> bool {
        self.sets > 1 || self.attributes.iter().any(Register::is_conflicted)
    }
}

impl Register {
    /// Whether other values stand beside this one.
    #[must_use]
    pub fn is_conflicted(&self) -> bool {
        !self.others.is_empty()
    }
}

impl View {
    /// The visible line of that key.
    #[must_use]
    pub fn line(&self, line: &LineKey) -> Option<&LineView> {
        self.lines
            .binary_search_by(|shown| shown.line.cmp(line))
            .ok()
            .map(|at| &self.lines[at])
    }

    /// The field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Register> {
        self.fields.iter().find(|field| field.name.as_str() == name)
    }

    /// Why this cart cannot be bought as it is. Concurrent edits may exceed any bound, and no
    /// edit is thrown away for that; the shopper decides.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let clamped = self.lines.iter().filter(|line| line.is_clamped());
        let mut problems: Vec<Problem> = clamped
            .map(|line| Problem::Clamped(line.line.clone()))
            .collect();
        if self.lines.len() > ADVISED_LINES {
            problems.push(Problem::TooManyLines(self.lines.len()));
        }
        if self.coupons.len() > MAX_COUPONS {
            problems.push(Problem::TooManyCoupons(self.coupons.len()));
        }
        problems
    }
}

impl Cart {
    /// The cart as people read it.
    #[must_use]
    pub fn view(&self, cap: LineCap<'_>) -> View {
        let by_line = self.by_line();
        let groups = by_line.chunk_by(|a, b| a.0 == b.0);
        let lines = groups.filter_map(|group| show_line(group, cap)).collect();
        let mut coupons: Vec<Name> = Vec::new();
        let mut fields: Vec<Value<'_>> = Vec::new();
        for (dot, entry) in self.entries() {
            match entry {
                Entry::Coupon { code } => coupons.push(code.clone()),
                Entry::Field { name, value, hlc } => {
                    fields.push((name, Reverse((*hlc, *dot)), value))
                }
                _ => {}
            }
        }
        coupons.sort_unstable();
        coupons.dedup();
        View {
            lines,
            coupons,
            fields: registers(fields),
        }
    }
}

fn show_line(group: &[LineEntry<'_>], cap: LineCap<'_>) -> Option<LineView> {
    let &(line, _, _) = group.first()?;
    let weighed = weigh(group.iter().map(|&(_, dot, entry)| (dot, entry)));
    let quantity = shown(&weighed, cap(line))?;
    let attributes = group.iter().filter_map(|&(_, dot, entry)| match entry {
        Entry::Attribute {
            name,
            value,
            hlc,
            instances,
            ..
        } if instances.meet(&weighed.instances) => Some((name, Reverse((*hlc, dot)), value)),
        _ => None,
    });
    let attributes = registers(attributes.collect());
    Some(LineView {
        line: line.clone(),
        quantity,
        raw: weighed.raw,
        attributes,
        sets: weighed.sets,
    })
}

/// The units that show under a cap; `None` when the line does not show.
pub(crate) fn shown(weighed: &Weighed, cap: Quantity) -> Option<Quantity> {
    if !weighed.is_visible() {
        return None;
    }
    Some(Quantity::from_sum(weighed.raw).map_or(cap, |raw| raw.min(cap)))
}

/// Name, stamp (latest first) and value of one sibling.
type Value<'a> = (&'a Name, Reverse<(Hlc, Dot)>, &'a Text);

fn registers(mut values: Vec<Value<'_>>) -> Vec<Register> {
    values.sort_unstable();
    let groups = values.chunk_by(|a, b| a.0 == b.0);
    groups
        .filter_map(|group| {
            let (&(name, _, value), others) = group.split_first()?;
            let others = others.iter().map(|&(_, _, other)| other.clone()).collect();
            Some(Register {
                name: name.clone(),
                value: value.clone(),
                others,
            })
        })
        .collect()
}
