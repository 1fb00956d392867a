//! A cart with a state, an edit and a history.

use std::sync::Arc;

use abasto_cart::{Cart as Content, Dot, Rid};
use abasto_domain::access::Actor;
use abasto_domain::business::CartMode;
use abasto_domain::cart::{Cart, CartSecret, CartStatus};
use abasto_domain::id::CartId;
use abasto_domain::stamp::Stamp;
use abasto_store::cart::{CartAppend, CartEdit, CartLogEntry, CartState, CartWork, DotKey, Fold};
use abasto_store::unit::UnitOfWork;

use super::{NOW, Shop, create, id};

impl Shop {
    /// A guest's cart after two edits, the first of which is in its state.
    pub(crate) fn shopping(&self, cart: CartId) -> UnitOfWork {
        let record = Cart {
            business: self.business,
            id: cart,
            branch: self.branch.id,
            customer: None,
            guest_hash: Some([8; 32]),
            secret: CartSecret([9; 32]),
            mode: CartMode::Events,
            status: CartStatus::Active,
            successor: None,
            inherits: Vec::new(),
            seal: None,
            currency_hint: None,
            due_at: Some(NOW),
            stamp: Stamp::first(NOW),
        };
        let edits = vec![self.edit(cart, 1), self.edit(cart, 2)];
        let next = CartState {
            business: self.business,
            cart,
            version: 1,
            state: Arc::clone(&edits[0].append.delta),
            recent: [].into(),
            prices: [].into(),
            edited_at: NOW,
        };
        let covers = vec![edits[0].append.dot];
        UnitOfWork {
            carts: CartWork {
                edits,
                folds: vec![Fold { next, covers }],
                log: Vec::new(),
            },
            ..self.unit(vec![create(record.into())], Vec::new())
        }
    }

    /// An edit that only uses up a number.
    fn edit(&self, cart: CartId, sequence: u64) -> CartEdit {
        let rid = Rid::device(7);
        let dot = Dot::new(rid, sequence).expect("a number");
        let append = CartAppend {
            business: self.business,
            dot: DotKey {
                cart,
                rid: rid.bits(),
                sequence,
            },
            fingerprint: sequence,
            delta: Content::skip(dot).encode().into(),
            price: None,
            at: NOW,
        };
        let log = CartLogEntry {
            business: self.business,
            cart,
            id: id(),
            at: NOW,
            actor: Actor::System,
            request: "template".into(),
            operation: serde_json::json!({ "op": "clear" }),
            dot: Some((rid.bits(), sequence)),
            delta: Arc::clone(&append.delta),
        };
        CartEdit {
            append,
            log: Some(log),
        }
    }
}
