//! What a refused request still sends: taken in, within a bound, before it is answered.
//!
//! Owns the bound. Many clients send all of a body before they read the answer, and an answer with
//! a closed connection in the middle of it reaches them as a broken pipe. Must not know why nobody
//! read the body.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Bodies up to this size fit into the buffers between client and server.
const SMALL_BYTES: u64 = 16 * 1024;
/// Most bytes that are taken in for nothing.
const DRAIN_BYTES_MAX: usize = 8 << 20;
/// Longest wait for them.
const DRAIN_MAX: Duration = Duration::from_secs(5);

/// A body that goes back to its owner when its reader lets go of it.
struct Lent(Option<(BodyDataStream, oneshot::Sender<BodyDataStream>)>);

impl Stream for Lent {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Some((body, _)) => body.poll_next_unpin(context),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some((body, back)) = self.0.take() {
            // Its owner may be gone with the connection.
            let _ = back.send(body);
        }
    }
}

/// The body of a request that may be left unread.
pub(crate) struct Leftover(Option<oneshot::Receiver<BodyDataStream>>);

/// Lends the body of a request to whoever answers it. A client that waits for `100 Continue` sends
/// nothing until somebody reads, so there is nothing to take in.
pub(crate) fn lend(request: Request) -> (Request, Leftover) {
    let headers = request.headers();
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let small = length.is_some_and(|length| length <= SMALL_BYTES);
    if small || request.body().is_end_stream() || headers.contains_key(EXPECT) {
        return (request, Leftover(None));
    }
    let (back, leftover) = oneshot::channel();
    let request =
        request.map(|body| Body::from_stream(Lent(Some((body.into_data_stream(), back)))));
    (request, Leftover(Some(leftover)))
}

impl Leftover {
    /// Takes in what is left, up to the bound.
    pub(crate) async fn drain(self) {
        let Some(mut body) = self.0.and_then(|mut back| back.try_recv().ok()) else {
            return;
        };
        let drain = async {
            let mut taken = 0;
            while let Some(Ok(bytes)) = body.next().await {
                taken += bytes.len();
                if taken > DRAIN_BYTES_MAX {
                    break;
                }
            }
        };
        // Whoever is slower than this reads a broken connection.
        let _ = timeout(DRAIN_MAX, drain).await;
    }
}
