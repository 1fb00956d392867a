//! The rules of Abasto as pure decisions: `(state, command, now) → Result<Decision, Rejection>`.
//!
//! Owns what the business means. Must not know storage, HTTP, clocks, randomness or how a
//! credential is checked: whatever it needs comes in as an argument.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

pub mod access;
pub mod basket;
pub mod branch;
pub mod business;
pub mod cart;
pub mod checkout;
pub mod coupon;
pub mod credential;
pub mod currency;
pub mod customer;
pub mod effect;
pub mod fault;
pub mod hex;
pub mod id;
pub mod idempotency;
pub mod limits;
pub mod money;
pub mod number;
pub mod order;
pub mod order_payment;
pub mod order_return;
pub mod order_state;
pub mod payment;
pub mod payment_call;
pub mod payment_event;
pub mod pricing;
pub mod product;
pub mod quantity;
pub mod stamp;
pub mod stock;
pub mod text;
pub mod time;
