//! Calls with a credential, tried again where that is safe.
//!
//! Owns what is tried again: refusals that say "not now" (429, 503), and lost answers of requests
//! that may be repeated, always with the same idempotency key. One client is one connection, used
//! by one worker. Must not know any route.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::http::response::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use crate::call::{Call, Repeat, encode};
use crate::connection::{Connection, Lost, bearer};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::problem::Problem;
use crate::retry::Retry;

/// Longest wait for one answer.
const DEADLINE: Duration = Duration::from_secs(60);

/// A client with a credential, for one worker.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    authorization: Option<HeaderValue>,
    retry: Retry,
    on_unreachable: Option<fn(&Lost, Duration)>,
}

/// A good answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status, 200 to 299.
    pub status: u16,
    /// Whether it is the first answer to its idempotency key, told again.
    pub replayed: bool,
    /// The body.
    pub body: Bytes,
    target: String,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// [`Error::Unreadable`] when it is not of that form.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| Error::Unreadable {
            target: self.target.clone(),
            why: error.to_string(),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListPage<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

impl Client {
    /// A client; `key` is what stands behind `Bearer`.
    ///
    /// # Errors
    /// [`Error::InvalidKey`] when no header can carry the key.
    pub fn new(endpoint: Endpoint, key: Option<&str>, retry: Retry) -> Result<Self, Error> {
        let authorization = match key {
            Some(key) => Some(bearer(key).ok_or(Error::InvalidKey)?),
            None => None,
        };
        Ok(Self {
            connection: Connection::new(endpoint, DEADLINE),
            authorization,
            retry,
            on_unreachable: None,
        })
    }

    /// Calls `tell` at once when the server cannot be reached, with how long it is tried again;
    /// once per outage.
    #[must_use]
    pub fn on_unreachable(mut self, tell: fn(&Lost, Duration)) -> Self {
        self.on_unreachable = Some(tell);
        self
    }

    /// Where it leads.
    pub fn endpoint(&self) -> &Endpoint {
        self.connection.endpoint()
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`Error::Refused`] with the server's problem, or what kept the answer away.
    pub async fn call(&mut self, call: &Call) -> Result<Answer, Error> {
        let mut tried = 0;
        let mut away_since = None;
        loop {
            let outcome = self.connection.send(self.request(call)?).await;
            tried += 1;
            let asked = retry_after(&outcome);
            if tried >= self.retry.tries || !may_repeat(&outcome, call.repeat) {
                return settle(outcome?, call);
            }
            let mut wait = self.retry.wait(tried, asked);
            if let Err(lost @ Lost::Connect { .. }) = &outcome {
                let since = *away_since.get_or_insert_with(|| self.tell(lost));
                let left = self.retry.unreachable_max.saturating_sub(since.elapsed());
                if left.is_zero() {
                    return settle(outcome?, call);
                }
                wait = wait.min(left);
            } else {
                away_since = None;
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Tells that the server cannot be reached, which it is from now on.
    fn tell(&self, lost: &Lost) -> Instant {
        if let Some(tell) = self.on_unreachable {
            tell(lost, self.retry.unreachable_max);
        }
        Instant::now()
    }

    /// Gets JSON.
    ///
    /// # Errors
    /// As [`Self::call`]; [`Error::Unreadable`] when the answer has another form.
    pub async fn get<T: DeserializeOwned>(&mut self, target: &str) -> Result<T, Error> {
        self.call(&Call::get(target)).await?.json()
    }

    /// Walks a list to its end and gives every item to `each`.
    ///
    /// # Errors
    /// As [`Self::get`], for any page.
    pub async fn walk<T: DeserializeOwned>(
        &mut self,
        path: &str,
        mut each: impl FnMut(T),
    ) -> Result<(), Error> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{joint}limit=200");
        let mut target = first.clone();
        loop {
            let page: ListPage<T> = self.get(&target).await?;
            page.items.into_iter().for_each(&mut each);
            match page.next_cursor {
                Some(cursor) => target = format!("{first}&cursor={}", encode(&cursor)),
                None => return Ok(()),
            }
        }
    }

    fn request(&self, call: &Call) -> Result<Request<Full<Bytes>>, Error> {
        let mut request = Request::builder()
            .method(call.method.clone())
            .uri(call.target.as_str())
            .header(USER_AGENT, concat!("abasto/", env!("CARGO_PKG_VERSION")));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(media) = call.media {
            request = request.header(CONTENT_TYPE, media);
        }
        if let Some(media) = call.accept {
            request = request.header(ACCEPT, media);
        }
        if let Some(key) = &call.key {
            request = request.header("idempotency-key", key);
        }
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(call.body.clone()));
        request.map_err(|error| Error::Encode(error.to_string()))
    }
}

type Outcome = Result<(Parts, Bytes), Lost>;

fn may_repeat(outcome: &Outcome, repeat: Repeat) -> bool {
    match outcome {
        Ok((parts, _)) => matches!(parts.status.as_u16(), 429 | 503),
        Err(Lost::Connect { .. }) => true,
        Err(Lost::Broken { .. } | Lost::Late { .. }) => repeat == Repeat::Safe,
    }
}

fn retry_after(outcome: &Outcome) -> Option<Duration> {
    let (parts, _) = outcome.as_ref().ok()?;
    let seconds = parts.headers.get(RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}

fn settle((parts, body): (Parts, Bytes), call: &Call) -> Result<Answer, Error> {
    if !parts.status.is_success() {
        let problem = Problem::read(parts.status.as_u16(), &body);
        return Err(Error::Refused(Box::new(problem)));
    }
    let replayed = parts.headers.get("idempotency-replayed");
    Ok(Answer {
        status: parts.status.as_u16(),
        replayed: replayed.is_some_and(|value| value == "true"),
        body,
        target: call.target.clone(),
    })
}
