//! The state that a proxy shares with its connections: the link, the rules, the counts.
//!
//! Owns what is decided about a frame and every wait that a fault asks for, so that ending the
//! proxy ends the waits. Must not know how frames are moved.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::pump::Pair;
use super::script::{Fault, Rule, Way};
use crate::Error;

/// The wire as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Link {
    /// Frames pass, but for those that a rule strikes.
    #[default]
    Open,
    /// Nothing passes and nothing closes, as behind a pulled cable: what waits is delivered when
    /// the link opens again.
    Silent,
    /// Every connection closes, and new ones close at once.
    Cut,
}

/// Shared by a proxy and its connections.
#[derive(Debug, Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    link: Link,
    ended: bool,
    /// A forgotten rule leaves its place empty, so that numbers stay true.
    rules: Vec<(Rule, Standing)>,
    seen: BTreeMap<String, u64>,
    pairs: Vec<Weak<Pair>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    InForce,
    Forgotten,
}

impl State {
    pub(super) fn add(&self, rule: Rule) -> usize {
        let mut inner = self.lock();
        inner.rules.push((rule, Standing::InForce));
        inner.rules.len() - 1
    }

    pub(super) fn clear(&self) {
        for (_, standing) in &mut self.lock().rules {
            *standing = Standing::Forgotten;
        }
    }

    pub(super) fn fired(&self, index: usize) -> u32 {
        self.lock().fired(index)
    }

    pub(super) fn wait_fired(
        &self,
        index: usize,
        times: u32,
        limit: Duration,
    ) -> Result<(), Error> {
        let short = |inner: &mut Inner| inner.fired(index) < times;
        let waited = self.changed.wait_timeout_while(self.lock(), limit, short);
        let (_inner, outcome) = waited.unwrap_or_else(PoisonError::into_inner);
        match outcome.timed_out() {
            true => Err(Error::NotSettled {
                awaited: "met the fault",
                seconds: limit.as_secs(),
            }),
            false => Ok(()),
        }
    }

    pub(super) fn seen(&self, command: &str) -> u64 {
        self.lock().seen.get(command).copied().unwrap_or(0)
    }

    pub(super) fn link(&self) -> Link {
        self.lock().link
    }

    pub(super) fn set_link(&self, link: Link) {
        let mut inner = self.lock();
        inner.link = link;
        let pairs = match link {
            Link::Cut => std::mem::take(&mut inner.pairs),
            Link::Open | Link::Silent => Vec::new(),
        };
        drop(inner);
        self.changed.notify_all();
        close(&pairs);
    }

    /// Whether the proxy still takes clients.
    pub(super) fn accepts(&self) -> bool {
        !self.lock().ended
    }

    /// Ends every wait and every connection.
    pub(super) fn end(&self) {
        let mut inner = self.lock();
        inner.ended = true;
        let pairs = std::mem::take(&mut inner.pairs);
        drop(inner);
        self.changed.notify_all();
        close(&pairs);
    }

    /// Takes note of a new connection, unless the link was cut meanwhile.
    pub(super) fn register(&self, pair: &Arc<Pair>) -> bool {
        let mut inner = self.lock();
        if inner.ended || inner.link == Link::Cut {
            return false;
        }
        inner.pairs.retain(|pair| pair.strong_count() > 0);
        inner.pairs.push(Arc::downgrade(pair));
        true
    }

    /// What is to be done with a frame; counts it.
    pub(super) fn decide(&self, way: Way, command: &str) -> Option<Fault> {
        let mut inner = self.lock();
        if way == Way::Request {
            *inner.seen.entry(command.to_owned()).or_default() += 1;
        }
        let in_force = |(_, standing): &&mut (Rule, Standing)| *standing == Standing::InForce;
        let mut rules = inner.rules.iter_mut().filter(in_force);
        let fault = rules.find_map(|(rule, _)| rule.meet(way, command));
        drop(inner);
        self.changed.notify_all();
        fault
    }

    /// Waits as long as the link is silent.
    pub(super) fn wait_audible(&self) {
        let silent = |inner: &mut Inner| inner.link == Link::Silent && !inner.ended;
        drop(self.changed.wait_while(self.lock(), silent));
    }

    /// Waits for the length of a fault, or until the proxy ends.
    pub(super) fn pause(&self, length: Duration) {
        let deadline = Instant::now() + length;
        let early = |inner: &mut Inner| !inner.ended && Instant::now() < deadline;
        drop(self.changed.wait_timeout_while(self.lock(), length, early));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn fired(&self, index: usize) -> u32 {
        self.rules.get(index).map_or(0, |(rule, _)| rule.fired())
    }
}

fn close(pairs: &[Weak<Pair>]) {
    for pair in pairs.iter().filter_map(Weak::upgrade) {
        pair.close();
    }
}
