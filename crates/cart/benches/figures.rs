//! The figures of `docs/performance-carts.md`: sizes in bytes, times per operation and core.
//!
//! `cargo bench -p abasto-cart --bench figures`. Each time is that of 101 rounds, and a round
//! repeats the work for 2 to 4 ms: short enough that on a machine with other work the best round
//! is one that nothing interrupted. Inputs are made before the clock starts.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and a surprise should end it"
)]

use abasto_cart::{
    Cart, Dot, Hlc, LineKey, Operation, Quantity, Rid, Stamp, Subject, Tag, default_cap,
};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 101;
const ROUND: Duration = Duration::from_millis(2);

fn line(n: u64) -> LineKey {
    LineKey::new(&format!("sku-{n:09}")).unwrap()
}

fn units(n: u32) -> Quantity {
    Quantity::new(n).unwrap()
}

fn add(n: u64) -> Operation {
    Operation::AddItem {
        line: line(n),
        quantity: units(2),
    }
}

/// A cart that several authors edit in turn.
struct Shop {
    cart: Cart,
    authors: u64,
    made: u64,
}

impl Shop {
    fn new(authors: u64) -> Self {
        Self {
            cart: Cart::new(),
            authors,
            made: 0,
        }
    }

    /// A cart of so many lines by seven authors, with a past of lines that have gone.
    fn with_lines(lines: u64) -> Self {
        let mut shop = Self::new(7);
        for n in 0..70 {
            shop.make(&add(1_000_000 + n));
            shop.make(&Operation::RemoveItem {
                line: line(1_000_000 + n),
            });
        }
        for n in 0..lines {
            shop.make(&add(n));
        }
        shop
    }

    fn stamp(&self) -> Stamp {
        let rid = Rid::device(0x1bad_5eed_0000_0000 | (self.made % self.authors));
        let dot = Dot::new(rid, 1 + self.made / self.authors).unwrap();
        Stamp {
            dot,
            hlc: Hlc::new(1_700_000_000_000 + self.made, 0),
        }
    }

    fn make(&mut self, operation: &Operation) -> Cart {
        let stamp = self.stamp();
        self.made += 1;
        self.cart.apply(operation, stamp, &default_cap).unwrap()
    }

    /// The change that an operation makes now, without making it.
    fn change(&self, operation: &Operation) -> Cart {
        self.cart
            .clone()
            .apply(operation, self.stamp(), &default_cap)
            .unwrap()
    }
}

/// Best and median nanoseconds of one call.
fn time<T>(mut work: impl FnMut() -> T) -> [f64; 2] {
    let mut calls = 1u32;
    while measure(&mut work, calls) < ROUND {
        calls *= 2;
    }
    let per_call = |round: Duration| round.as_secs_f64() * 1e9 / f64::from(calls);
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| per_call(measure(&mut work, calls)))
        .collect();
    rounds.sort_by(f64::total_cmp);
    [rounds[0], rounds[ROUNDS / 2]]
}

fn measure<T>(work: &mut impl FnMut() -> T, calls: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(work());
    }
    start.elapsed()
}

fn row(what: &str, value: &str) {
    println!("| {what} | {value} |");
}

fn time_row(what: &str, [best, median]: [f64; 2]) {
    row(
        what,
        &format!(
            "{:.2} | {:.2} | {:.0}",
            best / 1e3,
            median / 1e3,
            1e9 / best
        ),
    );
}

fn sizes() {
    println!("| size | bytes |\n|---|---|");
    for lines in [1, 3, 10, 30, 100] {
        row(
            &format!("cart of {lines} lines, 7 authors"),
            &Shop::with_lines(lines).cart.encode().len().to_string(),
        );
    }
    let shop = Shop::with_lines(10);
    let changes = [
        ("add, new line", add(77)),
        ("add, line that is there", add(3)),
        (
            "increment",
            Operation::Increment {
                line: line(3),
                by: units(1),
            },
        ),
        (
            "set quantity",
            Operation::SetQuantity {
                line: line(3),
                quantity: Some(units(7)),
            },
        ),
        ("remove", Operation::RemoveItem { line: line(3) }),
        ("clear 10 lines", Operation::Clear),
    ];
    for (what, operation) in changes {
        row(
            &format!("change: {what}"),
            &shop.change(&operation).encode().len().to_string(),
        );
    }
    let tag = shop.cart.tag(Subject::Line(line(3)), &default_cap);
    row(
        "tag of a line, before signing",
        &tag.encode().len().to_string(),
    );
    let mut cycles = Shop::new(3);
    for n in 0..30_000 {
        cycles.make(&add(n % 50));
        cycles.make(&Operation::RemoveItem { line: line(n % 50) });
    }
    assert!(cycles.cart.entries().is_empty());
    row(
        "after 30 000 add and remove cycles, 3 authors",
        &cycles.cart.encode().len().to_string(),
    );
}

fn times(lines: u64) {
    println!("\n| {lines} lines | best µs | median µs | best per second |\n|---|---|---|---|");
    let shop = Shop::with_lines(lines);
    let (cart, bytes) = (&shop.cart, shop.cart.encode());
    let operation = Operation::SetQuantity {
        line: line(lines / 2),
        quantity: Some(units(7)),
    };
    let change = shop.change(&operation);
    let mut other = Shop {
        cart: cart.clone(),
        made: shop.made + 1,
        ..shop
    };
    other.make(&add(lines + 1));
    let stamp = shop.stamp();
    time_row("encode", time(|| cart.encode()));
    time_row("decode", time(|| Cart::decode(&bytes).unwrap()));
    time_row("view", time(|| cart.view(&default_cap)));
    time_row("clone", time(|| cart.clone()));
    let mut known = cart.clone();
    known.join(&change);
    time_row(
        "join of a change that is known",
        time(|| known.join(&change)),
    );
    time_row(
        "clone and join of a new change",
        time(|| {
            let mut cart = cart.clone();
            cart.join(&change);
            cart
        }),
    );
    time_row(
        "clone and join of a full cart",
        time(|| {
            let mut cart = cart.clone();
            cart.join(&other.cart);
            cart
        }),
    );
    let whole = |bytes: &[u8]| {
        let mut cart = Cart::decode(bytes).unwrap();
        let change = cart.apply(&operation, stamp, &default_cap).unwrap();
        (cart.encode(), change.encode())
    };
    time_row(
        "decode, set quantity, join, encode cart and change",
        time(|| whole(&bytes)),
    );
    let tag = cart
        .tag(Subject::Line(line(lines / 2)), &default_cap)
        .encode();
    time_row(
        "decode a tag, make the change, encode it",
        time(|| {
            let seen = Tag::decode(&tag).unwrap().seen;
            operation.delta(stamp, &seen).unwrap().encode()
        }),
    );
}

fn main() {
    sizes();
    for lines in [1, 10, 100] {
        times(lines);
    }
}
