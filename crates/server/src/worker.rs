//! The workers: what is done because time passes, on every instance beside the requests.
//!
//! Owns when each looks for work. Every worker may run on every instance: what two of them want to
//! do at once is decided by versions and leases in the store.

use std::time::Duration;

use abasto_engine::{Engine, Error};
use abasto_relay::Gateway;
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

/// Pause between two looks when there was nothing to do.
const PAUSE: Duration = Duration::from_millis(500);
/// Pause after a fault of the store.
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(2);
/// Most carts of one round of the clean-up.
const CARTS_MAX: u32 = 100;
/// Most calls to payment providers at once.
const CALLS_MAX: u32 = 16;

const FAULTS: &str = "abasto_worker_faults_total";

/// Runs the workers until the process ends.
pub(crate) fn start(engine: &Engine, gateway: Gateway) {
    keep_at(engine, "expiry", |engine| async move {
        engine.expire_due().await
    });
    keep_at(engine, "parked payment messages", |engine| async move {
        engine.retry_parked_events().await
    });
    keep_at(engine, "cart clean-up", |engine| async move {
        let cleaned = engine.clean_up_carts(CARTS_MAX).await;
        cleaned.map(|done| done.looked_at)
    });
    keep_at(engine, "payment calls", move |engine| {
        let gateway = gateway.clone();
        async move { call(&engine, &gateway).await }
    });
}

/// Looks again and again, each time in a task of its own: a panic ends one look, not the worker.
fn keep_at<F>(engine: &Engine, worker: &'static str, look: impl Fn(Engine) -> F + Send + 'static)
where
    F: Future<Output = Result<usize, Error>> + Send + 'static,
{
    metrics::counter!(FAULTS, "worker" => worker).increment(0);
    let engine = engine.clone();
    tokio::spawn(async move {
        loop {
            let looked = tokio::spawn(look(engine.clone())).await;
            rest(worker, flat(looked)).await;
        }
    });
}

/// A panic is a fault like others, and a defect of ours.
fn flat<T>(ended: Result<Result<T, Error>, JoinError>) -> Result<T, Error> {
    ended.unwrap_or_else(|error| Err(Error::Internal(Box::new(error))))
}

/// Goes on at once while there is work.
async fn rest(worker: &'static str, worked: Result<usize, Error>) {
    match worked {
        Ok(0) => sleep(PAUSE).await,
        Ok(_) => {}
        Err(error) => {
            metrics::counter!(FAULTS, "worker" => worker).increment(1);
            tracing::warn!(worker, %error, "a worker could not do its work");
            sleep(PAUSE_AFTER_FAULT).await;
        }
    }
}

/// Makes the calls that are due, beside each other; those of one attempt never are.
async fn call(engine: &Engine, gateway: &Gateway) -> Result<usize, Error> {
    let mut calls = JoinSet::new();
    for call in engine.claim_calls(CALLS_MAX).await? {
        let (engine, gateway) = (engine.clone(), gateway.clone());
        calls.spawn(async move {
            let answer = gateway.call(&call).await;
            engine.answer_call(&call, &answer).await
        });
    }
    let (mut made, mut failed) = (0, None);
    while let Some(answered) = calls.join_next().await {
        match flat(answered) {
            Ok(_) => made += 1,
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(made), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_fault_like_others() {
        let panics = tokio::spawn(async { panic!("a defect") });
        assert!(matches!(
            flat::<usize>(panics.await),
            Err(Error::Internal(_))
        ));
        let works = tokio::spawn(async { Ok::<_, Error>(7) });
        assert!(matches!(flat(works.await), Ok(7)));
    }
}
