//! What is stored of a cart's content: edits by dot, the state they were folded into, and the log.
//!
//! Owns these records and the part of a unit that writes them. An edit is an append under its dot
//! and conflicts with nothing; a fold replaces the state under its version. Must not know what an
//! edit means: its change is bytes.

use std::sync::Arc;

use abasto_cart::{Cart, Context, Dot, Rid};
use abasto_domain::access::Actor;
use abasto_domain::id::{BusinessId, CartId, ProductId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::port::StoreError;
use crate::record::HeadKey;

/// The name of one edit: the `sequence`-th of the author `rid` in a cart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub struct DotKey {
    /// The cart.
    pub cart: CartId,
    /// The author, all 64 bits.
    pub rid: u64,
    /// From 1.
    pub sequence: u64,
}

/// An edit that is not folded into the state yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CartAppend {
    /// The tenant.
    pub business: BusinessId,
    /// Its name.
    pub dot: DotKey,
    /// What tells a repetition from another operation under the same name.
    pub fingerprint: u64,
    /// The change, in canonical bytes.
    #[serde(with = "hex")]
    pub delta: Arc<[u8]>,
    /// What the product it put in cost then.
    pub price: Option<SeenPrice>,
    /// When it arrived.
    pub at: Timestamp,
}

/// What a product cost when units of it were last put into a cart. Not part of the cart: it only
/// tells that a price has changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenPrice {
    /// Which product.
    pub product: ProductId,
    /// When.
    pub at: Timestamp,
    /// How much, for one unit.
    pub price: Amount,
}

/// The state of a cart as of its last fold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CartState {
    /// The tenant.
    pub business: BusinessId,
    /// The cart.
    pub cart: CartId,
    /// 1, 2, 3 …: how often it was replaced.
    pub version: i64,
    /// The state with its context, in canonical bytes.
    #[serde(with = "hex")]
    pub state: Arc<[u8]>,
    /// The last operations as (author, sequence, fingerprint), oldest first.
    pub recent: Arc<[(u64, u64, u64)]>,
    /// One per product.
    pub prices: Arc<[SeenPrice]>,
    /// When the last edit inside it arrived.
    pub edited_at: Timestamp,
}

/// One operation in the history of a cart that keeps one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CartLogEntry {
    /// The tenant.
    pub business: BusinessId,
    /// The cart.
    pub cart: CartId,
    /// Its id; breaks ties of time.
    pub id: RawId,
    /// When it arrived.
    pub at: Timestamp,
    /// Who did it.
    pub actor: Actor,
    /// In which request.
    pub request: String,
    /// The operation, for people.
    pub operation: serde_json::Value,
    /// Its author and sequence; none for what the system took in as a whole.
    pub dot: Option<(u64, u64)>,
    /// The change, in canonical bytes: joining all of a cart gives its state.
    #[serde(with = "hex")]
    pub delta: Arc<[u8]>,
}

/// Everything that is stored of a cart's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CartContent {
    /// The state as of the last fold; none before the first.
    pub state: Option<CartState>,
    /// The edits since, by dot. One that the state has too does no harm: joining is idempotent.
    pub tail: Vec<CartAppend>,
}

/// An edit with its entry in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartEdit {
    /// The edit.
    pub append: CartAppend,
    /// Its entry, in a cart that keeps a history.
    pub log: Option<CartLogEntry>,
}

/// Replaces the state of a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The state after it; its version is that of the state it was made from, plus one.
    pub next: CartState,
    /// The edits that went into it and are appends no longer.
    pub covers: Vec<DotKey>,
}

/// What a unit does to the content of carts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CartWork {
    /// Edits. One whose dot is kept with the same bytes has no effect.
    pub edits: Vec<CartEdit>,
    /// States to replace. One that was replaced meanwhile makes the unit stale.
    pub folds: Vec<Fold>,
    /// Entries of the history that belong to a fold.
    pub log: Vec<CartLogEntry>,
}

/// What of a [`CartWork`] is to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CartEffects {
    /// New edits.
    pub appends: Vec<CartAppend>,
    /// States with what they cover.
    pub folds: Vec<Fold>,
    /// New entries of histories.
    pub log: Vec<CartLogEntry>,
}

/// What a store knows of a dot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DotHead {
    /// Nothing.
    Unheard,
    /// It is an append with these bytes.
    Kept(Arc<[u8]>),
    /// It went into the state.
    Folded,
}

/// The dots that the state of a cart has heard of.
#[derive(Debug, Default)]
pub struct Heard(Context);

impl Heard {
    /// Those of a stored state.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the bytes are none of ours.
    pub fn of(state: &[u8]) -> Result<Self, StoreError> {
        match Cart::decode(state) {
            Ok(cart) => Ok(Self(cart.context().clone())),
            Err(error) => Err(StoreError::Corrupt(error.to_string())),
        }
    }

    /// What is known of a dot that is no append.
    pub fn head(&self, dot: DotKey) -> DotHead {
        match Dot::new(Rid::from_bits(dot.rid), dot.sequence) {
            Some(dot) if self.0.contains(dot) => DotHead::Folded,
            _ => DotHead::Unheard,
        }
    }
}

impl CartWork {
    pub(crate) fn heads(&self) -> impl Iterator<Item = HeadKey> + '_ {
        let edits = self.edits.iter();
        let dots = edits.map(|edit| HeadKey::Dot(edit.append.dot));
        let folds = self.folds.iter();
        dots.chain(folds.map(|fold| HeadKey::CartState(fold.next.cart)))
    }
}

impl CartEffects {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.appends.is_empty() && self.folds.is_empty() && self.log.is_empty()
    }
}

/// Bytes as hexadecimal digits in JSON.
pub mod hex {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub use abasto_domain::hex::{bytes, text};

    pub(super) fn serialize<S: Serializer>(
        bytes: &Arc<[u8]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&text(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<[u8]>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("not an even number of hexadecimal digits");
        bytes(&text).map(Arc::from).ok_or_else(wrong)
    }
}
