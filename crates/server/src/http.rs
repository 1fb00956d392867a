//! The listener: accepts connections within a bound, hands requests to the router, drains.
//!
//! Owns sockets and how serving ends. Must not know a route.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::exit::{Exit, Failure};

/// The wait after the system refused a connection (no file handles left): long enough for some to
/// be closed, short enough to be no outage.
const PAUSE: Duration = Duration::from_millis(50);

/// Bounds of serving.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Most connections at once; more wait in the backlog of the system.
    pub(crate) connections: usize,
    /// Longest wait for the head of a request.
    pub(crate) header_timeout: Duration,
    /// Longest wait for requests to end while draining.
    pub(crate) drain: Duration,
}

/// Takes the address.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| {
        Failure::new(
            Exit::Unavailable,
            format_args!("cannot listen on {address}: {error}"),
        )
    })
}

/// Serves until `stop` is done, then drains.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(bounds.connections));
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.header_timeout);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some((stream, permit)) = accepted else {
            break;
        };
        let router = router.clone();
        let answer = service_fn(move |request| answer(router.clone(), request));
        let connection = server.serve_connection(TokioIo::new(stream), answer);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks is its client's affair; what it asked for is in the log.
            let _ = connection.await;
            drop(permit);
        });
    }
    // From here on nobody new is let in.
    drop(listener);
    if tokio::time::timeout(bounds.drain, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!(
            drain_ms = u64::try_from(bounds.drain.as_millis()).unwrap_or(u64::MAX),
            "some requests did not end in time and are cut off"
        );
    }
}

async fn answer(router: Router, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    router.oneshot(request.map(Body::new)).await
}

/// The next connection, once there is room for it; nothing when the bound has gone.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are written at once; waiting for more bytes would only cost time. A
                // socket that refuses the option still serves.
                let _ = stream.set_nodelay(true);
                return Some((stream, permit));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
