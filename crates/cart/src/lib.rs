//! The cart data type of Abasto: edits that merge without locks and without loss.
//!
//! A cart is changed by [`Operation`]s. Each makes a change that is itself a small [`Cart`], and
//! changes are joined: in any order, any number of times, on any replica, with one result.
//!
//! * [`Cart::apply`] does an operation and gives the change to send on; [`Cart::join`] takes one in.
//! * [`Cart::view`] is what people see. Prices, stock and promotions are not in here.
//! * [`Cart::tag`] is what a client sends back to say what it had seen.
//! * [`Cart::encode`] gives canonical bytes: equal carts, equal bytes.
//! * [`Cart::admit`] and [`Cart::arrival`] guard the door; [`Seal`] splits a cart at checkout.
//!
//! Removing takes away what its author saw, and no more:
//!
//! ```
//! use abasto_cart::{Cart, Dot, Hlc, LineKey, Operation, Quantity, Rid, Stamp, default_cap};
//!
//! let tea = LineKey::new("tea")?;
//! let units = |n| Quantity::new(n);
//! let stamp = |rid, seq, ms| Stamp { dot: Dot::new(rid, seq).unwrap(), hlc: Hlc::new(ms, 0) };
//! let (phone, desktop) = (Rid::device(1), Rid::device(2));
//!
//! let mut here = Cart::new();
//! here.apply(&Operation::AddItem { line: tea.clone(), quantity: units(5)? }, stamp(phone, 1, 1), &default_cap)?;
//! let mut there = here.clone();
//!
//! // The phone removes the tea while the desktop adds two.
//! let gone = here.apply(&Operation::RemoveItem { line: tea.clone() }, stamp(phone, 2, 2), &default_cap)?;
//! let more = there.apply(&Operation::AddItem { line: tea.clone(), quantity: units(2)? }, stamp(desktop, 1, 3), &default_cap)?;
//!
//! here.join(&more);
//! there.join(&gone);
//! assert_eq!(here, there);
//! assert_eq!(here.view(&default_cap).line(&tea).unwrap().quantity.get(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does no IO, reads no clock, makes no random numbers and signs nothing. It has no
//! dependency and needs no standard library. Text for people is in `docs/carts.md`.

#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod arrival;
mod cart;
mod codec;
mod collapse;
mod context;
mod dot;
mod entry;
mod fold;
mod hlc;
pub mod limit;
mod line_key;
mod observed;
mod operation;
mod patch;
pub mod promotion;
mod seal;
mod value;
mod view;

pub use arrival::{Arrival, DotRefusal, RecentDots};
pub use cart::{Cart, Joined};
pub use codec::{DecodeError, Fault};
pub use context::Context;
pub use dot::{Dot, Rid};
pub use entry::{Adjustment, Entry, Instances, Opaque};
pub use hlc::{Clock, ClockSkew, Hlc};
pub use limit::default_cap;
pub use line_key::{LineKey, LineKeyBuilder};
pub use observed::{Observed, Subject, Tag};
pub use operation::{Limit, Operation, OperationError, Stamp};
pub use patch::{PatchError, PatchStep};
pub use seal::Seal;
pub use value::{Name, Quantity, Text, ValueError};
pub use view::{LineCap, LineView, Problem, Register, View};
