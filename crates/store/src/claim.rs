//! Claims and terms: what a document alone may have, and when it wants to be looked at again.
//!
//! Owns the rules of uniqueness. Must not look anything up.

use abasto_domain::checkout::CheckoutStatus;
use abasto_domain::order_state::Status;
use abasto_domain::payment::Provider;
use abasto_domain::time::Timestamp;

use crate::record::{Document, Kind};

impl Document {
    /// What no other document of the business may have at the same time.
    pub fn claims(&self) -> Vec<Claim> {
        let claim = |rule, value: &str| Claim {
            rule,
            value: value.to_owned(),
        };
        match self {
            Self::Business(_) | Self::ApiKey(_) => Vec::new(),
            Self::Branch(branch) => vec![claim(Unique::BranchCode, branch.code.as_str())],
            Self::Member(member) if member.active => {
                vec![claim(Unique::ActiveMember, &member.user_id)]
            }
            Self::Member(_) => Vec::new(),
            Self::Product(product) if product.deleted_at.is_none() => {
                vec![claim(Unique::Sku, &product.sku)]
            }
            Self::Product(_) => Vec::new(),
            Self::Customer(customer) => {
                let phone = customer
                    .phone
                    .as_deref()
                    .map(|phone| claim(Unique::Phone, phone));
                let email = customer.verified_email_key();
                let email = email.map(|email| claim(Unique::VerifiedEmail, &email));
                phone.into_iter().chain(email).collect()
            }
            // Numbers come from the series of the commit and need no look-up; the unique index
            // stands behind them.
            Self::Order(order) => {
                let checkout = order.checkout.map(|id| id.to_string());
                let checkout = checkout.map(|id| claim(Unique::OrderOfCheckout, &id));
                let cart = order.cart.map(|id| id.to_string());
                let cart = cart.map(|id| claim(Unique::OrderOfCart, &id));
                checkout.into_iter().chain(cart).collect()
            }
            Self::Checkout(checkout) if checkout.status == CheckoutStatus::Open => {
                let cart = checkout.cart.map(|id| id.to_string());
                let cart = cart.map(|id| claim(Unique::OpenCheckout, &id));
                cart.into_iter().collect()
            }
            Self::Checkout(_) | Self::OrderReturn(_) => Vec::new(),
            Self::Coupon(coupon) => vec![claim(Unique::CouponCode, coupon.code.as_str())],
            Self::Payment(payment) => {
                let reference = payment.provider_ref.as_deref();
                let named = reference.map(|it| provider_claim_value(payment.provider, it));
                let named = named.map(|value| claim(Unique::ProviderReference, &value));
                named.into_iter().collect()
            }
            Self::Cart(cart) => {
                let active = cart.active_key();
                let value = active.map(|(customer, branch)| format!("{customer}:{branch}"));
                let active = value.map(|value| claim(Unique::ActiveCart, &value));
                active.into_iter().collect()
            }
            Self::PaymentEvent(event) => {
                let (provider, id) = (event.message.provider, &event.message.event_id);
                vec![claim(
                    Unique::ProviderEvent,
                    &provider_claim_value(provider, id),
                )]
            }
        }
    }

    /// When the document wants to be looked at again, whoever comes first: a hold or a reservation
    /// that ends, a call that is to be made, a message that waits.
    pub fn due_at(&self) -> Option<Timestamp> {
        match self {
            Self::Checkout(checkout) => {
                let open = checkout.status == CheckoutStatus::Open;
                open.then_some(checkout.hold_expires_at)
            }
            Self::Order(order) => {
                let waits = order.status == Status::PendingPayment;
                order.reservation_expires_at.filter(|_| waits)
            }
            Self::Payment(payment) => payment.call.due_at,
            Self::PaymentEvent(event) => event.due_at,
            Self::Cart(cart) => cart.due_at,
            _ => None,
        }
    }
}

/// The value of a claim on what a provider calls something.
pub fn provider_claim_value(provider: Provider, name: &str) -> String {
    format!("{}:{name}", provider.name())
}

/// The rules of uniqueness that a caller can run into. Each is a unique index in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unique {
    /// A branch's code.
    BranchCode,
    /// One active membership per user.
    ActiveMember,
    /// A sku among products that are not deleted.
    Sku,
    /// A customer's phone number.
    Phone,
    /// A verified e-mail address, normalised.
    VerifiedEmail,
    /// One order per checkout.
    OrderOfCheckout,
    /// One order per sealed cart.
    OrderOfCart,
    /// One open checkout per cart.
    OpenCheckout,
    /// A coupon's code.
    CouponCode,
    /// What a provider calls an attempt to pay: the provider's name, a colon, its reference.
    ProviderReference,
    /// A message of a provider: the provider's name, a colon, its id.
    ProviderEvent,
    /// One active cart of a customer per branch: the two ids with a colon between them.
    ActiveCart,
}

impl Unique {
    /// The kind of document that holds claims under the rule.
    pub const fn kind(self) -> Kind {
        match self {
            Self::BranchCode => Kind::Branch,
            Self::ActiveMember => Kind::Member,
            Self::Sku => Kind::Product,
            Self::Phone | Self::VerifiedEmail => Kind::Customer,
            Self::OrderOfCheckout | Self::OrderOfCart => Kind::Order,
            Self::OpenCheckout => Kind::Checkout,
            Self::CouponCode => Kind::Coupon,
            Self::ProviderReference => Kind::Payment,
            Self::ProviderEvent => Kind::PaymentEvent,
            Self::ActiveCart => Kind::Cart,
        }
    }
}

/// A value that one document holds under a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The rule.
    pub rule: Unique,
    /// The normalised value.
    pub value: String,
}
