//! Sixteen devices and thousands of operations on one cart: doubled, reordered, with answers that
//! nobody read, through every instance there is. What the cart must hold at the end each device
//! computes beside it, without asking the server.
//!
//! `TESTBED_STORM` sets how many operations each device has (625 make ten thousand),
//! `TESTBED_STORM_SEED` the seed, which is a new one each time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::harness::{Http, Server, Setup, Shop, StoreKind, on_both_stores, text};

on_both_stores!(
    sixteen_devices_lose_nothing_in_mode_crdt,
    sixteen_devices_lose_nothing_in_mode_events,
    sixteen_devices_lose_nothing_in_mode_occ,
);

const DEVICES: usize = 16;
/// Operations of each device when nothing else is asked for.
const OPERATIONS_PER_DEVICE: usize = 60;
/// Lines that every device adds to.
const SHARED: usize = 3;
/// Patches that a device has under way at once.
const LANES: usize = 3;
/// How often one patch is sent until it is acknowledged.
const TRIES_MAX: u32 = 400;

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// What the cart must hold, line by line. Lines of one device are only written by it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Expected {
    units: BTreeMap<String, u64>,
    attributes: BTreeMap<String, String>,
    coupons: Vec<String>,
    fields: BTreeMap<String, String>,
}

impl Expected {
    fn join(&mut self, other: Self) {
        for (line, units) in other.units {
            *self.units.entry(line).or_default() += units;
        }
        self.attributes.extend(other.attributes);
        self.coupons.extend(other.coupons);
        self.fields.extend(other.fields);
    }

    fn of(view: &Value) -> Self {
        let mut seen = Self::default();
        for line in view["lines"].as_array().unwrap() {
            let key = text(&line["line"]);
            seen.units
                .insert(key.clone(), line["quantity"].as_u64().unwrap());
            if let Some(value) = line["attributes"].get("gift") {
                seen.attributes.insert(key, text(value));
            }
        }
        let coupons = view["coupons"].as_array().unwrap().iter();
        seen.coupons = coupons.map(|coupon| text(&coupon["code"])).collect();
        let fields = view["fields"].as_object().unwrap().iter();
        seen.fields = fields
            .map(|(name, value)| (name.clone(), text(value)))
            .collect();
        seen
    }
}

/// One patch of a device.
#[derive(Debug, Clone)]
struct Patch {
    seq: u64,
    ops: Vec<Value>,
}

/// What a device will do: rounds of patches. Patches of a round are under way at once and commute;
/// what does not commute is in one of them.
struct Plan {
    rounds: Vec<Vec<Patch>>,
    expected: Expected,
}

/// The lines of a device, and what it has to write.
struct Planner<'a> {
    shop: &'a Shop,
    device: usize,
    dice: Dice,
    expected: Expected,
    /// Steps down that the line has room for until the next round.
    room: u64,
}

impl Planner<'_> {
    fn line(&self, kind: &str) -> String {
        format!(
            "{}?device={}&kind={kind}",
            self.shop.products[SHARED], self.device
        )
    }

    fn add(&mut self, kind: &str, quantity: u64) -> Value {
        *self.expected.units.entry(self.line(kind)).or_default() += quantity;
        let options = json!({"device": self.device.to_string(), "kind": kind});
        json!({"op": "addItem", "productId": self.shop.products[SHARED], "options": options,
            "quantity": quantity})
    }

    fn add_shared(&mut self) -> Value {
        let index = usize::try_from(self.dice.below(SHARED as u64)).unwrap();
        let (product, quantity) = (self.shop.products[index].clone(), 1 + self.dice.below(3));
        *self.expected.units.entry(product.clone()).or_default() += quantity;
        json!({"op": "addItem", "productId": product, "quantity": quantity})
    }

    fn step(&mut self) -> Value {
        let (line, by) = (self.line("steps"), 1 + self.dice.below(3));
        let units = self.expected.units.get_mut(&line).unwrap();
        if self.room > by && self.dice.one_in(2) {
            self.room -= by;
            *units -= by;
            json!({"op": "decrement", "line": line, "by": by})
        } else {
            *units += by;
            json!({"op": "increment", "line": line, "by": by})
        }
    }

    /// Something that commutes with everything else.
    fn commuting(&mut self) -> Value {
        match self.dice.below(3) {
            0 => self.add_shared(),
            1 => {
                let quantity = 1 + self.dice.below(3);
                self.add("adds", quantity)
            }
            _ => self.step(),
        }
    }

    /// Operations that need each other's order.
    fn ordered(&mut self) -> Vec<Value> {
        let number = self.dice.below(1000);
        let (sets, again) = (self.line("sets"), self.line("again"));
        match self.dice.below(5) {
            0 => {
                let first = json!({"op": "setQuantity", "line": sets, "quantity": 900});
                self.expected.units.insert(sets.clone(), 1 + number);
                vec![
                    first,
                    json!({"op": "setQuantity", "line": sets, "quantity": 1 + number}),
                ]
            }
            1 => {
                self.expected.units.remove(&again);
                let remove = json!({"op": "removeItem", "line": again});
                vec![remove, self.add("again", 1 + number)]
            }
            2 => {
                let value = format!("{} {number}", self.device);
                self.expected.attributes.insert(sets.clone(), value.clone());
                vec![json!({"op": "setAttribute", "line": sets, "name": "gift", "value": value})]
            }
            3 if self.device < 10 => {
                let code = format!("CODE-{}", self.device);
                let name = if self.expected.coupons.is_empty() {
                    self.expected.coupons.push(code.clone());
                    "applyCoupon"
                } else {
                    self.expected.coupons.clear();
                    "removeCoupon"
                };
                vec![json!({"op": name, "code": code})]
            }
            _ if self.device < 5 => {
                let fields = ["note", "shippingAddress", "email", "phone", "deliverySlot"];
                let (field, value) = (fields[self.device], format!("value {number}"));
                self.expected.fields.insert(field.to_owned(), value.clone());
                vec![json!({"op": "setField", "field": field, "value": value})]
            }
            _ => vec![self.commuting()],
        }
    }

    fn plan(mut self, operations: usize) -> Plan {
        let mut next = 1;
        let mut take = |ops: Vec<Value>| {
            let patch = Patch { seq: next, ops };
            next += u64::try_from(patch.ops.len()).unwrap();
            patch
        };
        let first = ["adds", "steps", "sets", "again"].map(|kind| self.add(kind, 100));
        let mut rounds = vec![vec![take(first.to_vec())]];
        let mut left = operations - first.len();
        while left > 0 {
            self.room = self.expected.units[&self.line("steps")].saturating_sub(10);
            let mut round = Vec::new();
            for lane in 0..LANES {
                let size = left.min(usize::try_from(5 + self.dice.below(46)).unwrap());
                let mut ops = Vec::new();
                if lane == 0 && size >= 2 {
                    ops = self.ordered();
                }
                while ops.len() < size {
                    ops.push(self.commuting());
                }
                left -= ops.len();
                if !ops.is_empty() {
                    round.push(take(ops));
                }
            }
            rounds.push(round);
        }
        Plan {
            rounds,
            expected: self.expected,
        }
    }
}

/// What a whole run shares.
struct Storm {
    servers: Vec<Server>,
    shop: Shop,
    mode: &'static str,
    path: String,
    /// Requests sent, and those that were told to come again.
    sent: AtomicU64,
    refused: AtomicU64,
}

impl Storm {
    fn http(&self, dice: &mut Dice) -> Http {
        let at = usize::try_from(dice.below(self.servers.len() as u64)).unwrap();
        self.servers[at].http(&self.shop.key)
    }

    /// Sends a patch until it is acknowledged.
    async fn deliver(&self, body: &Value, mut dice: Dice) -> Value {
        for _ in 0..TRIES_MAX {
            self.sent.fetch_add(1, Ordering::Relaxed);
            let mut http = self.http(&mut dice);
            let headers = [("content-type", "application/json")];
            let reply = http.send(Method::PATCH, &self.path, &headers, body.to_string());
            let reply = reply.await.expect("an answer");
            if reply.status == 200 {
                return reply.json();
            }
            let problem = reply.json();
            match problem["code"].as_str().unwrap() {
                "cart-contention" => {
                    assert_eq!((reply.status, self.mode), (409, "occ"));
                    assert!(reply.headers.contains_key("retry-after"));
                }
                // Its earlier numbers are still under way.
                "cart-limit" => assert_eq!(problem["bound"], "gaps", "{problem}"),
                // Instances that edit one cart at once may meet too often; nothing was done, or it
                // is found when it is sent again.
                "overloaded" | "unavailable" | "outcome-unknown" => {
                    assert_eq!(reply.status, 503);
                    assert!(reply.headers.contains_key("retry-after"));
                }
                _ => panic!("{problem}"),
            }
            self.refused.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(5 + dice.below(60))).await;
        }
        panic!("not acknowledged in {TRIES_MAX} tries: {body}");
    }

    /// Sends a patch and hangs up before its answer.
    async fn drop_answer(&self, body: &Value, dice: &mut Dice) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let at = usize::try_from(dice.below(self.servers.len() as u64)).unwrap();
        let address = self.servers[at].url.trim_start_matches("http://");
        let body = body.to_string();
        let request = format!(
            "PATCH {} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.path,
            self.shop.key,
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("sent");
        if dice.one_in(2) {
            tokio::time::sleep(Duration::from_millis(dice.below(20))).await;
        }
    }

    /// One device from its lease to its last acknowledgement; the context of the last answer.
    async fn device(self: Arc<Self>, plan: Vec<Vec<Patch>>, mut dice: Dice) -> Vec<String> {
        let lease = self
            .http(&mut dice)
            .post(&format!("{}/devices", self.path), None, &json!({}))
            .await;
        let lease = lease.expect(201);
        assert_eq!(lease["nextSeq"], 1);
        let mut done: Vec<Value> = Vec::new();
        let mut seen = Vec::new();
        for mut round in plan {
            if dice.one_in(2) {
                round.reverse();
            }
            let mut sending = JoinSet::new();
            for patch in round {
                let mut body =
                    json!({"device": lease["device"], "seq": patch.seq, "ops": patch.ops});
                if dice.one_in(2) {
                    let hlc = (1_700_000_000_000 + patch.seq) << 16;
                    body["hlc"] = json!(hlc.to_string());
                }
                if dice.one_in(6) {
                    self.drop_answer(&body, &mut dice).await;
                }
                let copies = if dice.one_in(4) { 2 } else { 1 };
                for _ in 0..copies {
                    let (storm, body) = (Arc::clone(&self), body.clone());
                    let own = Dice(dice.next());
                    sending.spawn(async move { storm.deliver(&body, own).await });
                }
                done.push(body);
            }
            if dice.one_in(4) {
                // Something old comes again.
                let at = usize::try_from(dice.below(done.len() as u64)).unwrap();
                let (storm, body, own) = (Arc::clone(&self), done[at].clone(), Dice(dice.next()));
                sending.spawn(async move { storm.deliver(&body, own).await });
            }
            let answers = sending.join_all().await;
            seen = answers.iter().map(|view| text(&view["ctx"])).collect();
        }
        seen
    }

    /// The cart as every instance shows it once the folding behind the answers has come to rest.
    async fn settled(&self) -> Value {
        let mut last = None;
        for _ in 0..100 {
            let mut bodies = Vec::new();
            for server in &self.servers {
                let reply = server.http(&self.shop.key).get(&self.path).await;
                reply.expect(200);
                bodies.push(reply.body);
            }
            let first = bodies[0].clone();
            let is_one = bodies.iter().all(|body| *body == first);
            if is_one && last.as_ref() == Some(&first) {
                return serde_json::from_slice(&first).unwrap();
            }
            last = is_one.then_some(first);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the instances do not show the same bytes");
    }

    /// The history holds every operation of every device once.
    async fn check_history(&self, operations: u64) {
        let mut http = self.servers[0].http(&self.shop.key);
        let events = http.all(&format!("{}/events", self.path)).await;
        let mut numbers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for dot in events.iter().filter_map(|event| event["dot"].as_str()) {
            let (author, number) = dot.split_once(':').unwrap();
            numbers
                .entry(author.to_owned())
                .or_default()
                .push(number.parse().unwrap());
        }
        assert_eq!(numbers.len(), DEVICES);
        for (author, mut numbers) in numbers {
            numbers.sort_unstable();
            let all: Vec<u64> = (1..=operations).collect();
            assert_eq!(numbers, all, "{author}");
        }
    }
}

fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "a test asks how long it may run")]
    let wanted = std::env::var(name).ok();
    wanted.map(|text| text.parse().expect("a number"))
}

/// The seed of this run: a new one each time, or the one that is asked for.
fn seed() -> u64 {
    let new = || u64::try_from(super::harness::from_now(0)).unwrap();
    wanted("TESTBED_STORM_SEED").unwrap_or_else(new)
}

fn operations() -> usize {
    wanted("TESTBED_STORM").map_or(OPERATIONS_PER_DEVICE, |many| usize::try_from(many).unwrap())
}

/// Lets everybody put as much as they like into their carts.
async fn lift_limits(http: &mut Http, shop: &Shop) {
    for product in &shop.products {
        let path = format!("/v1/products/{product}");
        let headers = [("content-type", "application/json"), ("if-match", "\"1\"")];
        let body = json!({"maxPerOrder": 1_000_000}).to_string();
        let patched = http.send(Method::PATCH, &path, &headers, body).await;
        patched.expect("an answer").expect(200);
    }
}

#[expect(clippy::print_stdout, reason = "a run that is repeated needs its seed")]
async fn storm(servers: Vec<Server>, mode: &'static str) {
    let (seed, operations) = (seed(), operations());
    println!(
        "TESTBED_STORM_SEED={seed} TESTBED_STORM={operations} mode={mode} instances={}",
        servers.len()
    );
    let mut dice = Dice(seed);
    let shop = Shop::open(&servers[0], SHARED + 1, 0).await;
    let mut http = servers[0].http(&shop.key);
    lift_limits(&mut http, &shop).await;
    let cart = json!({"branchId": shop.branch, "mode": mode});
    let cart = http.post("/v1/carts", None, &cart).await.expect(201);
    let storm = Arc::new(Storm {
        path: format!("/v1/carts/{}", text(&cart["id"])),
        servers,
        shop,
        mode,
        sent: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let mut expected = Expected::default();
    let mut devices = JoinSet::new();
    for device in 0..DEVICES {
        let planner = Planner {
            shop: &storm.shop,
            device,
            dice: Dice(dice.next()),
            expected: Expected::default(),
            room: 0,
        };
        let plan = planner.plan(operations);
        let planned = plan.rounds.iter().flatten().map(|patch| patch.ops.len());
        assert_eq!(planned.sum::<usize>(), operations);
        expected.join(plan.expected);
        devices.spawn(Arc::clone(&storm).device(plan.rounds, Dice(dice.next())));
    }
    let seen = devices.join_all().await;
    let view = storm.settled().await;
    expected.coupons.sort();
    assert_eq!(Expected::of(&view), expected, "seed {seed}");
    // Every instance has what any device saw last.
    for ctx in seen.iter().flatten() {
        for server in &storm.servers {
            let reply = server
                .http(&storm.shop.key)
                .get(&format!("{}?minCtx={ctx}", storm.path))
                .await;
            assert_eq!(reply.expect(200).get("stale"), None, "seed {seed}");
        }
    }
    if mode == "events" {
        storm.check_history(operations as u64).await;
    }
    println!(
        "{mode}: {} operations, {} requests, {} told to come again",
        DEVICES * operations,
        storm.sent.load(Ordering::Relaxed),
        storm.refused.load(Ordering::Relaxed)
    );
}

/// One instance on a file, two on a replica set.
fn servers(kind: StoreKind) -> Vec<Server> {
    let setup = Setup::on(kind).argument("--no-rate-limit");
    let instances = match kind {
        StoreKind::Sqlite => 1,
        StoreKind::Mongo => 2,
    };
    (0..instances).map(|_| setup.start()).collect()
}

async fn sixteen_devices_lose_nothing_in_mode_crdt(kind: StoreKind) {
    storm(servers(kind), "crdt").await;
}

async fn sixteen_devices_lose_nothing_in_mode_events(kind: StoreKind) {
    storm(servers(kind), "events").await;
}

async fn sixteen_devices_lose_nothing_in_mode_occ(kind: StoreKind) {
    storm(servers(kind), "occ").await;
}
