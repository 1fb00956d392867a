//! A double of the provider on a local port: it keeps what it did, and can act and then say
//! nothing, answer with a fault, or refuse.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How the double behaves at the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It acts and answers.
    Well,
    /// It acts and closes the connection without an answer.
    ActsThenSilent,
    /// It does nothing and answers 500.
    Broken,
    /// It does nothing and refuses the card.
    Refuses,
    /// A cancellation meets money that is there already.
    AlreadyCaptured,
}

#[derive(Debug, Default)]
struct Books {
    moods: Vec<Mood>,
    /// What was made, by idempotency key.
    made: BTreeMap<String, String>,
    requests: Vec<(String, String)>,
}

/// A running double.
#[derive(Debug, Clone)]
pub(crate) struct Double {
    pub(crate) base: String,
    books: Arc<Mutex<Books>>,
}

impl Double {
    /// Begins to listen; the moods are used one after the other, then it is well.
    pub(crate) async fn start(moods: &[Mood]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let books = Arc::new(Mutex::new(Books {
            moods: moods.iter().rev().copied().collect(),
            ..Books::default()
        }));
        let double = Self { base, books };
        let serving = double.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        double
    }

    /// How many things were made: one per key.
    pub(crate) fn made(&self) -> usize {
        self.books.lock().unwrap().made.len()
    }

    /// Path and body of every request.
    pub(crate) fn requests(&self) -> Vec<(String, String)> {
        self.books.lock().unwrap().requests.clone()
    }

    async fn serve(&self, mut stream: TcpStream) {
        while let Some((path, key, body)) = read(&mut stream).await {
            let Some((status, answer)) = self.act(path, key, body) else {
                return;
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                answer.len()
            );
            let _ = stream.write_all(format!("{head}{answer}").as_bytes()).await;
        }
    }

    /// What it does and says; nothing for silence.
    fn act(&self, path: String, key: String, body: String) -> Option<(u16, String)> {
        let mut books = self.books.lock().unwrap();
        let mood = books.moods.pop().unwrap_or(Mood::Well);
        books.requests.push((path.clone(), body));
        if mood == Mood::Broken {
            return Some((500, "{}".to_owned()));
        }
        if mood == Mood::Refuses {
            let body = r#"{"error":{"code":"card_declined"}}"#;
            return Some((402, body.to_owned()));
        }
        if mood == Mood::AlreadyCaptured {
            let body = r#"{"error":{"code":"payment_intent_unexpected_state",
                "payment_intent":{"id":"pi_1","status":"succeeded"}}}"#;
            return Some((400, body.to_owned()));
        }
        let number = books.made.len() + 1;
        let answer = if path.ends_with("/cancel") {
            r#"{"id":"pi_1","status":"canceled"}"#.to_owned()
        } else if path == "/v1/refunds" {
            format!(r#"{{"id":"re_{number}","status":"pending"}}"#)
        } else {
            format!(
                r#"{{"id":"pi_{number}","status":"requires_action","next_action":
                {{"redirect_to_url":{{"url":"https://pay.example/{number}"}}}}}}"#
            )
        };
        // The same key again gets the same answer and makes nothing.
        let answer = books.made.entry(key).or_insert(answer).clone();
        (mood != Mood::ActsThenSilent).then_some((200, answer))
    }
}

/// One request: path, idempotency key, body.
async fn read(stream: &mut TcpStream) -> Option<(String, String, String)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let header = |name: &str| {
                let line = head
                    .lines()
                    .find(|line| line.to_ascii_lowercase().starts_with(name))?;
                Some(line.split_once(':')?.1.trim().to_owned())
            };
            let length: usize = header("content-length").map_or(0, |it| it.parse().unwrap_or(0));
            if body.len() >= length {
                let path = head.split(' ').nth(1)?.to_owned();
                return Some((path, header("idempotency-key")?, body.to_owned()));
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}
