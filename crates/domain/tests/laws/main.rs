//! The laws of the domain: tables of what must come out, and properties that hold for anything.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod grant;
mod idempotency;
mod identity;
mod life;
mod money;
mod placing;
mod pricing;
mod sample;
mod stock;
mod text;
