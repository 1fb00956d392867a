//! Order numbers such as `BOG-2026-000184`: branch code, year in the branch's zone, sequence.
//!
//! Owns the form. Must not count: the sequence is filled inside the commit, without gaps.

use alloc::string::{String, ToString};
use core::fmt;

use crate::branch::BranchCode;
use crate::fault::InvalidValue;

/// One run of numbers: they follow the code, not the branch, so a code that moves to another
/// branch goes on where it was and no number is given twice.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Series {
    /// The branch's code.
    pub code: BranchCode,
    /// The civil year in the branch's zone.
    pub year: i16,
}

/// The number of an order within its business.
#[derive(Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OrderNumber {
    /// The run.
    pub series: Series,
    /// 1, 2, 3 …; 0 is a blank that the commit fills.
    pub sequence: i64,
}

impl OrderNumber {
    /// A number whose sequence the commit fills.
    pub const fn blank(series: Series) -> Self {
        Self {
            series,
            sequence: 0,
        }
    }

    /// Whether the sequence is still to be filled.
    pub const fn is_blank(&self) -> bool {
        self.sequence == 0
    }

    /// Reads a number: `CODE-YYYY-NNNNNN`.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        const MALFORMED: InvalidValue = InvalidValue::new(
            "invalid-number",
            "an order number is like \"BOG-2026-000184\"",
        );
        let mut parts = text.split('-');
        let (Some(code), Some(year), Some(sequence), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(MALFORMED);
        };
        let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
        if year.len() != 4
            || !digits(year)
            || !(6..=15).contains(&sequence.len())
            || !digits(sequence)
        {
            return Err(MALFORMED);
        }
        let number = Self {
            series: Series {
                code: BranchCode::parse(code)?,
                year: year.parse().map_err(|_| MALFORMED)?,
            },
            sequence: sequence.parse().map_err(|_| MALFORMED)?,
        };
        // One spelling per number: no extra zeros in front.
        if number.to_string() == text {
            Ok(number)
        } else {
            Err(MALFORMED)
        }
    }
}

impl fmt::Display for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}-{:04}-{:06}",
            self.series.code, self.series.year, self.sequence
        )
    }
}

impl fmt::Debug for OrderNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for OrderNumber {
    type Error = InvalidValue;
    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<OrderNumber> for String {
    fn from(number: OrderNumber) -> Self {
        number.to_string()
    }
}
