//! Throws mutated bytes at the decoder for some minutes: `cargo run --release -p abasto-cart
//! --example fuzz_decoder -- 300`. The suite runs the same checks in short; this is for the long run.
//!
//! It keeps a corpus: an input that still decodes joins it, so mutations go on from there.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a tool for the command line: it prints, and a finding should end it"
)]

use abasto_cart::{
    Cart, Context, Dot, Hlc, LineKey, Name, Operation, Quantity, Rid, Stamp, Subject, Tag, Text,
    default_cap,
};
use std::time::{Duration, Instant};

const CORPUS: usize = 4096;
const MAX_BYTES: usize = 8192;

/// SplitMix64, seeded: a finding can be had again.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn operation(rng: &mut Rng) -> Operation {
    let product = ["X", "65f0c0ffee65f0c0ffee65f0", "cake"][rng.below(3)];
    let line = match rng.below(3) {
        0 => LineKey::builder(product)
            .option("size", "L")
            .seller("a=b")
            .build()
            .unwrap(),
        _ => LineKey::new(product).unwrap(),
    };
    let quantity = Quantity::new(1 + rng.below(1000) as u32).unwrap();
    let name = Name::new(["note", "wrap", "TEN"][rng.below(3)]).unwrap();
    let value = Text::new(["", "gift", "größe\n2"][rng.below(3)]).unwrap();
    match rng.below(10) {
        0..=2 => Operation::AddItem { line, quantity },
        3 => Operation::SetQuantity {
            line,
            quantity: Some(quantity),
        },
        4 => Operation::Increment { line, by: quantity },
        5 => Operation::Decrement { line, by: quantity },
        6 => Operation::RemoveItem { line },
        7 => Operation::SetAttribute { line, name, value },
        8 => Operation::ApplyCoupon { code: name },
        _ => Operation::SetField { name, value },
    }
}

fn seeds(rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for _ in 0..64 {
        let mut cart = Cart::new();
        for _ in 0..rng.below(40) {
            let dot = Dot::new(Rid::device(rng.next() % 5), 1 + rng.next() % 20).unwrap();
            let stamp = Stamp {
                dot,
                hlc: Hlc::from_bits(rng.next()),
            };
            let mut author = if rng.below(3) == 0 {
                Cart::new()
            } else {
                cart.clone()
            };
            if let Ok(change) = author.apply(&operation(rng), stamp, &default_cap) {
                cart.join(&change);
            }
        }
        corpus.push(cart.encode());
        corpus.push(cart.context().encode());
        corpus.push(cart.tag(Subject::Lines, &default_cap).encode());
        corpus.push(
            cart.tag(Subject::Line(LineKey::new("X").unwrap()), &default_cap)
                .encode(),
        );
    }
    corpus
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.next() as u8,
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => bytes.insert(at, [0, 1, 2, 8, 0x7f, 0x80, 0xff][rng.below(7)]),
            4 if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(1),
            5 if at < bytes.len() => {
                let end = at + 1 + rng.below(bytes.len() - at);
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            6 => bytes.truncate(at),
            _ => {
                bytes.truncate(at);
                bytes.extend_from_slice(&other[rng.below(other.len() + 1)..]);
            }
        }
        bytes.truncate(MAX_BYTES);
    }
}

/// Whether anything decoded; panics on a finding.
fn check(bytes: &[u8], last: &mut Cart) -> bool {
    let mut read = false;
    if let Ok(cart) = Cart::decode(bytes) {
        assert_eq!(cart.encode(), bytes, "two spellings of one cart");
        let (mut one, mut two) = (cart.clone(), last.clone());
        one.join(last);
        two.join(&cart);
        assert_eq!(one.encode(), two.encode(), "the order of a join shows");
        assert_eq!(one.view(&default_cap), two.view(&default_cap));
        *last = cart;
        read = true;
    }
    if let Ok(context) = Context::decode(bytes) {
        assert_eq!(context.encode(), bytes, "two spellings of one context");
        read = true;
    }
    if let Ok(tag) = Tag::decode(bytes) {
        assert_eq!(Tag::decode(&tag.encode()), Ok(tag));
        read = true;
    }
    read
}

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(10);
    let mut rng = Rng(std::env::args()
        .nth(2)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1));
    let mut corpus = seeds(&mut rng);
    let mut last = Cart::new();
    assert!(
        corpus.iter().all(|bytes| check(bytes, &mut last)),
        "a seed does not decode"
    );
    let (start, mut inputs, mut read) = (Instant::now(), 0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..1000 {
            let (at, other) = (rng.below(corpus.len()), rng.below(corpus.len()));
            let mut bytes = corpus[at].clone();
            mutate(&mut rng, &mut bytes, &corpus[other]);
            inputs += 1;
            if check(&bytes, &mut last) {
                read += 1;
                let full = corpus.len() >= CORPUS;
                if full {
                    corpus[other] = bytes
                } else {
                    corpus.push(bytes)
                }
            }
        }
    }
    println!("{inputs} inputs in {seconds} s, {read} of them decoded, no finding");
}
