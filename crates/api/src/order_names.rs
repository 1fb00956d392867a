//! The closed sets of an order: states, payment, fulfilment, by the names of the contract.

use abasto_domain::order::{FulfilmentKind, PaymentMethod};
use abasto_domain::order_state::{PaymentStatus, Status};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! names {
    ($(#[$($attribute:tt)*])* $name:ident of $domain:ident { $($variant:ident),* $(,)? }) => {
        #[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
        $(#[$($attribute)*])*
        pub(crate) enum $name { $($variant),* }

        impl From<$domain> for $name {
            fn from(value: $domain) -> Self {
                match value { $($domain::$variant => Self::$variant),* }
            }
        }

        impl From<$name> for $domain {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => Self::$variant),* }
            }
        }
    };
}

names! {
    /// How far an order has come.
    #[schema(as = OrderStatus)]
    #[serde(rename_all = "snake_case")]
    StatusName of Status {
        PendingPayment, Pending, Confirmed, Preparing, Dispatched, Delivered, Cancelled,
    }
}

names! {
    /// What is known of an order's payment.
    #[schema(as = PaymentStatus)]
    #[serde(rename_all = "snake_case")]
    PaymentStatusName of PaymentStatus {
        Unpaid, Paid, Failed, PaidUnfulfillable, PartiallyRefunded, Refunded,
    }
}

names! {
    /// How an order is paid.
    #[schema(as = PaymentMethod)]
    #[serde(rename_all = "snake_case")]
    PaymentMethodName of PaymentMethod { OnDelivery, Online }
}

names! {
    /// Whether an order is fetched or brought.
    #[schema(as = FulfilmentType)]
    #[serde(rename_all = "lowercase")]
    FulfilmentType of FulfilmentKind { Pickup, Delivery }
}
