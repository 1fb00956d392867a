//! Shoppers who want one order each and do not give up: every unit is sent again, under the same
//! key, until its outcome is known.
//!
//! Owns what they remember and the comparison with what is stored.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use abasto_store::invariants::audit;
use abasto_store::record::{Document, Record};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Reply, Verdict};
use abasto_store::{Store, StoreError};
use abasto_store_mongo::MongoStore;

use super::Shop;

/// The deadline of a unit with what a busy machine adds.
const ANSWER_MAX: Duration = Duration::from_millis(7_500);

/// Longest wait for more orders. It ends a test that hangs and says nothing of speed: it leaves room
/// for a machine that builds and tests other things at the same time.
const STANDSTILL: Duration = Duration::from_secs(240);

/// What the shoppers saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Order numbers by key.
    pub(crate) orders: BTreeMap<String, String>,
    /// Keys refused for lack of stock.
    pub(crate) short: usize,
    /// Answers that said "unknown".
    pub(crate) unknown: usize,
    /// Answers that said "not now".
    pub(crate) unavailable: usize,
    /// The longest that one answer took.
    pub(crate) slowest: Duration,
}

/// A running crowd.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    committed: Arc<AtomicUsize>,
    shoppers: Vec<tokio::task::JoinHandle<Seen>>,
}

impl Load {
    /// So many shoppers, spread over stores, who buy one of each of these products again and again.
    pub(crate) fn start(
        stores: &[Arc<MongoStore>],
        shop: &Shop,
        shoppers: usize,
        products: &[usize],
    ) -> Self {
        let (stop, committed) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let shoppers = (0..shoppers).map(|number| {
            let store = Arc::clone(&stores[number % stores.len()]);
            let (shop, products) = (shop.clone(), products.to_vec());
            let (stop, committed) = (Arc::clone(&stop), Arc::clone(&committed));
            tokio::spawn(async move {
                let mut seen = Seen::default();
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    let unit = shop.order(&products, &format!("s{number}-{round}"));
                    insist(&*store, unit, &mut seen).await;
                    committed.fetch_add(1, Ordering::Relaxed);
                    round += 1;
                }
                seen
            })
        });
        let shoppers = shoppers.collect();
        Self {
            stop,
            committed,
            shoppers,
        }
    }

    /// Waits until so many more orders are known.
    pub(crate) async fn more(&self, orders: usize) {
        let goal = self.committed.load(Ordering::Relaxed) + orders;
        let begun = Instant::now();
        while self.committed.load(Ordering::Relaxed) < goal {
            assert!(begun.elapsed() < STANDSTILL, "the load stands still");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets every shopper finish.
    pub(crate) async fn finish(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Seen::default();
        for shopper in self.shoppers {
            all.add(shopper.await.expect("no panic"));
        }
        all
    }
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.orders.extend(other.orders);
        self.short += other.short;
        self.unknown += other.unknown;
        self.unavailable += other.unavailable;
        self.slowest = self.slowest.max(other.slowest);
    }
}

/// Sends a unit until its outcome is known.
pub(crate) async fn insist(store: &dyn Store, unit: UnitOfWork, seen: &mut Seen) {
    let key = unit.operation.as_ref().expect("a key").key.key.clone();
    loop {
        let begun = Instant::now();
        let answer = store.commit(unit.clone()).await;
        let took = begun.elapsed();
        seen.slowest = seen.slowest.max(took);
        assert!(took <= ANSWER_MAX, "an answer took {took:?}: {answer:?}");
        match answer {
            Ok(Verdict::Committed(reply) | Verdict::Replayed(reply)) => {
                let Reply::Document(Document::Order(order)) = reply else {
                    panic!("no order");
                };
                seen.orders.insert(key, order.number.to_string());
                return;
            }
            Ok(Verdict::Rejected(_)) => {
                seen.short += 1;
                return;
            }
            Err(StoreError::OutcomeUnknown) => seen.unknown += 1,
            Err(StoreError::Unavailable(_) | StoreError::Overloaded) => seen.unavailable += 1,
            other => panic!("{key}: {other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Everything that must hold: the invariants, and that what was told is exactly what is stored.
pub(crate) async fn verify(store: &dyn Store, shop: &Shop, seen: &Seen) {
    let report = audit(store, shop.business).await.expect("audited");
    assert!(report.is_clean(), "{report}");
    let mut stored = BTreeMap::new();
    store
        .walk(shop.business, &mut |record| {
            if let Record::Operation(operation) = record
                && let Reply::Document(Document::Order(order)) = operation.reply
            {
                stored.insert(operation.key.key, order.number.to_string());
            }
            Ok(())
        })
        .await
        .expect("walked");
    assert_eq!(
        stored, seen.orders,
        "acknowledged orders and stored orders differ"
    );
}
