//! Deciding units against heads: every reason in its order, and a group as if one by one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod group;
mod refusal;
mod sample;
