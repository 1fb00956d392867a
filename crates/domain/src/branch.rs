//! A branch: a place that sells and keeps stock.
//!
//! Owns the form of its code, which begins every order number.

use alloc::string::String;
use core::fmt;

use crate::fault::InvalidValue;
use crate::id::{BranchId, BusinessId};
use crate::stamp::Stamp;

/// One branch of a business.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: BranchId,
    /// Unique in the business.
    pub code: BranchCode,
    /// Its name.
    pub name: String,
    /// IANA zone: business days and the year of order numbers follow it.
    pub time_zone: String,
    /// An inactive branch takes no new orders.
    pub active: bool,
    /// Version and times.
    pub stamp: Stamp,
}

/// Two to eight of `A-Z` and `0-9`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchCode(String);

impl BranchCode {
    /// Checks a code.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let allowed = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit();
        if (2..=8).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidValue::new(
                "invalid-code",
                "a branch code is 2 to 8 of A-Z and 0-9",
            ))
        }
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BranchCode {
    type Error = InvalidValue;
    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<BranchCode> for String {
    fn from(code: BranchCode) -> Self {
        code.0
    }
}

impl fmt::Display for BranchCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for BranchCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
