//! The ceiling: how many orders this store takes, with no HTTP and no engine in front.
//!
//! Prints one line per load: orders/s, mean size of a group, p50 and p99 of `Store::commit` as a
//! submitter sees it, commits made durable. Beside it the same rows written by plain SQL in groups,
//! with nothing decided. Run with `cargo bench -p abasto-store-sqlite --bench ceiling [-- SECONDS]`.
#![expect(clippy::unwrap_used, reason = "a program that measures and may fail")]
#![expect(clippy::print_stdout, reason = "its output is the result")]

#[expect(dead_code, reason = "each program uses its own part of it")]
#[path = "../../tests/world/mod.rs"]
mod world;

mod raw;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use abasto_store::Store;
use abasto_store::verdict::Verdict;
use abasto_store_sqlite::{Options, SqliteStore};
use hdrhistogram::Histogram;
use world::World;

const PRODUCTS: usize = 1_000;

/// Which products an order has.
#[derive(Clone, Copy)]
enum Load {
    /// Three of a thousand, spread evenly.
    Wide,
    /// Three that every order has.
    Hot,
    /// One that every order has.
    HotLine,
}

impl Load {
    fn name(self) -> &'static str {
        match self {
            Self::Wide => "wide: 3 lines of 1000 products",
            Self::Hot => "hot: 3 lines, always the same",
            Self::HotLine => "hot: 1 line, always the same",
        }
    }

    fn products(self, order: u64) -> Vec<usize> {
        match self {
            Self::Hot => vec![0, 1, 2],
            Self::HotLine => vec![0],
            Self::Wide => {
                // A full cycle through the thousand by steps that share no factor with it.
                let first = usize::try_from(order * 7919 % 1000).unwrap();
                [0, 337, 674].map(|step| (first + step) % PRODUCTS).to_vec()
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let seconds = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(5);
    let run = Duration::from_secs(seconds);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    for (load, submitters) in [
        (Load::Wide, 64),
        (Load::Hot, 64),
        (Load::HotLine, 64),
        (Load::Wide, 256),
    ] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        runtime.block_on(measure(
            &folder.path().join("ceiling.db"),
            load,
            submitters,
            run,
        ));
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    raw::measure(&folder.path().join("raw.db"), run);
}

async fn measure(path: &Path, load: Load, submitters: u64, run: Duration) {
    let store = Arc::new(SqliteStore::open(Options::new(path)).unwrap());
    let world = Arc::new(World::new(1, 1, PRODUCTS));
    for unit in world
        .catalogue()
        .into_iter()
        .chain(world.stocked(0, 1_000_000_000))
    {
        store.commit(unit).await.unwrap();
    }
    let (before, cpu) = (store.counts(), writer_cpu());
    let began = Instant::now();
    let orders = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..submitters)
        .map(|_| {
            let (store, world, orders) = (store.clone(), world.clone(), orders.clone());
            tokio::spawn(async move { submit(&store, &world, &orders, load, began + run).await })
        })
        .collect();
    let mut latency = Histogram::<u64>::new(3).unwrap();
    for task in tasks {
        latency.add(task.await.unwrap()).unwrap();
    }
    let took = began.elapsed().as_secs_f64();
    let after = store.counts();
    let (commits, units) = (after.commits - before.commits, after.units - before.units);
    let bytes = std::fs::metadata(path).unwrap().len();
    let cpu = writer_cpu().saturating_sub(cpu);
    println!(
        "{:32} {submitters:4} submitters  {:8.0} orders/s  group {:6.1}  p50 {:6.2} ms  p99 {:6.2} ms  {commits} commits  writer {:.1} us/order  {:.0} bytes/order",
        load.name(),
        ratio(units, 1) / took,
        ratio(units, commits),
        ratio(latency.value_at_quantile(0.5), 1000),
        ratio(latency.value_at_quantile(0.99), 1000),
        ratio(cpu, units * 1000),
        ratio(bytes, units),
    );
}

/// Nanoseconds that the writer has had a processor, where the system tells (0 elsewhere). On a busy
/// machine this says more than the clock.
fn writer_cpu() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let of_writer = threads.flatten().filter_map(|thread| {
        let read = |file: &str| std::fs::read_to_string(thread.path().join(file)).ok();
        read("comm").filter(|name| name.trim() == "sqlite-writer")?;
        read("schedstat")?.split(' ').next()?.parse::<u64>().ok()
    });
    of_writer.sum()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

async fn submit(
    store: &SqliteStore,
    world: &World,
    orders: &AtomicU64,
    load: Load,
    until: Instant,
) -> Histogram<u64> {
    let mut latency = Histogram::new(3).unwrap();
    while Instant::now() < until {
        let number = orders.fetch_add(1, Ordering::Relaxed);
        // Keys of clients come in no order.
        let key = format!(
            "{:016x}-{number}",
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        let at = i64::try_from(number / 10).unwrap();
        let unit = world.order(&key, 0, &load.products(number), at);
        let asked = Instant::now();
        let verdict = store.commit(unit).await.unwrap();
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
        let micros = u64::try_from(asked.elapsed().as_micros()).unwrap();
        latency.record(micros).unwrap();
    }
    latency
}
