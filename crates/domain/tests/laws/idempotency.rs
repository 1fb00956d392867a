//! Idempotency keys: bare or quoted, one key.

use abasto_domain::idempotency::parse_key;
use proptest::prelude::*;

#[test]
fn headers_and_their_keys() {
    let longest = "k".repeat(255);
    let quoted_longest = format!("\"{longest}\"");
    let table = [
        ("abc", Some("abc")),
        ("\"abc\"", Some("abc")),
        ("  abc  ", Some("abc")),
        (" \"abc\" ", Some("abc")),
        ("a\"b", Some("a\"b")),
        ("\"a\\\"b\"", Some("a\"b")),
        ("\"a\\\\b\"", Some("a\\b")),
        ("a\\b", Some("a\\b")),
        ("~", Some("~")),
        (&*longest, Some(&*longest)),
        (&*quoted_longest, Some(&*longest)),
        ("", None),
        (" ", None),
        ("\"\"", None),
        ("a b", None),
        ("\"a b\"", None),
        ("a\tb", None),
        ("a\u{7f}", None),
        ("ñ", None),
        ("a\0", None),
        ("\"", None),
        ("\"abc", None),
        ("abc\"", None),
        ("\"a\"b\"", None),
        ("\"a\\\"", None),
        ("\"a\\n\"", None),
        ("\"a\\x\"", None),
    ];
    for (header, expected) in table {
        assert_eq!(parse_key(header).ok().as_deref(), expected, "{header:?}");
    }
    assert!(parse_key(&format!("{longest}k")).is_err());
    assert!(parse_key(&format!("\"{longest}k\"")).is_err());
}

proptest! {
    #[test]
    fn bare_and_quoted_name_the_same_key(key in "[!-~]{1,60}") {
        // What begins or ends with a quote cannot be given bare.
        prop_assume!(!key.starts_with('"') && !key.ends_with('"'));
        let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
        let quoted = format!("\"{escaped}\"");
        prop_assert_eq!(parse_key(&quoted), Ok(key.clone()));
        prop_assert_eq!(parse_key(&key), Ok(key));
    }

    #[test]
    fn nothing_makes_it_panic_and_every_key_is_visible(header in "(?s).{0,80}") {
        if let Ok(key) = parse_key(&header) {
            prop_assert!((1..=255).contains(&key.len()));
            prop_assert!(key.bytes().all(|byte| (b'!'..=b'~').contains(&byte)));
        }
    }
}
