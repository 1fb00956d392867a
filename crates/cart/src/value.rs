//! Bounded values: quantities, names, texts.
//!
//! Owns their rules, so that nothing out of bounds can be inside a cart. Unicode
//! normalisation is the caller's: this crate compares bytes.

use crate::limit::{DEFAULT_LINE_CAP, MAX_NAME_BYTES, MAX_QUANTITY, MAX_TEXT_BYTES};
use alloc::sync::Arc;
use core::fmt;
use core::num::NonZeroU32;

/// Units of one line: 1 to 1 000 000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(NonZeroU32);

impl Quantity {
    /// The cap of a line whose product names none.
    pub const DEFAULT_CAP: Self = match NonZeroU32::new(DEFAULT_LINE_CAP) {
        Some(cap) => Self(cap),
        None => Self(NonZeroU32::MIN),
    };

    /// # Errors
    /// [`ValueError::Quantity`] outside 1 to [`MAX_QUANTITY`].
    pub fn new(units: u32) -> Result<Self, ValueError> {
        match NonZeroU32::new(units) {
            Some(units) if units.get() <= MAX_QUANTITY => Ok(Self(units)),
            _ => Err(ValueError::Quantity),
        }
    }

    /// The quantity of a sum, when it is one.
    pub(crate) fn from_sum(units: i64) -> Result<Self, ValueError> {
        u32::try_from(units)
            .map_err(|_| ValueError::Quantity)
            .and_then(Self::new)
    }

    /// The units as a number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// A coupon code, field, attribute or option name: 1 to 64 bytes, no control characters, no
/// white space at either end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// # Errors
    /// [`ValueError::Name`] when the text breaks the rule above.
    pub fn new(text: &str) -> Result<Self, ValueError> {
        if is_name(text) {
            Ok(Self(text.into()))
        } else {
            Err(ValueError::Name)
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_NAME_BYTES
        && text.trim().len() == text.len()
        && !text.chars().any(char::is_control)
}

/// A note, an address, the value of an attribute: up to 4096 bytes, no control characters
/// besides the line feed. An address is one value: it is replaced whole, never mixed from two.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<str>);

impl Text {
    /// # Errors
    /// [`ValueError::Text`] when the text breaks the rule above.
    pub fn new(text: &str) -> Result<Self, ValueError> {
        let forbidden = |c: char| c.is_control() && c != '\n';
        if text.len() > MAX_TEXT_BYTES || text.chars().any(forbidden) {
            return Err(ValueError::Text);
        }
        Ok(Self(text.into()))
    }

    /// The value as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A value out of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueError {
    /// Not 1 to 1 000 000 units.
    Quantity,
    /// Empty, longer than 64 bytes, with control characters or with white space at an end.
    Name,
    /// Longer than 4096 bytes, or with control characters besides the line feed.
    Text,
    /// Not a line key in its canonical form, or longer than 256 bytes.
    LineKey,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quantity => "quantity is not 1 to 1 000 000",
            Self::Name => "name is not 1 to 64 bytes without control characters and outer space",
            Self::Text => "text is over 4096 bytes or has control characters",
            Self::LineKey => "line key is not canonical or over 256 bytes",
        })
    }
}

impl core::error::Error for ValueError {}
