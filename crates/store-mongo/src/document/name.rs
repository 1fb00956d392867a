//! Names of closed sets as they are stored.
//!
//! Owns the stored names: they outlive any renaming in the code, and the validators list them.

use abasto_domain::access::Role;
use abasto_domain::business::CartMode;
use abasto_domain::coupon::Redemption;
use abasto_domain::order::{FulfilmentKind, PaymentMethod};
use abasto_domain::order_state::{PaymentStatus, Status};
use abasto_domain::stock::{MovementKind, Step};
use abasto_store::record::Kind;
use abasto_store::tally::TallyKind;

/// A closed set whose members have stored names.
pub(crate) trait Named: Copy + 'static {
    /// All of them with their names.
    const ALL: &'static [(Self, &'static str)];

    /// The stored name.
    fn name(self) -> &'static str;

    /// The member of a name.
    fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(value, _)| *value)
    }

    /// All names.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(_, name)| *name).collect()
    }
}

macro_rules! named {
    ($type:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl Named for $type {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$variant, $name)),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),*
                }
            }
        }
    };
}

named!(Role {
    Owner = "owner",
    Manager = "manager",
    Staff = "staff",
    Courier = "courier",
    Customer = "customer",
    Service = "service",
});

named!(CartMode {
    Crdt = "crdt",
    Occ = "occ",
    Events = "events",
});

named!(Status {
    PendingPayment = "pending_payment",
    Pending = "pending",
    Confirmed = "confirmed",
    Preparing = "preparing",
    Dispatched = "dispatched",
    Delivered = "delivered",
    Cancelled = "cancelled",
});

named!(PaymentStatus {
    Unpaid = "unpaid",
    Paid = "paid",
    Failed = "failed",
    PaidUnfulfillable = "paid_unfulfillable",
    PartiallyRefunded = "partially_refunded",
    Refunded = "refunded",
});

named!(Redemption {
    Counted = "counted",
    Returned = "returned",
});

named!(PaymentMethod {
    OnDelivery = "on_delivery",
    Online = "online",
});

named!(FulfilmentKind {
    Pickup = "pickup",
    Delivery = "delivery",
});

named!(MovementKind {
    Receipt = "receipt",
    Adjustment = "adjustment",
    Count = "count",
    TransferOut = "transfer_out",
    TransferIn = "transfer_in",
    Hold = "hold",
    HoldRelease = "hold_release",
    Reservation = "reservation",
    Release = "release",
    Dispatch = "dispatch",
    Return = "return",
});

named!(Step {
    Apply = "apply",
    Receive = "receive",
    Hold = "hold",
    Reserve = "reserve",
    Release = "release",
    WriteOff = "write-off",
    Dispatch = "dispatch",
    Return = "return",
});

named!(Kind {
    Business = "business",
    Branch = "branch",
    Member = "member",
    ApiKey = "apiKey",
    Product = "product",
    Customer = "customer",
    Order = "order",
    Checkout = "checkout",
    Coupon = "coupon",
    Payment = "payment",
    PaymentEvent = "paymentEvent",
    OrderReturn = "orderReturn",
    Cart = "cart",
});

named!(TallyKind {
    Redemptions = "redemptions",
    OpenCheckouts = "openCheckouts",
});
