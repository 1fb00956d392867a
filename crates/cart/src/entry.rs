//! What one operation leaves in a cart for as long as nothing removes it.
//!
//! Owns [`Entry`] and [`Instances`]. An entry never changes once its dot has it. It must not
//! know contexts or joins.

use crate::dot::Dot;
use crate::hlc::Hlc;
use crate::limit::{MAX_INSTANCES, MAX_QUANTITY};
use crate::line_key::LineKey;
use crate::value::{Name, Quantity, Text, ValueError};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The content of a live dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Units put into the cart. The line is present, and several of these add up.
    Add {
        /// Where they go.
        line: LineKey,
        /// How many.
        quantity: Quantity,
        /// Which lives of the line it belongs to.
        instances: Instances,
    },
    /// A quantity set by hand. The line is present, and among several the greatest stamp counts.
    Set {
        /// Which line.
        line: LineKey,
        /// The whole quantity at that moment.
        quantity: Quantity,
        /// Decides among sets that did not see each other.
        hlc: Hlc,
        /// Which lives of the line it belongs to.
        instances: Instances,
    },
    /// A step up or down. Counts only while a life of the line that it names is present.
    Adjust {
        /// Which line.
        line: LineKey,
        /// The step.
        by: Adjustment,
        /// Which lives of the line it belongs to.
        instances: Instances,
    },
    /// A value at a line: gift note, wrapping, saved for later. Never keeps a line present.
    Attribute {
        /// Which line.
        line: LineKey,
        /// Which attribute.
        name: Name,
        /// Its value.
        value: Text,
        /// Decides among values that did not see each other.
        hlc: Hlc,
        /// Which lives of the line it belongs to.
        instances: Instances,
    },
    /// A coupon code on the cart. Whether it is valid is not decided here.
    Coupon {
        /// The code, in the spelling that the caller normalised.
        code: Name,
    },
    /// A value of the whole cart: note, address, e-mail.
    Field {
        /// Which field.
        name: Name,
        /// Its value, one piece.
        value: Text,
        /// Decides among values that did not see each other.
        hlc: Hlc,
    },
    /// A kind made by a later version: kept and passed on, not understood.
    Unknown(Opaque),
}

impl Entry {
    /// The line it belongs to; `None` for entries of the whole cart.
    #[must_use]
    pub fn line(&self) -> Option<&LineKey> {
        match self {
            Self::Add { line, .. }
            | Self::Set { line, .. }
            | Self::Adjust { line, .. }
            | Self::Attribute { line, .. } => Some(line),
            Self::Coupon { .. } | Self::Field { .. } | Self::Unknown(_) => None,
        }
    }

    /// The lives of the line that it names; `None` for entries of the whole cart.
    #[must_use]
    pub fn instances(&self) -> Option<&Instances> {
        match self {
            Self::Add { instances, .. }
            | Self::Set { instances, .. }
            | Self::Adjust { instances, .. }
            | Self::Attribute { instances, .. } => Some(instances),
            Self::Coupon { .. } | Self::Field { .. } | Self::Unknown(_) => None,
        }
    }

    /// Whether it counts towards the quantity of its line.
    pub(crate) fn is_quantity(&self) -> bool {
        matches!(
            self,
            Self::Add { .. } | Self::Set { .. } | Self::Adjust { .. }
        )
    }

    /// Whether both say the same, whatever lives of the line their makers had seen.
    ///
    /// Two receivers that hold different states may build one request into entries that differ
    /// in that only; it is no misuse of the dot.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        let mut other = other.clone();
        if let (Some(mine), Some(theirs)) = (self.instances(), other.instances_mut()) {
            theirs.clone_from(mine);
        }
        *self == other
    }

    fn instances_mut(&mut self) -> Option<&mut Instances> {
        match self {
            Self::Add { instances, .. }
            | Self::Set { instances, .. }
            | Self::Adjust { instances, .. }
            | Self::Attribute { instances, .. } => Some(instances),
            Self::Coupon { .. } | Self::Field { .. } | Self::Unknown(_) => None,
        }
    }
}

/// The lives of a line that an entry belongs to: never empty, ascending, at most 64.
///
/// A life begins with an entry made while the line was absent and is named by that entry's dot.
/// It is what keeps a step on the old life of a line from leaking into a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instances(Repr);

/// One is the normal case and takes no allocation; `Many` holds two or more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    One(Dot),
    Many(Arc<[Dot]>),
}

impl Instances {
    /// The life that begins with this dot.
    #[must_use]
    pub const fn one(dot: Dot) -> Self {
        Self(Repr::One(dot))
    }

    /// The lives named by these dots in any order; the greatest 64 when there are more.
    /// `None` when there are none.
    #[must_use]
    pub fn collect(mut dots: Vec<Dot>) -> Option<Self> {
        dots.sort_unstable();
        dots.dedup();
        let surplus = dots.len().saturating_sub(MAX_INSTANCES);
        match dots.get(surplus..) {
            None | Some([]) => None,
            Some(&[dot]) => Some(Self::one(dot)),
            Some(many) => Some(Self(Repr::Many(many.into()))),
        }
    }

    /// The dots, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[Dot] {
        match &self.0 {
            Repr::One(dot) => core::slice::from_ref(dot),
            Repr::Many(dots) => dots,
        }
    }

    /// Whether any of these lives is among the given.
    pub(crate) fn meet(&self, dots: &[Dot]) -> bool {
        self.as_slice().iter().any(|dot| dots.contains(dot))
    }
}

/// A step of 1 to 1 000 000 up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjustment(i32);

impl Adjustment {
    /// # Errors
    /// [`ValueError::Quantity`] for 0 or beyond a million either way.
    pub fn new(units: i32) -> Result<Self, ValueError> {
        if units == 0 || units.unsigned_abs() > MAX_QUANTITY {
            return Err(ValueError::Quantity);
        }
        Ok(Self(units))
    }

    /// A step up.
    #[must_use]
    pub fn up(by: Quantity) -> Self {
        Self(by.get().cast_signed())
    }

    /// A step down.
    #[must_use]
    pub fn down(by: Quantity) -> Self {
        Self(-by.get().cast_signed())
    }

    /// The signed number of units.
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

/// An entry of a kind that this version does not know, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    kind: u8,
    payload: Arc<[u8]>,
}

impl Opaque {
    /// Kinds below this are known to this version or reserved for its form.
    pub const FIRST_KIND: u8 = 8;

    /// `None` when the kind is below [`Opaque::FIRST_KIND`]. The payload must not depend on
    /// anything around it, because its carriers cannot rewrite it.
    #[must_use]
    pub fn new(kind: u8, payload: &[u8]) -> Option<Self> {
        (kind >= Self::FIRST_KIND).then(|| Self {
            kind,
            payload: payload.into(),
        })
    }

    /// The kind's number.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        self.kind
    }

    /// The content as it came.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }
}
