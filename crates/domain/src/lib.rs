//! The rules of Abasto as pure decisions: `(state, command, now) → Result<Decision, Rejection>`.
//!
//! Owns what the business means. Must not know storage, HTTP, clocks, randomness or tenancy of a
//! credential: all of these come in as arguments.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;
