//! Currencies of ISO 4217 with their number of decimals.
//!
//! Owns the table (active alphabetic codes that have a minor unit, as published by SIX in the
//! list of 2026). Must not know amounts.

use alloc::string::String;
use core::fmt;

use crate::fault::InvalidValue;

/// A currency code such as `COP`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// Two decimals.
const TWO: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN \
    BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP \
    GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL \
    MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK \
    PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB \
    TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG";
/// None.
const ZERO: &str = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
/// Three decimals.
const THREE: &str = "BHD IQD JOD KWD LYD OMR TND";

impl Currency {
    /// Reads a code; upper case only.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        const UNKNOWN: InvalidValue = InvalidValue::new(
            "unknown-currency",
            "a currency is an ISO 4217 code such as \"EUR\"",
        );
        let code = <[u8; 3]>::try_from(text.as_bytes()).map_err(|_| UNKNOWN)?;
        let listed = |list: &str| list.split(' ').any(|known| known == text);
        if [TWO, ZERO, THREE].into_iter().any(listed) {
            Ok(Self(code))
        } else {
            Err(UNKNOWN)
        }
    }

    /// The code.
    pub fn code(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// How many decimals an amount has.
    pub fn exponent(self) -> u8 {
        let listed = |list: &str| list.split(' ').any(|known| known == self.code());
        if listed(ZERO) {
            0
        } else if listed(THREE) {
            3
        } else {
            2
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl serde::Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> serde::Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::parse(&code).map_err(serde::de::Error::custom)
    }
}
