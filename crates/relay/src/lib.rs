//! The way out: payment providers, what they are asked and what they tell.
//!
//! Owns the protocols of providers and the signatures of their messages. Must not know orders,
//! the store or when a call is due: the engine says what is to be asked, and takes the answer in.
#![warn(missing_docs)]

pub mod gateway;
pub mod sandbox;
pub mod secret;
pub mod signature;
pub mod stripe;

pub use gateway::{Gateway, PaymentProvider};
pub use secret::WebhookSecrets;
