//! The small values that documents are made of: ids, money, rates, times.
//!
//! Owns their form in JSON and in the published schema, and the gathering of faults while a
//! document is read. Must not know any document.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use abasto_domain::currency::Currency;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::id::RawId;
use abasto_domain::money::Amount;
use abasto_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::problem::Problem;
use crate::time;

/// 24 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(
    value_type = String,
    pattern = "^[0-9a-fA-F]{24}$",
    example = "65f1c0ffee0123456789abcd"
)]
pub(crate) struct Id(RawId);

impl Id {
    /// As one kind of id.
    pub(crate) fn into<T: From<RawId>>(self) -> T {
        self.0.into()
    }
}

impl<T: Into<RawId>> From<T> for Id {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

/// An exact amount in the business's currency: digits, and at most as many decimals as the
/// currency has; without sign, exponent or separators. Answers carry all decimals.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(
    value_type = String,
    pattern = r"^[0-9]{1,16}(\.[0-9]{1,3})?$",
    example = "3500.00"
)]
pub(crate) struct Money(String);

impl Money {
    pub(crate) fn read(&self, currency: Currency) -> Result<Amount, InvalidValue> {
        Amount::parse(&self.0, currency)
    }
}

/// [`Money`] on its way out: written as digits where it is serialised, without a text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Price {
    minor: i64,
    decimals: u8,
}

/// Shows amounts of one currency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prices {
    decimals: u8,
}

impl Prices {
    pub(crate) fn of(currency: Currency) -> Self {
        Self {
            decimals: currency.exponent(),
        }
    }

    pub(crate) fn show(self, amount: Amount) -> Price {
        Price {
            minor: amount.minor(),
            decimals: self.decimals,
        }
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.decimals == 0 {
            return write!(f, "{}", self.minor);
        }
        let unit = 10_i64.pow(u32::from(self.decimals));
        let (whole, part) = (self.minor / unit, self.minor % unit);
        write!(
            f,
            "{whole}.{part:0width$}",
            width = usize::from(self.decimals)
        )
    }
}

impl Serialize for Price {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl PartialSchema for Price {
    fn schema() -> RefOr<Schema> {
        Money::schema()
    }
}

impl ToSchema for Price {
    fn name() -> Cow<'static, str> {
        Money::name()
    }
}

/// A point in time: RFC 3339; answers are in UTC with milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(
    value_type = String,
    pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
    example = "2026-01-31T08:00:00.000Z"
)]
pub(crate) struct Time(String);

impl Time {
    pub(crate) fn read(&self) -> Result<Timestamp, InvalidValue> {
        time::parse(&self.0)
    }
}

impl From<Timestamp> for Time {
    fn from(at: Timestamp) -> Self {
        Self(time::show(at))
    }
}

/// A field that may be left out. The outer `None` says that it had a fault.
pub(crate) fn optional<T, U>(
    faults: &mut Faults,
    pointer: &str,
    value: Option<T>,
    read: impl FnOnce(T) -> Result<U, InvalidValue>,
) -> Option<Option<U>> {
    match value {
        None => Some(None),
        Some(value) => faults.take(pointer, read(value)).map(Some),
    }
}

/// A field that may be left out or null. The outer `None` says that it had a fault.
pub(crate) fn nullable<T, U>(
    faults: &mut Faults,
    pointer: &str,
    value: Option<Option<T>>,
    read: impl FnOnce(T) -> Result<U, InvalidValue>,
) -> Option<Option<Option<U>>> {
    match value {
        None => Some(None),
        Some(None) => Some(Some(None)),
        Some(Some(value)) => faults
            .take(pointer, read(value))
            .map(|value| Some(Some(value))),
    }
}

/// A set of ids as ids of one kind.
pub(crate) fn ids<T: From<RawId>>(set: BTreeSet<Id>) -> Vec<T> {
    set.into_iter().map(Id::into).collect()
}

/// The value read, or all faults met while reading. `value` is `None` only when there was one.
pub(crate) fn finish<T>(faults: Faults, value: Option<T>) -> Result<T, Problem> {
    faults
        .finish()
        .map_err(|faults| Problem::validation(&faults))?;
    value.ok_or_else(Problem::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_written_as_the_domain_writes_it() {
        for code in ["COP", "JPY", "KWD"] {
            let currency = Currency::parse(code).unwrap();
            for minor in [0, 1, 9, 10, 99, 100, 101, 12_345, 1_000_000_000_000_000] {
                let amount = Amount::from_minor(minor).unwrap();
                let price = Prices::of(currency).show(amount).to_string();
                assert_eq!(price, amount.to_decimal(currency));
            }
        }
    }
}
