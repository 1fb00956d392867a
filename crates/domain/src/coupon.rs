//! Coupons: what they take off a basket, when they are valid, and how often they may be used.
//!
//! Owns validity and the split of a discount over lines. Must not count redemptions: the commit
//! does, against the bounds that are decided here. The order of lines and of codes changes no
//! amount.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::fault::InvalidValue;
use crate::id::{BusinessId, CouponId, ProductId};
use crate::money::{Amount, AmountOverflow, TaxRate};
use crate::pricing::Line;
use crate::quantity::Quantity;
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// One coupon of a business.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Coupon {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: CouponId,
    /// What buyers type; unique in the business.
    pub code: CouponCode,
    /// What it takes off.
    pub discount: Discount,
    /// The products it is for; `None` means all.
    pub products: Option<Vec<ProductId>>,
    /// The least sum of all lines before discounts.
    pub min_subtotal: Option<Amount>,
    /// Valid from.
    pub starts_at: Timestamp,
    /// Valid until, this moment excluded.
    pub ends_at: Timestamp,
    /// Most redemptions by all; `None` means no limit.
    pub max_redemptions: Option<i64>,
    /// Most redemptions by one customer; `None` means no limit.
    pub max_per_customer: Option<i64>,
    /// Whether it can be used.
    pub active: bool,
    /// Version and times.
    pub stamp: Stamp,
}

/// What a coupon takes off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "value")]
pub enum Discount {
    /// A part of what the lines cost, rounded half to even once.
    Percent(Percent),
    /// An amount, at most what the lines cost.
    Amount(Amount),
    /// So many units for nothing, the cheapest first.
    FreeUnits(Quantity),
}

impl Discount {
    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Percent(_) => "percent",
            Self::Amount(_) => "amount",
            Self::FreeUnits(_) => "freeUnits",
        }
    }

    /// Which kind is taken off first.
    const fn rank(self) -> u8 {
        match self {
            Self::FreeUnits(_) => 0,
            Self::Percent(_) => 1,
            Self::Amount(_) => 2,
        }
    }
}

/// A part of a hundred in ten-thousandths: 12.5 % is 125 000. More than 0, at most 100 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Percent(u32);

impl Percent {
    /// Reads a decimal string such as `"12.5"` with at most four decimals.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        const MALFORMED: InvalidValue = InvalidValue::new(
            "invalid-percent",
            "a percentage is a decimal string above \"0\" and up to \"100\" with at most four decimals",
        );
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
        let shape = (1..=3).contains(&whole.len()) && (1..=4).contains(&decimals.len());
        if !shape || !digits(whole) || !digits(decimals) {
            return Err(MALFORMED);
        }
        match format!("{whole}{decimals:0<4}").parse() {
            Ok(parts @ 1..=1_000_000) => Ok(Self(parts)),
            _ => Err(MALFORMED),
        }
    }

    /// In millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// As the shortest decimal string.
    pub fn to_decimal(self) -> String {
        let text = format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000);
        text.trim_end_matches('0').trim_end_matches('.').into()
    }
}

/// Two to forty of `A-Z`, `0-9`, `-` and `_`; small letters are read as capitals.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CouponCode(String);

impl CouponCode {
    /// Reads a code as a buyer types it.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let text = text.trim().to_ascii_uppercase();
        let allowed =
            |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_');
        if (2..=40).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(InvalidValue::new(
                "invalid-code",
                "a coupon code is 2 to 40 of A-Z, 0-9, - and _",
            ))
        }
    }

    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for CouponCode {
    type Error = InvalidValue;
    fn try_from(text: String) -> Result<Self, InvalidValue> {
        Self::parse(&text)
    }
}

impl From<CouponCode> for String {
    fn from(code: CouponCode) -> Self {
        code.0
    }
}

impl fmt::Display for CouponCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CouponCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A coupon that a checkout or order used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppliedCoupon {
    /// The coupon.
    pub coupon: CouponId,
    /// Its code then.
    pub code: CouponCode,
    /// What it took off.
    pub discount: Amount,
    /// Whether the redemption still counts.
    pub redemption: Redemption,
}

/// Whether a redemption counts against the coupon's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Redemption {
    /// It does.
    Counted,
    /// It was given back.
    Returned,
}

/// Why a coupon cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouponRefusal {
    /// There is none with that code.
    Unknown,
    /// It was switched off.
    Inactive,
    /// It is not valid yet.
    NotStarted,
    /// It is not valid any more.
    Ended,
    /// The lines cost too little.
    BelowMinimum,
    /// It is for none of the lines.
    NothingEligible,
    /// Only for buyers who are known.
    CustomerNeeded,
    /// It was used as often as it may be.
    Exhausted,
    /// The customer used it as often as they may.
    CustomerExhausted,
}

impl CouponRefusal {
    /// Stable, for programs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown-coupon",
            Self::Inactive => "coupon-inactive",
            Self::NotStarted => "coupon-not-started",
            Self::Ended => "coupon-ended",
            Self::BelowMinimum => "below-minimum",
            Self::NothingEligible => "nothing-eligible",
            Self::CustomerNeeded => "customer-needed",
            Self::Exhausted => "coupon-exhausted",
            Self::CustomerExhausted => "customer-exhausted",
        }
    }
}

impl Coupon {
    /// Whether the coupon can be used for lines of that subtotal now, by a buyer who is known or
    /// not. How often it was used is not looked at.
    pub fn check(
        &self,
        subtotal: Amount,
        buyer: KnownBuyer,
        now: Timestamp,
    ) -> Result<(), CouponRefusal> {
        if !self.active {
            Err(CouponRefusal::Inactive)
        } else if now < self.starts_at {
            Err(CouponRefusal::NotStarted)
        } else if now >= self.ends_at {
            Err(CouponRefusal::Ended)
        } else if self.min_subtotal.is_some_and(|least| subtotal < least) {
            Err(CouponRefusal::BelowMinimum)
        } else if self.max_per_customer.is_some() && buyer == KnownBuyer::No {
            Err(CouponRefusal::CustomerNeeded)
        } else {
            Ok(())
        }
    }

    fn covers(&self, product: ProductId) -> bool {
        let products = self.products.as_ref();
        products.is_none_or(|products| products.contains(&product))
    }
}

/// Whether the buyer is a customer of the business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownBuyer {
    /// It is one.
    Yes,
    /// A guest.
    No,
}

/// Why coupons could not be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyRejection {
    /// A coupon cannot be used.
    Refused(CouponCode, CouponRefusal),
    /// A sum is out of range.
    Overflow(AmountOverflow),
}

impl From<AmountOverflow> for ApplyRejection {
    fn from(overflow: AmountOverflow) -> Self {
        Self::Overflow(overflow)
    }
}

/// Takes coupons off priced lines: free units first, then percentages, then amounts, within a
/// kind by code; each from what the ones before it left. `rates` are the tax rates of the lines,
/// in their order; the tax of a line is what its total holds after all discounts.
pub fn apply(
    lines: &mut [Line],
    rates: &[TaxRate],
    coupons: &[&Coupon],
    buyer: KnownBuyer,
    now: Timestamp,
) -> Result<Vec<AppliedCoupon>, ApplyRejection> {
    let subtotal = Amount::sum(lines.iter().map(|line| line.subtotal))?;
    let mut coupons = coupons.to_vec();
    coupons.sort_by_key(|coupon| (coupon.discount.rank(), &coupon.code));
    coupons.dedup_by_key(|coupon| coupon.id);
    let mut applied = Vec::with_capacity(coupons.len());
    for coupon in coupons {
        let refused = |why| ApplyRejection::Refused(coupon.code.clone(), why);
        coupon.check(subtotal, buyer, now).map_err(refused)?;
        let discount = take_off(lines, coupon)?;
        if discount == Amount::ZERO {
            return Err(refused(CouponRefusal::NothingEligible));
        }
        applied.push(AppliedCoupon {
            coupon: coupon.id,
            code: coupon.code.clone(),
            discount,
            redemption: Redemption::Counted,
        });
    }
    for (line, rate) in lines.iter_mut().zip(rates) {
        line.tax = rate.tax_within(line.total);
    }
    Ok(applied)
}

fn take_off(lines: &mut [Line], coupon: &Coupon) -> Result<Amount, AmountOverflow> {
    let mut eligible: Vec<&mut Line> = lines
        .iter_mut()
        .filter(|line| coupon.covers(line.product))
        .collect();
    eligible.sort_by_key(|line| line.product);
    let left: Vec<Amount> = eligible.iter().map(|line| line.total).collect();
    let cost = Amount::sum(left.iter().copied())?;
    let parts = match coupon.discount {
        Discount::Percent(percent) => cost.share(percent.millionths()).split(&left)?,
        Discount::Amount(amount) => amount.min(cost).split(&left)?,
        Discount::FreeUnits(units) => free_units(&eligible, units)?,
    };
    for (line, part) in eligible.iter_mut().zip(&parts) {
        line.discount = line.discount.plus(*part)?;
        line.total = line.subtotal.minus(line.discount)?;
    }
    Amount::sum(parts)
}

/// What each line gives for nothing when the cheapest units come first.
fn free_units(lines: &[&mut Line], units: Quantity) -> Result<Vec<Amount>, AmountOverflow> {
    let mut left = units.units();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&index| (lines[index].unit_price, lines[index].product));
    let mut parts = alloc::vec![Amount::ZERO; lines.len()];
    for index in order {
        let line = &lines[index];
        let free = line.quantity.units().min(left);
        parts[index] = line.unit_price.times(free)?.min(line.total);
        left -= free;
    }
    Ok(parts)
}
