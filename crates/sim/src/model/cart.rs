//! What is in the carts of one business in the model store.
//!
//! Owns three maps and the order in which a unit changes them.

use std::collections::BTreeMap;

use abasto_domain::id::{CartId, RawId};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::cart::{
    CartAppend, CartContent, CartEffects, CartLogEntry, CartState, DotHead, DotKey, Heard,
};
use abasto_store::record::Record;

/// States, edits since, and histories.
#[derive(Debug, Default)]
pub(super) struct Carts {
    states: BTreeMap<CartId, CartState>,
    appends: BTreeMap<DotKey, CartAppend>,
    log: BTreeMap<(CartId, Timestamp, RawId), CartLogEntry>,
}

impl Carts {
    /// Every record in the order of a walk.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        let states = self.states.values().cloned().map(Record::CartState);
        let appends = self.appends.values().cloned().map(Record::CartAppend);
        let log = self.log.values().cloned().map(Record::CartLog);
        states.chain(appends).chain(log)
    }

    /// The history of a cart.
    pub(super) fn log(&self, cart: CartId) -> Vec<Record> {
        let entries = self.log.values().filter(|entry| entry.cart == cart);
        entries.cloned().map(Record::CartLog).collect()
    }

    pub(super) fn content(&self, cart: CartId) -> CartContent {
        let tail = self.appends.values().filter(|it| it.dot.cart == cart);
        CartContent {
            state: self.states.get(&cart).cloned(),
            tail: tail.cloned().collect(),
        }
    }

    pub(super) fn version(&self, cart: CartId) -> i64 {
        self.states.get(&cart).map_or(0, |state| state.version)
    }

    pub(super) fn dot(&self, dot: DotKey) -> Result<DotHead, StoreError> {
        match (self.appends.get(&dot), self.states.get(&dot.cart)) {
            (Some(append), _) => Ok(DotHead::Kept(append.delta.clone())),
            (None, Some(state)) => Ok(Heard::of(&state.state)?.head(dot)),
            (None, None) => Ok(DotHead::Unheard),
        }
    }

    pub(super) fn apply(&mut self, effects: CartEffects) {
        for append in effects.appends {
            self.appends.insert(append.dot, append);
        }
        for entry in effects.log {
            self.log.insert((entry.cart, entry.at, entry.id), entry);
        }
        for fold in effects.folds {
            for dot in &fold.covers {
                self.appends.remove(dot);
            }
            self.states.insert(fold.next.cart, fold.next);
        }
    }
}
