//! The indexes of carts and of what is in them.
//!
//! Owns nothing but the entries; their meaning is in the module above.

use super::catalogue::{sorted, unique, up};
use super::sale::{ALL_DUE, DUE};
use super::{Collection, Condition, Index, Purpose, Shape};
use crate::record::Unique;

/// The entries.
pub(super) const CART: &[Index] = &[
    unique(
        Collection::Carts,
        "uq_carts_active",
        &[up("businessId"), up("activeFor")],
        &[Purpose::Claim(Unique::ActiveCart)],
        "domain::cart",
    )
    .only(Condition::Present("activeFor")),
    sorted(
        Collection::Carts,
        "carts_due",
        ALL_DUE,
        &[Purpose::Read("Store::due, carts of all businesses")],
    )
    .only(Condition::Present("dueAt")),
    sorted(
        Collection::Carts,
        "carts_business_due",
        DUE,
        &[Purpose::Read("Store::due, carts of a business")],
    )
    .only(Condition::Present("dueAt")),
    unique(
        Collection::CartStates,
        "uq_cart_states_cart",
        &[up("businessId"), up("cartId")],
        &[
            Purpose::Rule("one state per cart"),
            Purpose::Read("Store::cart_content, the state"),
        ],
        "store::cart",
    ),
    unique(
        Collection::CartAppends,
        "uq_cart_appends_dot",
        &[up("businessId"), up("cartId"), up("rid"), up("sequence")],
        &[
            Purpose::Rule("an edit of a cart is kept once"),
            Purpose::Read("Store::cart_content, the edits"),
        ],
        "store::cart",
    ),
    unique(
        Collection::CartLogs,
        "uq_cart_logs_entry",
        &[up("businessId"), up("cartId"), up("at"), up("_id")],
        &[
            Purpose::Rule("an entry of a history is kept once"),
            Purpose::List(Shape::CartLog),
        ],
        "store::cart",
    ),
];
