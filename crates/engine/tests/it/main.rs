//! The use cases on the model store: races, retries and refusals, as a caller meets them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod catalogue;
mod checkout;
mod coupon;
mod order_action;
mod order_place;
mod payment;
mod selling;
mod stock;
mod world;
