//! Draining: what has begun ends well, nobody new is let in, the exit code is 0.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::harness::{Server, Setup, Shop, StoreKind, on_both_stores, run, text};

on_both_stores!(
    a_request_that_has_begun_is_answered,
    orders_acknowledged_while_draining_are_there,
);

/// A request whose body comes in two parts, the second one when the test wants it.
async fn begin(server: &Server, shop: &Shop) -> (TcpStream, String) {
    let body = shop.order(&[0]).to_string();
    let address = server.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/orders HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\nidempotency-key: slow\r\nexpect: 100-continue\r\n\
         content-length: {}\r\n\r\n",
        shop.key,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body, so the request has reached its route.
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    (stream, body)
}

async fn a_request_that_has_begun_is_answered(kind: StoreKind) {
    let mut server = Server::on(kind);
    let shop = Shop::open(&server, 1, 10).await;
    let (mut stream, body) = begin(&server, &shop).await;
    server.signal(Signal::TERM);
    let address = server.url.trim_start_matches("http://").to_owned();
    while TcpStream::connect(&address).await.is_ok() {
        assert!(!server.has_ended(), "it ended with a request open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test]
async fn a_request_that_does_not_end_holds_nobody_up_for_ever() {
    let server = Setup::new().variable("ABASTO_DRAIN_MS", "50").start();
    let shop = Shop::open(&server, 1, 10).await;
    let (stream, _) = begin(&server, &shop).await;
    assert_eq!(server.stop().code(), Some(0));
    drop(stream);
}

#[tokio::test]
async fn load_balancers_are_told_before_connections_are_refused() {
    let server = Setup::new()
        .variable("ABASTO_DRAIN_DELAY_MS", "2000")
        .start();
    server.signal(Signal::TERM);
    // Refused connections would panic here: the answer must come while there still is one.
    while server.nobody().get("/readyz").await.status == 200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.nobody().get("/readyz").await.status, 503);
    assert_eq!(server.nobody().get("/healthz").await.status, 200);
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let server = Setup::new()
        .variable("ABASTO_DRAIN_DELAY_MS", "600000")
        .start();
    server.signal(Signal::TERM);
    while server.nobody().get("/readyz").await.status == 200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(1));
}

async fn orders_acknowledged_while_draining_are_there(kind: StoreKind) {
    let server = Server::on(kind);
    let shop = Arc::new(Shop::open(&server, 5, 1_000_000).await);
    let mut begun = Vec::new();
    let clients = (0..8).map(|client| {
        let (mut http, shop) = (server.http(&shop.key), shop.clone());
        let (first, placed) = oneshot::channel();
        begun.push(placed);
        let mut first = Some(first);
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for number in 0.. {
                let key = format!("{client}-{number}");
                let order = shop.order(&[number % 5]);
                let Ok(reply) = http.try_insist("/v1/orders", &key, &order).await else {
                    break;
                };
                ids.push(text(&reply.expect(201)["id"]));
                if let Some(first) = first.take() {
                    first.send(()).unwrap();
                }
            }
            ids
        })
    });
    let clients: Vec<_> = clients.collect();
    for placed in begun {
        placed.await.unwrap();
    }
    let setup = server.setup().clone();
    assert_eq!(server.stop().code(), Some(0));
    let server = setup.start();
    let mut http = server.http(&shop.key);
    for client in clients {
        for id in client.await.unwrap() {
            http.get(&format!("/v1/orders/{id}")).await.expect(200);
        }
    }
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
