//! Texts: normalised, bounded in characters, without control characters.

use abasto_domain::customer::{email, phone};
use abasto_domain::limits;
use abasto_domain::text::{TextBound, clean, email_key};
use proptest::prelude::*;

fn code(text: &str, bound: TextBound) -> Result<String, &'static str> {
    clean(text, bound).map_err(|invalid| invalid.code)
}

#[test]
fn every_bound_holds_at_its_limit_and_not_one_over() {
    let bounds = [
        ("name", limits::NAME),
        ("sku", limits::SKU),
        ("note", limits::NOTE),
        ("reason", limits::REASON),
        ("reference", limits::REFERENCE),
        ("user id", limits::USER_ID),
        ("e-mail", limits::EMAIL),
        ("address", limits::ADDRESS),
        ("attribute name", limits::ATTRIBUTE_NAME),
        ("attribute value", limits::ATTRIBUTE_VALUE),
        ("search", limits::SEARCH),
    ];
    // One byte, two bytes, three bytes, four bytes: characters count, not bytes.
    for char in ["a", "ñ", "€", "🥖"] {
        for (name, bound) in bounds {
            let most = char.repeat(bound.max_chars);
            assert_eq!(code(&most, bound), Ok(most.clone()), "{name}");
            let over = char.repeat(bound.max_chars + 1);
            assert_eq!(code(&over, bound), Err("too-long"), "{name}");
            let least = char.repeat(bound.min_chars);
            assert_eq!(code(&least, bound), Ok(least.clone()), "{name}");
        }
    }
    assert_eq!(code("", limits::NAME), Err("required"));
    assert_eq!(code(" \t ", limits::NAME), Err("required"));
    assert_eq!(code("ab", limits::EMAIL), Err("too-short"));
    assert_eq!(code("", limits::NOTE), Ok(String::new()));
}

#[test]
fn texts_and_what_becomes_of_them() {
    let table = [
        // Composed and decomposed are one text, and the limit counts the composed one.
        ("cafe\u{301}", Ok("caf\u{e9}")),
        ("  Pan de yuca  ", Ok("Pan de yuca")),
        ("\u{3000}wide\u{3000}", Ok("wide")),
        ("👨\u{200d}👩\u{200d}👧", Ok("👨\u{200d}👩\u{200d}👧")),
        // Marks of direction are characters of some languages; they stay as they are.
        ("\u{202e}txt\u{202c}", Ok("\u{202e}txt\u{202c}")),
        ("שלום \u{200f}x", Ok("שלום \u{200f}x")),
        ("null", Ok("null")),
        ("{\"$gt\":\"\"}", Ok("{\"$gt\":\"\"}")),
        ("a\u{0}b", Err("control-character")),
        ("\u{0}", Err("control-character")),
        ("a\tb", Err("control-character")),
        ("a\u{7f}b", Err("control-character")),
        ("a\u{85}b", Err("control-character")),
        ("a\u{1b}[31m", Err("control-character")),
        ("a\nb", Err("control-character")),
    ];
    for (text, expected) in table {
        let found = code(text, limits::NAME);
        assert_eq!(found, expected.map(str::to_owned), "{text:?}");
    }
    assert_eq!(code("a\nb", limits::NOTE), Ok("a\nb".to_owned()));
    assert_eq!(code("a\r\nb", limits::NOTE), Err("control-character"));
    let decomposed = "e\u{301}".repeat(200);
    assert_eq!(code(&decomposed, limits::NAME), Ok("é".repeat(200)));
}

#[test]
fn addresses_that_are_one_and_those_that_are_not() {
    let same = [
        ("Ana@Example.ORG", "ana@example.org"),
        (" ana@example.org ", "ana@example.org"),
        ("JOSE\u{301}@x.co", "jos\u{e9}@x.co"),
        ("ΣΊΣΥΦΟΣ@x.gr", "σίσυφοσ@x.gr"),
    ];
    for (one, two) in same {
        assert_eq!(email_key(one), email_key(two), "{one} and {two}");
    }
    let others = [
        "ana@example.org",
        "ana\u{200d}@example.org",
        "an\u{e1}@example.org",
        "аna@example.org",
    ];
    for (number, one) in others.iter().enumerate() {
        for two in &others[number + 1..] {
            assert_ne!(email_key(one), email_key(two));
        }
    }
}

#[test]
fn the_form_of_an_address() {
    for good in [
        "a@b.co",
        "ana.maria+pan@sub.example.org",
        "ñandú@año.com",
        "\"q\"@x.co",
    ] {
        assert_eq!(email(good).as_deref(), Ok(good));
    }
    let bad = [
        "",
        "a",
        "@",
        "a@",
        "@b.co",
        "a@b",
        "a@b.",
        "a@.co",
        "a@b..co",
        "a@@b.co",
        "a@c@b.co",
        "a b@c.co",
        "a@b .co",
        "ana\u{200d}@x.co",
        "ana\u{ad}@x.co",
        "a@x\u{2060}.co",
        "a\u{0}@b.co",
    ];
    for text in bad {
        assert!(email(text).is_err(), "{text:?}");
    }
    let longest = format!("{}@example.org", "a".repeat(254 - 12));
    assert!(email(&longest).is_ok());
    assert!(email(&format!("a{longest}")).is_err());
}

#[test]
fn the_form_of_a_phone_number() {
    for good in ["+573001234567", "+1234567", "+123456789012345"] {
        assert_eq!(phone(good).as_deref(), Ok(good));
    }
    let bad = [
        "",
        "+",
        "573001234567",
        "+123456",
        "+1234567890123456",
        "+0123456789",
        "+57 300 1234567",
        "+57-3001234567",
        "++573001234567",
        "+57300123456a",
        "+٥٧٣٠٠١٢٣٤٥٦٧",
    ];
    for text in bad {
        assert!(phone(text).is_err(), "{text:?}");
    }
}

proptest! {
    #[test]
    fn cleaning_twice_is_cleaning_once(text in "\\PC{0,120}|(?s).{0,40}") {
        for bound in [limits::NAME, limits::NOTE] {
            if let Ok(clean_text) = clean(&text, bound) {
                prop_assert_eq!(clean(&clean_text, bound), Ok(clean_text.clone()));
                prop_assert!(clean_text.chars().count() <= bound.max_chars);
                prop_assert!(!clean_text.contains('\0'));
            }
        }
    }

    #[test]
    fn an_address_key_is_its_own_key(text in "(?s).{0,40}") {
        let key = email_key(&text);
        prop_assert_eq!(email_key(&key), key);
    }
}
