//! The vocabulary of edits, and the change that each makes.
//!
//! Owns [`Operation`]. All three cart modes speak it. A change is a function of the operation,
//! its stamp and what its author had seen; the state it lands on plays no part, so it is the same
//! bytes wherever it is made.

use crate::cart::Cart;
use crate::codec;
use crate::dot::Dot;
use crate::entry::{Adjustment, Entry};
use crate::hlc::Hlc;
use crate::line_key::LineKey;
use crate::observed::{Observed, Subject};
use crate::value::{Name, Quantity, Text};
use core::fmt;

/// One edit of a cart, as a shopper or a worker means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// More units of a line, present or not.
    AddItem {
        /// Which line.
        line: LineKey,
        /// How many more.
        quantity: Quantity,
    },
    /// The quantity of a line shall be this.
    SetQuantity {
        /// Which line.
        line: LineKey,
        /// How many in all; `None` removes the line.
        quantity: Option<Quantity>,
    },
    /// A step up on a line that is there.
    Increment {
        /// Which line.
        line: LineKey,
        /// How many more.
        by: Quantity,
    },
    /// A step down on a line that is there.
    Decrement {
        /// Which line.
        line: LineKey,
        /// How many fewer; the line goes when nothing is left.
        by: Quantity,
    },
    /// Takes away the line as it was seen.
    RemoveItem {
        /// Which line.
        line: LineKey,
    },
    /// Takes away all lines as they were seen.
    Clear,
    /// A value at a line that is there.
    SetAttribute {
        /// Which line.
        line: LineKey,
        /// Which attribute.
        name: Name,
        /// Its value.
        value: Text,
    },
    /// Puts a coupon code on the cart.
    ApplyCoupon {
        /// The code.
        code: Name,
    },
    /// Takes a coupon code off the cart.
    RemoveCoupon {
        /// The code.
        code: Name,
    },
    /// A value of the whole cart.
    SetField {
        /// Which field.
        name: Name,
        /// Its value, one piece.
        value: Text,
    },
}

/// The name of an operation and its place in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its name, used once.
    pub dot: Dot,
    /// Decides only among edits that did not see each other.
    pub hlc: Hlc,
}

/// Why an operation makes no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationError {
    /// A step or an attribute for a line that its author did not see.
    NoSuchLine,
    /// The tag is of something else.
    WrongTag,
    /// The dot has been used here: [`Cart::arrival`] says for what.
    UsedDot,
    /// The cart would exceed a bound.
    Limit(Limit),
}

/// Which bound an operation would exceed. Values are in [`crate::limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Units of the line.
    Quantity,
    /// Visible lines.
    Lines,
    /// Coupons.
    Coupons,
    /// Attributes of the line.
    Attributes,
    /// Fields.
    Fields,
    /// Bytes of the cart.
    Bytes,
    /// Operations in one patch, or sequence numbers left.
    Operations,
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchLine => f.write_str("the line is not in the cart"),
            Self::WrongTag => f.write_str("the tag belongs to something else"),
            Self::UsedDot => f.write_str("the dot has been used"),
            Self::Limit(limit) => write!(f, "the cart would exceed its bound of {limit:?}"),
        }
    }
}

impl core::error::Error for OperationError {}

impl Operation {
    /// What the operation changes.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match self {
            Self::AddItem { line, .. }
            | Self::SetQuantity { line, .. }
            | Self::Increment { line, .. }
            | Self::Decrement { line, .. }
            | Self::RemoveItem { line }
            | Self::SetAttribute { line, .. } => Subject::Line(line.clone()),
            Self::Clear => Subject::Lines,
            Self::ApplyCoupon { code } | Self::RemoveCoupon { code } => {
                Subject::Coupon(code.clone())
            }
            Self::SetField { name, .. } => Subject::Field(name.clone()),
        }
    }

    /// 64 bits by which a repetition is told from another operation: the content and the time that
    /// the request named, not the tag. Stable between versions. FNV-1a: it guards against
    /// accidents, and a device that forges a collision only loses its own edit.
    #[must_use]
    pub fn fingerprint(&self, sent: Option<Hlc>) -> u64 {
        let mix =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        codec::operation_bytes(self, sent)
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, mix)
    }

    /// The change that it makes, given what its author had seen of its subject.
    ///
    /// Every operation uses up its dot, also one that only removes, so every operation can be
    /// acknowledged and repeated by name.
    ///
    /// # Errors
    /// [`OperationError::NoSuchLine`]; [`OperationError::Limit`] when a step from a cut quantity
    /// leads beyond a million.
    pub fn delta(&self, stamp: Stamp, seen: &Observed) -> Result<Cart, OperationError> {
        let Stamp { dot, hlc } = stamp;
        Ok(match self {
            Self::AddItem { line, quantity } => {
                let entry = Entry::Add {
                    line: line.clone(),
                    quantity: *quantity,
                    instances: seen.anchor(dot),
                };
                // A line that does not show may still hold what is left of an earlier life:
                // steps below zero, attributes. The new life starts without them.
                if seen.quantity.is_some() {
                    Cart::delta([(dot, entry)], [])
                } else {
                    Cart::delta([(dot, entry)], seen.all_dots())
                }
            }
            Self::SetQuantity {
                line,
                quantity: Some(quantity),
            } => set(line, *quantity, stamp, seen),
            Self::SetQuantity { quantity: None, .. } | Self::RemoveItem { .. } | Self::Clear => {
                remove(dot, seen)
            }
            Self::Increment { line, by } => step(line, Adjustment::up(*by), stamp, seen)?,
            Self::Decrement { line, by } => step(line, Adjustment::down(*by), stamp, seen)?,
            Self::SetAttribute { line, name, value } => {
                seen.quantity.ok_or(OperationError::NoSuchLine)?;
                let entry = Entry::Attribute {
                    line: line.clone(),
                    name: name.clone(),
                    value: value.clone(),
                    hlc,
                    instances: seen.anchor(dot),
                };
                let same = seen.attributes.iter().filter(|(other, _)| other == name);
                Cart::delta([(dot, entry)], same.map(|&(_, dot)| dot))
            }
            Self::ApplyCoupon { code } => Cart::delta(
                [(dot, Entry::Coupon { code: code.clone() })],
                seen.all_dots(),
            ),
            Self::RemoveCoupon { .. } => remove(dot, seen),
            Self::SetField { name, value } => {
                let entry = Entry::Field {
                    name: name.clone(),
                    value: value.clone(),
                    hlc,
                };
                Cart::delta([(dot, entry)], seen.all_dots())
            }
        })
    }
}

fn remove(dot: Dot, seen: &Observed) -> Cart {
    Cart::delta([], seen.all_dots().chain([dot]))
}

fn set(line: &LineKey, quantity: Quantity, stamp: Stamp, seen: &Observed) -> Cart {
    let instances = seen.anchor(stamp.dot);
    let entry = Entry::Set {
        line: line.clone(),
        quantity,
        hlc: stamp.hlc,
        instances,
    };
    if seen.quantity.is_some() {
        Cart::delta([(stamp.dot, entry)], seen.dots.iter().copied())
    } else {
        Cart::delta([(stamp.dot, entry)], seen.all_dots())
    }
}

/// A step counts from what was shown. Where the cap had cut the quantity the step becomes a set,
/// so that one down from a shown 10 is 9 and not still 10.
fn step(
    line: &LineKey,
    by: Adjustment,
    stamp: Stamp,
    seen: &Observed,
) -> Result<Cart, OperationError> {
    let shown = seen.quantity.ok_or(OperationError::NoSuchLine)?;
    if !seen.is_clamped() {
        let entry = Entry::Adjust {
            line: line.clone(),
            by,
            instances: seen.anchor(stamp.dot),
        };
        return Ok(Cart::delta([(stamp.dot, entry)], []));
    }
    let target = i64::from(shown.get()) + i64::from(by.get());
    if target <= 0 {
        return Ok(remove(stamp.dot, seen));
    }
    let target = Quantity::from_sum(target).map_err(|_| OperationError::Limit(Limit::Quantity))?;
    Ok(set(line, target, stamp, seen))
}
