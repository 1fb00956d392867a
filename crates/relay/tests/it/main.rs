//! Providers against a double of ours, and signatures against everything that is wrong with them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod double;
mod sandbox;
mod stripe;
