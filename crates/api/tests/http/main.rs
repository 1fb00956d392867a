//! The API from outside its crate: the real router on the model store, one request at a time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_input;
mod cart;
mod cart_bounds;
mod cart_view;
mod credential;
mod document;
mod flow;
mod harness;
mod headers;
mod lists;
mod owner;
mod selling;
mod stock_answers;
mod store;
mod tenancy;
