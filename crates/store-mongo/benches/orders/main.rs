//! Orders per second through the store, on one product and on a thousand, beside a plain program
//! that writes the same documents in one transaction per order.
//!
//! `cargo bench -p abasto-store-mongo --bench orders -- [clients] [seconds]`. Runs on the set named
//! by `TESTBED_MONGO_URI`, else on one of a single node. Prints one table.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement stops at the first surprise and prints"
)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod plain;

use std::sync::Arc;
use std::time::{Duration, Instant};

use abasto_store::Store;
use abasto_store::verdict::Verdict;
use abasto_store_mongo::MongoStore;
use abasto_testbed::mongo_cluster;
use async_trait::async_trait;
use plain::Plain;
use support::{Shop, address, drop_database, migrated};

const PRODUCTS: usize = 1_000;

/// A way to place one order of one unit of a product.
#[async_trait]
pub(crate) trait Orders: Send + Sync + 'static {
    /// Places it and says how often something was run again.
    async fn place(&self, product: usize, key: String) -> usize;
}

/// Through the port.
struct Port {
    store: Arc<MongoStore>,
    shop: Shop,
}

#[async_trait]
impl Orders for Port {
    async fn place(&self, product: usize, key: String) -> usize {
        let verdict = self.store.commit(self.shop.order(&[product], &key)).await;
        assert!(matches!(verdict, Ok(Verdict::Committed(_))), "{verdict:?}");
        0
    }
}

#[derive(Default)]
struct Figures {
    latencies: Vec<Duration>,
    retries: usize,
    seconds: f64,
}

impl Figures {
    fn percentile(&self, share: usize) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let place = (self.latencies.len() * share / 100).min(last);
        self.latencies.get(place).map_or(0.0, Duration::as_secs_f64) * 1_000.0
    }

    fn print(&mut self, name: &str) {
        self.latencies.sort_unstable();
        let orders = u32::try_from(self.latencies.len()).unwrap();
        let rate = f64::from(orders) / self.seconds;
        let again = f64::from(u32::try_from(self.retries).unwrap()) / f64::from(orders.max(1));
        println!(
            "{name:<34} {rate:>8.0} orders/s   p50 {:>8.2} ms   p99 {:>8.2} ms   run again {again:.2} per order",
            self.percentile(50),
            self.percentile(99),
        );
    }
}

/// Clients that order again and again until the time is over.
async fn measure(
    name: &str,
    run: &str,
    stores: &[Arc<dyn Orders>],
    products: usize,
    clients: usize,
    length: Duration,
) {
    let begun = Instant::now();
    let clients = (0..clients).map(|client| {
        let orders = Arc::clone(&stores[client % stores.len()]);
        let run = run.to_owned();
        tokio::spawn(async move {
            let mut own = Figures::default();
            for number in 0.. {
                if begun.elapsed() >= length {
                    break;
                }
                let product = (client * 7_919 + number * 104_729) % products;
                let one = Instant::now();
                own.retries += orders
                    .place(product, format!("{run}-{client}-{number}"))
                    .await;
                own.latencies.push(one.elapsed());
            }
            own
        })
    });
    let mut all = Figures::default();
    for client in clients.collect::<Vec<_>>() {
        let own = client.await.unwrap();
        all.latencies.extend(own.latencies);
        all.retries += own.retries;
    }
    all.seconds = begun.elapsed().as_secs_f64();
    all.print(name);
}

#[tokio::main]
async fn main() {
    let mut numbers = std::env::args().filter_map(|word| word.parse::<usize>().ok());
    let clients = numbers.next().unwrap_or(64);
    let length = Duration::from_secs(numbers.next().unwrap_or(10).try_into().unwrap());
    let uri = address(
        mongo_cluster::shared_uri().expect("a replica set"),
        &format!("bench_{}", std::process::id()),
    );
    let store = Arc::new(migrated(&uri).await);
    let shop = Shop::open(&*store, PRODUCTS, 1_000_000).await;
    let second = Arc::new(MongoStore::connect(&uri).await.expect("connects"));
    let port: Arc<dyn Orders> = Arc::new(Port {
        store,
        shop: shop.clone(),
    });
    let other: Arc<dyn Orders> = Arc::new(Port {
        store: second,
        shop: shop.clone(),
    });
    let plain: Arc<dyn Orders> = Arc::new(Plain::new(&uri, shop).await);
    let one = std::slice::from_ref;
    measure("store, one client", "a", one(&port), 1, 1, length / 4).await;
    measure("store, one product", "b", one(&port), 1, clients, length).await;
    measure(
        "store, a thousand products",
        "c",
        one(&port),
        PRODUCTS,
        clients,
        length,
    )
    .await;
    measure(
        "two stores, one product",
        "d",
        &[port, other],
        1,
        clients,
        length,
    )
    .await;
    measure("plain, one client", "e", one(&plain), 1, 1, length / 4).await;
    measure("plain, one product", "f", one(&plain), 1, clients, length).await;
    measure(
        "plain, a thousand products",
        "g",
        one(&plain),
        PRODUCTS,
        clients,
        length,
    )
    .await;
    drop_database(&uri).await;
}
