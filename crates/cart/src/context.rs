//! The set of operations that a cart has heard of, live or removed.
//!
//! Owns [`Context`]: per author the unbroken run from 1 as one number, and the dots above a gap
//! one by one. It must not know what the dots stand for. It is kept compact always, so that
//! equal sets have equal bytes, and it never jumps a gap: that would claim operations unheard of.

use crate::codec::{self, DecodeError};
use crate::dot::{Dot, Rid};
use alloc::vec::Vec;

/// A compact set of dots. See the module text for its form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Ascending by author; the number is at least 1.
    vector: Vec<(Rid, u64)>,
    /// Ascending; each above the number of its author by at least two.
    cloud: Vec<Dot>,
}

impl Context {
    /// The context of exactly these dots.
    #[must_use]
    pub fn from_dots(dots: impl IntoIterator<Item = Dot>) -> Self {
        let mut context = Self::default();
        context.extend(dots);
        context
    }

    /// Adds these dots.
    pub(crate) fn extend(&mut self, dots: impl IntoIterator<Item = Dot>) {
        self.cloud.extend(dots);
        self.compact();
    }

    /// Parts as the decoder read them; it has checked the two invariants.
    pub(crate) fn from_checked(vector: Vec<(Rid, u64)>, cloud: Vec<Dot>) -> Self {
        Self { vector, cloud }
    }

    /// Whether the dot has been heard of.
    #[must_use]
    pub fn contains(&self, dot: Dot) -> bool {
        dot.seq() <= self.run_of(dot.rid()) || self.cloud.binary_search(&dot).is_ok()
    }

    /// The length of the unbroken run of `rid`: all of 1 to this number have been heard of.
    #[must_use]
    pub fn run_of(&self, rid: Rid) -> u64 {
        run_of(&self.vector, rid)
    }

    /// Adds all dots of the other context.
    pub fn union(&mut self, other: &Self) {
        for &(rid, run) in &other.vector {
            raise(&mut self.vector, rid, run);
        }
        self.cloud.extend_from_slice(&other.cloud);
        self.compact();
    }

    /// Whether every dot of `other` is in here.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other
            .vector
            .iter()
            .all(|&(rid, run)| run <= self.run_of(rid))
            && other.cloud.iter().all(|&dot| self.contains(dot))
    }

    /// Per author, ascending, the length of the unbroken run.
    #[must_use]
    pub fn vector(&self) -> &[(Rid, u64)] {
        &self.vector
    }

    /// The dots above a gap, ascending.
    #[must_use]
    pub fn cloud(&self) -> &[Dot] {
        &self.cloud
    }

    /// Whether nothing has been heard of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vector.is_empty() && self.cloud.is_empty()
    }

    /// The canonical bytes: the core of a token that says how much its holder has seen.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        codec::encode_context(self)
    }

    /// Reads what [`Context::encode`] wrote.
    ///
    /// # Errors
    /// [`DecodeError`] for anything else. A context that a client sends may be compared with
    /// ([`Context::covers`]), never joined.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode_context(bytes)
    }

    /// The authors, ascending, each once.
    pub(crate) fn authors(&self) -> Vec<Rid> {
        let mut rids: Vec<Rid> = self.vector.iter().map(|&(rid, _)| rid).collect();
        rids.extend(self.cloud.iter().map(|dot| dot.rid()));
        rids.sort_unstable();
        rids.dedup();
        rids
    }

    /// Whether any dot of `rid` is in here that `other` has not.
    pub(crate) fn exceeds(&self, other: &Self, rid: Rid) -> bool {
        self.run_of(rid) > other.run_of(rid)
            || self
                .cloud
                .iter()
                .any(|dot| dot.rid() == rid && !other.contains(*dot))
    }

    /// Only the dots of authors that `keep` accepts.
    pub(crate) fn retain_authors(&mut self, keep: impl Fn(Rid) -> bool) {
        self.vector.retain(|&(rid, _)| keep(rid));
        self.cloud.retain(|dot| keep(dot.rid()));
    }

    /// Moves cloud dots that continue a run into the run, and drops those inside one.
    fn compact(&mut self) {
        if self.cloud.is_empty() {
            return;
        }
        self.cloud.sort_unstable();
        self.cloud.dedup();
        let vector = &mut self.vector;
        self.cloud.retain(|dot| {
            let run = run_of(vector, dot.rid());
            if dot.seq() == run + 1 {
                raise(vector, dot.rid(), dot.seq());
            }
            dot.seq() > run + 1
        });
    }
}

fn run_of(vector: &[(Rid, u64)], rid: Rid) -> u64 {
    vector
        .binary_search_by_key(&rid, |&(rid, _)| rid)
        .map_or(0, |at| vector[at].1)
}

fn raise(vector: &mut Vec<(Rid, u64)>, rid: Rid, run: u64) {
    match vector.binary_search_by_key(&rid, |&(rid, _)| rid) {
        Ok(at) => vector[at].1 = vector[at].1.max(run),
        Err(at) => vector.insert(at, (rid, run)),
    }
}
