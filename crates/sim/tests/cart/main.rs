//! Carts through the engine, on the model store and on SQLite.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod suite;
mod unknown;
mod world;
