//! A business: the tenant, its currency and its policies.
//!
//! Owns which settings exist and their ranges. Must not know credentials.

use alloc::string::String;

use crate::currency::Currency;
use crate::fault::InvalidValue;
use crate::id::BusinessId;
use crate::stamp::Stamp;

/// One tenant.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Business {
    /// Its id.
    pub id: BusinessId,
    /// Its name.
    pub name: String,
    /// The one currency of all its amounts; never changes.
    pub currency: Currency,
    /// IANA zone, for reports over all branches.
    pub time_zone: String,
    /// Its policies.
    pub settings: Settings,
    /// Version and times.
    pub stamp: Stamp,
}

/// How carts of a business behave by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CartMode {
    /// Concurrent edits merge; nothing is refused.
    #[default]
    Crdt,
    /// One version; stale edits are re-applied or refused.
    Occ,
    /// An append-only log with snapshots.
    Events,
}

/// The policies of a business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Minutes that a checkout holds stock, 1 to 1440.
    pub hold_minutes: u32,
    /// Minutes that an unpaid online order keeps its reservation, 1 to 10080.
    pub unpaid_order_minutes: u32,
    /// Whether a paid order is confirmed at once.
    pub auto_confirm_paid: bool,
    /// Whether a cancelled order gives its units back when the caller does not say.
    pub restock_on_cancel: bool,
    /// Whether an order that is cancelled before dispatch gives its coupons back.
    #[serde(default = "yes")]
    pub return_coupons_on_cancel: bool,
    /// The mode of new carts.
    pub cart_mode: CartMode,
}

/// What businesses opened before the setting existed have.
const fn yes() -> bool {
    true
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hold_minutes: 10,
            unpaid_order_minutes: 30,
            auto_confirm_paid: false,
            restock_on_cancel: true,
            return_coupons_on_cancel: true,
            cart_mode: CartMode::Crdt,
        }
    }
}

/// Checks the minutes of [`Settings::hold_minutes`].
pub fn hold_minutes(minutes: i64) -> Result<u32, InvalidValue> {
    minutes_within(minutes, 1_440)
}

/// Checks the minutes of [`Settings::unpaid_order_minutes`].
pub fn unpaid_order_minutes(minutes: i64) -> Result<u32, InvalidValue> {
    minutes_within(minutes, 10_080)
}

fn minutes_within(minutes: i64, most: u32) -> Result<u32, InvalidValue> {
    u32::try_from(minutes)
        .ok()
        .filter(|minutes| (1..=most).contains(minutes))
        .ok_or_else(|| InvalidValue {
            code: "out-of-range",
            message: alloc::format!("a whole number of minutes from 1 to {most}").into(),
        })
}
