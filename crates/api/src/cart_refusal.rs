//! From a refused edit of a cart to a problem.
//!
//! Owns which facts go with which refusal.

use abasto_domain::id::CartId;
use abasto_engine::cart::CartRefusal;
use serde_json::json;

use crate::cart_document::{CartDocument, CartProblem};
use crate::problem::{Code, Problem};
use crate::time;

/// Seconds after which a contended cart is worth another try.
const CONTENTION_RETRY_S: u64 = 1;

pub(crate) fn problem(refusal: CartRefusal) -> Problem {
    match refusal {
        CartRefusal::Ended { status, successor } => Problem::new(
            Code::CartSealed,
            "The cart takes no operations any more. Send them to its successor.",
        )
        .with("status", status.name())
        .with(
            "successor",
            json!(successor.map(|id: CartId| id.to_string())),
        ),
        CartRefusal::DotReused { sequence } => Problem::new(
            Code::DotReuse,
            "The device used this number for another operation. Lease a new device.",
        )
        .with("seq", sequence),
        CartRefusal::Limit(bound) => Problem::new(
            Code::CartLimit,
            "The cart would exceed a bound. Nothing was done.",
        )
        .with("bound", bound),
        CartRefusal::ClockSkew { ahead_ms, now_ms } => Problem::new(
            Code::ClockSkew,
            "The time of the operation is too far in the future. Nothing was done.",
        )
        .with("aheadMs", ahead_ms)
        .with(
            "serverTime",
            time::show(abasto_domain::time::Timestamp::from_millis(now_ms)),
        ),
        CartRefusal::BadTag(at) => Problem::new(
            Code::BadTag,
            "The tag was not made by this cart, or not for this.",
        )
        .with("pointer", format!("/ops/{at}/tag")),
        CartRefusal::NoSuchLine(at) => Problem::new(
            Code::NoSuchLine,
            "The operation is about a line that is not in the cart.",
        )
        .with("pointer", format!("/ops/{at}/line")),
        CartRefusal::Contention => Problem::new(
            Code::CartContention,
            "Too many others change this cart. Nothing was done.",
        )
        .with_retry_after(CONTENTION_RETRY_S),
        CartRefusal::NeedsLook(problems) => Problem::new(
            Code::CartNeedsLook,
            "The cart shows something else than what was put in. Nothing was done.",
        )
        .with(
            "problems",
            json!(
                problems
                    .into_iter()
                    .map(CartProblem::from)
                    .collect::<Vec<_>>()
            ),
        ),
        CartRefusal::Stale(view) => {
            let version = view.version.unwrap_or_default();
            Problem::new(
                Code::VersionMismatch,
                "If-Match names another version than the present one. Nothing was done.",
            )
            .with("currentVersion", version)
            .with("current", json!(CartDocument::from(*view)))
        }
    }
}
