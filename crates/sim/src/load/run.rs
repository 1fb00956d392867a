//! One load: clients that place orders for some time, and what they saw.
//!
//! Owns pacing and timing. In the closed loop a client sends when it has its answer: the most that
//! the server can do. In the open loop orders are due at fixed times whatever the server does, and
//! an order's latency counts from when it was due, so that a stall is seen by all who would have
//! come meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use abasto_client::{Connection, Endpoint};
use anyhow::Result;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, StatusCode};

use super::latency::Latencies;
use super::server::Server;
use super::shop::{Range, Shop};

/// Longest wait for one answer.
const DEADLINE: Duration = Duration::from_secs(30);

/// When orders are sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pace {
    /// When the client has its last answer.
    Closed,
    /// At fixed times, so many a second.
    Open {
        /// Orders a second, of all clients.
        per_s: f64,
    },
}

/// A load to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) name: &'static str,
    pub(super) range: Range,
    pub(super) pace: Pace,
    pub(super) clients: usize,
    pub(super) time: Duration,
}

/// What a load came to, the time to warm up left out.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) load: Load,
    pub(super) refused: u64,
    /// Of every order placed.
    pub(super) latencies: Latencies,
}

/// What the clients of a load share.
struct Course {
    load: Load,
    shop: Arc<Shop>,
    authorization: HeaderValue,
    endpoint: Endpoint,
    next: AtomicUsize,
    start: Instant,
    warm: Instant,
    end: Instant,
}

impl Load {
    /// Runs it.
    pub(super) async fn run(self, server: &Server, shop: &Arc<Shop>) -> Result<Seen> {
        let start = Instant::now();
        let warm = start + self.time / 5;
        let course = Arc::new(Course {
            load: self,
            shop: Arc::clone(shop),
            authorization: HeaderValue::from_str(&format!("Bearer {}", shop.key))?,
            endpoint: server.endpoint.clone(),
            next: AtomicUsize::new(0),
            start,
            warm,
            end: warm + self.time,
        });
        let clients = (0..self.clients).map(|_| tokio::spawn(client(Arc::clone(&course))));
        let clients: Vec<_> = clients.collect();
        let mut seen = Seen {
            load: self,
            refused: 0,
            latencies: Latencies::new()?,
        };
        for client in clients {
            let (latencies, refused) = client.await??;
            seen.refused += refused;
            seen.latencies.add(&latencies)?;
        }
        Ok(seen)
    }
}

async fn client(course: Arc<Course>) -> Result<(Latencies, u64)> {
    let mut connection = Connection::new(course.endpoint.clone(), DEADLINE);
    let mut latencies = Latencies::new()?;
    let mut refused = 0;
    loop {
        let number = course.next.fetch_add(1, Ordering::Relaxed);
        let request = course.request(number)?;
        let began = course.turn(number).await;
        if began >= course.end {
            return Ok((latencies, refused));
        }
        let (parts, _) = connection.send(request).await?;
        let done = Instant::now();
        if began < course.warm || done > course.end {
            continue;
        }
        if parts.status == StatusCode::CREATED {
            latencies.record(done.duration_since(began));
        } else {
            refused += 1;
        }
    }
}

impl Course {
    /// Waits until the order is due; its latency counts from the time that comes back.
    async fn turn(&self, number: usize) -> Instant {
        let Pace::Open { per_s } = self.load.pace else {
            return Instant::now();
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "a run has far fewer orders than 2^52"
        )]
        let due = self.start + Duration::from_secs_f64(number as f64 / per_s);
        if Instant::now() >= due {
            // Late because every client still waits for an answer: that wait counts.
            return due;
        }
        // The timer rings up to a millisecond late, which is no delay of the server's.
        tokio::time::sleep_until(due.into()).await;
        Instant::now()
    }

    fn request(&self, number: usize) -> Result<Request<Full<Bytes>>> {
        let body = self.shop.order(number, self.load.range);
        let key = format!("{}-{number}", self.load.name.replace([' ', ','], "-"));
        let request = Request::post("/v1/orders")
            .header(AUTHORIZATION, &self.authorization)
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", key)
            .body(Full::new(Bytes::from(body)))?;
        Ok(request)
    }
}
