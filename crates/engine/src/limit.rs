//! Contended numbers: what a change of a checkout or order adds to them, and within what bounds.
//!
//! Owns the difference between what counted before and what counts after. Must not read numbers:
//! the commit decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::checkout::{Checkout, CheckoutStatus};
use abasto_domain::coupon::{Coupon, CouponCode, CouponRefusal};
use abasto_domain::id::{BusinessId, CouponId, RawId};
use abasto_domain::limits::{GUEST_HOLDS_MAX, HOLDS_PER_CUSTOMER_MAX};
use abasto_domain::order::Order;
use abasto_store::record::{Claim, Unique};
use abasto_store::tally::{TallyChange, TallyKey, TallyKind, redemptions};

use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// What a checkout counts against while it is open.
pub(crate) fn of_checkout(checkout: &Checkout) -> Vec<TallyKey> {
    if checkout.status != CheckoutStatus::Open {
        return Vec::new();
    }
    let own = TallyKey::open_checkouts(checkout.holder);
    let coupons = redemptions(&checkout.coupons, checkout.customer);
    std::iter::once(own).chain(coupons).collect()
}

/// What an order counts against.
pub(crate) fn of_order(order: &Order) -> Vec<TallyKey> {
    redemptions(&order.coupons, order.customer.id).collect()
}

/// The changes that lead from what counted before to what counts after. `coupons` are those whose
/// limits are to be kept.
pub(crate) fn changes(
    before: Vec<TallyKey>,
    after: Vec<TallyKey>,
    coupons: &[Arc<Coupon>],
    known_holder: bool,
) -> Vec<TallyChange> {
    let mut deltas: BTreeMap<TallyKey, i64> = BTreeMap::new();
    for key in before {
        *deltas.entry(key).or_default() -= 1;
    }
    for key in after {
        *deltas.entry(key).or_default() += 1;
    }
    let changed = deltas.into_iter().filter(|(_, delta)| *delta != 0);
    let changed = changed.map(|(key, delta)| TallyChange {
        key,
        delta,
        most: most(key, coupons, known_holder),
    });
    changed.collect()
}

fn most(key: TallyKey, coupons: &[Arc<Coupon>], known_holder: bool) -> Option<i64> {
    match key.kind {
        TallyKind::OpenCheckouts if known_holder => Some(HOLDS_PER_CUSTOMER_MAX),
        TallyKind::OpenCheckouts => Some(GUEST_HOLDS_MAX),
        TallyKind::Redemptions => {
            let coupon = coupons.iter().find(|coupon| coupon.id.0 == key.subject)?;
            if key.by == RawId::default() {
                coupon.max_redemptions
            } else {
                coupon.max_per_customer
            }
        }
    }
}

impl Engine {
    /// The coupons of codes, as they are now; a code that no coupon has is refused.
    pub(crate) async fn coupons_of(
        &self,
        business: BusinessId,
        codes: &[CouponCode],
    ) -> Result<Vec<Arc<Coupon>>, Error> {
        if codes.is_empty() {
            return Ok(Vec::new());
        }
        let claims = codes.iter().map(|code| Claim {
            rule: Unique::CouponCode,
            value: code.as_str().to_owned(),
        });
        let claims: Vec<Claim> = claims.collect();
        let holders = self.store.holders(business, &claims).await?;
        let mut ids = Vec::with_capacity(codes.len());
        for (code, holder) in codes.iter().zip(holders) {
            let unknown = || Error::CouponRefused(code.clone(), CouponRefusal::Unknown);
            ids.push(holder.ok_or_else(unknown)?);
        }
        self.find_all::<Coupon>(business, ids.into_iter(), Freshness::Fresh)
            .await
    }

    /// Says of a bound which coupon it was.
    pub(crate) async fn explain_bound(&self, business: BusinessId, error: Error) -> Error {
        let Error::Exhausted(key) = &error else {
            return error;
        };
        if key.kind != TallyKind::Redemptions {
            return error;
        }
        let why = if key.by == RawId::default() {
            CouponRefusal::Exhausted
        } else {
            CouponRefusal::CustomerExhausted
        };
        let id = CouponId(key.subject);
        match self.find::<Coupon>(business, id, Freshness::Cached).await {
            Ok(coupon) => Error::CouponRefused(coupon.code.clone(), why),
            Err(_) => error,
        }
    }
}
