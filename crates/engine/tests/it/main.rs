//! The use cases on every store: races, retries and refusals, as a caller meets them.
//!
//! A case is written once and takes the store that it runs on. What is sold and paid runs on the
//! model, SQLite and MongoDB; the rest on the first two, because a database costs seconds there.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

/// Cases as tests of a module named after the store.
macro_rules! on_store {
    ($module:ident, $backing:ident, [$($case:ident),* $(,)?]) => {
        mod $module {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(abasto_sim::backing::Backing::$backing).await;
            })*
        }
    };
}

macro_rules! on_embedded_stores {
    ($($case:ident),* $(,)?) => {
        on_store!(model, Model, [$($case),*]);
        on_store!(sqlite, Sqlite, [$($case),*]);
    };
}

macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        on_embedded_stores!($($case),*);
        on_store!(mongo, Mongo, [$($case),*]);
    };
}

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
