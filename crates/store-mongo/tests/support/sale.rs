//! One record of each kind of selling: a coupon, a checkout, an attempt, a message, a return.

use abasto_domain::checkout::{Checkout, CheckoutStatus};
use abasto_domain::coupon::{Coupon, CouponCode, Discount};
use abasto_domain::id::{CouponId, OrderId, PaymentEventId, ReturnId};
use abasto_domain::money::Amount;
use abasto_domain::order::{Fulfilment, FulfilmentKind, PaymentMethod};
use abasto_domain::order_return::{Fate, OrderReturn, ReturnedItem};
use abasto_domain::payment::{Payment, PaymentState, Provider};
use abasto_domain::payment_call::CallState;
use abasto_domain::payment_event::{News, NewsKind, PaymentEvent, ProviderMessage};
use abasto_domain::pricing::{price_line, totals};
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::unit::UnitOfWork;

use super::{NOW, Shop, create, id};

impl Shop {
    /// One of each; what belongs to an order belongs to this one.
    pub(crate) fn selling(&self, order: OrderId) -> UnitOfWork {
        let puts = vec![
            create(self.coupon().into()),
            create(self.checkout().into()),
            create(self.attempt(order).into()),
            create(self.message().into()),
            create(self.returned(order).into()),
        ];
        self.unit(puts, Vec::new())
    }

    fn coupon(&self) -> Coupon {
        Coupon {
            business: self.business,
            id: CouponId(id()),
            code: CouponCode::parse("TEMPLATE").expect("a code"),
            discount: Discount::Amount(Amount::from_minor(5).expect("small")),
            products: None,
            min_subtotal: None,
            starts_at: Timestamp::from_millis(1),
            ends_at: Timestamp::from_millis(2),
            max_redemptions: None,
            max_per_customer: None,
            active: true,
            stamp: Stamp::first(NOW),
        }
    }

    fn checkout(&self) -> Checkout {
        let quantity = Quantity::new(2).expect("small");
        let lines = vec![price_line(&self.products[0], quantity).expect("small")];
        let hold = id();
        Checkout {
            seal: None,
            business: self.business,
            id: hold.into(),
            branch: self.branch.id,
            status: CheckoutStatus::Open,
            customer: None,
            holder: id(),
            totals: totals(&lines, Amount::ZERO).expect("small"),
            lines,
            coupons: Vec::new(),
            currency: self.currency,
            fulfilment: Fulfilment {
                kind: FulfilmentKind::Pickup,
                address: None,
                courier: None,
            },
            payment_method: PaymentMethod::Online,
            hold,
            hold_expires_at: NOW,
            cart: None,
            order: None,
            stamp: Stamp::first(NOW),
        }
    }

    fn attempt(&self, order: OrderId) -> Payment {
        Payment {
            business: self.business,
            id: id().into(),
            order,
            provider: Provider::Sandbox,
            provider_ref: Some("template".into()),
            amount: Amount::from_minor(900).expect("small"),
            currency: self.currency,
            state: PaymentState::Created,
            failure: None,
            given_up_at: None,
            refunds: Vec::new(),
            redirect_url: None,
            return_url: None,
            call: CallState::due(NOW),
            stamp: Stamp::first(NOW),
        }
    }

    fn message(&self) -> PaymentEvent {
        let message = ProviderMessage {
            provider: Provider::Sandbox,
            event_id: "template".into(),
            provider_ref: "unknown".into(),
            news: News {
                kind: NewsKind::Captured,
                amount: Amount::from_minor(900).expect("small"),
                currency: self.currency,
                refund: None,
                occurred_at: NOW,
            },
        };
        let event = PaymentEvent::receive(self.business, PaymentEventId(id()), message, NOW);
        PaymentEvent {
            due_at: Some(NOW),
            ..event
        }
    }

    fn returned(&self, order: OrderId) -> OrderReturn {
        OrderReturn {
            business: self.business,
            id: ReturnId(id()),
            order,
            branch: self.branch.id,
            items: vec![ReturnedItem {
                product: self.products[0].id,
                quantity: Quantity::new(1).expect("small"),
                fate: Fate::Restock,
            }],
            reason: "stale".into(),
            stamp: Stamp::first(NOW),
        }
    }
}
