//! Who may send what, and whether it was here before.
//!
//! Owns the admission of dots and the detection of a dot that was used twice. The memory is
//! a region's own and is not replicated; after a restore it starts empty.

use crate::cart::Cart;
use crate::dot::Dot;
use crate::entry::{Adjustment, Entry};
use crate::hlc::Hlc;
use crate::limit::{MAX_CLOUD_DOTS, MAX_DEVICES, MAX_REMEMBERED_DOTS, MAX_SEQ_AHEAD};
use crate::operation::Operation;
use alloc::collections::VecDeque;
use core::fmt;

/// Whether an operation is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its dot is unknown: do it.
    Fresh,
    /// It is here already: answer as if it had just been done.
    Repeated,
    /// Its dot belongs to another operation: refuse, and lease the device a new identity.
    /// A restored phone, a cloned machine or a duplicated tab does this.
    Reused,
}

/// Why a dot is not accepted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DotRefusal {
    /// More than [`MAX_SEQ_AHEAD`] beyond what has been seen of its device.
    TooFarAhead,
    /// It would be device number 33; number its operations by the region instead.
    TooManyDevices,
    /// Too many operations wait for earlier ones of their device that never came.
    TooManyGaps,
}

impl fmt::Display for DotRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFarAhead => "seq is too far ahead of what was seen of this device",
            Self::TooManyDevices => "device is one too many for this cart",
            Self::TooManyGaps => "seq leaves one gap too many in this cart",
        })
    }
}

impl core::error::Error for DotRefusal {}

/// The last operations of one author, as fingerprints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentDots {
    recent: VecDeque<(Dot, u64)>,
}

impl RecentDots {
    /// Remembers an operation that was done, with the time that its request named, if any. The
    /// oldest beyond [`MAX_REMEMBERED_DOTS`] is forgotten.
    pub fn remember(&mut self, operation: &Operation, dot: Dot, sent: Option<Hlc>) {
        if self.recent.len() >= MAX_REMEMBERED_DOTS {
            self.recent.pop_front();
        }
        self.recent.push_back((dot, operation.fingerprint(sent)));
    }

    /// The same with a fingerprint that was kept; a dot that is remembered already stays as it is.
    pub fn note(&mut self, dot: Dot, fingerprint: u64) {
        if self.recall(dot).is_some() {
            return;
        }
        if self.recent.len() >= MAX_REMEMBERED_DOTS {
            self.recent.pop_front();
        }
        self.recent.push_back((dot, fingerprint));
    }

    /// What is remembered, oldest first: to keep it beside the cart.
    pub fn iter(&self) -> impl Iterator<Item = (Dot, u64)> + '_ {
        self.recent.iter().copied()
    }

    fn recall(&self, dot: Dot) -> Option<u64> {
        let known = self.recent.iter().rev().find(|(known, _)| *known == dot);
        known.map(|&(_, fingerprint)| fingerprint)
    }
}

impl Cart {
    /// Checks a dot that a device wants to use, before its operation is done. Regions are trusted.
    ///
    /// # Errors
    /// [`DotRefusal`].
    pub fn admit(&self, dot: Dot) -> Result<(), DotRefusal> {
        let context = self.context();
        if !dot.rid().is_device() || context.contains(dot) {
            return Ok(());
        }
        let run = context.run_of(dot.rid());
        if dot.seq() > run + MAX_SEQ_AHEAD {
            return Err(DotRefusal::TooFarAhead);
        }
        let authors = context.authors();
        let devices = authors.iter().filter(|rid| rid.is_device()).count();
        if devices >= MAX_DEVICES && !authors.contains(&dot.rid()) {
            return Err(DotRefusal::TooManyDevices);
        }
        // The next one of its device fills a gap and makes none.
        if dot.seq() > run + 1 && context.cloud().len() >= MAX_CLOUD_DOTS {
            return Err(DotRefusal::TooManyGaps);
        }
        Ok(())
    }

    /// Whether an operation is new, a repetition, or another one under a used dot.
    ///
    /// `sent` is the time that the request named; leave it out when the receiver stamps, because a
    /// repetition would get another stamp. A removed dot that is no longer remembered counts as a
    /// repetition: nothing is left to compare with, and doing it again could not bring it back.
    #[must_use]
    pub fn arrival(
        &self,
        operation: &Operation,
        dot: Dot,
        sent: Option<Hlc>,
        recent: &RecentDots,
    ) -> Arrival {
        if !self.context().contains(dot) {
            return Arrival::Fresh;
        }
        let is_same = match (recent.recall(dot), self.get(dot)) {
            (Some(fingerprint), _) => fingerprint == operation.fingerprint(sent),
            (None, Some(entry)) => operation.could_have_made(entry, sent),
            (None, None) => true,
        };
        if is_same {
            Arrival::Repeated
        } else {
            Arrival::Reused
        }
    }
}

impl Operation {
    /// Whether the live entry of a dot can be this operation's. A step may have become a set.
    fn could_have_made(&self, entry: &Entry, sent: Option<Hlc>) -> bool {
        let is_then = |hlc: &Hlc| sent.is_none_or(|sent| sent == *hlc);
        match (self, entry) {
            (
                Self::AddItem { line, quantity },
                Entry::Add {
                    line: l,
                    quantity: q,
                    ..
                },
            ) => (line, quantity) == (l, q),
            (
                Self::SetQuantity { line, quantity },
                Entry::Set {
                    line: l,
                    quantity: q,
                    hlc,
                    ..
                },
            ) => (line, *quantity) == (l, Some(*q)) && is_then(hlc),
            (Self::Increment { line, by }, Entry::Adjust { line: l, by: b, .. }) => {
                (line, Adjustment::up(*by)) == (l, *b)
            }
            (Self::Decrement { line, by }, Entry::Adjust { line: l, by: b, .. }) => {
                (line, Adjustment::down(*by)) == (l, *b)
            }
            (
                Self::Increment { line, .. } | Self::Decrement { line, .. },
                Entry::Set { line: l, hlc, .. },
            ) => line == l && is_then(hlc),
            (
                Self::SetAttribute { line, name, value },
                Entry::Attribute {
                    line: l,
                    name: n,
                    value: v,
                    hlc,
                    ..
                },
            ) => (line, name, value) == (l, n, v) && is_then(hlc),
            (Self::ApplyCoupon { code }, Entry::Coupon { code: c }) => code == c,
            (
                Self::SetField { name, value },
                Entry::Field {
                    name: n,
                    value: v,
                    hlc,
                },
            ) => (name, value) == (n, v) && is_then(hlc),
            _ => false,
        }
    }
}
