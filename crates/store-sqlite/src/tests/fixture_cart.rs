//! Records of carts for the fixtures, every field set at least once.

use std::sync::Arc;

use abasto_cart::{Cart as Content, Dot, Rid};
use abasto_domain::access::Actor;
use abasto_domain::business::CartMode;
use abasto_domain::cart::{Cart, CartSecret, CartStatus};
use abasto_domain::currency::Currency;
use abasto_domain::id::{CartId, CustomerId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::time::Timestamp;
use abasto_store::cart::{
    CartAppend, CartEdit, CartLogEntry, CartState, CartWork, DotKey, Fold, SeenPrice,
};
use abasto_store::unit::{Answer, UnitOfWork};
use serde_json::json;

use super::world::{START, World, operation, stamp};

const CART: CartId = CartId(RawId([0x60; 12]));
const ENDED: CartId = CartId(RawId([0x61; 12]));

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(START + ms)
}

/// The change that only uses up a number.
fn delta(sequence: u64) -> Arc<[u8]> {
    let dot = Dot::new(Rid::device(7), sequence).unwrap();
    Content::skip(dot).encode().into()
}

fn price(world: &World) -> SeenPrice {
    SeenPrice {
        product: world.products[0].id,
        at: at(5),
        price: Amount::from_minor(350_000).unwrap(),
    }
}

fn edit(world: &World, sequence: u64) -> CartEdit {
    let rid = Rid::device(7).bits();
    let append = CartAppend {
        business: world.id(),
        dot: DotKey {
            cart: CART,
            rid,
            sequence,
        },
        fingerprint: u64::MAX - sequence,
        delta: delta(sequence),
        price: (sequence == 2).then(|| price(world)),
        at: at(6),
    };
    CartEdit {
        log: Some(CartLogEntry {
            business: world.id(),
            cart: CART,
            id: RawId([u8::try_from(sequence).unwrap(); 12]),
            at: append.at,
            actor: Actor::System,
            request: "cart-1".to_owned(),
            operation: json!({"op": "clear"}),
            dot: (sequence == 2).then_some((rid, sequence)),
            delta: Arc::clone(&append.delta),
        }),
        append,
    }
}

/// An active cart with a state, an edit and a history, and one that ended in it.
pub(super) fn carts(world: &World) -> UnitOfWork {
    let active = Cart {
        business: world.id(),
        id: CART,
        branch: world.branches[0].id,
        customer: Some(CustomerId(RawId([0xc; 12]))),
        guest_hash: None,
        secret: CartSecret([9; 32]),
        mode: CartMode::Events,
        status: CartStatus::Active,
        successor: None,
        inherits: vec![ENDED],
        seal: None,
        currency_hint: Some(Currency::parse("USD").unwrap()),
        due_at: Some(at(9)),
        stamp: stamp(),
    };
    let ended = Cart {
        id: ENDED,
        customer: None,
        guest_hash: Some([8; 32]),
        mode: CartMode::Occ,
        status: CartStatus::Sealed,
        successor: Some(CART),
        inherits: Vec::new(),
        seal: Some(delta(3).to_vec()),
        currency_hint: None,
        due_at: None,
        ..active
    };
    let state = CartState {
        business: world.id(),
        cart: CART,
        version: 1,
        state: delta(1),
        recent: [(Rid::device(7).bits(), 1, 4)].into(),
        prices: [price(world)].into(),
        edited_at: at(6),
    };
    UnitOfWork {
        puts: vec![world.put(None, active), world.put(None, ended)],
        operation: Some(operation("cart")),
        answer: Answer::View(Arc::new(json!({"id": CART}))),
        carts: CartWork {
            edits: vec![edit(world, 1), edit(world, 2)],
            folds: vec![Fold {
                next: state,
                covers: vec![edit(world, 1).append.dot],
            }],
            log: Vec::new(),
        },
        ..world.unit(None)
    }
}
