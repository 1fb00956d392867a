//! Short ways to build carts and to read them.

use abasto_cart::{
    Cart, Dot, Hlc, LineKey, Name, Operation, OperationError, Quantity, Rid, Stamp, Text, View,
    default_cap,
};

/// SplitMix64: small, seeded, the same on every machine.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `n` − 1.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

pub(crate) fn line(product: &str) -> LineKey {
    LineKey::new(product).unwrap()
}

pub(crate) fn units(n: u32) -> Quantity {
    Quantity::new(n).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn text(value: &str) -> Text {
    Text::new(value).unwrap()
}

pub(crate) fn dot(rid: Rid, seq: u64) -> Dot {
    Dot::new(rid, seq).unwrap()
}

pub(crate) fn add(product: &str, n: u32) -> Operation {
    Operation::AddItem {
        line: line(product),
        quantity: units(n),
    }
}

pub(crate) fn set(product: &str, n: u32) -> Operation {
    Operation::SetQuantity {
        line: line(product),
        quantity: Quantity::new(n).ok(),
    }
}

pub(crate) fn inc(product: &str, n: u32) -> Operation {
    Operation::Increment {
        line: line(product),
        by: units(n),
    }
}

pub(crate) fn dec(product: &str, n: u32) -> Operation {
    Operation::Decrement {
        line: line(product),
        by: units(n),
    }
}

pub(crate) fn remove(product: &str) -> Operation {
    Operation::RemoveItem {
        line: line(product),
    }
}

pub(crate) fn attribute(product: &str, value: &str) -> Operation {
    Operation::SetAttribute {
        line: line(product),
        name: name("note"),
        value: text(value),
    }
}

pub(crate) fn coupon(code: &str) -> Operation {
    Operation::ApplyCoupon { code: name(code) }
}

pub(crate) fn no_coupon(code: &str) -> Operation {
    Operation::RemoveCoupon { code: name(code) }
}

pub(crate) fn field(value: &str) -> Operation {
    Operation::SetField {
        name: name("note"),
        value: text(value),
    }
}

/// A place that holds the cart and numbers its own edits.
#[derive(Clone)]
pub(crate) struct Replica {
    pub(crate) cart: Cart,
    pub(crate) rid: Rid,
    pub(crate) seq: u64,
    pub(crate) cap: Quantity,
}

impl Replica {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            cart: Cart::new(),
            rid: Rid::device(id),
            seq: 0,
            cap: Quantity::DEFAULT_CAP,
        }
    }

    /// Another place that starts with a copy of this cart.
    pub(crate) fn fork(&self, id: u64) -> Self {
        Self {
            rid: Rid::device(id),
            seq: 0,
            ..self.clone()
        }
    }

    pub(crate) fn capped(mut self, cap: u32) -> Self {
        self.cap = units(cap);
        self
    }

    pub(crate) fn try_at(
        &mut self,
        operation: &Operation,
        ms: u64,
    ) -> Result<Cart, OperationError> {
        let stamp = Stamp {
            dot: dot(self.rid, self.seq + 1),
            hlc: Hlc::new(ms, 0),
        };
        let cap = self.cap;
        let delta = self.cart.apply(operation, stamp, &|_| cap)?;
        self.seq += 1;
        Ok(delta)
    }

    pub(crate) fn at(&mut self, operation: &Operation, ms: u64) -> Cart {
        self.try_at(operation, ms).unwrap()
    }

    pub(crate) fn make(&mut self, operation: &Operation) -> Cart {
        self.at(operation, 1)
    }
}

pub(crate) fn joined<'a>(base: &Cart, deltas: impl IntoIterator<Item = &'a Cart>) -> Cart {
    let mut cart = base.clone();
    for delta in deltas {
        cart.join(delta);
    }
    cart
}

/// Lines as `X:5 Y:1`, with `+value` for the note, `?` for conflicted and `!` for clamped.
pub(crate) fn show_capped(cart: &Cart, cap: u32) -> String {
    show_view(&cart.view(&|_| units(cap)))
}

pub(crate) fn show(cart: &Cart) -> String {
    show_view(&cart.view(&default_cap))
}

fn show_view(view: &View) -> String {
    let lines = view.lines.iter().map(|line| {
        let notes: String = line
            .attributes
            .iter()
            .map(|note| format!(" +{}", note.value.as_str()))
            .collect();
        let flags = [(line.is_conflicted(), "?"), (line.is_clamped(), "!")];
        let flags: String = flags
            .iter()
            .filter(|(on, _)| *on)
            .map(|(_, flag)| *flag)
            .collect();
        format!(
            "{}:{}{flags}{notes}",
            line.line.as_str(),
            line.quantity.get()
        )
    });
    lines.collect::<Vec<_>>().join(" ")
}

pub(crate) fn orders(n: usize) -> Vec<Vec<usize>> {
    fn extend(prefix: &mut Vec<usize>, n: usize, all: &mut Vec<Vec<usize>>) {
        if prefix.len() == n {
            all.push(prefix.clone());
        }
        for i in 0..n {
            if !prefix.contains(&i) {
                prefix.push(i);
                extend(prefix, n, all);
                prefix.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), n, &mut all);
    all
}

/// Joins the changes in every order, plain, each doubled, and the whole series doubled, and gives
/// the one cart that they all end with.
pub(crate) fn in_every_order(base: &Cart, deltas: &[Cart]) -> Cart {
    let expected = joined(base, deltas);
    for order in orders(deltas.len()) {
        let once = order.iter().map(|&at| &deltas[at]);
        let doubled = order.iter().flat_map(|&at| [&deltas[at], &deltas[at]]);
        let twice = once.clone().chain(once.clone());
        for cart in [
            joined(base, once),
            joined(base, doubled),
            joined(base, twice),
        ] {
            assert_eq!(cart, expected, "order {order:?}");
            assert_eq!(cart.encode(), expected.encode(), "order {order:?}");
        }
    }
    expected
}
