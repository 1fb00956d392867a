//! Line keys and bounded values.

use crate::support::*;
use abasto_cart::{LineKey, Name, Quantity, Text, ValueError};

#[test]
fn one_identity_has_one_text_whatever_the_order_of_its_parts() {
    let key = LineKey::builder("cake")
        .seller("corner & sons")
        .option("text", "100% = yes?")
        .option("größe", "L")
        .parent("box-1")
        .personalisation([0xab; 16])
        .build()
        .unwrap();
    let same = LineKey::builder("cake")
        .personalisation([0xab; 16])
        .parent("box-1")
        .option("größe", "L")
        .option("text", "100% = yes?")
        .seller("corner & sons")
        .build()
        .unwrap();
    assert_eq!(key, same);
    assert_eq!(LineKey::parse(key.as_str()), Ok(key.clone()));
    assert_eq!(key.product(), "cake");
    let options: Vec<_> = key.options().collect();
    assert_eq!(
        options,
        [
            ("größe".to_owned(), "L".to_owned()),
            ("text".to_owned(), "100% = yes?".to_owned())
        ]
        .into_iter()
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
    assert_eq!(key.seller().as_deref(), Some("corner & sons"));
    assert_eq!(key.parent().as_deref(), Some("box-1"));
    assert_eq!(key.personalisation().unwrap(), "ab".repeat(16));
    assert_eq!(line("cake").seller(), None);
}

#[test]
fn what_differs_in_any_part_is_another_line() {
    let keys = [
        LineKey::new("cake"),
        LineKey::builder("cake").option("size", "L").build(),
        LineKey::builder("cake").option("size", "M").build(),
        LineKey::builder("cake")
            .option("size", "L")
            .option("colour", "red")
            .build(),
        LineKey::builder("cake")
            .option("size", "L&colour=red")
            .build(),
        LineKey::builder("cake").seller("L").build(),
        LineKey::builder("cake").parent("L").build(),
        LineKey::builder("cake").personalisation([1; 16]).build(),
        LineKey::builder("cake").personalisation([2; 16]).build(),
    ];
    let distinct: std::collections::BTreeSet<_> =
        keys.iter().map(|key| key.clone().unwrap()).collect();
    assert_eq!(distinct.len(), keys.len());
}

#[test]
fn other_spellings_of_keys_are_refused() {
    for text in [
        "",
        "?a=b",
        "x?",
        "x?a",
        "x?=b",
        "x?a=",
        "x?b=1&a=2",
        "x?a=1&a=2",
        "x?a=1&",
        "x y",
        "x?a=1?2",
        "x?a=b=c",
        "x?a=%41",
        "x?a=%3d",
        "x?a=%",
        "x%25",
        "x&y",
        "é",
        "x?a= b",
        "x?a=\u{7}",
    ] {
        assert_eq!(LineKey::parse(text), Err(ValueError::LineKey), "{text:?}");
    }
    assert!(LineKey::parse(&format!("x?a={}", "v".repeat(64))).is_ok());
    assert!(LineKey::parse(&format!("x?a={}", "v".repeat(65))).is_err());
    assert!(LineKey::new(&"p".repeat(65)).is_err());
    let long = "v".repeat(64);
    let builder = LineKey::builder("x")
        .option("a", &long)
        .option("b", &long)
        .option("c", &long);
    assert!(builder.clone().build().is_ok());
    assert!(
        builder.option("d", &long).build().is_err(),
        "over 256 bytes in all"
    );
    assert!(
        LineKey::builder("x")
            .option("@seller", "s")
            .build()
            .is_err(),
        "an option cannot pose as the seller"
    );
    assert!(
        LineKey::builder("x")
            .option("a", "1")
            .option("a", "2")
            .build()
            .is_err()
    );
}

#[test]
fn values_keep_their_bounds() {
    assert_eq!(Quantity::new(0), Err(ValueError::Quantity));
    assert_eq!(Quantity::new(1_000_000).map(Quantity::get), Ok(1_000_000));
    assert_eq!(Quantity::new(1_000_001), Err(ValueError::Quantity));
    for bad in ["", " a", "a ", "a\nb", &"n".repeat(65)] {
        assert_eq!(Name::new(bad), Err(ValueError::Name), "{bad:?}");
    }
    assert!(Name::new(&"n".repeat(64)).is_ok());
    assert!(Text::new("").is_ok());
    assert!(Text::new("two\nlines").is_ok());
    assert_eq!(Text::new("tab\tbed"), Err(ValueError::Text));
    assert!(Text::new(&"t".repeat(4096)).is_ok());
    assert_eq!(Text::new(&"t".repeat(4097)), Err(ValueError::Text));
}
