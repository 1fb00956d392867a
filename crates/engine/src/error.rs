//! Why a use case did not do what was asked.
//!
//! Owns the closed set of outcomes; the API maps each to a status in one place. Must not know
//! HTTP.

use abasto_domain::checkout::CheckoutStatus;
use abasto_domain::coupon::{CouponCode, CouponRefusal};
use abasto_domain::fault::Fault;
use abasto_domain::id::OrderId;
use abasto_domain::money::Amount;
use abasto_domain::order::{OverLimit, Refused};
use abasto_domain::order_payment::PayRejection;
use abasto_domain::order_return::ReturnRejection;
use abasto_domain::order_state::InvalidTransition;
use abasto_store::StoreError;
use abasto_store::record::{Claim, Document};
use abasto_store::tally::TallyKey;
use abasto_store::verdict::ShortLevel;

use crate::level::LevelView;

/// The outcome of a use case that failed. Nothing was written, except with
/// [`Error::OutcomeUnknown`], where the same idempotency key finds out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such thing in the caller's business and sight.
    #[error("not found")]
    NotFound,
    /// The caller's role does not allow it.
    #[error("the role does not allow this")]
    Forbidden,
    /// The input breaks rules that need more than the input to check.
    #[error("the input is not valid")]
    Invalid(Vec<Fault>),
    /// The caller's version is not the present one.
    #[error("the version is not the present one")]
    VersionMismatch(Document),
    /// The idempotency key stands for other content.
    #[error("the idempotency key was used for other content")]
    KeyReused,
    /// Another document holds a value that must be unique.
    #[error("the value is taken")]
    Taken(Claim),
    /// Nobody could manage the business's credentials any more.
    #[error("the last owner stays")]
    LastOwner,
    /// Some levels have too few units.
    #[error("not enough stock")]
    InsufficientStock(Vec<ShortLevel>),
    /// A contended number is at its bound.
    #[error("a limit is reached")]
    Exhausted(TallyKey),
    /// The level moved since the caller read it.
    #[error("the stock level changed")]
    StockChanged(Box<LevelView>),
    /// Fewer units were counted than are reserved.
    #[error("fewer units were counted than are reserved")]
    BelowReserved(Box<LevelView>),
    /// The branch takes no orders.
    #[error("the branch is not active")]
    BranchInactive,
    /// Some products cannot be sold (here, now).
    #[error("some products cannot be sold")]
    ProductUnavailable(Vec<Refused>),
    /// More units of a product than one order may have.
    #[error("more units than one order may have")]
    OverLimit(Vec<OverLimit>),
    /// A coupon cannot be used.
    #[error("a coupon cannot be used")]
    CouponRefused(CouponCode, CouponRefusal),
    /// The total is not what the caller expected.
    #[error("the total changed")]
    PriceChanged {
        /// What the caller expected.
        expected: Amount,
        /// What it is.
        actual: Amount,
    },
    /// The checkout has ended.
    #[error("the checkout has ended")]
    CheckoutEnded {
        /// How.
        status: CheckoutStatus,
        /// The order it became.
        order: Option<OrderId>,
    },
    /// The order does not wait for an online payment, or had too many attempts.
    #[error(transparent)]
    NotPayable(#[from] PayRejection),
    /// More is asked back than is there.
    #[error("more is asked back than is there")]
    RefundExceeds {
        /// What can be given back.
        refundable: Amount,
    },
    /// Units cannot be taken back.
    #[error(transparent)]
    NotReturnable(#[from] ReturnRejection),
    /// The order's state does not allow the step.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
    /// An edit of a cart was refused.
    #[error(transparent)]
    Cart(crate::cart::CartRefusal),
    /// Others changed the same things on every try.
    #[error("too many others change the same things")]
    Contended,
    /// Too much waits already.
    #[error("too much work waits")]
    Overloaded,
    /// The store cannot be used now.
    #[error("the store is unavailable")]
    Unavailable(String),
    /// It may or may not be durable.
    #[error("the outcome is unknown")]
    OutcomeUnknown,
    /// A defect of ours or of the machine.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// One fault at one place.
    pub fn fault(pointer: &str, invalid: abasto_domain::fault::InvalidValue) -> Self {
        Self::Invalid(vec![invalid.at(pointer)])
    }

    /// A defect that has no source error.
    pub fn defect(what: &'static str) -> Self {
        Self::Internal(what.into())
    }

    /// Whether a decision upon fresher reads could come out otherwise.
    pub(crate) fn may_be_stale(&self) -> bool {
        !matches!(
            self,
            Self::Forbidden
                | Self::KeyReused
                | Self::Contended
                | Self::Overloaded
                | Self::Unavailable(_)
                | Self::OutcomeUnknown
                | Self::Internal(_)
        )
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Overloaded,
            StoreError::Unavailable(why) => Self::Unavailable(why),
            StoreError::OutcomeUnknown => Self::OutcomeUnknown,
            corrupt @ StoreError::Corrupt(_) => Self::Internal(Box::new(corrupt)),
            StoreError::Backend(source) => Self::Internal(source),
        }
    }
}
