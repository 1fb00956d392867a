//! Placing the orders: some clients, each with a connection of its own, fed from one reader.
//!
//! Owns the load and what is measured of it. Must not keep baskets: a file may be larger than the
//! memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use abasto_client::{Call, Client, Error};
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use super::basket::{self, Basket, Sums, Survey};
use super::catalogue::Catalogue;
use crate::cli::Replay;
use crate::command::Dialer;
use crate::exit::{During, Exit, Failure};

/// Differences that are kept to be shown; the rest is counted.
const KEPT: usize = 20;
/// Three digits of a latency are enough to compare.
const DIGITS: u8 = 3;
/// Longest latency that is told apart: above all tries of one call together.
const LATENCY_US_MAX: u64 = 3_600_000_000;

/// What became of the baskets.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) orders: u64,
    /// Of these, how many were the first answer told again.
    pub(super) replayed: u64,
    /// Refusals by code.
    pub(super) refused: BTreeMap<String, u64>,
    /// By the branch's code.
    pub(super) branches: BTreeMap<String, Sums>,
    pub(super) differences: u64,
    pub(super) first_differences: Vec<Difference>,
    /// Of every order, in microseconds.
    pub(super) latency_us: Histogram<u64>,
    pub(super) took: Duration,
}

/// An order whose total is not the basket's.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Difference {
    pub(super) basket: String,
    pub(super) expected: String,
    pub(super) total: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    branch_id: String,
    items: Vec<Line>,
    totals: Totals,
}

#[derive(Deserialize)]
struct Line {
    quantity: u64,
}

#[derive(Deserialize)]
struct Totals {
    total: Decimal,
}

type Feed = Arc<Mutex<mpsc::Receiver<Result<Basket, Failure>>>>;

/// Places every basket of the file.
pub(super) async fn all(
    dialer: &Dialer,
    arguments: &Replay,
    survey: &Survey,
    found: Catalogue,
) -> Result<Placed, Failure> {
    let bar = ProgressBar::new(survey.baskets).with_style(
        ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} {per_sec} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let found = Arc::new(found);
    let feed = feed(arguments.file.clone(), usize::from(arguments.clients));
    let start = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..arguments.clients {
        let client = dialer.client()?;
        workers.spawn(work(
            client,
            Arc::clone(&feed),
            Arc::clone(&found),
            bar.clone(),
        ));
    }
    let mut placed = Placed::new()?;
    while let Some(worker) = workers.join_next().await {
        let worker = worker.map_err(|error| Failure::new(Exit::Failure, error));
        placed.merge(worker??)?;
    }
    placed.took = start.elapsed();
    bar.finish_and_clear();
    placed.name_branches(&found);
    Ok(placed)
}

/// Reads the file on a thread of its own, a little ahead of the clients.
fn feed(path: PathBuf, clients: usize) -> Feed {
    let (sender, receiver) = mpsc::channel(clients * 2);
    std::thread::spawn(move || match basket::read(&path) {
        Ok(baskets) => {
            for basket in baskets {
                if sender.blocking_send(basket).is_err() {
                    // The clients have gone.
                    return;
                }
            }
        }
        Err(failure) => {
            let _ = sender.blocking_send(Err(failure));
        }
    });
    Arc::new(Mutex::new(receiver))
}

async fn work(
    mut client: Client,
    feed: Feed,
    found: Arc<Catalogue>,
    bar: ProgressBar,
) -> Result<Placed, Failure> {
    let mut placed = Placed::new()?;
    loop {
        let next = feed.lock().await.recv().await;
        let Some(basket) = next.transpose()? else {
            return Ok(placed);
        };
        let call = call(&basket, &found)?;
        let start = Instant::now();
        let answer = client.call(&call).await;
        placed.time(start.elapsed());
        match answer {
            Ok(answer) => placed.add(&basket, &answer.json()?, answer.replayed),
            Err(Error::Refused(problem)) if problem.status < 500 && problem.status != 401 => {
                *placed.refused.entry(problem.code).or_default() += 1;
            }
            Err(error) => {
                return Err(error).during(|| format!("placing the basket {}", basket.basket));
            }
        }
        bar.inc(1);
    }
}

fn call(basket: &Basket, found: &Catalogue) -> Result<Call, Failure> {
    let items: Vec<_> = basket
        .items
        .iter()
        .map(|item| json!({"productId": found.products[&item.sku], "quantity": item.quantity}))
        .collect();
    let till = basket.at.as_deref().unwrap_or("an unknown time");
    let order = json!({
        "branchId": found.branches[&basket.branch],
        "items": items,
        "customer": {"name": basket.customer.as_deref().unwrap_or("unknown")},
        "fulfilment": {"type": "pickup"},
        "paymentMethod": "on_delivery",
        "note": format!("Basket {} of {till}", basket.basket),
    });
    Ok(Call::post("/v1/orders", &order)?.key(format!("replay-{}", basket.basket)))
}

impl Placed {
    fn new() -> Result<Self, Failure> {
        let latency_us = Histogram::new_with_max(LATENCY_US_MAX, DIGITS);
        Ok(Self {
            orders: 0,
            replayed: 0,
            refused: BTreeMap::new(),
            branches: BTreeMap::new(),
            differences: 0,
            first_differences: Vec::new(),
            latency_us: latency_us.map_err(|error| Failure::new(Exit::Failure, error))?,
            took: Duration::ZERO,
        })
    }

    fn time(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.latency_us.saturating_record(micros);
    }

    fn add(&mut self, basket: &Basket, order: &Order, replayed: bool) {
        self.orders += 1;
        self.replayed += u64::from(replayed);
        let sums = self.branches.entry(order.branch_id.clone()).or_default();
        sums.orders += 1;
        sums.units += order.items.iter().map(|line| line.quantity).sum::<u64>();
        sums.total += order.totals.total;
        let total = order.totals.total;
        if let Some(expected) = basket.total.filter(|expected| *expected != total) {
            self.differences += 1;
            self.keep([Difference {
                basket: basket.basket.clone(),
                expected: expected.to_string(),
                total: total.to_string(),
            }]);
        }
    }

    fn keep(&mut self, differences: impl IntoIterator<Item = Difference>) {
        let room = KEPT.saturating_sub(self.first_differences.len());
        self.first_differences
            .extend(differences.into_iter().take(room));
    }

    fn merge(&mut self, other: Self) -> Result<(), Failure> {
        self.orders += other.orders;
        self.replayed += other.replayed;
        self.differences += other.differences;
        self.keep(other.first_differences);
        for (code, count) in other.refused {
            *self.refused.entry(code).or_default() += count;
        }
        for (branch, sums) in other.branches {
            let mine = self.branches.entry(branch).or_default();
            mine.orders += sums.orders;
            mine.units += sums.units;
            mine.total += sums.total;
        }
        let added = self.latency_us.add(other.latency_us);
        added.map_err(|error| Failure::new(Exit::Failure, error))
    }

    /// Sums are kept by the id that the order says; people know codes.
    fn name_branches(&mut self, found: &Catalogue) {
        let codes: BTreeMap<_, _> = found.branches.iter().map(|(code, id)| (id, code)).collect();
        let sums = std::mem::take(&mut self.branches);
        let named = sums.into_iter().map(|(id, sums)| {
            let code = codes.get(&id).map_or(&id, |code| *code);
            (code.clone(), sums)
        });
        self.branches = named.collect();
    }
}
