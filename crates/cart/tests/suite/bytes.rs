//! Canonical bytes: every cart has one spelling, and every other is refused.

use crate::simulation::sample;
use crate::support::*;
use abasto_cart::{Cart, Context, Entry, Fault, Hlc, Instances, LineKey, Opaque, Rid};

#[test]
fn carts_and_contexts_read_back_and_equal_ones_have_equal_bytes() {
    for seed in 0..100 {
        let carts = sample(seed);
        for a in &carts {
            assert_eq!(Cart::decode(&a.encode()).as_ref(), Ok(a));
            assert_eq!(
                Context::decode(&a.context().encode()).as_ref(),
                Ok(a.context())
            );
            for b in &carts {
                assert_eq!(a == b, a.encode() == b.encode());
            }
        }
    }
}

#[test]
fn a_stored_cart_of_the_first_version_reads_for_ever() {
    let mut a = Replica::new(0x0102_0304);
    a.at(&add("croissant", 3), 1_700_000_000_000);
    a.at(&add("65f0c0ffee65f0c0ffee65f0", 1), 1_700_000_000_001);
    a.at(&set("croissant", 2), 1_700_000_000_002);
    a.at(&inc("croissant", 4), 1_700_000_000_003);
    a.at(&attribute("croissant", "gift"), 1_700_000_000_004);
    a.at(&coupon("TEN"), 1_700_000_000_005);
    a.at(&field("ring twice"), 1_700_000_000_006);
    let stored = include_str!("fixture-v1.hex").trim();
    let hex: String = a
        .cart
        .encode()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        hex, stored,
        "the first version's bytes have changed: old carts would not read"
    );
    assert_eq!(
        show(&a.cart),
        "65f0c0ffee65f0c0ffee65f0:1 croissant:6 +gift"
    );
}

#[test]
fn kinds_of_a_later_version_are_carried_and_not_lost() {
    let mut here = Replica::new(1);
    here.make(&add("X", 1));
    let later = Rid::device(2);
    let opaque = Entry::Unknown(Opaque::new(9, b"gift card").unwrap());
    let delta = Cart::delta([(dot(later, 1), opaque.clone())], []);
    let carried = Cart::decode(&joined(&here.cart, [&delta]).encode()).unwrap();
    assert_eq!(carried.get(dot(later, 1)), Some(&opaque));
    assert_eq!(show(&carried), "X:1");
    here.cart = carried;
    here.make(&abasto_cart::Operation::Clear);
    assert!(
        here.cart.get(dot(later, 1)).is_some(),
        "what is not understood is not cleared"
    );
    let removed = Cart::delta([], [dot(later, 1)]);
    assert_eq!(
        joined(&here.cart, [&removed]).get(dot(later, 1)),
        None,
        "a join needs no understanding"
    );
    assert_eq!(
        Opaque::new(7, b""),
        None,
        "kinds of this version cannot pose as unknown"
    );
}

/// Hexadecimal bytes; `R` is the id of device 1, `X` a line key, `E` an entry count of one and
/// an add of five by the device's first dot.
fn spelled(text: &str) -> Vec<u8> {
    let text = text
        .replace('R', "80 00 00 00 00 00 00 01")
        .replace('X', "04 58")
        .replace('E', "01 08 00 01 05");
    text.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

const REFUSED: [(&str, Fault, &str); 26] = [
    ("version 2", Fault::Version, "02 01 R 01 00 01 X E 00"),
    (
        "one byte more",
        Fault::Trailing,
        "01 01 R 01 00 01 X E 00 00",
    ),
    ("one byte less", Fault::End, "01 01 R 01 00 01 X E"),
    ("a long number", Fault::Number, "01 01 R 81 00 00 01 X E 00"),
    (
        "a number over 64 bits",
        Fault::Number,
        "01 01 R ff ff ff ff ff ff ff ff ff 02",
    ),
    (
        "a run beyond every sequence",
        Fault::Value,
        "01 01 R ff ff ff ff ff ff ff 1f 00 00 00",
    ),
    (
        "no units",
        Fault::Value,
        "01 01 R 01 00 01 X 01 08 00 01 00 00",
    ),
    (
        "a million and one",
        Fault::Value,
        "01 01 R 01 00 01 X 01 08 00 01 c1 84 3d 00",
    ),
    (
        "a step of nothing",
        Fault::Value,
        "01 01 R 01 00 01 X 01 0a 00 01 00 00",
    ),
    (
        "sequence 0",
        Fault::Value,
        "01 01 R 01 00 01 X 01 08 00 00 05 00",
    ),
    (
        "a dot unheard of",
        Fault::Context,
        "01 01 R 01 00 01 X 01 08 00 02 05 00",
    ),
    ("an unused author", Fault::Author, "01 01 R 00 00 00 00"),
    ("an author twice", Fault::Order, "01 02 R 01 R 01 00 00 00"),
    (
        "an index of no author",
        Fault::Author,
        "01 01 R 01 00 01 X 01 08 01 01 05 00",
    ),
    (
        "a cloud dot inside the run",
        Fault::Context,
        "01 01 R 01 01 00 01 00 00",
    ),
    (
        "a cloud dot that continues the run",
        Fault::Context,
        "01 01 R 01 01 00 02 00 00",
    ),
    ("an empty line", Fault::Value, "01 01 R 01 00 01 X 00 00"),
    (
        "a line twice",
        Fault::Order,
        "01 01 R 02 00 02 X E X 01 08 00 02 05 00",
    ),
    (
        "a dot twice",
        Fault::Order,
        "01 01 R 01 00 02 X E 04 59 E 00",
    ),
    (
        "an own life spelled out",
        Fault::Value,
        "01 01 R 01 00 01 X 01 00 00 01 01 00 01 05 00",
    ),
    (
        "no life",
        Fault::Value,
        "01 01 R 01 00 01 X 01 00 00 01 00 05 00",
    ),
    (
        "an unknown kind in a line",
        Fault::Kind,
        "01 01 R 01 00 01 X 01 0c 00 01 05 00",
    ),
    (
        "a reserved kind",
        Fault::Kind,
        "01 01 R 01 00 00 01 07 00 01 00",
    ),
    (
        "hexadecimal digits as text",
        Fault::Value,
        "01 01 R 01 00 01 08 61 62 E 00",
    ),
    (
        "a question mark in a product",
        Fault::Value,
        "01 01 R 01 00 01 14 58 3f 61 3d 62 E 00",
    ),
    ("a count beyond the input", Fault::End, "01 ff ff ff ff 0f"),
];

#[test]
fn other_spellings_are_refused_each_for_its_reason() {
    let good = spelled("01 01 R 01 00 01 X E 00");
    let cart = Cart::decode(&good).unwrap();
    assert_eq!(show(&cart), "X:5");
    assert_eq!(cart.encode(), good);
    for (what, fault, text) in REFUSED {
        assert_eq!(
            Cart::decode(&spelled(text)).map_err(|error| error.fault),
            Err(fault),
            "{what}"
        );
    }
}

#[test]
fn sizes_are_as_promised() {
    let cart_of = |lines: usize| {
        let mut authors: Vec<Replica> = (0..7)
            .map(|id| Replica::new(0x1234_5678_9abc + id))
            .collect();
        let mut cart = Cart::new();
        for n in 0..lines.max(7) {
            let author = &mut authors[n % 7];
            author.cart = cart;
            author.make(&add(&format!("sku-{n:09}"), 1 + (n % 9) as u32));
            if n >= lines {
                author.make(&remove(&format!("sku-{n:09}")));
            }
            cart = author.cart.clone();
        }
        (authors, cart)
    };
    for (lines, most) in [(1, 150), (3, 190), (10, 350), (100, 2365)] {
        let (_, cart) = cart_of(lines);
        let bytes = cart.encode().len();
        assert!(bytes <= most, "{lines} lines: {bytes} bytes");
    }
    let (mut authors, cart) = cart_of(10);
    authors[0].cart = cart;
    for edit in [
        add("sku-new-00001", 2),
        add("sku-000000003", 1),
        inc("sku-000000003", 1),
        set("sku-000000003", 7),
        remove("sku-000000003"),
    ] {
        let bytes = authors[0].at(&edit, 1_700_000_000_000).encode().len();
        assert!(bytes <= 64, "{edit:?}: {bytes} bytes");
    }
}

#[test]
fn instances_are_sorted_unique_and_bounded() {
    let many: Vec<_> = (1..=100)
        .rev()
        .map(|seq| dot(Rid::device(1), seq))
        .collect();
    let kept = Instances::collect(many.iter().chain(&many).copied().collect()).unwrap();
    assert_eq!(kept.as_slice().len(), 64);
    assert_eq!(
        kept.as_slice()[0],
        dot(Rid::device(1), 37),
        "the greatest stay"
    );
    assert_eq!(
        Instances::collect(vec![many[0], many[0]]),
        Some(Instances::one(many[0]))
    );
    assert_eq!(Instances::collect(vec![]), None);
    let entry = Entry::Add {
        line: LineKey::new("X").unwrap(),
        quantity: units(1),
        instances: kept,
    };
    let cart = Cart::delta([(many[0], entry)], []);
    assert_eq!(Cart::decode(&cart.encode()), Ok(cart));
    assert_eq!(Hlc::from_bits(Hlc::new(5, 6).bits()), Hlc::new(5, 6));
}
