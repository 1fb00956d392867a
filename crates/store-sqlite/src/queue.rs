//! The queue before the writer: bounded lanes, taken from in turn.
//!
//! Owns who waits, how many may, and whose turn it is. Businesses take turns, and within a
//! business its lanes, so that one that floods waits for itself. Must not know what waits.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use abasto_domain::id::{BranchId, BusinessId};

/// How many units may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In one lane: one branch of a business, or the business as a whole.
    pub lane: usize,
    /// In all lanes of one business.
    pub business: usize,
    /// In all.
    pub total: usize,
    /// Most units of one commit.
    pub group: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lane: 1_024,
            business: 2_048,
            total: 8_192,
            group: 256,
        }
    }
}

/// Why a unit cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many wait already.
    Full,
    /// The store is closing.
    Closed,
}

/// Which lane a unit waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    pub(crate) business: BusinessId,
    pub(crate) branch: Option<BranchId>,
}

/// The lanes of one business, the next one to serve first. None is empty.
#[derive(Debug)]
struct Tenant<T> {
    waiting: usize,
    lanes: VecDeque<(Option<BranchId>, VecDeque<T>)>,
}

#[derive(Debug)]
struct State<T> {
    tenants: HashMap<BusinessId, Tenant<T>>,
    /// Businesses that have something waiting, the next one to serve first.
    turns: VecDeque<BusinessId>,
    waiting: usize,
    open: bool,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    limits: Limits,
    state: Mutex<State<T>>,
    filled: Condvar,
}

impl<T> Queue<T> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Mutex::new(State {
                tenants: HashMap::new(),
                turns: VecDeque::new(),
                waiting: 0,
                open: true,
            }),
            filled: Condvar::new(),
        }
    }

    /// Lets something wait in a lane.
    pub(crate) fn push(&self, lane: Lane, item: T) -> Result<(), Refused> {
        let mut state = self.lock();
        if !state.open {
            return Err(Refused::Closed);
        }
        if state.waiting >= self.limits.total {
            return Err(Refused::Full);
        }
        let was_empty = state.waiting == 0;
        state.push(self.limits, lane, item)?;
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Waits until something is there and takes as much of it as one group may have; empty when
    /// the queue is closed and nothing is left.
    pub(crate) fn take(&self) -> Vec<T> {
        let mut state = self.lock();
        while state.waiting == 0 && state.open {
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut group = Vec::with_capacity(state.waiting.min(self.limits.group));
        while group.len() < self.limits.group
            && let Some(item) = state.pop()
        {
            group.push(item);
        }
        group
    }

    /// Lets nothing more wait; what waits already is still served.
    pub(crate) fn close(&self) {
        self.lock().open = false;
        self.filled.notify_all();
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing in this module can panic halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn push(&mut self, limits: Limits, lane: Lane, item: T) -> Result<(), Refused> {
        let tenant = self.tenants.entry(lane.business).or_insert_with(|| Tenant {
            waiting: 0,
            lanes: VecDeque::new(),
        });
        if tenant.waiting >= limits.business {
            return Err(Refused::Full);
        }
        let known = tenant.lanes.iter_mut().find(|(it, _)| *it == lane.branch);
        match known {
            Some((_, items)) if items.len() >= limits.lane => return Err(Refused::Full),
            Some((_, items)) => items.push_back(item),
            None => tenant
                .lanes
                .push_back((lane.branch, VecDeque::from([item]))),
        }
        tenant.waiting += 1;
        self.waiting += 1;
        if tenant.waiting == 1 {
            self.turns.push_back(lane.business);
        }
        Ok(())
    }

    /// Takes one item: of the business whose turn it is, from the lane whose turn it is.
    fn pop(&mut self) -> Option<T> {
        let business = self.turns.pop_front()?;
        let tenant = self.tenants.get_mut(&business)?;
        let (branch, mut items) = tenant.lanes.pop_front()?;
        let item = items.pop_front()?;
        tenant.waiting -= 1;
        self.waiting -= 1;
        if !items.is_empty() {
            tenant.lanes.push_back((branch, items));
        }
        if tenant.waiting == 0 {
            self.tenants.remove(&business);
        } else {
            self.turns.push_back(business);
        }
        Some(item)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
