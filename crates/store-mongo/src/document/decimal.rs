//! Decimal128 and whole minor units, exactly.
//!
//! Owns the packing (IEEE 754-2008 with a binary coefficient). Amounts are written with all the
//! decimals of their currency, so that a shell shows `3500.00`; any exact spelling is read.

use abasto_domain::money::TaxRate;
use mongodb::bson::Decimal128;

/// Decimals of a tax rate at full precision.
pub(crate) const RATE_DECIMALS: u8 = 6;

const EXPONENT_BIAS: u64 = 6176;
const COEFFICIENT_BITS: u32 = 49;

/// `coefficient × 10^-decimals`.
pub(crate) fn encode(coefficient: i64, decimals: u8) -> Decimal128 {
    let mut bytes = [0; 16];
    let sign = u64::from(coefficient < 0) << 63;
    let high = sign | (EXPONENT_BIAS - u64::from(decimals)) << COEFFICIENT_BITS;
    bytes[..8].copy_from_slice(&coefficient.unsigned_abs().to_le_bytes());
    bytes[8..].copy_from_slice(&high.to_le_bytes());
    Decimal128::from_bytes(bytes)
}

/// A rate with as few decimals as it needs.
pub(crate) fn encode_rate(rate: TaxRate) -> Decimal128 {
    let (mut coefficient, mut decimals) = (i64::from(rate.millionths()), RATE_DECIMALS);
    while decimals > 0 && coefficient % 10 == 0 {
        coefficient /= 10;
        decimals -= 1;
    }
    encode(coefficient, decimals)
}

/// The value in units of `10^-decimals`; nothing when it is not a whole number of them, not finite
/// or out of range.
pub(crate) fn decode(value: Decimal128, decimals: u8) -> Option<i64> {
    let bytes = value.bytes();
    let low = u64::from_le_bytes(bytes[..8].try_into().ok()?);
    let high = u64::from_le_bytes(bytes[8..].try_into().ok()?);
    // Both top bits of the combination field set: infinity, NaN, or a coefficient too large.
    if (high >> 61) & 0b11 == 0b11 {
        return None;
    }
    let exponent = i64::try_from((high >> COEFFICIENT_BITS) & 0x3fff).ok()? - 6176;
    let mut coefficient = i128::from(high & ((1 << COEFFICIENT_BITS) - 1)) << 64 | i128::from(low);
    if coefficient == 0 {
        return Some(0);
    }
    let mut shift = exponent + i64::from(decimals);
    while shift > 0 {
        coefficient = coefficient.checked_mul(10)?;
        shift -= 1;
    }
    while shift < 0 {
        if coefficient % 10 != 0 {
            return None;
        }
        coefficient /= 10;
        shift += 1;
    }
    let signed = if high >> 63 == 1 {
        -coefficient
    } else {
        coefficient
    };
    i64::try_from(signed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Decimal128 {
        text.parse().expect("a decimal")
    }

    #[test]
    fn amounts_are_written_with_all_their_decimals() {
        for (coefficient, decimals, text) in [
            (350_000, 2, "3500.00"),
            (5, 2, "0.05"),
            (0, 2, "0.00"),
            (0, 0, "0"),
            (1, 3, "0.001"),
            (-250, 2, "-2.50"),
            (1_000_000_000_000_000, 0, "1000000000000000"),
        ] {
            assert_eq!(encode(coefficient, decimals), parsed(text), "{text}");
            assert_eq!(encode(coefficient, decimals).to_string(), text);
        }
    }

    #[test]
    fn rates_are_written_short() {
        for (millionths, text) in [
            (0, "0"),
            (190_000, "0.19"),
            (1_000_000, "1"),
            (1, "0.000001"),
        ] {
            let rate = TaxRate::from_millionths(millionths).expect("a rate");
            assert_eq!(encode_rate(rate), parsed(text), "{text}");
        }
    }

    #[test]
    fn any_exact_spelling_is_read() {
        for text in ["3500", "3500.0", "3500.00", "3500.000000", "3.5E+3", "35E2"] {
            assert_eq!(decode(parsed(text), 2), Some(350_000), "{text}");
        }
        assert_eq!(decode(parsed("-0.00"), 2), Some(0));
        assert_eq!(decode(parsed("0E+6000"), 2), Some(0));
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        for text in [
            "0.001",
            "NaN",
            "Infinity",
            "-Infinity",
            "1E+6000",
            "1E+30",
            "0.0000000001",
        ] {
            assert_eq!(decode(parsed(text), 2), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_survives(minor in -1_000_000_000_000_000i64..=1_000_000_000_000_000, decimals in 0u8..=6) {
            prop_assert_eq!(decode(encode(minor, decimals), decimals), Some(minor));
        }

        #[test]
        fn the_packing_is_the_driver_s(minor in any::<i32>(), decimals in 0u8..=6) {
            let encoded = encode(i64::from(minor), decimals);
            prop_assert_eq!(parsed(&encoded.to_string()), encoded);
        }
    }
}
