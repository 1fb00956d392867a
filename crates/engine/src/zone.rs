//! Time zones: the one place that knows civil time.
//!
//! Owns the check of a zone's name and the civil year that order numbers carry.

use abasto_domain::fault::InvalidValue;
use abasto_domain::time::Timestamp;
use jiff::tz::TimeZone;

/// Checks the name of an IANA zone.
pub fn check(name: &str) -> Result<(), InvalidValue> {
    let known = name.len() <= 64 && (name == "UTC" || name.contains('/'));
    if known && TimeZone::get(name).is_ok() {
        Ok(())
    } else {
        Err(InvalidValue::new(
            "unknown-time-zone",
            "a time zone is an IANA name such as \"America/Bogota\"",
        ))
    }
}

/// The civil year of a point in time in a zone; UTC where the zone is not known any more.
pub fn civil_year(at: Timestamp, zone: &str) -> i16 {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    let at =
        jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    zone.to_datetime(at).year()
}
