//! Money: whole minor units of one currency, exact, never a float.
//!
//! Owns parsing, printing, checked sums, the one rounding mode and the split of a sum over parts.
//! Must not convert between currencies: a business has one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::currency::Currency;
use crate::fault::InvalidValue;
use crate::limits::AMOUNT_MINOR_MAX;

/// An amount in minor units (cents, for two decimals) of the business's currency; never negative,
/// at most [`AMOUNT_MINOR_MAX`].
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(try_from = "i64", into = "i64")]
pub struct Amount(i64);

/// A sum left the range of [`Amount`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the amount is out of range")]
pub struct AmountOverflow;

impl From<AmountOverflow> for InvalidValue {
    fn from(_: AmountOverflow) -> Self {
        Self::new("overflow", "the amount is out of range")
    }
}

impl TryFrom<i64> for Amount {
    type Error = AmountOverflow;
    fn try_from(minor: i64) -> Result<Self, AmountOverflow> {
        Self::from_minor(minor)
    }
}

impl From<Amount> for i64 {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// From minor units.
    pub const fn from_minor(minor: i64) -> Result<Self, AmountOverflow> {
        if minor < 0 || minor > AMOUNT_MINOR_MAX {
            Err(AmountOverflow)
        } else {
            Ok(Self(minor))
        }
    }

    /// In minor units.
    pub const fn minor(self) -> i64 {
        self.0
    }

    /// Reads a decimal string such as `"3500.00"`: digits, at most one point, at most as many
    /// decimals as the currency has. No sign, exponent, space or separator.
    pub fn parse(text: &str, currency: Currency) -> Result<Self, InvalidValue> {
        const MALFORMED: InvalidValue = InvalidValue::new(
            "invalid-money",
            "money is a decimal string such as \"3500.00\", without sign or exponent",
        );
        let (whole, decimals) = match text.split_once('.') {
            Some((_, "")) => return Err(MALFORMED),
            Some(parts) => parts,
            None => (text, ""),
        };
        let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(decimals) {
            return Err(MALFORMED);
        }
        let exponent = usize::from(currency.exponent());
        if decimals.len() > exponent {
            return Err(InvalidValue {
                code: "too-many-decimals",
                message: format!("{currency} has {exponent} decimals").into(),
            });
        }
        let mut minor: i64 = 0;
        let padding = core::iter::repeat_n(b'0', exponent - decimals.len());
        for digit in whole.bytes().chain(decimals.bytes()).chain(padding) {
            minor = minor
                .checked_mul(10)
                .and_then(|minor| minor.checked_add(i64::from(digit - b'0')))
                .filter(|minor| *minor <= AMOUNT_MINOR_MAX)
                .ok_or(AmountOverflow)?;
        }
        Ok(Self(minor))
    }

    /// As a decimal string with exactly the currency's number of decimals.
    pub fn to_decimal(self, currency: Currency) -> String {
        let exponent = usize::from(currency.exponent());
        let digits = format!("{:0>width$}", self.0, width = exponent + 1);
        if exponent == 0 {
            return digits;
        }
        let (whole, decimals) = digits.split_at(digits.len() - exponent);
        format!("{whole}.{decimals}")
    }

    /// The sum, when it is in range.
    pub const fn plus(self, other: Self) -> Result<Self, AmountOverflow> {
        match self.0.checked_add(other.0) {
            Some(minor) => Self::from_minor(minor),
            None => Err(AmountOverflow),
        }
    }

    /// The difference, when it is not negative.
    pub const fn minus(self, other: Self) -> Result<Self, AmountOverflow> {
        Self::from_minor(self.0 - other.0)
    }

    /// So many times the amount, when it is in range.
    pub const fn times(self, quantity: i64) -> Result<Self, AmountOverflow> {
        match self.0.checked_mul(quantity) {
            Some(minor) => Self::from_minor(minor),
            None => Err(AmountOverflow),
        }
    }

    /// So many millionths of the amount, rounded half to even; at most one million.
    pub fn share(self, millionths: u32) -> Self {
        let scaled = i128::from(self.0) * i128::from(millionths.min(MILLION));
        // A part of an amount is in range.
        Self(i64::try_from(half_even(scaled, i128::from(MILLION))).unwrap_or(self.0))
    }

    /// The sum of amounts, when it is in range.
    pub fn sum(amounts: impl IntoIterator<Item = Self>) -> Result<Self, AmountOverflow> {
        amounts
            .into_iter()
            .try_fold(Self::ZERO, |total, amount| total.plus(amount))
    }

    /// Splits the amount over weights so that the parts add up exactly (largest remainder). Equal
    /// remainders go to the larger weight, then to the earlier part, so callers that sort their
    /// parts by a key of their own get the same split whatever order they were given in.
    /// Without any weight the whole amount stays unsplit: all parts are zero only if it is zero.
    pub fn split(self, weights: &[Self]) -> Result<Vec<Self>, AmountOverflow> {
        let total: i128 = weights.iter().map(|weight| i128::from(weight.0)).sum();
        if total == 0 {
            return if self.0 == 0 {
                Ok(weights.to_vec())
            } else {
                Err(AmountOverflow)
            };
        }
        let share = |weight: &Self| i128::from(self.0) * i128::from(weight.0);
        let mut parts: Vec<i64> = weights
            .iter()
            .map(|weight| i64::try_from(share(weight) / total).map_err(|_| AmountOverflow))
            .collect::<Result<_, _>>()?;
        let mut left = self.0 - parts.iter().sum::<i64>();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|&i| {
            let remainder = share(&weights[i]) % total;
            core::cmp::Reverse((remainder, weights[i], core::cmp::Reverse(i)))
        });
        for index in order {
            if left == 0 {
                break;
            }
            parts[index] += 1;
            left -= 1;
        }
        parts.into_iter().map(Self::from_minor).collect()
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} minor", self.0)
    }
}

/// A tax rate in millionths: 0.19 is 190 000. Between 0 and 1 with at most six decimals.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Debug,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(try_from = "u32", into = "u32")]
pub struct TaxRate(u32);

const MILLION: u32 = 1_000_000;

/// A rate is not between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rate is between 0 and 1")]
pub struct RateOutOfRange;

impl TryFrom<u32> for TaxRate {
    type Error = RateOutOfRange;
    fn try_from(millionths: u32) -> Result<Self, RateOutOfRange> {
        Self::from_millionths(millionths).ok_or(RateOutOfRange)
    }
}

impl From<TaxRate> for u32 {
    fn from(rate: TaxRate) -> Self {
        rate.0
    }
}

impl TaxRate {
    /// No tax.
    pub const ZERO: Self = Self(0);

    /// From millionths, at most one million.
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if millionths <= MILLION {
            Some(Self(millionths))
        } else {
            None
        }
    }

    /// In millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// Reads a decimal string such as `"0.19"`.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        const MALFORMED: InvalidValue = InvalidValue::new(
            "invalid-rate",
            "a rate is a decimal string from \"0\" to \"1\" with at most six decimals",
        );
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
        let fits = whole.len() == 1 && !decimals.is_empty() && decimals.len() <= 6;
        if !fits || !digits(whole) || !digits(decimals) {
            return Err(MALFORMED);
        }
        format!("{whole}{decimals:0<6}")
            .parse()
            .ok()
            .and_then(Self::from_millionths)
            .ok_or(MALFORMED)
    }

    /// As the shortest decimal string.
    pub fn to_decimal(self) -> String {
        let text = format!("{}.{:06}", self.0 / MILLION, self.0 % MILLION);
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }

    /// The tax inside a price that includes it: `gross × rate ÷ (1 + rate)`, rounded half to even.
    pub fn tax_within(self, gross: Amount) -> Amount {
        let divisor = i128::from(MILLION) + i128::from(self.0);
        let scaled = i128::from(gross.0) * i128::from(self.0);
        // The rate is at most 1, so the tax is at most half the gross amount and fits.
        Amount(i64::try_from(half_even(scaled, divisor)).unwrap_or(gross.0))
    }
}

/// The quotient of two numbers that are not negative, rounded half to even.
const fn half_even(scaled: i128, divisor: i128) -> i128 {
    let (quotient, twice) = (scaled / divisor, scaled % divisor * 2);
    if twice > divisor || (twice == divisor && quotient & 1 == 1) {
        quotient + 1
    } else {
        quotient
    }
}
