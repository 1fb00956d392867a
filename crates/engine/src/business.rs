//! Businesses: opening one (by the operator) and changing its name and policies.

use std::sync::Arc;

use abasto_domain::access::{Actor, Permission, Role};
use abasto_domain::business::{Business, CartMode, Settings};
use abasto_domain::credential::Grant;
use abasto_domain::currency::Currency;
use abasto_domain::id::{ApiKeyId, BusinessId};
use abasto_domain::stamp::Stamp;
use abasto_store::query::Page;
use abasto_store::verdict::Verdict;

use crate::Engine;
use crate::api_key::{NewKey, mint};
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, set};
use crate::error::Error;

/// A business to be opened.
#[derive(Debug, Clone)]
pub struct OpenBusiness {
    /// Its name.
    pub name: String,
    /// Its currency, for ever.
    pub currency: Currency,
    /// IANA zone, checked by [`crate::zone::check`].
    pub time_zone: String,
}

/// What is to change of a business; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct ChangeBusiness {
    /// The name.
    pub name: Option<String>,
    /// See [`Settings`].
    pub hold_minutes: Option<u32>,
    /// See [`Settings`].
    pub unpaid_order_minutes: Option<u32>,
    /// See [`Settings`].
    pub auto_confirm_paid: Option<bool>,
    /// See [`Settings`].
    pub restock_on_cancel: Option<bool>,
    /// See [`Settings`].
    pub return_coupons_on_cancel: Option<bool>,
    /// See [`Settings`].
    pub cart_mode: Option<CartMode>,
}

impl Engine {
    /// Opens a business with its first owner key, whose text is shown this once.
    pub async fn open_business(
        &self,
        request: &str,
        command: OpenBusiness,
    ) -> Result<(Arc<Business>, NewKey), Error> {
        let now = self.now();
        let business = Arc::new(Business {
            id: BusinessId(self.new_id(now)),
            name: command.name,
            currency: command.currency,
            time_zone: command.time_zone,
            settings: Settings::default(),
            stamp: Stamp::first(now),
        });
        let owner = Grant {
            role: Role::Owner,
            branches: None,
            customer: None,
        };
        let id = ApiKeyId(self.new_id(now));
        let key = mint(business.id, id, "owner".to_owned(), owner, now)?;
        let mut unit = self.bare_unit(business.id, Actor::Platform, now);
        unit.request = request.to_owned();
        unit.puts = vec![
            self.put(None, business.clone().into(), "abasto.business.opened", now),
            self.put(None, key.key.clone().into(), "abasto.api_key.created", now),
        ];
        let engine = self.clone();
        self.detached(async move {
            match engine.store.commit(unit).await? {
                Verdict::Committed(_) => Ok((business, key)),
                _ => Err(Error::defect("a new business met an old one")),
            }
        })
        .await
    }

    /// One page of all businesses, newest first; for the operator only.
    pub async fn businesses(&self, page: Page) -> Result<Vec<Business>, Error> {
        Ok(self.store.businesses(page).await?)
    }

    /// The caller's business.
    pub async fn business(
        &self,
        context: &Context,
        freshness: Freshness,
    ) -> Result<Arc<Business>, Error> {
        context.require(Permission::ReadBusiness)?;
        self.find(context.business(), context.business(), freshness)
            .await
    }

    /// The currency of the caller's amounts, which never changes.
    pub async fn currency(&self, context: &Context) -> Result<Currency, Error> {
        let business: Arc<Business> = self
            .find(context.business(), context.business(), Freshness::Cached)
            .await?;
        Ok(business.currency)
    }

    /// Changes the caller's business; the version is checked when the caller gives one.
    pub async fn change_business(
        &self,
        context: &Context,
        expected_version: Option<i64>,
        command: ChangeBusiness,
    ) -> Result<Arc<Business>, Error> {
        context.require(Permission::ChangeBusiness)?;
        let command = Arc::new(command);
        self.save(context, move |engine, context, _| {
            let command = Arc::clone(&command);
            async move {
                let business = context.business();
                let base: Arc<Business> = engine.find(business, business, Freshness::Fresh).await?;
                if expected_version.is_some_and(|version| version != base.stamp.version) {
                    return Err(Error::VersionMismatch(base.into()));
                }
                let at = engine.now();
                let mut next = Business::clone(&base);
                set(&mut next.name, &command.name);
                let settings = &mut next.settings;
                set(&mut settings.hold_minutes, &command.hold_minutes);
                set(
                    &mut settings.unpaid_order_minutes,
                    &command.unpaid_order_minutes,
                );
                set(&mut settings.auto_confirm_paid, &command.auto_confirm_paid);
                set(&mut settings.restock_on_cancel, &command.restock_on_cancel);
                let coupons = &command.return_coupons_on_cancel;
                set(&mut settings.return_coupons_on_cancel, coupons);
                set(&mut settings.cart_mode, &command.cart_mode);
                if next != *base {
                    next.stamp = base.stamp.next(at);
                }
                let event = "abasto.business.changed";
                Ok(Change {
                    base: Some(base.into()),
                    next: next.into(),
                    event,
                    at,
                })
            }
        })
        .await
    }
}
