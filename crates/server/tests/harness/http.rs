//! A client that shows all of an answer, and comes back only where a test says so.

use std::time::Duration;

use abasto_client::{Connection, Lost};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::HeaderMap;
use hyper::{Method, Request};
use serde_json::Value;

/// How often a client comes back before the test is given up: minutes.
const COMES_BACK_MAX: usize = 120;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    /// The body as JSON; null when it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as JSON of an answer that must have this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{text}");
        self.json()
    }

    /// When a refused client shall come back; every 503 says it.
    #[track_caller]
    pub(crate) fn retry_after(&self) -> Duration {
        let seconds = self.headers.get("retry-after").map(|value| value.to_str());
        let seconds = seconds.expect("Retry-After").expect("ASCII");
        Duration::from_secs(seconds.parse().expect("seconds"))
    }
}

/// One connection under one credential.
#[derive(Debug)]
pub(crate) struct Http {
    connection: Connection,
    key: Option<String>,
}

impl Http {
    pub(crate) fn new(url: &str, key: Option<&str>) -> Self {
        let endpoint = url.parse().expect("a URL");
        Self {
            connection: Connection::new(endpoint, Duration::from_secs(60)),
            key: key.map(str::to_owned),
        }
    }

    /// Sends anything.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Reply, Lost> {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).expect("a request");
        let (parts, body) = self.connection.send(request).await?;
        Ok(Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        })
    }

    /// `GET`.
    pub(crate) async fn get(&mut self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], "")
            .await
            .expect("an answer")
    }

    /// `POST` of JSON, with an idempotency key when one is given.
    pub(crate) async fn try_post(
        &mut self,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<Reply, Lost> {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        self.send(Method::POST, path, &headers, body.to_string())
            .await
    }

    /// [`Self::try_post`] where an answer must come.
    pub(crate) async fn post(&mut self, path: &str, key: Option<&str>, body: &Value) -> Reply {
        self.try_post(path, key, body).await.expect("an answer")
    }

    /// [`Self::try_post`] of a client that, told to come back (503), comes back with the same key.
    pub(crate) async fn try_insist(
        &mut self,
        path: &str,
        key: &str,
        body: &Value,
    ) -> Result<Reply, Lost> {
        for _ in 0..COMES_BACK_MAX {
            let reply = self.try_post(path, Some(key), body).await?;
            if reply.status != 503 {
                return Ok(reply);
            }
            tokio::time::sleep(reply.retry_after()).await;
        }
        panic!("{key}: told to come back again and again")
    }

    /// [`Self::try_insist`] where an answer must come.
    pub(crate) async fn insist(&mut self, path: &str, key: &str, body: &Value) -> Reply {
        let answer = self.try_insist(path, key, body).await;
        answer.expect("an answer")
    }

    /// Every item of a list.
    pub(crate) async fn all(&mut self, path: &str) -> Vec<Value> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{joint}limit=200");
        let (mut items, mut target) = (Vec::new(), first.clone());
        loop {
            let page = self.get(&target).await.expect(200);
            items.extend(page["items"].as_array().expect("items").iter().cloned());
            let Some(cursor) = page["nextCursor"].as_str() else {
                return items;
            };
            target = format!("{first}&cursor={}", abasto_client::encode(cursor));
        }
    }
}
