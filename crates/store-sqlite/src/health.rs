//! Whether the store can be written, and why not.
//!
//! Owns the reasons. Two kinds: what is wrong with the schema (a missing unique index refuses every
//! write) and what the disk said to the last write. Must not read or write the file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of the store's health.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    reasons: Mutex<Reasons>,
    /// Set whenever `reasons.refusal` is there, so that the way of every write needs no lock.
    refuses: AtomicBool,
    failing: AtomicBool,
}

#[derive(Debug, Default)]
struct Reasons {
    refusal: Option<String>,
    disk: Option<String>,
}

impl Standing {
    /// Why no unit may be written, whatever the disk says.
    pub(crate) fn refusal(&self) -> Option<String> {
        if self.refuses.load(Ordering::Acquire) {
            self.lock().refusal.clone()
        } else {
            None
        }
    }

    /// Says that no unit may be written, or that they may be again.
    pub(crate) fn refuse(&self, why: Option<String>) {
        let mut reasons = self.lock();
        self.refuses.store(why.is_some(), Ordering::Release);
        reasons.refusal = why;
    }

    /// Notes that a write failed for want of space or by an error of the disk.
    pub(crate) fn cannot_write(&self, why: &str) {
        let mut reasons = self.lock();
        self.failing.store(true, Ordering::Release);
        reasons.disk = Some(format!(
            "the store is read-only, the last write failed: {why}"
        ));
    }

    /// Notes that a write went well.
    pub(crate) fn written(&self) {
        if self.failing.swap(false, Ordering::AcqRel) {
            self.lock().disk = None;
        }
    }

    /// What the disk said to the last write, if it failed.
    pub(crate) fn disk(&self) -> Option<String> {
        if self.failing.load(Ordering::Acquire) {
            self.lock().disk.clone()
        } else {
            None
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reasons> {
        // Nothing in this module can panic halfway through a change.
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
