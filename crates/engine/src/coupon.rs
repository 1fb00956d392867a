//! Coupons: making, reading and changing them.

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::coupon::{Coupon, CouponCode, Discount};
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{CouponId, ProductId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::product::Product;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::query::{Page, Query};

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, check_version, set};
use crate::error::Error;

/// A coupon to be made.
#[derive(Debug, Clone)]
pub struct NewCoupon {
    /// What buyers type.
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
    /// Most redemptions by all.
    pub max_redemptions: Option<i64>,
    /// Most redemptions by one customer.
    pub max_per_customer: Option<i64>,
    /// Whether it can be used.
    pub active: bool,
}

/// What is to change of a coupon; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct ChangeCoupon {
    /// Valid from.
    pub starts_at: Option<Timestamp>,
    /// Valid until.
    pub ends_at: Option<Timestamp>,
    /// The least sum of all lines before discounts.
    pub min_subtotal: Option<Option<Amount>>,
    /// Most redemptions by all.
    pub max_redemptions: Option<Option<i64>>,
    /// Most redemptions by one customer.
    pub max_per_customer: Option<Option<i64>>,
    /// Whether it can be used.
    pub active: Option<bool>,
}

impl Engine {
    /// Makes a coupon.
    pub async fn create_coupon(
        &self,
        context: &Context,
        command: NewCoupon,
    ) -> Result<Arc<Coupon>, Error> {
        context.require(Permission::ChangeCoupons)?;
        check_period(command.starts_at, command.ends_at)?;
        let products = command.products.iter().flatten();
        let products = products.map(|product| RawId::from(*product));
        self.find_all::<Product>(context.business(), products, Freshness::Cached)
            .await?;
        let now = self.now();
        let coupon = Arc::new(Coupon {
            business: context.business(),
            id: CouponId(self.new_id(now)),
            code: command.code,
            discount: command.discount,
            products: command.products,
            min_subtotal: command.min_subtotal,
            starts_at: command.starts_at,
            ends_at: command.ends_at,
            max_redemptions: command.max_redemptions,
            max_per_customer: command.max_per_customer,
            active: command.active,
            stamp: Stamp::first(now),
        });
        self.save(context, move |_, _, _| {
            let next = Arc::clone(&coupon).into();
            async move {
                Ok(Change {
                    base: None,
                    next,
                    event: "abasto.coupon.created",
                    at: now,
                })
            }
        })
        .await
    }

    /// One page of the coupons, newest first.
    pub async fn coupons(&self, context: &Context, page: Page) -> Result<Vec<Arc<Coupon>>, Error> {
        context.require(Permission::ReadCoupons)?;
        self.list_documents(context.business(), &Query::Coupons, page)
            .await
    }

    /// One coupon.
    pub async fn coupon(&self, context: &Context, id: CouponId) -> Result<Arc<Coupon>, Error> {
        context.require(Permission::ReadCoupons)?;
        self.find(context.business(), id, Freshness::Fresh).await
    }

    /// Changes the version of a coupon that the caller saw. What it takes off never changes:
    /// checkouts rely on it.
    pub async fn change_coupon(
        &self,
        context: &Context,
        id: CouponId,
        seen_version: i64,
        command: ChangeCoupon,
    ) -> Result<Arc<Coupon>, Error> {
        context.require(Permission::ChangeCoupons)?;
        self.save(context, move |engine, context, _| {
            let command = command.clone();
            async move {
                let base: Arc<Coupon> = engine
                    .find(context.business(), id, Freshness::Fresh)
                    .await?;
                check_version(&Arc::clone(&base).into(), seen_version)?;
                let at = engine.now();
                let mut next = Coupon::clone(&base);
                set(&mut next.starts_at, &command.starts_at);
                set(&mut next.ends_at, &command.ends_at);
                set(&mut next.min_subtotal, &command.min_subtotal);
                set(&mut next.max_redemptions, &command.max_redemptions);
                set(&mut next.max_per_customer, &command.max_per_customer);
                set(&mut next.active, &command.active);
                check_period(next.starts_at, next.ends_at)?;
                if next != *base {
                    next.stamp = base.stamp.next(at);
                }
                Ok(Change {
                    base: Some(base.into()),
                    next: next.into(),
                    event: "abasto.coupon.changed",
                    at,
                })
            }
        })
        .await
    }
}

fn check_period(starts_at: Timestamp, ends_at: Timestamp) -> Result<(), Error> {
    const BACKWARDS: InvalidValue =
        InvalidValue::new("out-of-range", "a coupon ends after it starts");
    if starts_at < ends_at {
        Ok(())
    } else {
        Err(Error::fault("/endsAt", BACKWARDS))
    }
}
