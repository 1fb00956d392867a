//! The conformance suite: what every store must do, as named cases that each adapter runs.
//!
//! Owns the cases and the world they play in. After each case every business is audited. Must not
//! know an adapter: it gets a fresh store from a [`Backend`] and sees only the port.
//!
//! An adapter calls [`conformance!`](crate::conformance!) and, when it keeps what it is given,
//! [`durability!`](crate::durability!) with its backend from one test file; each case becomes one
//! test.

pub mod atomicity;
pub mod cart;
pub mod cases;
pub mod claim;
pub mod due;
pub mod event;
pub mod guard;
pub mod idempotency;
pub mod limit;
pub mod list;
pub mod number;
pub mod paging;
pub mod restart;
pub mod sale;
pub mod stock;
pub mod tenancy;
pub mod tenant;
pub mod version;
pub mod walk;
pub mod world;

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

use crate::Store;

pub use self::tenant::Tenant;
pub use self::world::World;

/// A way to make stores for the suite. Dropping it, or [`Backend::clean`], leaves nothing behind.
#[async_trait]
pub trait Backend: Sized + Send + Sync + 'static {
    /// A fresh, empty store that no other case sees.
    async fn fresh() -> Self;

    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// Removes what it made.
    async fn clean(self) {}
}

/// A backend whose stores outlive the process.
#[async_trait]
pub trait Durable: Backend {
    /// Closes the store as a process does that ends, and opens what it left. Nobody else holds the
    /// store when this is called.
    async fn reopen(self) -> Self;
}

/// Plays a case on a fresh store, then audits every business.
pub async fn play<B: Backend, F: Future<Output = ()>>(case: impl FnOnce(World) -> F) {
    let backend = B::fresh().await;
    let world = World::new(backend.store());
    case(world.clone()).await;
    world.must_hold().await;
    drop(world);
    backend.clean().await;
}
