//! Money is exact: what is printed is read back, parts add up, tax is within the price.

use abasto_domain::currency::Currency;
use abasto_domain::limits::AMOUNT_MINOR_MAX;
use abasto_domain::money::{Amount, TaxRate};
use proptest::prelude::*;

use crate::sample::amount;

fn currency(code: &str) -> Currency {
    Currency::parse(code).unwrap()
}

fn any_amount() -> impl Strategy<Value = Amount> {
    prop_oneof![0..2_000i64, 0..=AMOUNT_MINOR_MAX].prop_map(amount)
}

fn any_rate() -> impl Strategy<Value = TaxRate> {
    let rate = prop_oneof![
        0..=1_000_000u32,
        Just(190_000),
        Just(50_000),
        Just(1_000_000)
    ];
    rate.prop_map(|millionths| TaxRate::from_millionths(millionths).unwrap())
}

#[test]
fn texts_and_their_minor_units() {
    let table: [(&str, &str, Result<i64, &str>); 34] = [
        ("COP", "3500.00", Ok(350_000)),
        ("COP", "3500", Ok(350_000)),
        ("COP", "3500.5", Ok(350_050)),
        ("COP", "0", Ok(0)),
        ("COP", "0.00", Ok(0)),
        ("COP", "0.01", Ok(1)),
        ("COP", "0003500.10", Ok(350_010)),
        ("COP", "10000000000000.00", Ok(AMOUNT_MINOR_MAX)),
        ("COP", "10000000000000.01", Err("overflow")),
        ("COP", "92233720368547758.08", Err("overflow")),
        (
            "COP",
            "9999999999999999999999999999999999999999",
            Err("overflow"),
        ),
        ("COP", "3500.000", Err("too-many-decimals")),
        ("COP", "0.001", Err("too-many-decimals")),
        ("COP", "", Err("invalid-money")),
        ("COP", ".", Err("invalid-money")),
        ("COP", ".5", Err("invalid-money")),
        ("COP", "5.", Err("invalid-money")),
        ("COP", "+1", Err("invalid-money")),
        ("COP", "-1", Err("invalid-money")),
        ("COP", "-0.00", Err("invalid-money")),
        ("COP", "1e3", Err("invalid-money")),
        ("COP", "1E3", Err("invalid-money")),
        ("COP", "1,000.00", Err("invalid-money")),
        ("COP", "1.0.0", Err("invalid-money")),
        ("COP", " 1", Err("invalid-money")),
        ("COP", "1 ", Err("invalid-money")),
        ("COP", "٣", Err("invalid-money")),
        ("COP", "0x10", Err("invalid-money")),
        ("COP", "NaN", Err("invalid-money")),
        ("COP", "Infinity", Err("invalid-money")),
        ("JPY", "3500", Ok(3_500)),
        ("JPY", "3500.0", Err("too-many-decimals")),
        ("KWD", "1.234", Ok(1_234)),
        ("KWD", "1.2345", Err("too-many-decimals")),
    ];
    for (code, text, expected) in table {
        let found = Amount::parse(text, currency(code));
        let found = found
            .as_ref()
            .map(|amount| amount.minor())
            .map_err(|invalid| invalid.code);
        assert_eq!(found, expected, "{text:?} in {code}");
    }
}

#[test]
fn amounts_print_all_decimals_of_their_currency() {
    let table = [
        ("COP", 0, "0.00"),
        ("COP", 5, "0.05"),
        ("COP", 350_000, "3500.00"),
        ("JPY", 0, "0"),
        ("JPY", 3_500, "3500"),
        ("KWD", 7, "0.007"),
        ("KWD", AMOUNT_MINOR_MAX, "1000000000000.000"),
    ];
    for (code, minor, expected) in table {
        assert_eq!(
            amount(minor).to_decimal(currency(code)),
            expected,
            "{code} {minor}"
        );
    }
}

#[test]
fn sums_stop_at_the_end_of_the_range() {
    let most = amount(AMOUNT_MINOR_MAX);
    assert!(most.plus(amount(1)).is_err());
    assert!(most.plus(Amount::ZERO).is_ok());
    assert!(Amount::ZERO.minus(amount(1)).is_err());
    assert!(most.times(2).is_err());
    assert!(most.times(i64::MAX).is_err());
    assert!(amount(1).times(-1).is_err());
    assert!(Amount::sum([most, amount(1)]).is_err());
    for minor in [-1, i64::MIN, AMOUNT_MINOR_MAX + 1, i64::MAX] {
        assert!(Amount::from_minor(minor).is_err(), "{minor}");
    }
}

#[test]
fn rates_and_their_texts() {
    let table = [
        ("0", Some(0)),
        ("0.19", Some(190_000)),
        ("0.190000", Some(190_000)),
        ("0.000001", Some(1)),
        ("1", Some(1_000_000)),
        ("1.0", Some(1_000_000)),
        ("1.000001", None),
        ("2", None),
        ("0.0000001", None),
        ("00.19", None),
        (".19", None),
        ("0.", None),
        ("-0.19", None),
        ("19%", None),
        ("1e-2", None),
        ("", None),
    ];
    for (text, expected) in table {
        let found = TaxRate::parse(text).ok().map(TaxRate::millionths);
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn known_taxes() {
    // gross, rate, tax: the tax of a price that includes it, half a unit to the even side.
    let table = [
        (11_900, "0.19", 1_900),
        (350_000, "0.19", 55_882),
        (10_500, "0.05", 500),
        (1, "0.19", 0),
        (3, "1", 2),
        (1, "1", 0),
        (5, "1", 2),
        (0, "0.19", 0),
        (100, "0", 0),
        (AMOUNT_MINOR_MAX, "1", AMOUNT_MINOR_MAX / 2),
    ];
    for (gross, rate, tax) in table {
        let found = TaxRate::parse(rate).unwrap().tax_within(amount(gross));
        assert_eq!(found.minor(), tax, "{gross} at {rate}");
    }
}

#[test]
fn the_currencies_are_whole_and_none_is_listed_twice() {
    for code in ["COP", "USD", "EUR", "JPY", "KWD", "CLP", "XCG", "VED"] {
        assert_eq!(currency(code).to_string(), code);
    }
    for text in [
        "cop", "Cop", "COPS", "CO", "", "XXX", "XAU", "HRK", "C P", "COP USD", "ЕUR",
    ] {
        assert!(Currency::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_stored_amount_or_rate_out_of_range_is_not_read() {
    // What is stored goes through serde; a hand in the database must not make a negative price.
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, I64Deserializer, U32Deserializer};
    for minor in [-1, i64::MIN, AMOUNT_MINOR_MAX + 1] {
        let stored: I64Deserializer<Error> = minor.into_deserializer();
        assert!(Amount::deserialize(stored).is_err(), "{minor}");
    }
    let stored: I64Deserializer<Error> = 5i64.into_deserializer();
    assert_eq!(Amount::deserialize(stored), Ok(amount(5)));
    let stored: U32Deserializer<Error> = 1_000_001u32.into_deserializer();
    assert!(TaxRate::deserialize(stored).is_err());
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(amount in any_amount(), code in "COP|JPY|KWD") {
        let currency = currency(&code);
        let text = amount.to_decimal(currency);
        prop_assert_eq!(Amount::parse(&text, currency), Ok(amount));
    }

    #[test]
    fn nothing_makes_the_parser_panic(text in "\\PC*", code in "COP|JPY|KWD") {
        let _ = Amount::parse(&text, currency(&code));
        let _ = TaxRate::parse(&text);
        let _ = Currency::parse(&text);
    }

    #[test]
    fn what_is_read_has_one_spelling(text in "[0-9]{1,6}(\\.[0-9]{1,2})?") {
        let cop = currency("COP");
        let amount = Amount::parse(&text, cop).unwrap();
        let again = amount.to_decimal(cop);
        prop_assert_eq!(Amount::parse(&again, cop), Ok(amount));
        prop_assert_eq!(again.split_once('.').map(|(_, decimals)| decimals.len()), Some(2));
    }

    #[test]
    fn rates_print_and_read_back(rate in any_rate()) {
        prop_assert_eq!(TaxRate::parse(&rate.to_decimal()), Ok(rate));
    }

    #[test]
    fn a_split_adds_up(total in any_amount(), weights in prop::collection::vec(any_amount(), 1..20)) {
        prop_assume!(weights.iter().any(|weight| weight.minor() > 0));
        let parts = total.split(&weights).unwrap();
        prop_assert_eq!(parts.len(), weights.len());
        let sum: i128 = parts.iter().map(|part| i128::from(part.minor())).sum();
        prop_assert_eq!(sum, i128::from(total.minor()));
        let weight: i128 = weights.iter().map(|weight| i128::from(weight.minor())).sum();
        for (part, own) in parts.iter().zip(&weights) {
            // Within one minor unit of the exact share; nothing for a weight of nothing.
            let exact = i128::from(total.minor()) * i128::from(own.minor());
            let off = (i128::from(part.minor()) * weight - exact).abs();
            prop_assert!(off < weight, "{part:?} of {own:?}");
            prop_assert!(own.minor() > 0 || part.minor() == 0);
        }
    }

    #[test]
    fn a_split_does_not_depend_on_the_order(
        total in any_amount(),
        (weights, shuffled) in prop::collection::vec(0..50i64, 1..12)
            .prop_flat_map(|weights| {
                let indexes: Vec<usize> = (0..weights.len()).collect();
                (Just(weights), Just(indexes).prop_shuffle())
            }),
    ) {
        prop_assume!(weights.iter().any(|weight| *weight > 0));
        let weigh = |order: &[usize]| -> Vec<Amount> {
            order.iter().map(|index| amount(weights[*index])).collect()
        };
        let in_order: Vec<usize> = (0..weights.len()).collect();
        let sorted = |order: &[usize]| {
            let parts = total.split(&weigh(order)).unwrap();
            let mut pairs: Vec<_> = order.iter().map(|index| weights[*index]).zip(parts).collect();
            pairs.sort();
            pairs
        };
        // The parts of equal weights may change places; what each weight gets may not.
        prop_assert_eq!(sorted(&in_order), sorted(&shuffled));
    }

    #[test]
    fn a_split_of_nothing_or_over_nothing(total in any_amount(), lines in 1..5usize) {
        let none = vec![Amount::ZERO; lines];
        let split = total.split(&none);
        prop_assert_eq!(split.is_ok(), total == Amount::ZERO);
        let parts = Amount::ZERO.split(&vec![amount(3); lines]).unwrap();
        prop_assert!(parts.iter().all(|part| *part == Amount::ZERO));
    }

    #[test]
    fn tax_is_within_the_price(gross in any_amount(), rate in any_rate()) {
        let tax = rate.tax_within(gross);
        prop_assert!(tax.minor() >= 0 && tax.minor() * 2 <= gross.minor() + 1);
        // tax = (gross − tax) × rate, to within half a minor unit.
        let million = 1_000_000i128;
        let (tax, gross, rate) = (
            i128::from(tax.minor()),
            i128::from(gross.minor()),
            i128::from(rate.millionths()),
        );
        let off = (tax * (million + rate) - gross * rate).abs();
        prop_assert!(off * 2 <= million + rate);
    }

    #[test]
    fn more_gross_is_not_less_tax(gross in 0..1_000_000i64, rate in any_rate()) {
        prop_assert!(rate.tax_within(amount(gross)) <= rate.tax_within(amount(gross + 1)));
    }
}
