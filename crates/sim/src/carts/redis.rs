//! A lock in Redis around reading and writing a cart: `SET NX PX`, released only by its holder.
//!
//! Owns the server's configuration and the lock's commands.

use std::path::Path;
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use ::redis::{Client, cmd};
use anyhow::{Result, bail};
use rustix::process::Signal;

use super::daemon::{Daemon, Folder, START, free_port, missing};
use super::lock::{Basket, Failed, Step};
use crate::dice::Dice;

const PACKAGE: &str = "redis-server";
/// After this the lock of a holder that went away is free again.
const LOCK_MS: u64 = 10_000;
/// How long a request waits for the lock.
const WAIT: Duration = Duration::from_secs(30);
/// Longest pause between two tries, in milliseconds; they begin at one and are drawn at random.
const PAUSE_MS_MAX: u64 = 32;
/// Deletes the lock if it is still the caller's.
const RELEASE: &str =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/// Starts Redis; it keeps an append-only file, synced each second as is its default.
pub(super) fn start(folder: &Folder) -> Result<(Daemon, String)> {
    let program = Path::new("/usr/bin/redis-server");
    if !program.exists() {
        return Err(missing(PACKAGE));
    }
    let port = free_port()?.to_string();
    let mut command = folder.command(program);
    command
        .args(["--bind", "127.0.0.1", "--port", &port, "--save", ""])
        .args(["--appendonly", "yes", "--appendfsync", "everysec"]);
    let daemon = Daemon::start(&mut command, PACKAGE, Signal::TERM)?;
    Ok((daemon, format!("redis://127.0.0.1:{port}/")))
}

/// Carts behind a lock in Redis.
#[derive(Debug)]
pub(super) struct RedisCarts(MultiplexedConnection);

impl RedisCarts {
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let client = Client::open(url)?;
        let deadline = Instant::now() + START;
        loop {
            match client.get_multiplexed_async_connection().await {
                Ok(connection) => return Ok(Self(connection)),
                Err(error) if Instant::now() > deadline => bail!("Redis did not start: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    pub(super) async fn read(&self, cart: &str) -> Result<Basket, Failed> {
        let mut redis = self.0.clone();
        let text: Option<String> = cmd("GET").arg(cart).query_async(&mut redis).await?;
        Ok(text.map_or_else(|| Ok(Basket::default()), |text| serde_json::from_str(&text))?)
    }

    pub(super) async fn add(
        &self,
        cart: &str,
        token: u64,
        step: Step<'_>,
    ) -> Result<Basket, Failed> {
        let lock = format!("lock:{cart}");
        self.lock(&lock, token).await?;
        let changed = self.change(cart, step).await;
        let mut redis = self.0.clone();
        let () = cmd("EVAL")
            .arg(RELEASE)
            .arg(1)
            .arg(&lock)
            .arg(token)
            .query_async(&mut redis)
            .await?;
        changed
    }

    async fn change(&self, cart: &str, step: Step<'_>) -> Result<Basket, Failed> {
        let mut basket = self.read(cart).await?;
        basket.add(step);
        let text = serde_json::to_string(&basket)?;
        let mut redis = self.0.clone();
        let () = cmd("SET")
            .arg(cart)
            .arg(text)
            .query_async(&mut redis)
            .await?;
        Ok(basket)
    }

    async fn lock(&self, lock: &str, token: u64) -> Result<(), Failed> {
        let mut redis = self.0.clone();
        let (mut dice, mut pause_ms) = (Dice::new(token), 1);
        let deadline = Instant::now() + WAIT;
        loop {
            let taken: Option<String> = cmd("SET")
                .arg(lock)
                .arg(token)
                .arg("NX")
                .arg("PX")
                .arg(LOCK_MS)
                .query_async(&mut redis)
                .await?;
            if taken.is_some() {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(Failed::Busy);
            }
            let pause_us = dice.roll(pause_ms * 1000) + 1;
            tokio::time::sleep(Duration::from_micros(pause_us)).await;
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }
}
