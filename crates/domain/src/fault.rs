//! One fault of an input: where it is, a stable code, a sentence for people.
//!
//! Owns the shape that every validation answer lists. Must not know HTTP.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// A fault at one place of a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer to the value, for example `/items/0/quantity`.
    pub pointer: String,
    /// Stable, for programs: `too-long`, `out-of-range`, `invalid-id` …
    pub code: &'static str,
    /// For people; never repeats a value that could be a secret.
    pub message: Cow<'static, str>,
}

/// A value-level fault, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidValue {
    /// As in [`Fault::code`].
    pub code: &'static str,
    /// As in [`Fault::message`].
    pub message: Cow<'static, str>,
}

impl InvalidValue {
    /// A fault with a fixed text.
    pub const fn new(code: &'static str, message: &'static str) -> Self {
        Self {
            code,
            message: Cow::Borrowed(message),
        }
    }

    /// The same fault at a place.
    pub fn at(self, pointer: impl Into<String>) -> Fault {
        Fault {
            pointer: pointer.into(),
            code: self.code,
            message: self.message,
        }
    }
}

/// Gathers the faults of one input, so that a caller learns of all at once.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Keeps the value, or notes why it is none.
    pub fn take<T>(
        &mut self,
        pointer: impl Into<String>,
        value: Result<T, InvalidValue>,
    ) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(invalid) => {
                self.0.push(invalid.at(pointer));
                None
            }
        }
    }

    /// Notes a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// `Ok` when there was none.
    pub fn finish(self) -> Result<(), Vec<Fault>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.0)
        }
    }
}
