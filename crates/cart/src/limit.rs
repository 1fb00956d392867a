//! The bounds of a cart, in one place.
//!
//! Owns numbers only. Some are enforced by constructors ([`MAX_QUANTITY`]), some when an
//! operation is admitted ([`MAX_LINES`]), some only shown in the view ([`ADVISED_LINES`]),
//! because a join may never refuse: two carts that are each within bounds can exceed one together.

use crate::line_key::LineKey;
use crate::value::Quantity;

/// Largest quantity that one operation may name.
pub const MAX_QUANTITY: u32 = 1_000_000;
/// Units of one line that a cart shows when the product says nothing else.
pub const DEFAULT_LINE_CAP: u32 = 999;
/// Visible lines above which the view reports a problem.
pub const ADVISED_LINES: usize = 200;
/// Visible lines above which an operation that adds one is refused.
pub const MAX_LINES: usize = 500;
/// Coupons above which an operation that adds one is refused.
pub const MAX_COUPONS: usize = 10;
/// Attribute names on one line above which an operation that adds one is refused.
pub const MAX_ATTRIBUTES: usize = 16;
/// Field names above which an operation that adds one is refused.
pub const MAX_FIELDS: usize = 16;
/// Live quantity dots of one line from which [`crate::Cart::collapse`] makes one of them.
pub const MAX_LINE_DOTS: usize = 64;
/// Line instances that one entry names; the greatest stay when more were observed.
pub const MAX_INSTANCES: usize = 64;
/// Dots above a gap that a cart holds before it refuses their sender.
pub const MAX_CLOUD_DOTS: usize = 256;
/// Devices that may name their own operations on one cart.
pub const MAX_DEVICES: usize = 32;
/// How far a device may number ahead of what the receiver has seen of it.
pub const MAX_SEQ_AHEAD: u64 = 256;
/// Largest sequence number: the largest integer that JSON readers keep exactly.
pub const MAX_SEQ: u64 = (1 << 53) - 1;
/// Operations in one patch.
pub const MAX_PATCH_OPERATIONS: usize = 50;
/// How far a device's clock may be ahead of the receiver's.
pub const MAX_DEVICE_CLOCK_AHEAD_MS: u64 = 60_000;
/// How far another region's clock may be ahead of ours.
pub const MAX_REGION_CLOCK_AHEAD_MS: u64 = 500;
/// Bytes of a name: a coupon code, a field, an attribute, an option.
pub const MAX_NAME_BYTES: usize = 64;
/// Bytes of a value: a note, an address, the value of an attribute.
pub const MAX_TEXT_BYTES: usize = 4096;
/// Bytes of a line key in its text form.
pub const MAX_LINE_KEY_BYTES: usize = 256;
/// Approximate bytes of a cart above which operations that make it larger are refused.
pub const MAX_CART_BYTES: usize = 256 * 1024;
/// Dots whose operations a region remembers per device, to recognise a dot used twice.
pub const MAX_REMEMBERED_DOTS: usize = 256;

/// The cap of a line whose product names none.
#[must_use]
pub fn default_cap(_line: &LineKey) -> Quantity {
    Quantity::DEFAULT_CAP
}
