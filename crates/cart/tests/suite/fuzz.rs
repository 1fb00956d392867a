//! The decoder against bytes that nobody wrote.

use crate::simulation::sample;
use crate::support::*;
use abasto_cart::{Cart, Context, Tag, default_cap};

/// Whatever decodes must be canonical and must behave as a cart.
pub(crate) fn check(bytes: &[u8], other: &Cart) {
    if let Ok(cart) = Cart::decode(bytes) {
        assert_eq!(cart.encode(), bytes, "two spellings of one cart");
        let _ = cart.view(&default_cap);
        assert_eq!(joined(&cart, [other]), joined(other, [&cart]));
    }
    if let Ok(context) = Context::decode(bytes) {
        assert_eq!(context.encode(), bytes, "two spellings of one context");
    }
    if let Ok(tag) = Tag::decode(bytes) {
        assert_eq!(Tag::decode(&tag.encode()), Ok(tag));
    }
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.next() as u8,
            2 if at < bytes.len() => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, *rng.pick(&[0, 1, 2, 8, 0x7f, 0x80, 0xff])),
            4 => bytes.truncate(at),
            5 if at < bytes.len() => {
                let end = at + rng.below(bytes.len() - at) + 1;
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                let from = rng.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
        }
        bytes.truncate(4096);
    }
}

#[test]
fn mutated_bytes_never_break_the_decoder() {
    let mut rng = Rng::new(3);
    let mut read = 0;
    for seed in 0..20 {
        let carts = sample(seed);
        for _ in 0..1_500 {
            let (cart, other) = (rng.pick(&carts), rng.pick(&carts));
            let mut bytes = cart.encode();
            mutate(&mut rng, &mut bytes, &other.encode());
            read += usize::from(Cart::decode(&bytes).is_ok());
            check(&bytes, other);
        }
    }
    assert!(
        read > 500,
        "only {read} of 30 000 mutations still read: the test hardly reaches the inside"
    );
}

#[test]
fn random_bytes_never_break_the_decoder() {
    let mut rng = Rng::new(4);
    for _ in 0..20_000 {
        let len = rng.below(60);
        // Small numbers get further into the decoder.
        let mut bytes: Vec<u8> = (0..len)
            .map(|_| {
                if rng.one_in(3) {
                    rng.next() as u8
                } else {
                    rng.below(9) as u8
                }
            })
            .collect();
        bytes.insert(0, 1);
        check(&bytes, &Cart::new());
    }
}

#[test]
fn every_prefix_and_every_flipped_bit_is_refused_or_canonical() {
    let cart = sample(5)
        .into_iter()
        .max_by_key(|cart| cart.encode().len())
        .unwrap();
    let bytes = cart.encode();
    for end in 0..bytes.len() {
        assert!(
            Cart::decode(&bytes[..end]).is_err(),
            "a prefix of {end} bytes reads"
        );
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        check(&flipped, &cart);
    }
}
