//! A set of whole numbers that is small while it has few holes.
//!
//! Owns nothing but arithmetic; it keeps runs of consecutive numbers, not the numbers.

use std::collections::BTreeMap;

/// Numbers as runs: first → last, apart from each other.
#[derive(Debug, Default)]
pub(super) struct Runs(BTreeMap<i64, i64>);

impl Runs {
    /// Adds a number; false when it was there already.
    pub(super) fn insert(&mut self, number: i64) -> bool {
        let before = self.0.range(..=number).next_back();
        let before = before.map(|(first, last)| (*first, *last));
        if before.is_some_and(|(_, last)| last >= number) {
            return false;
        }
        let first = match before {
            Some((first, last)) if last.checked_add(1) == Some(number) => first,
            _ => number,
        };
        let next = number.checked_add(1);
        let last = next.and_then(|next| self.0.remove(&next));
        self.0.insert(first, last.unwrap_or(number));
        true
    }

    /// The runs, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().map(|(first, last)| (*first, *last))
    }
}
