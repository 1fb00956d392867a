//! Clients that are slow, send too much, or too many: they hurt nobody but themselves.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::harness::{Server, Setup, Shop, StoreKind, on_both_stores};

on_both_stores!(a_client_that_stalls_is_told_and_holds_nobody_up);

async fn connect(server: &Server) -> TcpStream {
    let address = server.url.trim_start_matches("http://");
    TcpStream::connect(address).await.unwrap()
}

fn head(shop: &Shop, path: &str, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: abasto\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\nidempotency-key: slow\r\n{more}\r\n",
        shop.key
    )
}

/// What the server says until it closes the connection.
async fn answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let read = tokio::time::timeout(Duration::from_secs(120), read).await;
    read.expect("an end").expect("no broken pipe");
    String::from_utf8(answer).unwrap()
}

async fn a_client_that_stalls_is_told_and_holds_nobody_up(kind: StoreKind) {
    let server = Server::on(kind);
    let shop = Shop::open(&server, 1, 1_000).await;
    let order = shop.order(&[0]).to_string();
    let mut stalled = Vec::new();
    for _ in 0..50 {
        let mut stream = connect(&server).await;
        let more = format!("content-length: {}\r\n", order.len());
        let (first, _) = order.split_at(order.len() / 2);
        let begun = format!("{}{first}", head(&shop, "/v1/orders", &more));
        stream.write_all(begun.as_bytes()).await.unwrap();
        stalled.push(stream);
    }
    let mut http = server.http(&shop.key);
    for number in 0..100 {
        let key = format!("quick-{number}");
        let placed = http.insist("/v1/orders", &key, &shop.order(&[0])).await;
        placed.expect(201);
    }
    for stream in &mut stalled {
        let told = answer(stream).await;
        assert!(told.starts_with("HTTP/1.1 408"), "{told}");
        assert!(told.contains("\"code\":\"body-timeout\""), "{told}");
    }
    assert_eq!(http.all("/v1/orders").await.len(), 100);
}

#[tokio::test]
async fn a_head_that_does_not_end_is_cut_off() {
    let server = Setup::new()
        .variable("ABASTO_HEADER_TIMEOUT_MS", "200")
        .start();
    let mut stream = connect(&server).await;
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n")
        .await
        .unwrap();
    let told = answer(&mut stream).await;
    assert!(
        told.is_empty() || told.starts_with("HTTP/1.1 408"),
        "{told}"
    );
    assert_eq!(server.nobody().get("/healthz").await.status, 200);
}

/// Clients that send everything before they read get the answer, whatever it is refused for.
#[tokio::test]
async fn whoever_sends_too_much_reads_why() {
    let server = Server::start();
    let shop = Shop::open(&server, 1, 1).await;
    let body = json!({"note": "x".repeat(3 << 20)}).to_string();
    let length = format!("content-length: {}\r\n", body.len());
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let nobody = Shop {
        key: "abasto_nobody".to_owned(),
        ..shop.clone()
    };
    for (who, path, more, sent, status) in [
        (&shop, "/v1/orders", length.as_str(), &body, "413"),
        (
            &shop,
            "/v1/orders",
            "transfer-encoding: chunked\r\n",
            &chunked,
            "413",
        ),
        (&nobody, "/v1/orders", length.as_str(), &body, "401"),
        (&shop, "/v1/nowhere", length.as_str(), &body, "404"),
        (&shop, "/v1/products:import", length.as_str(), &body, "415"),
    ] {
        let mut stream = connect(&server).await;
        let head = head(who, path, &format!("{more}connection: close\r\n"));
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
            .write_all(sent.as_bytes())
            .await
            .expect("no broken pipe");
        let told = answer(&mut stream).await;
        assert!(
            told.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {told}"
        );
    }
    // What is far beyond any reason is not taken in.
    let mut stream = connect(&server).await;
    let endless = head(&shop, "/v1/orders", "content-length: 1000000000000\r\n");
    stream.write_all(endless.as_bytes()).await.unwrap();
    let part = vec![b'x'; 1 << 20];
    let mut sent = 0;
    while sent < 1_000 && stream.write_all(&part).await.is_ok() {
        sent += 1;
    }
    assert!(sent < 1_000, "a gigabyte was taken in");
    let mut http = server.http(&shop.key);
    let level: Value = shop.level(&mut http, 0).await;
    assert_eq!(level["available"], 1);
}
