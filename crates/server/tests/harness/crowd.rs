//! Buyers who want one order after the other and do not give up: told to come back, or cut off,
//! they send the same order again under the same key until they know what became of it.
//!
//! Owns what they were told, the rules for every single answer, and the comparison with what is
//! stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use abasto_client::Lost;
use hyper::Method;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::{Http, Reply, Server, Shop, run, text};

/// The server's deadline for an answer, with what a busy machine adds.
pub(crate) const ANSWER_MAX: Duration = Duration::from_millis(7_500);
/// Longest wait for more orders, and for the outcome of one. It ends a test that hangs and says
/// nothing of speed.
const STANDSTILL: Duration = Duration::from_secs(240);
/// Between two orders of a buyer: the crowd is there to meet a fault, not to fill the store.
const PAUSE: Duration = Duration::from_millis(20);
/// Before a buyer tries the next instance.
const NEXT_DOOR: Duration = Duration::from_millis(100);
/// How many finished orders are asked for once more.
const ASKED_AGAIN: usize = 20;

/// Where instances answer now, as a load balancer knows it.
#[derive(Debug, Clone)]
pub(crate) struct Doors(Arc<Mutex<Vec<String>>>);

impl Doors {
    pub(crate) fn of(servers: &[&Server]) -> Self {
        let urls = servers.iter().map(|server| server.url.clone());
        Self(Arc::new(Mutex::new(urls.collect())))
    }

    /// An instance came back at another address.
    pub(crate) fn moved(&self, place: usize, to: &Server) {
        self.0.lock().unwrap()[place].clone_from(&to.url);
    }

    fn get(&self, place: usize) -> String {
        let urls = self.0.lock().unwrap();
        urls[place % urls.len()].clone()
    }
}

/// What buyers were told.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The id and the number of the order, by key.
    pub(crate) orders: BTreeMap<String, (String, String)>,
    /// How often they were told to come back, by the code of the problem.
    pub(crate) told_to_wait: BTreeMap<String, usize>,
    /// How often an instance went away before it answered.
    pub(crate) lost: usize,
    /// The longest that an answer took.
    pub(crate) slowest: Duration,
}

impl Seen {
    /// Both together.
    pub(crate) fn add(&mut self, other: Self) {
        self.orders.extend(other.orders);
        for (code, count) in other.told_to_wait {
            *self.told_to_wait.entry(code).or_default() += count;
        }
        self.lost += other.lost;
        self.slowest = self.slowest.max(other.slowest);
    }
}

/// A running crowd.
pub(crate) struct Crowd {
    stop: Arc<AtomicBool>,
    settled: Arc<AtomicUsize>,
    buyers: Vec<JoinHandle<Seen>>,
}

impl Crowd {
    /// So many buyers, spread over the instances, who buy one of each of these products again and
    /// again.
    pub(crate) fn start(doors: &Doors, shop: &Shop, buyers: usize, products: &[usize]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let settled = Arc::new(AtomicUsize::new(0));
        let buyers = (0..buyers).map(|number| {
            let mut buyer = Buyer::new(doors, shop, number, products);
            let (stop, settled) = (Arc::clone(&stop), Arc::clone(&settled));
            tokio::spawn(async move {
                let mut round = 0;
                while !stop.load(Ordering::Relaxed) {
                    let key = format!("buyer-{number}-{round}");
                    buyer.insist(&key).await;
                    buyer.look(&key).await;
                    settled.fetch_add(1, Ordering::Relaxed);
                    round += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                buyer.seen
            })
        });
        let buyers = buyers.collect();
        Self {
            stop,
            settled,
            buyers,
        }
    }

    /// Waits until so many more orders are known.
    pub(crate) async fn more(&self, orders: usize) {
        let goal = self.settled.load(Ordering::Relaxed) + orders;
        let begun = Instant::now();
        while self.settled.load(Ordering::Relaxed) < goal {
            let died = self.buyers.iter().any(JoinHandle::is_finished);
            assert!(!died, "a buyer met what must not be");
            assert!(begun.elapsed() < STANDSTILL, "the crowd stands still");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets every buyer learn what became of the last order.
    pub(crate) async fn finish(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Seen::default();
        for buyer in self.buyers {
            all.add(buyer.await.expect("a buyer met what must not be"));
        }
        all
    }
}

/// One buyer.
pub(crate) struct Buyer {
    http: Http,
    doors: Doors,
    door: usize,
    credential: String,
    order: Value,
    pub(crate) seen: Seen,
}

impl Buyer {
    pub(crate) fn new(doors: &Doors, shop: &Shop, door: usize, products: &[usize]) -> Self {
        Self {
            http: Http::new(&doors.get(door), Some(&shop.key)),
            doors: doors.clone(),
            door,
            credential: shop.key.clone(),
            order: shop.order(products),
            seen: Seen::default(),
        }
    }

    /// Sends an order until its outcome is known.
    async fn insist(&mut self, key: &str) {
        let begun = Instant::now();
        while !self.ask(key).await {
            assert!(begun.elapsed() < STANDSTILL, "{key} is never settled");
        }
    }

    /// Sends an order once and does what the answer says; whether its outcome is known. An answer
    /// is 201 or 503 with `Retry-After` (the shelves of a crowd are full), and comes in time.
    pub(crate) async fn ask(&mut self, key: &str) -> bool {
        let begun = Instant::now();
        let answer = self.http.try_post("/v1/orders", Some(key), &self.order);
        let answer = answer.await;
        let Some(reply) = self.heard(begun, answer).await else {
            return false;
        };
        let order = reply.expect(201);
        let told = (text(&order["id"]), text(&order["number"]));
        self.seen.orders.insert(key.to_owned(), told);
        true
    }

    /// Looks once at an order that was acknowledged: 200, or 503 with `Retry-After`.
    async fn look(&mut self, key: &str) {
        let (id, number) = &self.seen.orders[key];
        let (path, number) = (format!("/v1/orders/{id}"), number.clone());
        let begun = Instant::now();
        let answer = self.http.send(Method::GET, &path, &[], "").await;
        if let Some(reply) = self.heard(begun, answer).await {
            assert_eq!(reply.expect(200)["number"], number, "{key}");
        }
    }

    /// The answer, unless it was none or said to come back; then the buyer has waited.
    async fn heard(&mut self, begun: Instant, answer: Result<Reply, Lost>) -> Option<Reply> {
        let took = begun.elapsed();
        match answer {
            Ok(reply) => {
                self.seen.slowest = self.seen.slowest.max(took);
                assert!(took <= ANSWER_MAX, "an answer took {took:?}: {reply:?}");
                if reply.status != 503 {
                    return Some(reply);
                }
                let code = text(&reply.json()["code"]);
                *self.seen.told_to_wait.entry(code).or_default() += 1;
                tokio::time::sleep(reply.retry_after()).await;
            }
            Err(late @ Lost::Late { .. }) => panic!("never answered: {late}"),
            Err(Lost::Connect { .. } | Lost::Broken { .. }) => {
                self.seen.lost += 1;
                tokio::time::sleep(NEXT_DOOR).await;
                self.door += 1;
                self.http = Http::new(&self.doors.get(self.door), Some(&self.credential));
            }
        }
        None
    }
}

/// What must hold after every fault, when all is well again: each order that a buyer was told of is
/// there and no other, a key still stands for its order, the units add up, and the audit finds
/// nothing.
pub(crate) async fn verify(server: &Server, shop: &Shop, products: &[usize], seen: &Seen) {
    let (orders, slowest) = (seen.orders.len(), seen.slowest);
    let (told, lost) = (&seen.told_to_wait, seen.lost);
    let story = format!("{orders} orders, cut off {lost}, told to wait {told:?}, {slowest:?}");
    let mut http = server.http(&shop.key);
    let stored = http.all("/v1/orders").await;
    let stored: BTreeSet<_> = stored
        .iter()
        .map(|order| (text(&order["id"]), text(&order["number"])))
        .collect();
    let told: BTreeSet<_> = seen.orders.values().cloned().collect();
    assert_eq!(told.len(), seen.orders.len(), "one order under two keys");
    let lost: Vec<_> = told.difference(&stored).collect();
    let extra: Vec<_> = stored.difference(&told).collect();
    assert!(
        lost.is_empty(),
        "acknowledged and not there: {lost:?}; {story}"
    );
    assert!(
        extra.is_empty(),
        "there and told to nobody: {extra:?}; {story}"
    );
    let order = shop.order(products);
    for (key, (id, _)) in seen.orders.iter().take(ASKED_AGAIN) {
        let again = http.insist("/v1/orders", key, &order).await;
        assert_eq!(again.headers.get("idempotency-replayed").unwrap(), "true");
        assert_eq!(&text(&again.expect(201)["id"]), id, "{key}");
    }
    for product in products {
        let level = shop.level(&mut http, *product).await;
        assert_eq!(level["reserved"], seen.orders.len(), "product {product}");
    }
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}; {story}");
    assert!(audit.stdout.contains(" 0 differences"), "{audit:?}");
}
