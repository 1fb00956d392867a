//! Quantities: whole units, 1 to one million.
//!
//! Owns the range. Must not know what is counted.

use crate::fault::InvalidValue;
use crate::limits::QUANTITY_MAX;

/// How many units, 1 to [`QUANTITY_MAX`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "i64", into = "i64")]
pub struct Quantity(i64);

impl Quantity {
    /// From a number of units.
    pub const fn new(units: i64) -> Result<Self, InvalidValue> {
        if units >= 1 && units <= QUANTITY_MAX {
            Ok(Self(units))
        } else {
            Err(InvalidValue::new(
                "out-of-range",
                "a quantity is a whole number from 1 to 1000000",
            ))
        }
    }

    /// The number of units.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// The sum, when it is still a quantity.
    pub const fn plus(self, other: Self) -> Result<Self, InvalidValue> {
        Self::new(self.0 + other.0)
    }
}

impl TryFrom<i64> for Quantity {
    type Error = InvalidValue;
    fn try_from(units: i64) -> Result<Self, InvalidValue> {
        Self::new(units)
    }
}

impl From<Quantity> for i64 {
    fn from(quantity: Quantity) -> Self {
        quantity.0
    }
}
