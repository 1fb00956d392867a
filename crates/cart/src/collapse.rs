//! Keeping a busy line small.
//!
//! Owns [`Cart::crowded`] and [`Cart::collapse`]. It knows nothing of when a caller folds.

use crate::cart::Cart;
use crate::dot::Dot;
use crate::entry::Entry;
use crate::hlc::Hlc;
use crate::limit::{MAX_LINE_DOTS, default_cap};
use crate::line_key::LineKey;
use crate::observed::Subject;
use crate::value::Quantity;
use alloc::vec::Vec;

impl Cart {
    /// The lines that hold [`MAX_LINE_DOTS`] live quantity dots or more.
    #[must_use]
    pub fn crowded(&self) -> Vec<LineKey> {
        let quantities = self
            .entries()
            .iter()
            .filter(|(_, entry)| entry.is_quantity());
        let mut lines: Vec<&LineKey> = quantities.filter_map(|(_, entry)| entry.line()).collect();
        if lines.len() < MAX_LINE_DOTS {
            return Vec::new();
        }
        lines.sort_unstable();
        let crowded = lines
            .chunk_by(|a, b| a == b)
            .filter(|line| line.len() >= MAX_LINE_DOTS);
        crowded.map(|line| line[0].clone()).collect()
    }

    /// The change that replaces the quantity dots of a visible line by one set of their sum.
    ///
    /// Commit it only against the state it was made from (compare and set), with a region's dot:
    /// two of these made side by side replace each other like any two sets, and what one had
    /// swallowed and the other not is lost. Edits that it has not seen land on top of it as
    /// always. It carries the least stamp, because it decides nothing: any set made by a person
    /// wins against it.
    ///
    /// `None` when the line does not show or its sum is above a million.
    #[must_use]
    pub fn collapse(&self, line: &LineKey, dot: Dot) -> Option<Self> {
        let seen = self.observe(&Subject::Line(line.clone()), &default_cap);
        seen.quantity?;
        let quantity = Quantity::from_sum(seen.raw).ok()?;
        let instances = seen.anchor(dot);
        let entry = Entry::Set {
            line: line.clone(),
            quantity,
            hlc: Hlc::ZERO,
            instances,
        };
        Some(Self::delta([(dot, entry)], seen.dots))
    }
}
