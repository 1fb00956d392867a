//! Times over HTTP: RFC 3339 in UTC with milliseconds.
//!
//! Owns the two conversions; inside, times are milliseconds.

use abasto_domain::fault::InvalidValue;
use abasto_domain::time::Timestamp;

/// As `2026-01-31T08:00:00.000Z`.
pub(crate) fn show(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis());
    let at = at.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{at:.3}")
}

/// Reads any RFC 3339 time, of any offset.
pub(crate) fn parse(text: &str) -> Result<Timestamp, InvalidValue> {
    const MALFORMED: InvalidValue = InvalidValue::new(
        "invalid-format",
        "a time is in RFC 3339 form, such as \"2026-01-31T08:00:00.000Z\"",
    );
    let at: jiff::Timestamp = text.parse().map_err(|_| MALFORMED)?;
    Ok(Timestamp::from_millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_exactly_three_decimals_and_come_back() {
        for millis in [0, 1, 1_769_846_400_000, 1_769_846_400_120, -1] {
            let at = Timestamp::from_millis(millis);
            let text = show(at);
            assert_eq!(text.len(), 24, "{text}");
            assert_eq!(parse(&text), Ok(at));
        }
        assert_eq!(
            show(Timestamp::from_millis(1_769_846_400_120)),
            "2026-01-31T08:00:00.120Z"
        );
    }

    #[test]
    fn other_offsets_are_read_and_other_forms_are_not() {
        let noon = parse("2026-01-31T07:00:00-05:00").unwrap();
        assert_eq!(show(noon), "2026-01-31T12:00:00.000Z");
        for text in [
            "",
            "2026-01-31",
            "2026-13-01T00:00:00Z",
            "2026-01-31T08:00:00",
            "now",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
