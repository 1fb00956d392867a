//! Bytes as hexadecimal digits, in stored records.
//!
//! Owns the form. Must not know what the bytes are.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serializer};

/// The digits of some bytes, lower case.
pub fn text(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)])
        .collect()
}

/// The bytes of some digits; `None` when they are none.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| u8::try_from(c.to_digit(16)?).ok())
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let pairs = digits.chunks_exact(2);
    Some(pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Bytes that may be absent, for serde's `with`.
pub mod optional {
    use super::{Deserialize, Deserializer, Serializer, String, Vec, bytes, text};

    /// As digits or null.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(
        value: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(&text(value)),
            None => serializer.serialize_none(),
        }
    }

    /// From digits or null.
    ///
    /// # Errors
    /// A text that is no even number of hexadecimal digits.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        let wrong = || serde::de::Error::custom("not an even number of hexadecimal digits");
        let digits = Option::<String>::deserialize(deserializer)?;
        digits
            .map(|digits| bytes(&digits).ok_or_else(wrong))
            .transpose()
    }
}
