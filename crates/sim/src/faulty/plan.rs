//! Which fault comes when: by chance from a seed, or written down call by call.
//!
//! Owns the choice. Must not know what a fault does.

use std::collections::BTreeMap;

use crate::dice::Dice;

/// What can go wrong with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitFault {
    /// Refused because too much waits; nothing is done.
    Overloaded,
    /// Refused because the store is gone; nothing is done.
    Unavailable,
    /// The request is lost: nothing is done, and the caller cannot know.
    RequestLost,
    /// The reply is lost: it is done, and the caller cannot know.
    ReplyLost,
    /// The caller is told that the outcome is unknown, and it is done some time later.
    Late,
    /// It is done after a while.
    Slow,
}

impl CommitFault {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Overloaded,
        Self::Unavailable,
        Self::RequestLost,
        Self::ReplyLost,
        Self::Late,
        Self::Slow,
    ];
}

/// What can go wrong with a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadFault {
    /// The store is gone.
    Unavailable,
    /// The answer is one that was true earlier (documents and levels only).
    Stale,
    /// The answer comes after a while.
    Slow,
}

/// How often faults come, in so many of a thousand calls, and how slow slow is.
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// Of each kind of fault of a commit.
    pub commit_per_mille: u64,
    /// Of unavailable and slow reads, each.
    pub read_per_mille: u64,
    /// Of stale reads.
    pub stale_per_mille: u64,
    /// Longest delay.
    pub delay_max_ms: u64,
}

/// A plan of faults.
#[derive(Debug)]
pub struct Plan {
    dice: Dice,
    rates: Rates,
    script: BTreeMap<u64, CommitFault>,
    commits: u64,
}

impl Plan {
    /// Faults by chance; the same seed and the same calls bring the same faults.
    pub const fn seeded(seed: u64, rates: Rates) -> Self {
        Self {
            dice: Dice::new(seed),
            rates,
            script: BTreeMap::new(),
            commits: 0,
        }
    }

    /// Exactly these faults: commit number (from 0) and fault.
    pub fn script(faults: impl IntoIterator<Item = (u64, CommitFault)>) -> Self {
        let rates = Rates {
            commit_per_mille: 0,
            read_per_mille: 0,
            stale_per_mille: 0,
            delay_max_ms: 5,
        };
        Self {
            script: faults.into_iter().collect(),
            ..Self::seeded(0, rates)
        }
    }

    /// The fault of the next commit.
    pub(super) fn commit(&mut self) -> Option<CommitFault> {
        let number = self.commits;
        self.commits += 1;
        if let Some(fault) = self.script.get(&number) {
            return Some(*fault);
        }
        let all = CommitFault::ALL.into_iter();
        all.fold(None, |chosen, fault| {
            let strikes = self.dice.chance(self.rates.commit_per_mille);
            chosen.or_else(|| strikes.then_some(fault))
        })
    }

    /// The fault of the next read.
    pub(super) fn read(&mut self) -> Option<ReadFault> {
        let chances = [
            (ReadFault::Unavailable, self.rates.read_per_mille),
            (ReadFault::Slow, self.rates.read_per_mille),
            (ReadFault::Stale, self.rates.stale_per_mille),
        ];
        chances
            .into_iter()
            .fold(None, |chosen, (fault, per_mille)| {
                let strikes = self.dice.chance(per_mille);
                chosen.or_else(|| strikes.then_some(fault))
            })
    }

    /// How long the next delay is. One that is asked for by name is always the longest, so that what
    /// is late really comes after what is sent meanwhile.
    pub(super) fn delay_ms(&mut self) -> u64 {
        if !self.script.is_empty() {
            return self.rates.delay_max_ms;
        }
        self.dice.roll(self.rates.delay_max_ms.saturating_add(1))
    }
}
