//! Promotional limits as a split of what is shown.
//!
//! Owns arithmetic on view quantities. It must not know prices. No merge order can price more
//! units at a discount than the limit, because the limit is applied to the merged view each time
//! and never stored.

/// The units of a line that are discounted and those at list price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Units at the promotional price.
    pub discounted: u32,
    /// Units at list price.
    pub at_list_price: u32,
}

/// Splits the units of one line: the first `limit` are discounted.
///
/// ```
/// use abasto_cart::promotion::{Split, split};
/// assert_eq!(split(3, 1), Split { discounted: 1, at_list_price: 2 });
/// ```
#[must_use]
pub fn split(units: u32, limit: u32) -> Split {
    let discounted = units.min(limit);
    Split {
        discounted,
        at_list_price: units - discounted,
    }
}

/// Splits one limit over several lines in the order given, which is the view's order.
pub fn split_across(
    lines: impl IntoIterator<Item = u32>,
    limit: u32,
) -> impl Iterator<Item = Split> {
    let mut left = limit;
    lines.into_iter().map(move |units| {
        let split = split(units, left);
        left -= split.discounted;
        split
    })
}
