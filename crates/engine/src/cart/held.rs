//! The content of carts in memory, between the store and an edit.
//!
//! Owns when the store must be asked. Where nobody else writes to the store, a cart that was read
//! once stays right by taking in every change that is committed here: joining is idempotent and
//! has no order, so nothing can overtake. Otherwise every use reads the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abasto_cart::{Cart as Content, Dot, RecentDots, Rid};
use abasto_domain::id::{BusinessId, CartId, ProductId};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::cart::{CartAppend, CartContent, CartState, DotKey, SeenPrice};
use moka::sync::Cache;
use tokio::sync::Notify;

use crate::Engine;
use crate::error::Error;

/// Carts that are kept in memory.
const CARTS_MAX: u64 = 4_096;

/// A cart's content as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// The merged edits.
    pub(super) content: Content,
    /// Version of the stored state; 0 when there is none.
    pub(super) version: i64,
    /// The last operations, to tell a repetition from a dot used twice.
    pub(super) recent: RecentDots,
    /// Edits that are not in the stored state yet.
    pub(super) tail: BTreeMap<DotKey, usize>,
    /// What products cost when they were last put in.
    pub(super) prices: BTreeMap<ProductId, SeenPrice>,
    /// When the last edit arrived.
    pub(super) edited_at: Timestamp,
}

impl Held {
    pub(super) fn read(stored: &CartContent) -> Result<Self, StoreError> {
        let mut held = Self::default();
        if let Some(state) = &stored.state {
            held.take_state(state, decode(&state.state)?);
        }
        for append in &stored.tail {
            held.take(append, &decode(&append.delta)?);
        }
        Ok(held)
    }

    /// Takes in an edit.
    pub(super) fn take(&mut self, append: &CartAppend, change: &Content) {
        let joined = self.content.join(change);
        if !joined.reused.is_empty() {
            metrics::counter!("abasto_cart_dots_reused_total").increment(1);
            tracing::error!(cart = %append.dot.cart, "a dot came with two contents");
        }
        if let Some(dot) = Dot::new(Rid::from_bits(append.dot.rid), append.dot.sequence) {
            self.recent.note(dot, append.fingerprint);
        }
        self.tail.insert(append.dot, append.delta.len());
        self.see_price(append.price);
        self.edited_at = self.edited_at.max(append.at);
    }

    fn take_state(&mut self, state: &CartState, content: Content) {
        self.content.join(&content);
        self.version = self.version.max(state.version);
        for (rid, sequence, fingerprint) in state.recent.iter() {
            if let Some(dot) = Dot::new(Rid::from_bits(*rid), *sequence) {
                self.recent.note(dot, *fingerprint);
            }
        }
        for price in state.prices.iter() {
            self.see_price(Some(*price));
        }
        self.edited_at = self.edited_at.max(state.edited_at);
    }

    fn see_price(&mut self, seen: Option<SeenPrice>) {
        if let Some(seen) = seen {
            let known = self.prices.entry(seen.product).or_insert(seen);
            *known = (*known).max(seen);
        }
    }

    /// Takes in what another cart left, and what was known beside it.
    pub(super) fn inherit(&mut self, left: &Self, rest: &Content) {
        self.content.join(rest);
        for (dot, fingerprint) in left.recent.iter() {
            self.recent.note(dot, fingerprint);
        }
        for seen in left.prices.values() {
            self.see_price(Some(*seen));
        }
        self.edited_at = self.edited_at.max(left.edited_at);
    }

    /// Takes in what was read meanwhile elsewhere.
    fn merge(&mut self, other: Self) {
        self.content.join(&other.content);
        self.version = self.version.max(other.version);
        for (dot, fingerprint) in other.recent.iter() {
            self.recent.note(dot, fingerprint);
        }
        for seen in other.prices.into_values() {
            self.see_price(Some(seen));
        }
        self.tail.extend(other.tail);
        self.edited_at = self.edited_at.max(other.edited_at);
    }

    /// The prices of products that are still in the cart.
    fn present_prices(&self) -> impl Iterator<Item = SeenPrice> + '_ {
        let lines = self.content.entries().iter();
        let products: BTreeSet<&str> = lines
            .filter_map(|(_, entry)| Some(entry.line()?.product()))
            .collect();
        let prices = self.prices.values().copied();
        prices.filter(move |seen| products.contains(seen.product.to_string().as_str()))
    }

    /// Bytes of the edits that are not in the stored state yet.
    pub(super) fn tail_bytes(&self) -> usize {
        self.tail.values().sum()
    }

    /// The content as a state that replaces the stored one.
    pub(super) fn to_state(&self, business: BusinessId, cart: CartId) -> CartState {
        let recent = self.recent.iter();
        let recent = recent.map(|(dot, print)| (dot.rid().bits(), dot.seq(), print));
        CartState {
            business,
            cart,
            version: self.version + 1,
            state: self.content.encode().into(),
            recent: recent.collect(),
            prices: self.present_prices().collect(),
            edited_at: self.edited_at,
        }
    }
}

/// Reads stored bytes of the cart type.
pub(super) fn decode(bytes: &[u8]) -> Result<Content, StoreError> {
    Content::decode(bytes).map_err(|error| {
        metrics::counter!("abasto_cart_decode_errors_total").increment(1);
        StoreError::Corrupt(error.to_string())
    })
}

/// One cart in memory.
#[derive(Debug, Default)]
pub(super) struct Cell {
    inner: Mutex<Inner>,
    is_folding: AtomicBool,
    /// Rings when something was taken in.
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    /// Whether the store was read; before that `held` is only what came since.
    is_read: bool,
    held: Arc<Held>,
}

impl Cell {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the caller is the one who folds now.
    pub(super) fn begin_fold(&self) -> bool {
        !self.is_folding.swap(true, Ordering::AcqRel)
    }

    pub(super) fn end_fold(&self) {
        self.is_folding.store(false, Ordering::Release);
    }

    fn held(&self) -> Option<Arc<Held>> {
        let inner = self.lock();
        inner.is_read.then(|| Arc::clone(&inner.held))
    }

    fn change(&self, change: impl FnOnce(&mut Held)) {
        change(Arc::make_mut(&mut self.lock().held));
        self.changed.notify_waiters();
    }
}

type CellKey = (BusinessId, CartId);

/// The carts in memory.
#[derive(Debug)]
pub(crate) struct Cells(Cache<CellKey, Arc<Cell>>);

impl Cells {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(CARTS_MAX).build())
    }

    pub(super) fn cell(&self, key: CellKey) -> Arc<Cell> {
        self.0.get_with(key, Arc::default)
    }

    /// Forgets a cart: the outcome of a commit is not known.
    pub(super) fn forget(&self, key: CellKey) {
        self.0.invalidate(&key);
    }
}

impl Engine {
    /// The content of a cart, not older than this call.
    pub(super) async fn held(
        &self,
        business: BusinessId,
        cart: CartId,
    ) -> Result<Arc<Held>, Error> {
        if self.store.is_shared() {
            let stored = self.store.cart_content(business, cart).await?;
            return Ok(Arc::new(Held::read(&stored)?));
        }
        let cell = self.carts.cell((business, cart));
        if let Some(held) = cell.held() {
            return Ok(held);
        }
        let stored = self.store.cart_content(business, cart).await?;
        let read = Held::read(&stored)?;
        let mut inner = cell.lock();
        if !inner.is_read {
            inner.is_read = true;
            Arc::make_mut(&mut inner.held).merge(read);
        }
        Ok(Arc::clone(&inner.held))
    }

    /// Takes committed edits into memory.
    pub(super) fn take_edits(&self, key: CellKey, edits: &[(CartAppend, Content)]) {
        let cell = self.carts.cell(key);
        cell.change(|held| {
            for (append, change) in edits {
                held.take(append, change);
            }
        });
    }

    /// Takes a committed state into memory.
    pub(super) fn take_fold(
        &self,
        key: CellKey,
        state: &CartState,
        content: Content,
        covers: &[DotKey],
    ) {
        let cell = self.carts.cell(key);
        cell.change(|held| {
            held.take_state(state, content);
            for dot in covers {
                held.tail.remove(dot);
            }
        });
    }
}
