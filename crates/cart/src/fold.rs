//! What the live entries of one line add up to.
//!
//! Owns the one rule of quantities, which the view and the operations share.

use crate::dot::Dot;
use crate::entry::Entry;
use crate::hlc::Hlc;
use alloc::vec::Vec;

/// The entries of one line, weighed.
#[derive(Debug, Default)]
pub(crate) struct Weighed {
    /// Sets and adds and the steps that count, before any cap. No sum can overflow: each part is
    /// at most a million, and memory ends long before 2^43 parts.
    pub(crate) raw: i64,
    /// The lives of the line that are present, ascending; empty when nothing keeps the line present.
    pub(crate) instances: Vec<Dot>,
    /// How many sets stand beside each other.
    pub(crate) sets: usize,
}

impl Weighed {
    /// Whether the line shows.
    pub(crate) fn is_visible(&self) -> bool {
        !self.instances.is_empty() && self.raw > 0
    }
}

/// Weighs the entries of one line, all of them and no others.
pub(crate) fn weigh<'a>(entries: impl Iterator<Item = (Dot, &'a Entry)> + Clone) -> Weighed {
    let mut weighed = Weighed::default();
    let mut winner: Option<(Hlc, Dot, &Entry)> = None;
    for (dot, entry) in entries.clone() {
        match entry {
            Entry::Add {
                quantity,
                instances,
                ..
            } => {
                weighed.raw += i64::from(quantity.get());
                weighed.instances.extend_from_slice(instances.as_slice());
            }
            Entry::Set { hlc, .. } => {
                weighed.sets += 1;
                if winner.is_none_or(|(best, at, _)| (best, at) < (*hlc, dot)) {
                    winner = Some((*hlc, dot, entry));
                }
            }
            _ => {}
        }
    }
    if let Some((
        _,
        _,
        Entry::Set {
            quantity,
            instances,
            ..
        },
    )) = winner
    {
        weighed.raw += i64::from(quantity.get());
        weighed.instances.extend_from_slice(instances.as_slice());
    }
    weighed.instances.sort_unstable();
    weighed.instances.dedup();
    for (_, entry) in entries {
        if let Entry::Adjust { by, instances, .. } = entry
            && instances.meet(&weighed.instances)
        {
            weighed.raw += i64::from(by.get());
        }
    }
    weighed
}
