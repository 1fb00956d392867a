//! Every bound of the contract in one table, published at `GET /v1/limits`.
//!
//! Owns the numbers. Must not enforce them: the parsers of each noun do.

use crate::text::{Lines, TextBound};

const fn line(min_chars: usize, max_chars: usize) -> TextBound {
    TextBound {
        min_chars,
        max_chars,
        lines: Lines::One,
    }
}

/// Quantities are 1 to this many.
pub const QUANTITY_MAX: i64 = 1_000_000;
/// Most lines of one order.
pub const ORDER_LINES_MAX: usize = 200;
/// Most items of one adjustment, count or transfer.
pub const STOCK_ITEMS_MAX: usize = 200;
/// Most coupons of one checkout or order.
pub const COUPONS_PER_ORDER_MAX: usize = 5;
/// Most open checkouts of one customer: nobody empties the shelf by holding it.
pub const HOLDS_PER_CUSTOMER_MAX: i64 = 5;
/// Most open checkouts for guests under one credential.
pub const GUEST_HOLDS_MAX: i64 = 10_000;
/// Most attempts to pay one order.
pub const PAYMENTS_PER_ORDER_MAX: usize = 20;
/// Most refunds of one attempt.
pub const REFUNDS_PER_PAYMENT_MAX: usize = 50;
/// Most returns of one order.
pub const RETURNS_PER_ORDER_MAX: usize = 50;
/// Most rows of one product import.
pub const IMPORT_ROWS_MAX: usize = 100_000;
/// Most branches that one product, member or key lists.
pub const BRANCH_LIST_MAX: usize = 200;
/// Most attributes of a product.
pub const ATTRIBUTES_MAX: usize = 50;
/// Rows of a page: least, default, most.
pub const PAGE_ROWS: (u32, u32, u32) = (1, 50, 200);
/// Largest request body in bytes (imports are streamed and have their own bound on rows).
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Largest line of an import in bytes.
pub const IMPORT_LINE_BYTES_MAX: usize = 64 * 1024;
/// Characters of an idempotency key.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// Largest amount in minor units: money stays exact far below the end of a 64-bit integer.
pub const AMOUNT_MINOR_MAX: i64 = 1_000_000_000_000_000;

/// A name of a business, branch, product, customer or key.
pub const NAME: TextBound = line(1, 200);
/// A stock keeping unit.
pub const SKU: TextBound = line(1, 64);
/// A note on an order.
pub const NOTE: TextBound = TextBound {
    min_chars: 0,
    max_chars: 1000,
    lines: Lines::Many,
};
/// A reason for a cancellation.
pub const REASON: TextBound = line(1, 200);
/// What a payment provider calls an attempt or a message.
pub const PROVIDER_REFERENCE: TextBound = line(1, 255);
/// Where a buyer goes after paying.
pub const URL: TextBound = line(1, 2000);
/// A reference to a document outside (delivery note, invoice).
pub const REFERENCE: TextBound = line(1, 100);
/// A user's id at the identity provider.
pub const USER_ID: TextBound = line(1, 128);
/// An e-mail address.
pub const EMAIL: TextBound = line(3, 254);
/// A delivery address, one value.
pub const ADDRESS: TextBound = TextBound {
    min_chars: 1,
    max_chars: 500,
    lines: Lines::Many,
};
/// The name of an attribute.
pub const ATTRIBUTE_NAME: TextBound = line(1, 64);
/// The value of an attribute.
pub const ATTRIBUTE_VALUE: TextBound = line(0, 500);
/// A search text.
pub const SEARCH: TextBound = line(1, 100);
