//! One HTTP/1.1 connection, kept between requests and opened again when it is gone.
//!
//! Owns the socket and the deadline of one exchange. Must not retry what may have been executed:
//! that is decided above, by what the request is.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HOST, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::endpoint::Endpoint;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Largest answer that is read, in bytes: a full page of the largest orders is a quarter of it.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A kept connection to one server.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    deadline: Duration,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// Why an exchange brought no answer.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// Nothing was sent: there is no connection.
    #[error("cannot connect to {endpoint}: {why}")]
    Connect {
        /// Where to.
        endpoint: String,
        /// What the system said.
        why: String,
    },
    /// The connection broke after the request went out: it may have been executed.
    #[error("the connection to {endpoint} broke before the answer: {why}")]
    Broken {
        /// Where to.
        endpoint: String,
        /// What was seen.
        why: String,
    },
    /// No answer in time: it may have been executed.
    #[error("{endpoint} did not answer within {deadline_ms} ms")]
    Late {
        /// Where to.
        endpoint: String,
        /// How long was waited.
        deadline_ms: u128,
    },
}

impl Connection {
    /// A connection that is opened by its first request; each exchange may take `deadline`.
    pub fn new(endpoint: Endpoint, deadline: Duration) -> Self {
        Self {
            endpoint,
            deadline,
            sender: None,
        }
    }

    /// Where it leads.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a request whose URI is a path, and reads the whole answer.
    ///
    /// # Errors
    /// [`Lost`] when there is no answer; only [`Lost::Connect`] proves that nothing was executed.
    pub async fn send(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Parts, Bytes), Lost> {
        self.address(&mut request)?;
        let exchange = timeout(self.deadline, self.exchange(request)).await;
        let answer = exchange.unwrap_or_else(|_| {
            Err(Lost::Late {
                endpoint: self.endpoint.to_string(),
                deadline_ms: self.deadline.as_millis(),
            })
        });
        if answer.is_err() {
            self.sender = None;
        }
        answer
    }

    fn address(&self, request: &mut Request<Full<Bytes>>) -> Result<(), Lost> {
        let host = self.endpoint.authority.clone();
        request.headers_mut().insert(HOST, host);
        if !self.endpoint.base.is_empty() {
            let target = format!("{}{}", self.endpoint.base, request.uri());
            *request.uri_mut() = target
                .parse::<Uri>()
                .map_err(|error| self.unreachable(error))?;
        }
        Ok(())
    }

    async fn exchange(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<(Parts, Bytes), Lost> {
        // A kept connection may turn out to be closed; hyper then hands the request back unsent,
        // and a new connection takes it. Twice is enough: the second one was just opened.
        for last in [false, true] {
            let mut sender = self.ready().await?;
            match sender.try_send_request(request).await {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
                    let body = body.map_err(|error| self.broken(error))?;
                    self.sender = Some(sender);
                    return Ok((parts, body.to_bytes()));
                }
                Err(mut unsent) => match unsent.take_message() {
                    Some(message) if !last => request = message,
                    _ => return Err(self.broken(unsent.into_error())),
                },
            }
        }
        Err(self.broken("closed twice before the request was sent"))
    }

    /// The kept connection, if it is still open, else a new one.
    async fn ready(&mut self) -> Result<SendRequest<Full<Bytes>>, Lost> {
        if let Some(mut sender) = self.sender.take()
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        let address = (self.endpoint.host.as_str(), self.endpoint.port);
        let stream = timeout(CONNECT, TcpStream::connect(address)).await;
        let stream = stream.map_err(|_| self.unreachable("no answer within 5 s"))?;
        let stream = stream.map_err(|error| self.unreachable(error))?;
        // Requests are small and written at once; waiting for more bytes would only cost time.
        stream
            .set_nodelay(true)
            .map_err(|error| self.unreachable(error))?;
        let shaken = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| self.unreachable(error))?;
        // Ends with the sender, or when the server closes; either shows in the next exchange.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn unreachable(&self, why: impl ToString) -> Lost {
        Lost::Connect {
            endpoint: self.endpoint.to_string(),
            why: why.to_string(),
        }
    }

    fn broken(&self, why: impl ToString) -> Lost {
        Lost::Broken {
            endpoint: self.endpoint.to_string(),
            why: why.to_string(),
        }
    }
}

/// A header value from a credential, marked so that nothing prints it.
pub(crate) fn bearer(key: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}
