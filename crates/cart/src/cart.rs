//! The state of a cart and its join.
//!
//! Owns [`Cart`]: the live entries by dot, and the context of all dots heard of. The join looks
//! at dots only. A dot goes *unknown → live → removed* and never back, so joining in any order,
//! any number of times, ends the same. What entries mean is decided in `view` and `operation`.

use crate::codec::{self, DecodeError};
use crate::context::Context;
use crate::dot::Dot;
use crate::entry::Entry;
use crate::line_key::LineKey;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A cart, or a change of one: both are the same thing and both are joined.
///
/// ```
/// use abasto_cart::{Cart, Dot, Hlc, LineKey, Operation, Quantity, Rid, Stamp, default_cap};
///
/// let bread = LineKey::new("bread")?;
/// let add = |units| Quantity::new(units).map(|quantity| Operation::AddItem { line: bread.clone(), quantity });
/// let by = |device, ms| Some(Stamp { dot: Dot::new(Rid::device(device), 1)?, hlc: Hlc::new(ms, 0) });
///
/// // Phone and desktop each add bread, and neither knows of the other.
/// let (mut phone, mut desktop) = (Cart::new(), Cart::new());
/// let from_phone = phone.apply(&add(2)?, by(1, 10).unwrap(), &default_cap)?;
/// let from_desktop = desktop.apply(&add(1)?, by(2, 20).unwrap(), &default_cap)?;
///
/// // The changes cross, one of them twice. Nothing is lost, nothing counts double.
/// phone.join(&from_desktop);
/// phone.join(&from_desktop);
/// desktop.join(&from_phone);
/// assert_eq!(phone.encode(), desktop.encode());
/// assert_eq!(phone.view(&default_cap).lines[0].quantity.get(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cart {
    /// Ascending by dot; every dot is in the context.
    entries: Vec<(Dot, Entry)>,
    context: Context,
}

/// What a join changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Entries that were new.
    pub added: usize,
    /// Entries that are gone.
    pub removed: usize,
    /// Whether the context grew, which it does for every change that was new.
    pub learned: bool,
    /// Dots that came with another content than they had here. Somebody used a dot twice: raise
    /// an alarm, revoke its author, and let whoever had accepted the losing content issue it
    /// again under a dot of their own.
    pub reused: Vec<Dot>,
}

impl Cart {
    /// The empty cart.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A change that makes `entries` live and removes the dots in `removed`.
    ///
    /// Its context is exactly these dots. There is no constructor that takes a context: one that
    /// claims more than a change's own dots deletes what others made.
    #[must_use]
    pub fn delta(
        entries: impl IntoIterator<Item = (Dot, Entry)>,
        removed: impl IntoIterator<Item = Dot>,
    ) -> Self {
        let mut context = Context::from_dots(removed);
        let live = entries
            .into_iter()
            .filter(|(dot, _)| !context.contains(*dot));
        let mut entries: Vec<(Dot, Entry)> = live.collect();
        entries.sort_by_key(|(dot, _)| *dot);
        entries.dedup_by(|(dot, entry), (kept_dot, kept)| {
            let is_same = dot == kept_dot;
            if is_same {
                *kept = smaller(kept.clone(), entry);
            }
            is_same
        });
        context.extend(entries.iter().map(|(dot, _)| *dot));
        Self { entries, context }
    }

    /// A change that only uses up a dot, for a number that its device will never send.
    #[must_use]
    pub fn skip(dot: Dot) -> Self {
        Self::delta([], [dot])
    }

    /// Parts as the decoder read and checked them.
    pub(crate) fn from_checked(entries: Vec<(Dot, Entry)>, context: Context) -> Self {
        Self { entries, context }
    }

    /// Takes in another cart or a change. Any order, any number of times, gives the same cart.
    pub fn join(&mut self, other: &Self) -> Joined {
        let mut joined = Joined {
            learned: !self.context.covers(&other.context),
            ..Joined::default()
        };
        let mut merged = Vec::with_capacity(self.entries.len() + other.entries.len());
        let mut theirs = other.entries.iter().peekable();
        for (dot, mine) in self.entries.drain(..) {
            while let Some((fresh, entry)) = theirs.next_if(|(their_dot, _)| *their_dot < dot) {
                push_unheard(&mut merged, &self.context, *fresh, entry);
            }
            if let Some((_, their)) = theirs.next_if(|(their_dot, _)| *their_dot == dot) {
                if mine != *their && !mine.says_the_same(their) {
                    joined.reused.push(dot);
                }
                merged.push((dot, smaller(mine, their)));
            } else if other.context.contains(dot) {
                joined.removed += 1;
            } else {
                merged.push((dot, mine));
            }
        }
        for (fresh, entry) in theirs {
            push_unheard(&mut merged, &self.context, *fresh, entry);
        }
        self.context.union(&other.context);
        self.entries = merged;
        joined
    }

    /// The live entries, ascending by dot.
    #[must_use]
    pub fn entries(&self) -> &[(Dot, Entry)] {
        &self.entries
    }

    /// The entry of a dot that is live.
    #[must_use]
    pub fn get(&self, dot: Dot) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by_key(&dot, |(dot, _)| *dot)
            .ok()?;
        Some(&self.entries[at].1)
    }

    /// All dots heard of, live or removed.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether it says nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.context.is_empty()
    }

    /// The canonical bytes: equal carts have equal bytes, and only they do.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode_cart(self)
    }

    /// Reads what [`Cart::encode`] wrote.
    ///
    /// # Errors
    /// [`DecodeError`] for anything else, with the offset. Memory taken stays within about
    /// a hundred times the input; the caller bounds the input.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode_cart(bytes)
    }

    /// The live entries of one line, ascending by dot.
    pub(crate) fn line<'a>(
        &'a self,
        line: &'a LineKey,
    ) -> impl Iterator<Item = (Dot, &'a Entry)> + Clone {
        let of_line = |(_, entry): &&(Dot, Entry)| entry.line() == Some(line);
        self.entries
            .iter()
            .filter(of_line)
            .map(|(dot, entry)| (*dot, entry))
    }

    /// The live entries that belong to a line, ascending by line and dot.
    pub(crate) fn by_line(&self) -> Vec<LineEntry<'_>> {
        // There are many entries and few lines, and the entries come by dot: putting each behind
        // those of its line compares fewer keys than sorting them all.
        let mut lines: BTreeMap<&LineKey, Vec<LineEntry<'_>>> = BTreeMap::new();
        for (dot, entry) in &self.entries {
            if let Some(line) = entry.line() {
                lines.entry(line).or_default().push((line, *dot, entry));
            }
        }
        let mut by_line = Vec::with_capacity(self.entries.len());
        by_line.extend(lines.into_values().flatten());
        by_line
    }
}

/// An entry that belongs to a line.
pub(crate) type LineEntry<'a> = (&'a LineKey, Dot, &'a Entry);

fn push_unheard(merged: &mut Vec<(Dot, Entry)>, heard: &Context, dot: Dot, entry: &Entry) {
    if !heard.contains(dot) {
        merged.push((dot, entry.clone()));
    }
}

/// One content for a dot that has two: the one whose own bytes are smaller, everywhere.
/// "Whichever came first" would differ from place to place.
fn smaller(mine: Entry, their: &Entry) -> Entry {
    if mine == *their {
        return mine;
    }
    match codec::entry_bytes(&mine).cmp(&codec::entry_bytes(their)) {
        Ordering::Greater => their.clone(),
        Ordering::Less | Ordering::Equal => mine,
    }
}
