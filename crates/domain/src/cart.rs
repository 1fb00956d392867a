//! A cart as the business sees it: whose it is, where, in which mode, and how its life ends.
//!
//! Owns the states active → sealed | merged | closed and what each step leaves behind. Must not
//! know what is in the cart: edits never touch this record, so they never wait for one another.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::business::CartMode;
use crate::currency::Currency;
use crate::id::{BranchId, BusinessId, CartId, CustomerId};
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// Days without an edit after which a cart closes.
pub const IDLE_DAYS: i64 = 90;
/// Days after which the content of a cart that ended is forgotten.
pub const RETENTION_DAYS: i64 = 365;
/// Most carts whose content one cart still has to take in.
pub const INHERITS_MAX: usize = 8;

const DAY_MS: i64 = 86_400_000;

/// One cart.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cart {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: CartId,
    /// Where it is to be bought; its prices and products are those of this branch.
    pub branch: BranchId,
    /// Whose it is; a guest's is nobody's.
    pub customer: Option<CustomerId>,
    /// SHA-256 of the guest's secret; none once the cart has an owner or has ended.
    pub guest_hash: Option<[u8; 32]>,
    /// What tags and device names of this cart are authenticated with.
    pub secret: CartSecret,
    /// How concurrent edits meet; never changes.
    pub mode: CartMode,
    /// How far its life has come.
    pub status: CartStatus,
    /// The cart that goes on in its place.
    pub successor: Option<CartId>,
    /// Ended carts whose content belongs to this one and is not in its own state yet.
    pub inherits: Vec<CartId>,
    /// The state that was bought, as the cart type writes it.
    #[serde(with = "crate::hex::optional")]
    pub seal: Option<Vec<u8>>,
    /// The currency in which the shopper would like to see it.
    pub currency_hint: Option<Currency>,
    /// When the clean-up looks at it next.
    pub due_at: Option<Timestamp>,
    /// Version and times.
    pub stamp: Stamp,
}

/// Key bytes that never show in logs.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CartSecret(pub [u8; 32]);

impl fmt::Debug for CartSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CartSecret(…)")
    }
}

/// How far the life of a cart has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CartStatus {
    /// It takes edits.
    Active,
    /// It was bought; what the buyer had not seen goes on in the successor.
    Sealed,
    /// Its content went into the successor.
    Merged,
    /// Nobody touched it for too long.
    Closed,
}

impl CartStatus {
    /// All of them, in the order of their stored numbers.
    pub const ALL: [Self; 4] = [Self::Active, Self::Sealed, Self::Merged, Self::Closed];

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Sealed => "sealed",
            Self::Merged => "merged",
            Self::Closed => "closed",
        }
    }
}

/// Why two carts cannot become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeRejection {
    /// They are one already.
    Itself,
    /// They are for different branches.
    OtherBranch,
    /// They belong to different customers.
    OtherCustomer,
    /// The target has ended.
    TargetEnded,
    /// The source has ended, and not in this target.
    SourceEnded,
    /// The target has too many carts to take in first.
    TooMany,
}

/// What a merge comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// The two carts after it.
    Join {
        /// The cart that goes on.
        target: Box<Cart>,
        /// The cart that ended.
        source: Box<Cart>,
    },
    /// It happened before.
    Done,
}

impl Cart {
    /// Whether it takes edits.
    pub fn is_active(&self) -> bool {
        self.status == CartStatus::Active
    }

    /// The key under which a customer has one active cart per branch; none for guests and for
    /// carts that ended.
    pub fn active_key(&self) -> Option<(CustomerId, BranchId)> {
        self.customer
            .filter(|_| self.is_active())
            .map(|customer| (customer, self.branch))
    }

    /// When an active cart that was last edited at `edited_at` closes.
    pub fn idle_at(edited_at: Timestamp) -> Timestamp {
        edited_at.plus_millis(IDLE_DAYS * DAY_MS)
    }

    fn ended(&self, status: CartStatus, successor: Option<CartId>, now: Timestamp) -> Self {
        Self {
            status,
            successor,
            guest_hash: None,
            due_at: Some(now.plus_millis(RETENTION_DAYS * DAY_MS)),
            stamp: self.stamp.next(now),
            ..self.clone()
        }
    }

    /// The cart after nobody touched it for too long.
    #[must_use]
    pub fn closed(&self, now: Timestamp) -> Self {
        self.ended(CartStatus::Closed, None, now)
    }

    /// The cart after it was bought in the state `seal`.
    #[must_use]
    pub fn sealed(&self, seal: Vec<u8>, successor: CartId, now: Timestamp) -> Self {
        Self {
            seal: Some(seal),
            ..self.ended(CartStatus::Sealed, Some(successor), now)
        }
    }

    /// The cart in which the buyer of this one goes on.
    #[must_use]
    pub fn successor(&self, id: CartId, secret: CartSecret, now: Timestamp) -> Self {
        Self {
            id,
            secret,
            status: CartStatus::Active,
            successor: None,
            inherits: alloc::vec![self.id],
            seal: None,
            due_at: Some(Self::idle_at(now)),
            stamp: Stamp::first(now),
            ..self.clone()
        }
    }

    /// The cart after the content of the carts it inherits from is in its own state.
    #[must_use]
    pub fn settled(&self, now: Timestamp) -> Self {
        Self {
            inherits: Vec::new(),
            stamp: self.stamp.next(now),
            ..self.clone()
        }
    }

    /// The cart after the clean-up found it edited at `edited_at`.
    #[must_use]
    pub fn kept(&self, edited_at: Timestamp, now: Timestamp) -> Self {
        Self {
            due_at: Some(Self::idle_at(edited_at)),
            stamp: self.stamp.next(now),
            ..self.clone()
        }
    }

    /// The ended cart after its content was forgotten.
    #[must_use]
    pub fn forgotten(&self, now: Timestamp) -> Self {
        Self {
            due_at: None,
            seal: None,
            stamp: self.stamp.next(now),
            ..self.clone()
        }
    }

    /// Takes `source` into this cart. The owner of either becomes the owner of the result.
    ///
    /// # Errors
    /// [`MergeRejection`].
    pub fn merge(&self, source: &Self, now: Timestamp) -> Result<Merge, MergeRejection> {
        if self.id == source.id {
            return Err(MergeRejection::Itself);
        }
        if source.status == CartStatus::Merged && source.successor == Some(self.id) {
            return Ok(Merge::Done);
        }
        if self.branch != source.branch {
            return Err(MergeRejection::OtherBranch);
        }
        let customer = match (self.customer, source.customer) {
            (Some(a), Some(b)) if a != b => return Err(MergeRejection::OtherCustomer),
            (a, b) => a.or(b),
        };
        if !self.is_active() {
            return Err(MergeRejection::TargetEnded);
        }
        if !source.is_active() {
            return Err(MergeRejection::SourceEnded);
        }
        if self.inherits.len() >= INHERITS_MAX {
            return Err(MergeRejection::TooMany);
        }
        let mut target = Self {
            customer,
            guest_hash: self.guest_hash.filter(|_| customer.is_none()),
            stamp: self.stamp.next(now),
            ..self.clone()
        };
        target.inherits.push(source.id);
        Ok(Merge::Join {
            target: Box::new(target),
            source: Box::new(source.ended(CartStatus::Merged, Some(self.id), now)),
        })
    }
}
