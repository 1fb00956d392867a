//! Every pair and every triple of edits that did not see each other.

use crate::support::*;
use abasto_cart::{Cart, Operation};

const NAMES: [&str; 8] = [
    "Add 2", "Inc 1", "Dec 1", "Set 7", "Set 3", "Remove", "Clear", "Attr",
];

/// Row operation at a with the earlier stamp, column operation at b: the value of X afterwards.
const TABLE: [[&str; 8]; 8] = [
    ["9", "8", "6", "9", "5", "2", "2", "7 +n"],
    ["8", "7", "5", "8", "4", "0", "0", "6 +n"],
    ["6", "5", "3", "6", "2", "0", "0", "4 +n"],
    ["9", "8", "6", "7", "3", "7", "7", "7 +n"],
    ["5", "4", "2", "7", "3", "3", "3", "3 +n"],
    ["2", "0", "0", "7", "3", "0", "0", "0"],
    ["2", "0", "0", "7", "3", "0", "0", "0"],
    ["7 +n", "6 +n", "4 +n", "7 +n", "3 +n", "0", "0", "5 +b"],
];

fn operations(note: &str) -> [Operation; 8] {
    [
        add("X", 2),
        inc("X", 1),
        dec("X", 1),
        set("X", 7),
        set("X", 3),
        remove("X"),
        Operation::Clear,
        attribute("X", note),
    ]
}

/// Carts that everybody knows when the edits begin: X in all states that it can be in.
fn bases() -> Vec<(&'static str, Replica)> {
    let mut plain = Replica::new(100);
    plain.make(&add("X", 5));
    let mut by_set = Replica::new(100);
    by_set.make(&add("X", 2));
    by_set.make(&set("X", 5));
    let mut adjusted = Replica::new(100);
    adjusted.make(&add("X", 3));
    adjusted.make(&attribute("X", "old"));
    adjusted.make(&inc("X", 2));
    let mut two_lives = Replica::new(100);
    let other = two_lives.fork(101).make(&add("X", 3));
    two_lives.make(&add("X", 2));
    two_lives.cart.join(&other);
    let absent = Replica::new(100);
    let mut single = Replica::new(100);
    single.make(&add("X", 1));
    let mut below_zero = single.clone();
    let other = single.fork(101).make(&dec("X", 1));
    below_zero.make(&dec("X", 1));
    below_zero.cart.join(&other);
    let mut reborn = single.clone();
    let stray = single.fork(101).make(&inc("X", 4));
    reborn.make(&remove("X"));
    reborn.make(&add("X", 5));
    reborn.cart.join(&stray);
    vec![
        ("5 by add", plain),
        ("5 by set", by_set),
        ("5 adjusted, with note", adjusted),
        ("5 of two lives", two_lives),
        ("absent", absent),
        ("1", single),
        ("hidden below zero", below_zero),
        ("5 in a second life, with a stray step of the first", reborn),
    ]
}

fn edit(base: &Replica, id: u64, operation: &Operation, ms: u64) -> Option<Cart> {
    base.fork(id).try_at(operation, ms).ok()
}

fn value(cart: &Cart) -> String {
    match show(cart).replace('?', "").strip_prefix("X:") {
        Some(value) => value.to_owned(),
        None => "0".to_owned(),
    }
}

#[test]
fn the_table_of_pairs() {
    let (_, base) = bases().swap_remove(0);
    let mut printed = format!(
        "| a \\ b | {} |\n|---|{}\n",
        NAMES.join(" | "),
        "---|".repeat(8)
    );
    for (row, a) in operations("n").iter().enumerate() {
        let cells: Vec<String> = (0..8)
            .map(|column| {
                let note = if row == 7 { "b" } else { "n" };
                let b = &operations(note)[column];
                let deltas = [
                    edit(&base, 1, a, 10).unwrap(),
                    edit(&base, 2, b, 20).unwrap(),
                ];
                value(&in_every_order(&base.cart, &deltas))
            })
            .collect();
        printed += &format!("| **{}** | {} |\n", NAMES[row], cells.join(" | "));
        assert_eq!(cells, TABLE[row], "row {}", NAMES[row]);
    }
    println!("{printed}");
}

/// The values that the edits lead to one after the other, each author seeing all before.
fn serial(base: &Replica, edits: &[(u64, &Operation, u64)]) -> Vec<String> {
    let in_order = |order: Vec<usize>| {
        let mut cart = base.cart.clone();
        for at in order {
            let (id, operation, ms) = edits[at];
            let mut author = Replica {
                cart,
                ..base.fork(id)
            };
            // A step on a line that has gone does nothing.
            let _ = author.try_at(operation, ms);
            cart = author.cart;
        }
        value(&cart)
    };
    orders(edits.len()).into_iter().map(in_order).collect()
}

/// Joins edits that did not see each other, in every order, and compares with some serial order.
fn check_side_by_side(base: &Replica, edits: &[(u64, &Operation, u64)], what: &str) {
    let deltas: Vec<Cart> = edits
        .iter()
        .filter_map(|&(id, operation, ms)| edit(base, id, operation, ms))
        .collect();
    let by_delta = in_every_order(&base.cart, &deltas);
    let states: Vec<Cart> = deltas
        .iter()
        .map(|delta| joined(&base.cart, [delta]))
        .collect();
    assert_eq!(
        by_delta,
        joined(&base.cart, &states),
        "joining changes is joining states"
    );
    let (side_by_side, serial) = (value(&by_delta), serial(base, edits));
    assert!(
        serial.contains(&side_by_side),
        "{what}: {side_by_side}, serial {serial:?}"
    );
}

#[test]
fn every_pair_on_every_base_in_every_order_is_some_serial_order() {
    for (base_name, base) in bases() {
        for (i, a) in operations("a").iter().enumerate() {
            for (j, b) in operations("b").iter().enumerate() {
                let what = format!("{base_name}: {} beside {}", NAMES[i], NAMES[j]);
                check_side_by_side(&base, &[(1, a, 10), (2, b, 20)], &what);
            }
        }
    }
}

#[test]
fn every_triple_on_every_base_in_every_order_is_some_serial_order() {
    let mut triples = 0;
    for (base_name, base) in bases() {
        for (i, a) in operations("a").iter().enumerate() {
            for (j, b) in operations("b").iter().enumerate() {
                for (k, c) in operations("c").iter().enumerate() {
                    let what = format!("{base_name}: {}, {}, {}", NAMES[i], NAMES[j], NAMES[k]);
                    check_side_by_side(&base, &[(1, a, 10), (2, b, 20), (3, c, 20)], &what);
                    triples += 1;
                }
            }
        }
    }
    assert_eq!(triples, 8 * 512);
}

#[test]
fn coupons_and_fields_beside_each_other() {
    let mut base = Replica::new(100);
    base.make(&add("X", 1));
    base.make(&coupon("OLD"));
    base.make(&field("old"));
    let both = |a: &Operation, b: &Operation| {
        let deltas = [
            edit(&base, 1, a, 10).unwrap(),
            edit(&base, 2, b, 20).unwrap(),
        ];
        in_every_order(&base.cart, &deltas).view(&abasto_cart::default_cap)
    };
    let codes = |a: &Operation, b: &Operation| {
        both(a, b)
            .coupons
            .iter()
            .map(|code| code.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        codes(&coupon("OLD"), &no_coupon("OLD")),
        ["OLD"],
        "applying survives"
    );
    assert_eq!(
        codes(&no_coupon("OLD"), &coupon("OLD")),
        ["OLD"],
        "applying survives"
    );
    assert_eq!(
        codes(&coupon("NEW"), &coupon("NEW")),
        ["NEW", "OLD"],
        "once"
    );
    assert_eq!(codes(&coupon("A"), &coupon("B")), ["A", "B", "OLD"], "both");
    assert_eq!(
        codes(&no_coupon("OLD"), &no_coupon("OLD")),
        Vec::<String>::new()
    );
    assert_eq!(
        codes(&Operation::Clear, &coupon("A")),
        ["A", "OLD"],
        "clearing lines leaves coupons"
    );
    let cleared = both(&Operation::Clear, &field("b"));
    assert!(cleared.lines.is_empty());
    assert_eq!(cleared.field("note").unwrap().value, text("b"));
    let raced = both(&field("a"), &field("b"));
    let note = raced.field("note").unwrap();
    assert_eq!(
        (&note.value, note.others.as_slice()),
        (&text("b"), [text("a")].as_slice())
    );
    assert!(note.is_conflicted());
}
