//! Prices come from the catalogue, lines add up, and their order changes nothing.

use abasto_domain::limits::{AMOUNT_MINOR_MAX, QUANTITY_MAX};
use abasto_domain::money::Amount;
use abasto_domain::pricing::{Item, merge_items, price_line, totals};
use abasto_domain::product::Product;
use proptest::prelude::*;

use crate::sample::{Wish, amount, product, units};

fn any_lines() -> impl Strategy<Value = Vec<(Product, i64)>> {
    let line = (0..5_000_000i64, 0..=1_000_000u32, 1..=200i64);
    prop::collection::vec(line, 1..12).prop_map(|lines| {
        (0..)
            .zip(lines)
            .map(|(number, (price, rate, quantity))| (product(number, price, rate), quantity))
            .collect()
    })
}

fn item(number: u32, quantity: i64) -> Item {
    Item {
        product: product(number, 1, 0).id,
        quantity: units(quantity),
    }
}

#[test]
fn lines_of_one_product_become_one() {
    let merged = merge_items(&[item(1, 2), item(2, 5), item(1, 3), item(1, 1)]).unwrap();
    assert_eq!(merged, [item(1, 6), item(2, 5)]);
    assert_eq!(merge_items(&[]).unwrap(), []);
    let (index, invalid) =
        merge_items(&[item(1, QUANTITY_MAX), item(2, 1), item(1, 1)]).unwrap_err();
    assert_eq!((index, invalid.code), (2, "out-of-range"));
}

#[test]
fn a_line_too_dear_is_refused() {
    let dear = product(1, AMOUNT_MINOR_MAX, 0);
    assert!(price_line(&dear, units(1)).is_ok());
    assert!(price_line(&dear, units(2)).is_err());
    let lines = [
        price_line(&dear, units(1)).unwrap(),
        price_line(&dear, units(1)).unwrap(),
    ];
    assert!(totals(&lines, Amount::ZERO).is_err());
    assert!(totals(&lines[..1], amount(1)).is_err());
}

proptest! {
    #[test]
    fn everything_adds_up(lines in any_lines(), fee in 0..100_000i64) {
        let mut wish = Wish::of(lines);
        wish.fee = amount(fee);
        let order = wish.place().unwrap();
        let totals = order.totals;
        let sum = |part: fn(&abasto_domain::pricing::Line) -> Amount| -> i64 {
            order.lines.iter().map(|line| part(line).minor()).sum()
        };
        for ((product, quantity), line) in wish.lines.iter().zip(&order.lines) {
            prop_assert_eq!(line.unit_price, product.sale_price);
            prop_assert_eq!(line.subtotal.minor(), product.sale_price.minor() * quantity);
            prop_assert_eq!(line.total, line.subtotal.minus(line.discount).unwrap());
            prop_assert!(line.tax <= line.total);
        }
        prop_assert_eq!(totals.subtotal.minor(), sum(|line| line.subtotal));
        prop_assert_eq!(totals.discount.minor(), sum(|line| line.discount));
        prop_assert_eq!(totals.tax.minor(), sum(|line| line.tax));
        prop_assert_eq!(totals.total.minor(), sum(|line| line.total) + fee);
    }

    #[test]
    fn the_order_of_lines_changes_no_amount(
        (lines, shuffled) in any_lines().prop_flat_map(|lines| {
            (Just(lines.clone()), Just(lines).prop_shuffle())
        }),
    ) {
        let one = Wish::of(lines).place().unwrap();
        let two = Wish::of(shuffled).place().unwrap();
        prop_assert_eq!(one.totals, two.totals);
        let sorted = |order: abasto_domain::order::Order| {
            let mut lines = order.lines;
            lines.sort_by_key(|line| line.product);
            lines
        };
        prop_assert_eq!(sorted(one), sorted(two));
    }

    #[test]
    fn merging_keeps_every_unit(items in prop::collection::vec((0..6u32, 1..1_000i64), 0..30)) {
        let items: Vec<Item> = items.into_iter().map(|(number, n)| item(number, n)).collect();
        let merged = merge_items(&items).unwrap();
        for known in &merged {
            let all = items.iter().filter(|item| item.product == known.product);
            let sum: i64 = all.map(|item| item.quantity.units()).sum();
            prop_assert_eq!(known.quantity.units(), sum);
        }
        let mut products: Vec<_> = merged.iter().map(|item| item.product).collect();
        products.sort();
        products.dedup();
        prop_assert_eq!(products.len(), merged.len());
        // Once merged, nothing is left to merge.
        prop_assert_eq!(merge_items(&merged).unwrap(), merged);
    }
}
