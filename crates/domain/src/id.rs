//! Identities: 12 bytes, written as 24 hexadecimal digits (the ObjectId layout).
//!
//! Owns the form of an id. Must not make one: new ids come from the engine's id source, so that
//! tests can repeat them. An id is never an authorisation.

use core::fmt;

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is 24 hexadecimal digits")]
pub struct InvalidId;

/// The twelve bytes that every kind of id wraps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RawId(pub [u8; 12]);

impl RawId {
    /// Reads 24 hexadecimal digits, upper or lower case; nothing else.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let digits = text.as_bytes();
        if digits.len() != 24 {
            return Err(InvalidId);
        }
        let mut bytes = [0u8; 12];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, InvalidId> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(InvalidId),
    }
}

impl fmt::Display for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 24];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(core::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for RawId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for RawId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for RawId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl serde::de::Visitor<'_> for Hex {
            type Value = RawId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("24 hexadecimal digits")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RawId, E> {
                RawId::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Hex)
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub RawId);

        impl $name {
            /// Reads 24 hexadecimal digits.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                RawId::parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl From<$name> for RawId {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl From<RawId> for $name {
            fn from(raw: RawId) -> Self {
                Self(raw)
            }
        }
    )*};
}

ids! {
    /// One tenant.
    BusinessId,
    /// One place of a business that sells and keeps stock.
    BranchId,
    /// One membership of a user in a business.
    MemberId,
    /// One API key (not its secret).
    ApiKeyId,
    /// One article of the catalogue.
    ProductId,
    /// One customer of a business.
    CustomerId,
    /// One order.
    OrderId,
    /// One checkout with its hold.
    CheckoutId,
    /// One cart.
    CartId,
    /// One stock movement.
    MovementId,
    /// One event of the outbox.
    EventId,
    /// One coupon.
    CouponId,
    /// One attempt to pay an order.
    PaymentId,
    /// One refund of an attempt.
    RefundId,
    /// One message of a payment provider.
    PaymentEventId,
    /// One return of sold units.
    ReturnId,
}
