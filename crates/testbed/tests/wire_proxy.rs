//! Each fault of the proxy does what it says, seen with the real driver and a real server.
#![cfg(test)]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use abasto_testbed::Error;
use abasto_testbed::mongo_cluster::shared_primary;
use abasto_testbed::wire::{Connection, Frame};
use abasto_testbed::wire_proxy::{Fault, Link, Rule, WireProxy};
use mongodb::bson::{Document, doc};
use mongodb::{Client, Collection};
use tokio::task::JoinHandle;

/// Far beyond what anything here takes; a bound, not an expectation.
const LIMIT: Duration = Duration::from_secs(60);

/// A proxy before the shared server, a collection through it, and the same one past it.
struct Bench {
    proxy: WireProxy,
    through: Collection<Document>,
    past: Collection<Document>,
}

impl Bench {
    async fn new(name: &str, options: &str) -> Self {
        let server = shared_primary().expect("a MongoDB server to test with");
        let proxy = WireProxy::start(server).unwrap();
        let collection = async |uri: &str| {
            let client = Client::with_uri_str(uri).await.unwrap();
            client
                .database("abasto_testbed")
                .collection::<Document>(name)
        };
        let through = collection(&format!("{}&{options}", proxy.uri())).await;
        let past = collection(&format!("mongodb://{server}/?directConnection=true")).await;
        past.drop().await.unwrap();
        // The first use of a collection makes it; that is not what is tested.
        through.insert_one(doc! { "first": true }).await.unwrap();
        Self {
            proxy,
            through,
            past,
        }
    }

    fn insert(&self) -> JoinHandle<mongodb::error::Result<()>> {
        let through = self.through.clone();
        tokio::spawn(async move { through.insert_one(doc! { "tested": true }).await.map(drop) })
    }

    async fn inserted(&self) -> u64 {
        self.past
            .count_documents(doc! { "tested": true })
            .await
            .unwrap()
    }
}

const ONCE: &str = "retryWrites=false";

#[tokio::test]
async fn a_dropped_request_is_never_carried_out() {
    let bench = Bench::new("dropped_request", ONCE).await;
    let lost = bench.proxy.script(Rule::request("insert", Fault::Drop));
    bench.insert().await.unwrap().unwrap_err();
    assert_eq!((lost.fired(), bench.inserted().await), (1, 0));
    bench.insert().await.unwrap().unwrap();
    assert_eq!((lost.fired(), bench.inserted().await), (1, 1));
}

#[tokio::test]
async fn a_dropped_reply_hides_what_was_carried_out() {
    let bench = Bench::new("dropped_reply", ONCE).await;
    let lost = bench.proxy.script(Rule::reply("insert", Fault::Drop));
    bench.insert().await.unwrap().unwrap_err();
    assert_eq!((lost.fired(), bench.inserted().await), (1, 1));
}

#[tokio::test]
async fn the_driver_sends_a_retryable_write_again() {
    let bench = Bench::new("retried", "retryWrites=true").await;
    let before = bench.proxy.seen("insert");
    bench.proxy.script(Rule::reply("insert", Fault::Drop));
    bench.insert().await.unwrap().unwrap();
    assert_eq!(
        (bench.proxy.seen("insert") - before, bench.inserted().await),
        (2, 1)
    );
}

#[tokio::test]
async fn occurrences_are_chosen() {
    let bench = Bench::new("occurrences", ONCE).await;
    let lost = bench
        .proxy
        .script(Rule::request("insert", Fault::Drop).skip(1).times(2));
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        outcomes.push(bench.insert().await.unwrap().is_ok());
    }
    assert_eq!(outcomes, [true, false, false, true, true]);
    assert_eq!((lost.fired(), bench.inserted().await), (2, 3));
    bench.proxy.script(Rule::request("insert", Fault::Drop));
    bench.proxy.clear();
    bench.insert().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_black_holed_request_is_neither_carried_out_nor_answered() {
    let bench = Bench::new("black_request", ONCE).await;
    let lost = bench
        .proxy
        .script(Rule::request("insert", Fault::BlackHole));
    let waiting = bench.insert();
    tokio::task::yield_now().await;
    tokio::task::spawn_blocking(move || lost.wait(1, LIMIT))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bench.inserted().await, 0);
    assert!(!waiting.is_finished());
    drop(bench.proxy);
    waiting.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_black_holed_reply_is_carried_out_and_not_answered() {
    let bench = Bench::new("black_reply", ONCE).await;
    let lost = bench.proxy.script(Rule::reply("insert", Fault::BlackHole));
    let waiting = bench.insert();
    tokio::task::spawn_blocking(move || lost.wait(1, LIMIT))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(bench.inserted().await, 1);
    assert!(!waiting.is_finished());
    drop(bench.proxy);
    waiting.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_delayed_reply_arrives_late() {
    let bench = Bench::new("delayed", ONCE).await;
    let length = Duration::from_millis(300);
    bench
        .proxy
        .script(Rule::reply("insert", Fault::Delay(length)));
    let start = Instant::now();
    bench.insert().await.unwrap().unwrap();
    assert!(start.elapsed() >= length);
}

#[tokio::test]
async fn the_driver_reads_a_reply_in_two_parts() {
    let bench = Bench::new("halves", ONCE).await;
    let length = Duration::from_millis(50);
    let parted = bench
        .proxy
        .script(Rule::reply("insert", Fault::Halves(length)));
    let sent = bench
        .proxy
        .script(Rule::request("insert", Fault::Halves(length)));
    bench.insert().await.unwrap().unwrap();
    assert_eq!(
        (parted.fired(), sent.fired(), bench.inserted().await),
        (1, 1, 1)
    );
}

#[tokio::test]
async fn a_silent_link_delivers_when_it_opens() {
    let bench = Bench::new("silent", ONCE).await;
    let before = bench.proxy.seen("insert");
    bench.proxy.set_link(Link::Silent);
    let waiting = bench.insert();
    while bench.proxy.seen("insert") == before {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(bench.inserted().await, 0);
    assert!(!waiting.is_finished());
    bench.proxy.set_link(Link::Open);
    waiting.await.unwrap().unwrap();
    assert_eq!(bench.inserted().await, 1);
}

#[tokio::test]
async fn a_cut_link_refuses_until_it_opens() {
    let bench = Bench::new("cut", "retryWrites=false&serverSelectionTimeoutMS=500").await;
    bench.proxy.set_link(Link::Cut);
    bench.insert().await.unwrap().unwrap_err();
    assert_eq!(bench.inserted().await, 0);
    bench.proxy.set_link(Link::Open);
    let deadline = Instant::now() + LIMIT;
    while bench.insert().await.unwrap().is_err() {
        assert!(Instant::now() < deadline, "the link stays cut");
    }
    assert_eq!(bench.inserted().await, 1);
}

fn ping() -> Document {
    doc! { "ping": 1 }
}

#[test]
fn a_reset_is_seen_as_one() {
    let proxy = WireProxy::start(shared_primary().unwrap()).unwrap();
    for bytes in [0, 20] {
        proxy.script(Rule::reply("ping", Fault::ResetAfter { bytes }));
        let mut connection = Connection::open(proxy.address(), LIMIT).unwrap();
        let error = connection.run("admin", ping()).unwrap_err();
        let Error::Io { source, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), ErrorKind::ConnectionReset);
    }
}

/// Sends a ping by hand, and gives the socket on which the answer will come.
fn raw_ping(proxy: &WireProxy, rule: Option<Rule>) -> TcpStream {
    if let Some(rule) = rule {
        proxy.script(rule);
    }
    let mut stream = TcpStream::connect(proxy.address()).unwrap();
    let request = Frame::message(1, &doc! { "ping": 1, "$db": "admin" }).unwrap();
    stream.write_all(request.bytes()).unwrap();
    stream
}

#[test]
fn halves_are_two_parts_on_the_wire() {
    let proxy = WireProxy::start(shared_primary().unwrap()).unwrap();
    let whole = Frame::read(&mut raw_ping(&proxy, None))
        .unwrap()
        .unwrap()
        .bytes()
        .len();
    let rule = Rule::reply("ping", Fault::Halves(LIMIT));
    let stream = raw_ping(&proxy, Some(rule));
    // The pause outlasts the test, so that the second part cannot have come.
    let arrived = stream.peek(&mut vec![0; whole]).unwrap();
    assert_eq!(arrived, whole / 2);
}

#[test]
fn a_dropped_proxy_lets_nobody_wait() {
    let proxy = WireProxy::start(shared_primary().unwrap()).unwrap();
    let lost = proxy.script(Rule::reply("ping", Fault::Delay(LIMIT)));
    let mut stream = raw_ping(&proxy, None);
    lost.wait(1, LIMIT).unwrap();
    let start = Instant::now();
    drop(proxy);
    let _answered_or_cut = stream.read_to_end(&mut Vec::new());
    assert!(start.elapsed() < LIMIT);
}
