//! What checkouts and payments need beside the small business: buyers, calls, messages, an audit.

use std::sync::Arc;

use abasto_domain::access::Role;
use abasto_domain::checkout::Checkout;
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::id::{BusinessId, OrderId, ProductId};
use abasto_domain::money::Amount;
use abasto_domain::order::{FulfilmentKind, Order, PaymentMethod};
use abasto_domain::payment::{Payment, Provider};
use abasto_domain::payment_event::{EventFate, News, NewsKind, ProviderMessage};
use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_domain::time::Timestamp;
use abasto_engine::checkout::OpenCheckout;
use abasto_engine::customer::NewCustomer;
use abasto_engine::order::BuyerChoice;
use abasto_engine::order_checkout::OrderCheckout;
use abasto_engine::payment::{RequestRefund, StartPayment};
use abasto_engine::{Context, Done, Error};
use abasto_store::invariants::audit;

use crate::world::World;

/// Ten minutes, the default of a hold.
pub(crate) const HOLD_MS: i64 = 600_000;
/// Thirty minutes, the default of an unpaid order.
pub(crate) const UNPAID_MS: i64 = 1_800_000;

impl World {
    pub(crate) fn checkout_of(&self, items: &[(ProductId, i64)]) -> OpenCheckout {
        let items = items.iter().map(|(product, units)| Item {
            product: *product,
            quantity: Quantity::new(*units).unwrap(),
        });
        OpenCheckout {
            cart: None,
            branch: self.bogota.id,
            items: items.collect(),
            customer: None,
            coupons: Vec::new(),
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: PaymentMethod::Online,
        }
    }

    pub(crate) async fn hold(
        &self,
        key: &str,
        items: &[(ProductId, i64)],
    ) -> Result<Arc<Checkout>, Error> {
        let command = self.checkout_of(items);
        let done = self.engine.open_checkout(&self.owner, key, command).await;
        done.map(|done| done.value)
    }

    pub(crate) fn completion(&self, checkout: &Checkout) -> OrderCheckout {
        OrderCheckout {
            checkout: checkout.id,
            customer: BuyerChoice::Unnamed,
            note: None,
            expected_total: None,
        }
    }

    pub(crate) async fn complete(
        &self,
        key: &str,
        checkout: &Checkout,
    ) -> Result<Done<Arc<Order>>, Error> {
        let command = self.completion(checkout);
        self.engine.order_checkout(&self.owner, key, command).await
    }

    /// A customer of the business, and the context in which it buys.
    pub(crate) async fn customer(&self, name: &str) -> (Arc<Customer>, Context) {
        let command = NewCustomer {
            name: name.into(),
            phone: None,
            email: None,
            email_verified_at: None,
        };
        let customer = self.engine.create_customer(&self.owner, command).await;
        let customer = customer.unwrap();
        let mut context = self.role(Role::Customer, None);
        context.principal.customer = Some(customer.id);
        (customer, context)
    }

    /// An order to be paid online, of a checkout of its own.
    pub(crate) async fn unpaid(&self, key: &str, product: ProductId, units: i64) -> Arc<Order> {
        let hold = format!("{key}-hold");
        let checkout = self.hold(&hold, &[(product, units)]).await.unwrap();
        let order = self.complete(&format!("{key}-order"), &checkout).await;
        order.unwrap().value
    }

    pub(crate) async fn pay(&self, key: &str, order: OrderId) -> Result<Arc<Payment>, Error> {
        let command = StartPayment {
            order,
            provider: Provider::Sandbox,
            return_url: None,
        };
        let done = self.engine.start_payment(&self.owner, key, command).await;
        done.map(|done| done.value)
    }

    pub(crate) async fn tell(
        &self,
        event_id: &str,
        payment: &Payment,
        kind: NewsKind,
        amount: Amount,
    ) -> Result<EventFate, Error> {
        let message = message(event_id, payment, kind, amount);
        self.tell_raw(self.business(), message).await
    }

    pub(crate) async fn tell_raw(
        &self,
        business: BusinessId,
        message: ProviderMessage,
    ) -> Result<EventFate, Error> {
        self.engine.receive_payment_event(business, message).await
    }

    pub(crate) async fn refund(&self, key: &str, order: OrderId, minor: i64) -> Result<(), Error> {
        let command = RequestRefund {
            order,
            amount: Amount::from_minor(minor).unwrap(),
        };
        let done = self.engine.request_refund(&self.owner, key, command).await;
        done.map(|_| ())
    }

    pub(crate) async fn order_now(&self, id: OrderId) -> Arc<Order> {
        self.engine.order(&self.owner, id).await.unwrap()
    }

    pub(crate) async fn attempts_now(&self, id: OrderId) -> Vec<Arc<Payment>> {
        let page = abasto_store::query::Page {
            after: None,
            limit: 200,
        };
        self.engine.payments(&self.owner, id, page).await.unwrap()
    }

    pub(crate) fn later(&self, by_ms: i64) {
        self.engine.clock().advance(by_ms);
    }

    /// Everything that must always hold does.
    pub(crate) async fn audit(&self) {
        let report = audit(&*self.store.store, self.business()).await.unwrap();
        assert!(report.is_clean(), "{report}");
    }
}

pub(crate) fn message(
    event_id: &str,
    payment: &Payment,
    kind: NewsKind,
    amount: Amount,
) -> ProviderMessage {
    ProviderMessage {
        provider: payment.provider,
        event_id: event_id.into(),
        provider_ref: payment.provider_ref.clone().unwrap(),
        news: News {
            kind,
            amount,
            currency: Currency::parse("COP").unwrap(),
            refund: None,
            occurred_at: Timestamp::from_millis(1),
        },
    }
}
