//! The numbers of operations whose callers do not number them.
//!
//! Owns one author per cart of this process. A number that was handed out and not used is used
//! next; one that may have been used is never, nor any other of its author. A process that starts
//! again has other authors, so nothing is used twice after a restore.

use std::sync::{Arc, Mutex, PoisonError};

use abasto_cart::{Dot, Rid};
use abasto_domain::id::{BusinessId, CartId};
use moka::sync::Cache;

use super::token;
use crate::error::Error;

/// Carts whose author is remembered. A forgotten one gets another, which costs eleven bytes.
const AUTHORS_MAX: u64 = 50_000;

#[derive(Debug)]
struct Author {
    rid: Rid,
    next: u64,
    free: Vec<Dot>,
}

/// The authors of this process.
#[derive(Debug)]
pub(crate) struct Authors(Cache<(BusinessId, CartId), Arc<Mutex<Author>>>);

/// Numbers that were handed out, until it is known what became of them.
#[derive(Debug)]
pub(super) struct Taken {
    author: Arc<Mutex<Author>>,
    key: (BusinessId, CartId),
    pub(super) dots: Vec<Dot>,
}

impl Authors {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(AUTHORS_MAX).build())
    }

    /// Hands out so many numbers of a cart.
    pub(super) fn take(&self, key: (BusinessId, CartId), count: usize) -> Result<Taken, Error> {
        let seed = u64::from_be_bytes(token::random()?);
        let fresh = || {
            Arc::new(Mutex::new(Author {
                rid: Rid::region(seed),
                next: 1,
                free: Vec::new(),
            }))
        };
        let author = self.0.get_with(key, fresh);
        let mut guard = author.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dots = Vec::with_capacity(count);
        while dots.len() < count {
            let dot = match guard.free.pop() {
                Some(dot) => dot,
                None => {
                    let dot = Dot::new(guard.rid, guard.next);
                    guard.next += 1;
                    dot.ok_or(Error::Contended)?
                }
            };
            dots.push(dot);
        }
        dots.sort_unstable();
        drop(guard);
        Ok(Taken { author, key, dots })
    }

    /// Takes back numbers that are certainly not used.
    pub(super) fn give_back(&self, taken: Taken) {
        let mut author = taken.author.lock().unwrap_or_else(PoisonError::into_inner);
        author.free.extend(taken.dots);
        // The lowest goes out first.
        author.free.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Never uses this author again: some of its numbers may be in the store, or not.
    pub(super) fn abandon(&self, taken: &Taken) {
        self.0.invalidate(&taken.key);
    }
}
