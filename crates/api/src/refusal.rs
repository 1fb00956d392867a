//! From an outcome of the engine to a problem: the only place that gives outcomes a status.
//!
//! Owns which facts go with which refusal, and who may see them.

use abasto_domain::access::Permission;
use abasto_domain::checkout::CheckoutStatus;
use abasto_domain::currency::Currency;
use abasto_domain::id::OrderId;
use abasto_domain::money::Amount;
use abasto_domain::order::{OverLimit, Refused};
use abasto_domain::order_payment::PayRejection;
use abasto_domain::order_return::ReturnRejection;
use abasto_domain::order_state::{InvalidTransition, Status};
use abasto_domain::product::Unsellable;
use abasto_domain::stock::Shortage;
use abasto_engine::Error;
use abasto_store::record::{Claim, Document, Unique};
use abasto_store::tally::{TallyKey, TallyKind};
use abasto_store::verdict::ShortLevel;
use serde_json::{Value, json};

use crate::auth::Caller;
use crate::problem::{Code, Problem};
use crate::value::Money;
use crate::{
    api_key, branch, business, cart_refusal, coupon, customer, inventory, member, order, product,
};

impl Caller {
    /// The problem of a refused use case, with the facts that this caller may see.
    pub(crate) fn problem(&self, error: Error) -> Problem {
        match error {
            Error::VersionMismatch(document) => version_mismatch(&document, self.currency),
            Error::InsufficientStock(short) => {
                let sees = self.context.principal.may(Permission::SeeAvailability);
                insufficient_stock(&short, sees)
            }
            Error::PriceChanged { expected, actual } => {
                price_changed(expected, actual, self.currency)
            }
            Error::RefundExceeds { refundable } => Problem::new(
                Code::RefundExceeds,
                "More is asked back than was captured and is still there. Nothing was done.",
            )
            .with("refundable", json!(Money::show(refundable, self.currency))),
            error => error.into(),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let new = Problem::new;
        match error {
            Error::NotFound => Problem::not_found(),
            Error::Forbidden => new(
                Code::Forbidden,
                "The role of this credential does not allow this, or not at this branch.",
            ),
            Error::Invalid(faults) => Problem::validation(&faults),
            Error::KeyReused => new(
                Code::IdempotencyKeyReuse,
                "This Idempotency-Key stands for another request. Nothing was done.",
            ),
            Error::Taken(claim) => taken(&claim),
            Error::LastOwner => new(
                Code::LastOwner,
                "This is the only owner of the business. Nothing was done.",
            ),
            Error::StockChanged(level) => new(
                Code::StockChanged,
                "The level moved since the version that was counted against.",
            )
            .with("current", json!(inventory::LevelDocument::from(&*level))),
            Error::BelowReserved(level) => new(
                Code::BelowReserved,
                "Fewer units were counted than orders have reserved.",
            )
            .with("current", json!(inventory::LevelDocument::from(&*level))),
            Error::BranchInactive => new(Code::BranchInactive, "The branch takes no orders now."),
            Error::ProductUnavailable(refused) => unavailable_products(&refused),
            Error::OverLimit(over) => over_limit(&over),
            Error::CouponRefused(code, why) => new(
                Code::CouponRefused,
                "A coupon cannot be used for this order. Nothing was done.",
            )
            .with("coupon", json!(code))
            .with("reason", why.code()),
            Error::Exhausted(key) => exhausted(key),
            Error::CheckoutEnded { status, order } => checkout_ended(status, order),
            Error::NotPayable(why) => not_payable(why),
            Error::NotReturnable(why) => not_returnable(&why),
            Error::InvalidTransition(transition) => invalid_transition(&transition),
            Error::Cart(refusal) => cart_refusal::problem(refusal),
            Error::Contended | Error::Overloaded => Problem::overloaded(),
            Error::Unavailable(why) => {
                tracing::warn!(target: "abasto::store", why, "the store is unavailable");
                new(
                    Code::Unavailable,
                    "The store cannot be used now. Nothing was done.",
                )
                .with_retry_after(5)
            }
            Error::OutcomeUnknown => new(
                Code::OutcomeUnknown,
                "It is not known whether this was done. Send it again with the same \
                 Idempotency-Key, or look.",
            )
            .with_retry_after(1),
            Error::VersionMismatch(_)
            | Error::InsufficientStock(_)
            | Error::RefundExceeds { .. }
            | Error::PriceChanged { .. } => {
                tracing::error!(target: "abasto::defect", "a refusal without its caller");
                Problem::internal()
            }
            Error::Internal(source) => {
                let source: &dyn std::error::Error = source.as_ref();
                tracing::error!(target: "abasto::defect", error = %chain(source), "a use case failed");
                Problem::internal()
            }
        }
    }
}

/// An error with its causes, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn version_mismatch(document: &Document, currency: Currency) -> Problem {
    let current = match document {
        Document::Business(record) => json!(business::BusinessView::from(&**record)),
        Document::Branch(record) => json!(branch::BranchView::from(&**record)),
        Document::Member(record) => json!(member::MemberView::from(&**record)),
        Document::ApiKey(record) => json!(api_key::KeyView::from(&**record)),
        Document::Product(record) => json!(product::ProductView::new(record, currency)),
        Document::Customer(record) => json!(customer::CustomerView::from(&**record)),
        Document::Order(record) => json!(order::OrderView::from(&**record)),
        Document::Coupon(record) => json!(coupon::CouponView::new(record, currency)),
        Document::Checkout(_)
        | Document::Cart(_)
        | Document::Payment(_)
        | Document::PaymentEvent(_)
        | Document::OrderReturn(_) => Value::Null,
    };
    Problem::new(
        Code::VersionMismatch,
        "If-Match names another version than the present one. Nothing was done.",
    )
    .with("currentVersion", document.version())
    .with("current", current)
}

/// A shortage of available units is the caller's business. A shortage of reserved ones would be a
/// defect, and one of range is a fault of the input.
fn insufficient_stock(short: &[ShortLevel], sees_availability: bool) -> Problem {
    let is = |why| short.iter().any(|level| level.why == why);
    if is(Shortage::Reserved) {
        tracing::error!(target: "abasto::defect", "reserved units are missing");
        return Problem::internal();
    }
    if is(Shortage::Overflow) {
        let errors = json!([{"pointer": "/items", "code": "overflow",
            "message": "the level would be out of range"}]);
        return Problem::new(Code::Validation, "The input has faults; see errors.")
            .with("errors", errors);
    }
    let items = short.iter().map(|level| {
        let mut item = json!({
            "productId": level.place.product,
            "requested": level.available.saturating_neg(),
        });
        if sees_availability {
            let available = level.level.map_or(0, |level| level.available);
            item["available"] = available.into();
        }
        item
    });
    Problem::new(
        Code::InsufficientStock,
        "Not all units are available. Nothing was reserved.",
    )
    .with("items", items.collect::<Vec<Value>>())
}

fn price_changed(expected: Amount, actual: Amount, currency: Currency) -> Problem {
    Problem::new(
        Code::PriceChanged,
        "The total is not the expected one. Nothing was done.",
    )
    .with("expectedTotal", json!(Money::show(expected, currency)))
    .with("actualTotal", json!(Money::show(actual, currency)))
    .with("old", json!(Money::show(expected, currency)))
    .with("new", json!(Money::show(actual, currency)))
}

fn taken(claim: &Claim) -> Problem {
    let (code, detail) = match claim.rule {
        // Another request of the customer was first on every try.
        Unique::ActiveCart => return Problem::overloaded(),
        Unique::BranchCode => (Code::DuplicateCode, "Another branch has this code."),
        Unique::ActiveMember => (
            Code::DuplicateMember,
            "The user is an active member already.",
        ),
        Unique::Sku => (Code::DuplicateSku, "Another product has this sku."),
        Unique::Phone => (
            Code::DuplicatePhone,
            "Another customer has this phone number.",
        ),
        Unique::VerifiedEmail => (
            Code::DuplicateEmail,
            "Another customer has this address, verified.",
        ),
        Unique::CouponCode => (Code::DuplicateCoupon, "Another coupon has this code."),
        Unique::OrderOfCheckout | Unique::OrderOfCart | Unique::OpenCheckout => (
            Code::CheckoutEnded,
            "There is an order, or an open checkout, of this already.",
        ),
        Unique::ProviderReference | Unique::ProviderEvent => {
            tracing::error!(target: "abasto::defect", rule = ?claim.rule, "a provider's name is taken");
            return Problem::internal();
        }
    };
    Problem::new(code, detail)
}

fn checkout_ended(status: CheckoutStatus, order: Option<OrderId>) -> Problem {
    Problem::new(
        Code::CheckoutEnded,
        "The checkout is not open any more. Nothing was done.",
    )
    .with("checkoutStatus", status.name())
    .with("orderId", json!(order))
}

fn not_payable(why: PayRejection) -> Problem {
    match why {
        PayRejection::NotPayable(status) => Problem::new(
            Code::NotPayable,
            "The order does not wait for an online payment. Nothing was done.",
        )
        .with("orderStatus", status.name()),
        PayRejection::TooManyAttempts => Problem::new(
            Code::NotPayable,
            "There were too many attempts to pay the order. Nothing was done.",
        ),
    }
}

fn exhausted(key: TallyKey) -> Problem {
    match key.kind {
        TallyKind::OpenCheckouts => Problem::new(
            Code::TooManyCheckouts,
            "So many checkouts are open already; abandon one or wait until one ends.",
        ),
        TallyKind::Redemptions => Problem::new(
            Code::CouponRefused,
            "The coupon was used as often as it may be. Nothing was done.",
        )
        .with("reason", "coupon-exhausted"),
    }
}

fn not_returnable(why: &ReturnRejection) -> Problem {
    match why {
        ReturnRejection::NotDispatched(status) => Problem::new(
            Code::NotReturnable,
            "Only orders that were dispatched can be returned. Nothing was done.",
        )
        .with("orderStatus", status.name()),
        ReturnRejection::TooMany => Problem::new(
            Code::NotReturnable,
            "The order had as many returns as it may have. Nothing was done.",
        ),
        ReturnRejection::NothingLeft(left) => {
            let items = left
                .iter()
                .map(|(product, left)| json!({"productId": product, "left": left}));
            Problem::new(
                Code::NothingLeftToReturn,
                "More units than were sold and have not come back. Nothing was done.",
            )
            .with("items", items.collect::<Vec<Value>>())
        }
    }
}

fn unavailable_products(refused: &[Refused]) -> Problem {
    let items = refused.iter().map(|refused| {
        let reason = match refused.why {
            Unsellable::Deleted => "deleted",
            Unsellable::Inactive => "inactive",
            Unsellable::NotAtBranch => "not-at-branch",
        };
        json!({"productId": refused.product, "reason": reason})
    });
    Problem::new(
        Code::ProductUnavailable,
        "Some products cannot be sold here now. Nothing was done.",
    )
    .with("items", items.collect::<Vec<Value>>())
}

fn over_limit(over: &[OverLimit]) -> Problem {
    let items = over.iter().map(|over| {
        json!({
            "productId": over.product,
            "requested": over.requested.units(),
            "maxPerOrder": over.limit.units(),
        })
    });
    Problem::new(
        Code::MaxPerOrder,
        "Some products have a limit per order. Nothing was done.",
    )
    .with("items", items.collect::<Vec<Value>>())
}

fn invalid_transition(transition: &InvalidTransition) -> Problem {
    let allowed = transition.from.allowed().iter().copied().map(Status::name);
    Problem::new(
        Code::InvalidTransition,
        "The state of the order does not allow this step. Nothing was done.",
    )
    .with("from", transition.from.name())
    .with("to", transition.to.name())
    .with("allowed", allowed.collect::<Vec<_>>())
}
