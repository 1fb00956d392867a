//! Ids, codes and numbers: one spelling each.

use abasto_domain::branch::BranchCode;
use abasto_domain::id::{OrderId, RawId};
use abasto_domain::number::{OrderNumber, Series};
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use proptest::prelude::*;

#[test]
fn what_is_an_id() {
    let good = "65f0a1b2c3d4e5f601234567";
    assert_eq!(OrderId::parse(good).unwrap().to_string(), good);
    assert_eq!(
        OrderId::parse(&good.to_uppercase()).unwrap().to_string(),
        good
    );
    let bad = [
        "",
        "65f0a1b2c3d4e5f60123456",
        "65f0a1b2c3d4e5f6012345678",
        "65f0a1b2c3d4e5f60123456g",
        " 65f0a1b2c3d4e5f601234567",
        "0x65f0a1b2c3d4e5f60123456",
        "{\"$gt\": \"\"}",
        "null",
        "65f0a1b2-c3d4-e5f6-0123-4567",
        "６5f0a1b2c3d4e5f6012345",
        "+5f0a1b2c3d4e5f601234567",
    ];
    for text in bad {
        assert!(RawId::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_is_a_branch_code() {
    for good in ["BO", "BOG", "B2", "12", "ABCDEFGH"] {
        assert_eq!(BranchCode::parse(good).unwrap().as_str(), good);
    }
    for bad in [
        "",
        "B",
        "ABCDEFGHI",
        "bog",
        "BO-G",
        "BO G",
        "BÓG",
        "BOG\0",
        "ВОG",
    ] {
        assert!(BranchCode::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn what_is_an_order_number() {
    for good in [
        "BOG-2026-000184",
        "B2-2026-000001",
        "BOG-0001-999999",
        "BOG-2026-1000000",
    ] {
        assert_eq!(OrderNumber::parse(good).unwrap().to_string(), good);
    }
    let bad = [
        "",
        "BOG",
        "BOG-2026",
        "BOG-2026-184",
        "BOG-2026-0000184",
        "BOG-26-000184",
        "bog-2026-000184",
        "BOG-2026-000184-1",
        "BOG-2026-00018a",
        "BOG-2026--00184",
        "BOG-2026-+00184",
        "BOG-2026-1234567890123456",
        "BOG 2026 000184",
        "-2026-000184",
        "BOG-20 6-000184",
        "BOG-2026-٠٠٠١٨٤",
    ];
    for text in bad {
        assert!(OrderNumber::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_is_a_quantity() {
    for good in [1, 2, 1_000_000] {
        assert_eq!(Quantity::new(good).unwrap().units(), good);
    }
    for bad in [0, -1, 1_000_001, 1 << 31, i64::MAX, i64::MIN] {
        assert!(Quantity::new(bad).is_err(), "{bad}");
    }
    let most = Quantity::new(1_000_000).unwrap();
    assert!(most.plus(Quantity::new(1).unwrap()).is_err());
}

#[test]
fn a_version_goes_up_by_one_and_time_never_back() {
    let first = Stamp::first(Timestamp::from_millis(100));
    assert_eq!((first.version, first.created_at), (1, first.updated_at));
    let earlier = first.next(Timestamp::from_millis(50));
    assert_eq!((earlier.version, earlier.updated_at), (2, first.updated_at));
    let later = earlier.next(Timestamp::from_millis(200));
    assert_eq!((later.version, later.updated_at.as_millis()), (3, 200));
    assert_eq!(later.created_at, first.created_at);
    let end = Timestamp::from_millis(i64::MAX);
    assert_eq!(end.plus_millis(1), end);
}

proptest! {
    #[test]
    fn ids_print_and_read_back(bytes in any::<[u8; 12]>()) {
        let id = RawId(bytes);
        prop_assert_eq!(RawId::parse(&id.to_string()), Ok(id));
    }

    #[test]
    fn ids_sort_as_their_texts(one in any::<[u8; 12]>(), two in any::<[u8; 12]>()) {
        let (one, two) = (RawId(one), RawId(two));
        prop_assert_eq!(one.cmp(&two), one.to_string().cmp(&two.to_string()));
    }

    #[test]
    fn numbers_print_and_read_back(
        code in "[A-Z0-9]{2,8}",
        year in 0..=9999i16,
        sequence in 0..1_000_000_000_000i64,
    ) {
        let code = BranchCode::parse(&code).unwrap();
        let number = OrderNumber { series: Series { code, year }, sequence };
        let text = number.to_string();
        prop_assert_eq!(OrderNumber::parse(&text), Ok(number.clone()));
        prop_assert_eq!(number.is_blank(), sequence == 0);
    }

    #[test]
    fn nothing_makes_the_parsers_panic(text in "(?s).{0,40}") {
        let _ = RawId::parse(&text);
        let _ = BranchCode::parse(&text);
        if let Ok(number) = OrderNumber::parse(&text) {
            prop_assert_eq!(number.to_string(), text);
        }
    }
}
