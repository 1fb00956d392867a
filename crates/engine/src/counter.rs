//! The counters of this ring that an alert or a person watches, and their names.
//!
//! Owns that each stands at zero from the start, so that the first rise from nothing shows. Must not
//! know when they rise.

/// Decisions that a commit found stale and that were made anew.
pub(crate) const STALE: &str = "abasto_commit_stale_total";
/// Commands refused because units were missing, by what was asked for (`of`).
pub(crate) const SHORTAGES: &str = "abasto_insufficient_stock_total";
/// Checkouts and unpaid orders that this instance ended because their time was over.
pub(crate) const EXPIRED: &str = "abasto_expired_total";
/// Payments that came when the units were gone, and were sent back.
pub(crate) const SENT_BACK: &str = "abasto_payments_sent_back_total";
/// Calls to a payment provider that were given up.
pub(crate) const CALLS_DEAD: &str = "abasto_payment_calls_dead_total";
/// Messages of a provider that came again.
pub(crate) const MESSAGES_REPEATED: &str = "abasto_payment_events_repeated_total";
/// Messages of a provider for payments that nobody knows.
pub(crate) const MESSAGES_UNRESOLVED: &str = "abasto_payment_events_unresolved_total";
/// Refunds that a provider refused.
pub(crate) const REFUNDS_REFUSED: &str = "abasto_refunds_refused_total";

/// Lets all of them stand at zero.
pub(crate) fn show() {
    for name in [
        STALE,
        EXPIRED,
        SENT_BACK,
        CALLS_DEAD,
        MESSAGES_REPEATED,
        MESSAGES_UNRESOLVED,
        REFUNDS_REFUSED,
    ] {
        metrics::counter!(name).increment(0);
    }
    for of in ["order", "checkout", "stock"] {
        metrics::counter!(SHORTAGES, "of" => of).increment(0);
    }
}
