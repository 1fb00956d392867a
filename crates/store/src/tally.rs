//! Tallies: contended numbers with a floor of zero and a ceiling that the decision names.
//!
//! Owns their keys and what a change of one may lead to. They are never read to decide: the commit
//! adds and refuses in one step, so twenty buyers of one last redemption make one redemption.

use abasto_domain::coupon::{AppliedCoupon, Redemption};
use abasto_domain::id::{CouponId, CustomerId, RawId};
use serde::{Deserialize, Serialize};

/// Which number, within a business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TallyKey {
    /// What is counted.
    pub kind: TallyKind,
    /// Of what.
    pub subject: RawId,
    /// By whom; zeros when by anybody.
    pub by: RawId,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TallyKind {
    /// Redemptions of a coupon that count, by all or by one customer.
    Redemptions,
    /// Open checkouts of a holder.
    OpenCheckouts,
}

impl TallyKind {
    /// All of them, in the order of their stored numbers.
    pub const ALL: [Self; 2] = [Self::Redemptions, Self::OpenCheckouts];
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Which.
    pub key: TallyKey,
    /// How many; never negative.
    pub value: i64,
}

/// A wanted change of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TallyChange {
    /// Which.
    pub key: TallyKey,
    /// Signed.
    pub delta: i64,
    /// What a growing number may come to at most; `None` means anything.
    pub most: Option<i64>,
}

impl TallyKey {
    /// Redemptions of a coupon by all.
    pub fn redemptions(coupon: CouponId) -> Self {
        Self {
            kind: TallyKind::Redemptions,
            subject: coupon.0,
            by: RawId::default(),
        }
    }

    /// Redemptions of a coupon by one customer.
    pub fn redemptions_by(coupon: CouponId, customer: CustomerId) -> Self {
        Self {
            by: customer.0,
            ..Self::redemptions(coupon)
        }
    }

    /// Open checkouts of a holder.
    pub fn open_checkouts(holder: RawId) -> Self {
        Self {
            kind: TallyKind::OpenCheckouts,
            subject: holder,
            by: RawId::default(),
        }
    }
}

impl TallyChange {
    /// What the number comes to, when it may.
    pub fn apply(&self, value: i64) -> Option<i64> {
        let next = value.checked_add(self.delta).filter(|next| *next >= 0)?;
        let grows = self.delta > 0;
        let within = self.most.is_none_or(|most| next <= most);
        (within || !grows).then_some(next)
    }
}

/// The redemptions that the coupons of a checkout or order count against, each once.
pub fn redemptions(
    coupons: &[AppliedCoupon],
    customer: Option<CustomerId>,
) -> impl Iterator<Item = TallyKey> {
    let counted = coupons
        .iter()
        .filter(|coupon| coupon.redemption == Redemption::Counted);
    counted.flat_map(move |it| {
        let by = customer.map(|customer| TallyKey::redemptions_by(it.coupon, customer));
        [TallyKey::redemptions(it.coupon)].into_iter().chain(by)
    })
}
