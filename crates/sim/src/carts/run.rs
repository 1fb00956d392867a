//! One load: clients that add units to carts for some time, and what they saw.
//!
//! Owns pacing, timing and the count of lost updates. A client sends when it has its answer. Every
//! request that was begun in time counts with its whole latency, however late its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use abasto_client::Connection;
use anyhow::Result;
use hyper::StatusCode;

use super::target::Target;
use crate::load::latency::Latencies;

/// Longest wait for one answer.
const DEADLINE: Duration = Duration::from_secs(60);

/// Over how many carts the clients spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// All on one.
    One,
    /// In turn over so many.
    Many(usize),
}

impl Spread {
    pub(super) const fn carts(self) -> usize {
        match self {
            Self::One => 1,
            Self::Many(carts) => carts,
        }
    }
}

/// A load to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) contender: &'static str,
    pub(super) spread: Spread,
    pub(super) clients: usize,
    pub(super) time: Duration,
}

/// What a load came to.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) load: Load,
    /// Answered in the time that was measured, the time to warm up left out.
    pub(super) per_s: f64,
    pub(super) latencies: Latencies,
    /// Acknowledged, and not in the cart at the end.
    pub(super) lost: u64,
    pub(super) refused: u64,
}

/// What the clients of a load share.
struct Course {
    target: Target,
    carts: Vec<String>,
    next: AtomicUsize,
    warm: Instant,
    end: Instant,
}

#[derive(Debug)]
struct Seen {
    latencies: Latencies,
    in_time: u64,
    acknowledged: u64,
    refused: u64,
}

impl Load {
    /// Runs it on new carts.
    pub(super) async fn run(self, target: &Target) -> Result<Row> {
        let mut setup = Connection::new(target.endpoint.clone(), DEADLINE);
        let mut carts = Vec::with_capacity(self.spread.carts());
        for _ in 0..self.spread.carts() {
            carts.push(target.open(&mut setup).await?);
        }
        let warm = Instant::now() + self.time / 5;
        let course = Arc::new(Course {
            target: target.clone(),
            carts,
            next: AtomicUsize::new(0),
            warm,
            end: warm + self.time,
        });
        let clients: Vec<_> = (0..self.clients)
            .map(|_| tokio::spawn(client(Arc::clone(&course))))
            .collect();
        let mut all = Seen::new()?;
        for client in clients {
            all.add(&client.await??)?;
        }
        let mut present = 0;
        for cart in &course.carts {
            present += target.units(&mut setup, cart).await?;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of a run are small")]
        let per_s = all.in_time as f64 / self.time.as_secs_f64();
        Ok(Row {
            load: self,
            per_s,
            latencies: all.latencies,
            lost: all.acknowledged.saturating_sub(present),
            refused: all.refused,
        })
    }
}

impl Seen {
    fn new() -> Result<Self> {
        Ok(Self {
            latencies: Latencies::new()?,
            in_time: 0,
            acknowledged: 0,
            refused: 0,
        })
    }

    fn add(&mut self, other: &Self) -> Result<()> {
        self.latencies.add(&other.latencies)?;
        self.in_time += other.in_time;
        self.acknowledged += other.acknowledged;
        self.refused += other.refused;
        Ok(())
    }
}

async fn client(course: Arc<Course>) -> Result<Seen> {
    let mut connection = Connection::new(course.target.endpoint.clone(), DEADLINE);
    let mut seen = Seen::new()?;
    loop {
        let number = course.next.fetch_add(1, Ordering::Relaxed);
        let cart = &course.carts[number % course.carts.len()];
        let request = course.target.edit(cart, number / course.carts.len())?;
        let began = Instant::now();
        if began >= course.end {
            return Ok(seen);
        }
        let (parts, _) = connection.send(request).await?;
        let done = Instant::now();
        if parts.status == StatusCode::OK {
            seen.acknowledged += 1;
        } else {
            seen.refused += 1;
            continue;
        }
        if began >= course.warm {
            seen.latencies.record(done.duration_since(began));
        }
        seen.in_time += u64::from(done >= course.warm && done < course.end);
    }
}
