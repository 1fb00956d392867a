//! Coupons: the split of a discount, its order, its limits in time and amount.

use abasto_domain::coupon::{
    AppliedCoupon, ApplyRejection, Coupon, CouponCode, CouponRefusal, Discount, KnownBuyer,
    Percent, apply,
};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::pricing::Line;
use abasto_domain::time::Timestamp;
use proptest::prelude::*;

use crate::sample::{NOW, amount, coupon, line, product, units};

fn percent(text: &str) -> Discount {
    Discount::Percent(Percent::parse(text).unwrap())
}

/// Applies coupons to lines of (product, price, units), all with the same tax.
fn take_off(
    given: &[(u8, i64, i64)],
    coupons: &[&Coupon],
) -> Result<(Vec<Line>, Vec<AppliedCoupon>), ApplyRejection> {
    let mut lines: Vec<Line> = given
        .iter()
        .map(|(number, price, quantity)| line(&product(*number, *price), *quantity))
        .collect();
    let rates = vec![TaxRate::parse("0.19").unwrap(); lines.len()];
    let applied = apply(&mut lines, &rates, coupons, KnownBuyer::No, NOW)?;
    Ok((lines, applied))
}

fn discounts(lines: &[Line]) -> Vec<i64> {
    lines.iter().map(|line| line.discount.minor()).collect()
}

#[test]
fn a_percentage_is_rounded_once_and_split_by_largest_remainder() {
    let ten = coupon("TEN", percent("10"));
    // 10 % of 33.33 + 33.33 + 33.34 is 10.00; the parts are 3.333, 3.333 and 3.334.
    let lines = [(10, 3_333, 1), (11, 3_333, 1), (12, 3_334, 1)];
    let (lines, applied) = take_off(&lines, &[&ten]).unwrap();
    assert_eq!(discounts(&lines), [333, 333, 334]);
    assert_eq!(applied[0].discount, amount(1_000));
    assert!(
        lines
            .iter()
            .all(|line| line.total == line.subtotal.minus(line.discount).unwrap())
    );
}

#[test]
fn an_amount_takes_off_no_more_than_there_is() {
    let big = coupon("BIG", Discount::Amount(amount(1_000_000)));
    let (lines, applied) = take_off(&[(10, 100, 2), (11, 50, 1)], &[&big]).unwrap();
    assert_eq!(discounts(&lines), [200, 50]);
    assert_eq!(applied[0].discount, amount(250));
    assert!(
        lines
            .iter()
            .all(|line| line.total == Amount::ZERO && line.tax == Amount::ZERO)
    );
}

#[test]
fn free_units_are_the_cheapest_of_the_eligible_products() {
    let mut free = coupon("FREE", Discount::FreeUnits(units(3)));
    let given = [(10, 500, 2), (11, 200, 2), (12, 100, 9)];
    free.products = Some(vec![product(10, 1).id, product(11, 1).id]);
    let (lines, _) = take_off(&given, &[&free]).unwrap();
    assert_eq!(discounts(&lines), [500, 400, 0]);
}

#[test]
fn each_coupon_takes_from_what_the_ones_before_it_left() {
    let half = coupon("HALF", percent("50"));
    let off = coupon("OFF", Discount::Amount(amount(100)));
    let free = coupon("FREE", Discount::FreeUnits(units(1)));
    let given = [(10, 1_000, 2)];
    for coupons in [
        [&half, &off, &free],
        [&free, &off, &half],
        [&off, &half, &free],
    ] {
        // One unit free leaves 1000, half of it 500, minus 100.
        let (lines, _) = take_off(&given, &coupons).unwrap();
        assert_eq!(lines[0].total, amount(400));
    }
    let twice = take_off(&given, &[&half, &half]).unwrap();
    assert_eq!(twice.0[0].total, amount(1_000), "a coupon counts once");
}

#[test]
fn the_tax_is_what_the_discounted_price_holds() {
    let half = coupon("HALF", percent("50"));
    let (lines, _) = take_off(&[(10, 2_380, 1)], &[&half]).unwrap();
    assert_eq!((lines[0].total, lines[0].tax), (amount(1_190), amount(190)));
}

#[test]
fn a_coupon_that_cannot_be_used_says_why() {
    let refusal = |change: fn(&mut Coupon)| {
        let mut it = coupon("CODE", percent("10"));
        change(&mut it);
        match take_off(&[(10, 1_000, 1)], &[&it]) {
            Err(ApplyRejection::Refused(_, why)) => Some(why),
            _ => None,
        }
    };
    let later = |ms| NOW.plus_millis(ms);
    assert_eq!(refusal(|_| {}), None);
    assert_eq!(
        refusal(|it| it.active = false),
        Some(CouponRefusal::Inactive)
    );
    assert_eq!(refusal(|it| it.starts_at = NOW), None);
    assert_eq!(
        refusal(|it| it.starts_at = NOW.plus_millis(1)),
        Some(CouponRefusal::NotStarted)
    );
    assert_eq!(refusal(|it| it.ends_at = NOW), Some(CouponRefusal::Ended));
    assert!(later(1) > NOW);
    assert_eq!(refusal(|it| it.ends_at = NOW.plus_millis(1)), None);
    assert_eq!(refusal(|it| it.min_subtotal = Some(amount(1_000))), None);
    assert_eq!(
        refusal(|it| it.min_subtotal = Some(amount(1_001))),
        Some(CouponRefusal::BelowMinimum)
    );
    assert_eq!(
        refusal(|it| it.products = Some(vec![product(99, 1).id])),
        Some(CouponRefusal::NothingEligible)
    );
    assert_eq!(
        refusal(|it| it.max_per_customer = Some(1)),
        Some(CouponRefusal::CustomerNeeded)
    );
}

#[test]
fn codes_and_percentages_have_one_spelling() {
    assert_eq!(CouponCode::parse(" pan-10 ").unwrap().as_str(), "PAN-10");
    for bad in ["", "X", "Ñ10", "A B", &"A".repeat(41)] {
        assert!(CouponCode::parse(bad).is_err(), "{bad}");
    }
    for (text, shown) in [
        ("10", "10"),
        ("12.50", "12.5"),
        ("100", "100"),
        ("0.0001", "0.0001"),
    ] {
        assert_eq!(Percent::parse(text).unwrap().to_decimal(), shown);
    }
    for bad in [
        "0", "0.0", "100.0001", "-1", "1e1", "", ".5", "5.", "1000", "1.00001",
    ] {
        assert!(Percent::parse(bad).is_err(), "{bad}");
    }
    assert!(Timestamp::from_millis(0) < NOW);
}

fn discount() -> impl Strategy<Value = Discount> {
    prop_oneof![
        (1u32..=1_000_000).prop_map(|part| {
            let text = format!("{}.{:04}", part / 10_000, part % 10_000);
            percent(&text)
        }),
        (1i64..=200_000).prop_map(|minor| Discount::Amount(amount(minor))),
        (1i64..=20).prop_map(|free| Discount::FreeUnits(units(free))),
    ]
}

proptest! {
    #[test]
    fn parts_add_up_and_the_order_of_lines_and_codes_changes_nothing(
        given in prop::collection::btree_map(10u8..60, (1i64..50_000, 1i64..30), 1..12),
        kinds in prop::collection::vec(discount(), 1..4),
        turn in 0usize..12,
    ) {
        let mut lines: Vec<(u8, i64, i64)> =
            given.into_iter().map(|(number, (price, units))| (number, price, units)).collect();
        let coupons: Vec<Coupon> = kinds
            .into_iter()
            .enumerate()
            .map(|(index, kind)| coupon(&format!("C{index}"), kind))
            .collect();
        let mut coupons: Vec<&Coupon> = coupons.iter().collect();
        let first = take_off(&lines, &coupons);
        if let Ok((priced, applied)) = &first {
            let taken: i64 = applied.iter().map(|it| it.discount.minor()).sum();
            prop_assert_eq!(discounts(priced).iter().sum::<i64>(), taken);
            for line in priced {
                prop_assert_eq!(line.subtotal.minus(line.discount).unwrap(), line.total);
            }
        }
        let turn = turn % lines.len();
        lines.rotate_left(turn);
        coupons.reverse();
        let sorted = |result: Result<(Vec<Line>, Vec<AppliedCoupon>), _>| {
            result.map(|(mut lines, applied)| {
                lines.sort_by_key(|line| line.product);
                (lines, applied)
            })
        };
        prop_assert_eq!(sorted(first), sorted(take_off(&lines, &coupons)));
    }
}
