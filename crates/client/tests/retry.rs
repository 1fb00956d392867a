//! What is sent again and what is not, against a server that answers by script.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::time::Duration;

use abasto_client::{Call, Client, Error, Lost, Retry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const QUICK: Retry = Retry {
    tries: 4,
    first_wait: Duration::from_millis(1),
    longest_wait: Duration::from_millis(5),
    unreachable_max: Duration::from_millis(50),
};

/// What the server does with a request.
#[derive(Clone, Copy)]
enum Act {
    /// Answers.
    Say(&'static str),
    /// Closes the connection without an answer.
    Hang,
    /// Answers and closes the connection although it said nothing of it.
    SayAndClose(&'static str),
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const REPLAYED: &str =
    "HTTP/1.1 201 Created\r\nidempotency-replayed: true\r\ncontent-length: 2\r\n\r\n{}";
const BUSY: &str =
    "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
const LIMITED: &str = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";
const CONFLICT: &str = "HTTP/1.1 409 Conflict\r\ncontent-length: 19\r\n\r\n{\"code\":\"conflict\"}";

/// Plays the script and gives back the heads of the requests it saw.
async fn play(script: &'static [Act]) -> (Client, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let mut seen = Vec::new();
        let mut open: Option<TcpStream> = None;
        for act in script {
            let mut stream = match open.take() {
                Some(stream) => stream,
                None => listener.accept().await.expect("a client").0,
            };
            seen.push(head(&mut stream).await);
            match act {
                Act::Say(answer) => {
                    stream.write_all(answer.as_bytes()).await.expect("written");
                    open = Some(stream);
                }
                Act::SayAndClose(answer) => {
                    stream.write_all(answer.as_bytes()).await.expect("written");
                    stream.shutdown().await.expect("closed");
                }
                Act::Hang => drop(stream),
            }
        }
        seen
    });
    let endpoint = format!("http://127.0.0.1:{port}").parse().expect("a URL");
    let client = Client::new(endpoint, Some("secret"), QUICK).expect("a client");
    (client, server)
}

/// Reads one request: the head, and a body of two bytes when it is a POST.
async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.expect("a head"));
    }
    let head = String::from_utf8(bytes).expect("ASCII");
    if head.starts_with("POST") {
        stream.read_exact(&mut [0; 2]).await.expect("a body");
    }
    head
}

fn keyed() -> Call {
    let empty = serde_json::Map::new();
    Call::post("/v1/orders", &empty).expect("JSON").key("k-1")
}

fn unkeyed() -> Call {
    Call::post("/v1/branches", &serde_json::Map::new()).expect("JSON")
}

#[tokio::test]
async fn the_same_key_is_sent_until_there_is_an_answer() {
    let script = &[
        Act::Say(BUSY),
        Act::Hang,
        Act::Say(LIMITED),
        Act::Say(REPLAYED),
    ];
    let (mut client, server) = play(script).await;
    let answer = client.call(&keyed()).await.expect("an answer");
    assert!(answer.replayed);
    let seen = server.await.expect("the server");
    assert_eq!(seen.len(), 4);
    for head in seen {
        assert!(head.contains("idempotency-key: k-1\r\n"), "{head}");
        assert!(head.contains("authorization: Bearer secret\r\n"), "{head}");
    }
}

#[tokio::test]
async fn a_lost_answer_without_a_key_is_not_asked_for_again() {
    let (mut client, server) = play(&[Act::Hang]).await;
    let error = client.call(&unkeyed()).await.expect_err("no answer");
    assert!(matches!(error, Error::Lost(Lost::Broken { .. })), "{error}");
    assert_eq!(server.await.expect("the server").len(), 1);
}

#[tokio::test]
async fn a_refusal_that_did_nothing_is_tried_again_even_without_a_key() {
    let (mut client, server) = play(&[Act::Say(BUSY), Act::Say(OK)]).await;
    client.call(&unkeyed()).await.expect("an answer");
    assert_eq!(server.await.expect("the server").len(), 2);
}

#[tokio::test]
async fn the_tries_are_bounded() {
    let (mut client, server) = play(&[Act::Say(BUSY); 4]).await;
    let error = client.call(&keyed()).await.expect_err("refused");
    assert_eq!(error.problem().expect("a problem").status, 503);
    assert_eq!(server.await.expect("the server").len(), 4);
}

#[tokio::test]
async fn a_conflict_is_an_answer() {
    let (mut client, server) = play(&[Act::Say(CONFLICT)]).await;
    let error = client.call(&keyed()).await.expect_err("refused");
    assert_eq!(error.problem().expect("a problem").code, "conflict");
    assert_eq!(server.await.expect("the server").len(), 1);
}

#[tokio::test]
async fn a_connection_closed_between_requests_is_opened_again() {
    let (mut client, server) = play(&[Act::SayAndClose(OK), Act::Say(OK)]).await;
    client.call(&keyed()).await.expect("the first");
    client.call(&unkeyed()).await.expect("the second");
    assert_eq!(server.await.expect("the server").len(), 2);
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    let endpoint = "http://127.0.0.1:1".parse().expect("a URL");
    let mut client = Client::new(endpoint, None, Retry::NEVER).expect("a client");
    let error = client
        .call(&Call::get("/healthz"))
        .await
        .expect_err("nobody");
    assert!(error.to_string().contains("http://127.0.0.1:1"), "{error}");
}
