//! Names of operations: who made it, and the how-manieth of theirs it is.
//!
//! Owns [`Rid`] and [`Dot`]. Knows nothing of what an operation does.

use crate::limit::MAX_SEQ;
use core::fmt;

const DEVICE_BIT: u64 = 1 << 63;

/// Whoever numbers operations on one cart: a device, or a region on behalf of callers that do not.
///
/// It is unique per cart, never reused after a restore, and that is what makes merging two carts
/// the same as joining them. The top bit says which of the two it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rid(u64);

impl Rid {
    /// A device's id from 63 random bits; the top bit is set here.
    #[must_use]
    pub const fn device(bits: u64) -> Self {
        Self(bits | DEVICE_BIT)
    }

    /// A region's id from 63 bits that no other cart and no earlier epoch has.
    #[must_use]
    pub const fn region(bits: u64) -> Self {
        Self(bits & !DEVICE_BIT)
    }

    /// The id as it was made by [`Rid::bits`].
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// All 64 bits, for storage and for clients.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether a device numbers with it, so that the stricter bounds apply.
    #[must_use]
    pub const fn is_device(self) -> bool {
        self.0 & DEVICE_BIT != 0
    }
}

impl fmt::Debug for Rid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// The name of one operation: the `seq`-th (from 1) of `rid`.
///
/// A dot is used once, for ever. A repeated request repeats the dot and its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dot {
    rid: Rid,
    seq: u64,
}

impl Dot {
    /// `None` when `seq` is 0 or above [`MAX_SEQ`].
    #[must_use]
    pub const fn new(rid: Rid, seq: u64) -> Option<Self> {
        if seq == 0 || seq > MAX_SEQ {
            return None;
        }
        Some(Self { rid, seq })
    }

    /// The dot `steps` later of the same author; `None` past [`MAX_SEQ`].
    #[must_use]
    pub const fn later(self, steps: u64) -> Option<Self> {
        match self.seq.checked_add(steps) {
            Some(seq) => Self::new(self.rid, seq),
            None => None,
        }
    }

    /// Who made the operation.
    #[must_use]
    pub const fn rid(self) -> Rid {
        self.rid
    }

    /// Which of theirs it is, from 1.
    #[must_use]
    pub const fn seq(self) -> u64 {
        self.seq
    }
}

impl fmt::Debug for Dot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}:{}", self.rid, self.seq)
    }
}
