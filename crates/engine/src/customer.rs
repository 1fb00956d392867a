//! Customers: making, reading and changing them.

use std::sync::Arc;

use abasto_domain::access::{Permission, Sight};
use abasto_domain::customer::Customer;
use abasto_domain::id::CustomerId;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::query::{Page, Query};

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, check_version, set};
use crate::error::Error;

/// A customer to be made.
#[derive(Debug, Clone)]
pub struct NewCustomer {
    /// The name.
    pub name: String,
    /// In E.164 form.
    pub phone: Option<String>,
    /// As written.
    pub email: Option<String>,
    /// When the address was verified.
    pub email_verified_at: Option<Timestamp>,
}

/// What is to change of a customer; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct ChangeCustomer {
    /// The name.
    pub name: Option<String>,
    /// The phone number.
    pub phone: Option<Option<String>>,
    /// The address; a new one is not verified unless the caller says so.
    pub email: Option<Option<String>>,
    /// When the address was verified.
    pub email_verified_at: Option<Option<Timestamp>>,
}

impl Engine {
    /// Makes a customer.
    pub async fn create_customer(
        &self,
        context: &Context,
        command: NewCustomer,
    ) -> Result<Arc<Customer>, Error> {
        context.require(Permission::ChangeCustomers)?;
        let now = self.now();
        let verified = command
            .email_verified_at
            .filter(|_| command.email.is_some());
        let customer = Arc::new(Customer {
            business: context.business(),
            id: CustomerId(self.new_id(now)),
            name: command.name,
            phone: command.phone,
            email: command.email,
            email_verified_at: verified,
            stamp: Stamp::first(now),
        });
        self.save(context, move |_, _, _| {
            let next = Arc::clone(&customer).into();
            async move {
                Ok(Change {
                    base: None,
                    next,
                    event: "abasto.customer.created",
                    at: now,
                })
            }
        })
        .await
    }

    /// One page of the customers in the caller's sight, newest first.
    pub async fn customers(
        &self,
        context: &Context,
        page: Page,
    ) -> Result<Vec<Arc<Customer>>, Error> {
        match context.principal.sight(Permission::ReadCustomers) {
            Sight::Nothing | Sight::Assigned(_) => Err(Error::Forbidden),
            Sight::Own(_) if page.after.is_some() => Ok(Vec::new()),
            Sight::Own(own) => Ok(vec![self.customer(context, own).await?]),
            Sight::All | Sight::Branches(_) => {
                self.list_documents(context.business(), &Query::Customers, page)
                    .await
            }
        }
    }

    /// One customer in the caller's sight.
    pub async fn customer(
        &self,
        context: &Context,
        id: CustomerId,
    ) -> Result<Arc<Customer>, Error> {
        match context.principal.sight(Permission::ReadCustomers) {
            Sight::Nothing | Sight::Assigned(_) => Err(Error::Forbidden),
            Sight::Own(own) if own != id => Err(Error::NotFound),
            Sight::Own(_) | Sight::All | Sight::Branches(_) => {
                self.find(context.business(), id, Freshness::Fresh).await
            }
        }
    }

    /// Changes the version of a customer that the caller saw.
    pub async fn change_customer(
        &self,
        context: &Context,
        id: CustomerId,
        seen_version: i64,
        command: ChangeCustomer,
    ) -> Result<Arc<Customer>, Error> {
        self.customer(context, id).await?;
        context.require(Permission::ChangeCustomers)?;
        self.save(context, move |engine, context, _| {
            let command = command.clone();
            async move {
                let base: Arc<Customer> = engine
                    .find(context.business(), id, Freshness::Fresh)
                    .await?;
                check_version(&Arc::clone(&base).into(), seen_version)?;
                let at = engine.now();
                let mut next = Customer::clone(&base);
                set(&mut next.name, &command.name);
                set(&mut next.phone, &command.phone);
                set(&mut next.email, &command.email);
                if next.email != base.email {
                    next.email_verified_at = None;
                }
                set(&mut next.email_verified_at, &command.email_verified_at);
                if next.email.is_none() {
                    next.email_verified_at = None;
                }
                if next != *base {
                    next.stamp = base.stamp.next(at);
                }
                let event = "abasto.customer.changed";
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
