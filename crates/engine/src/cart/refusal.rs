//! Why an edit of a cart is refused.
//!
//! Owns the closed set and its sentences. Must not know HTTP.

use abasto_cart::{DotRefusal, OperationError};
use abasto_domain::cart::{Cart, CartStatus, MergeRejection};
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::CartId;

use super::view::{CartView, ViewProblem};
use crate::error::Error;

/// Why an edit of a cart was refused. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CartRefusal {
    /// The cart takes no edits any more; what was sent goes to the successor.
    #[error("the cart has ended")]
    Ended {
        /// How.
        status: CartStatus,
        /// The cart that goes on in its place.
        successor: Option<CartId>,
    },
    /// The device used this number for another operation: lease a new name.
    #[error("the device used this number before")]
    DotReused {
        /// The number.
        sequence: u64,
    },
    /// The cart would exceed a bound.
    #[error("the cart would exceed its bound of {0}")]
    Limit(&'static str),
    /// The device's clock is ahead of this one.
    #[error("the clock is {ahead_ms} ms ahead")]
    ClockSkew {
        /// By how much.
        ahead_ms: u64,
        /// The time here, in milliseconds since 1970.
        now_ms: i64,
    },
    /// The tag was not made for this, or not by this cart.
    #[error("the tag of operation {0} is not valid")]
    BadTag(usize),
    /// The operation is about a line that its author did not see.
    #[error("the line of operation {0} is not in the cart")]
    NoSuchLine(usize),
    /// Too many others changed the cart at the same time.
    #[error("too many others change this cart")]
    Contention,
    /// What is shown is not what was put in: the shopper looks first.
    #[error("the cart has problems that the shopper must look at")]
    NeedsLook(Vec<ViewProblem>),
    /// The caller saw another version than the present one.
    #[error("the version is not the present one")]
    Stale(Box<CartView>),
}

impl From<CartRefusal> for Error {
    fn from(refusal: CartRefusal) -> Self {
        Self::Cart(refusal)
    }
}

pub(super) fn ended(cart: &Cart) -> Error {
    Error::Cart(CartRefusal::Ended {
        status: cart.status,
        successor: cart.successor,
    })
}

pub(super) fn bad_context() -> Error {
    const INVALID: InvalidValue =
        InvalidValue::new("invalid-context", "a ctx that a view of this cart carried");
    Error::fault("/minCtx", INVALID)
}

pub(super) fn of_dot(refusal: DotRefusal) -> Error {
    Error::Cart(CartRefusal::Limit(match refusal {
        DotRefusal::TooFarAhead => "numbers ahead",
        DotRefusal::TooManyDevices => "devices",
        DotRefusal::TooManyGaps => "gaps",
    }))
}

/// The refusal of the operation at this index.
pub(super) fn of_operation(at: usize, error: OperationError) -> Error {
    use abasto_cart::Limit;
    Error::Cart(match error {
        OperationError::NoSuchLine => CartRefusal::NoSuchLine(at),
        OperationError::WrongTag => CartRefusal::BadTag(at),
        // The dot was looked at before; whoever took it since is found by deciding again.
        OperationError::UsedDot => return Error::Contended,
        OperationError::Limit(limit) => CartRefusal::Limit(match limit {
            Limit::Quantity => "units of a line",
            Limit::Lines => "lines",
            Limit::Coupons => "coupons",
            Limit::Attributes => "attributes of a line",
            Limit::Fields => "fields",
            Limit::Bytes => "bytes",
            Limit::Operations => "operations",
        }),
    })
}

pub(super) fn of_merge(rejection: MergeRejection, source: &Cart, target: &Cart) -> Error {
    const ITSELF: InvalidValue = InvalidValue::new("same-cart", "another cart than this one");
    const BRANCH: InvalidValue = InvalidValue::new("other-branch", "a cart of the same branch");
    const CUSTOMER: InvalidValue = InvalidValue::new(
        "other-customer",
        "a guest's cart, or one of the same customer",
    );
    match rejection {
        MergeRejection::Itself => Error::fault("/from", ITSELF),
        MergeRejection::OtherBranch => Error::fault("/from", BRANCH),
        MergeRejection::OtherCustomer => Error::fault("/from", CUSTOMER),
        MergeRejection::TargetEnded => ended(target),
        MergeRejection::SourceEnded => ended(source),
        MergeRejection::TooMany => Error::Contended,
    }
}
