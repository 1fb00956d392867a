//! Tests of the rules from outside: laws over random baskets, and the state machines step by step.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod checkout;
mod coupon;
mod diagram;
mod order_payment;
mod order_return;
mod payment;
mod sample;
