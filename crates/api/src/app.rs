//! What the routes stand on: the engine and the choices of the installation.
//!
//! Owns the configuration that the server hands in. Must not read the environment or files.

use std::sync::Arc;

use abasto_domain::payment_event::MessageReader;
use abasto_engine::Engine;
use secrecy::SecretString;
use tokio::sync::Semaphore;

use crate::auth::Authenticator;
use crate::cursor::CursorKey;
use crate::jwt::TokenKeys;
use crate::operation::Operations;
use crate::rate_limit::{RateLimits, Rates};
use crate::request_id::RequestIds;

/// Renders the metrics as Prometheus text.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Why this process takes no traffic although its store is ready (draining, restoring).
pub type NotReady = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// Everything that [`crate::router`] needs.
#[derive(Clone)]
pub struct App {
    /// The use cases.
    pub engine: Engine,
    /// The operator's credential; without it the platform routes answer 404.
    pub platform_key: Option<SecretString>,
    /// The keys that tokens are checked with; without them only API keys are accepted.
    pub token_keys: Option<TokenKeys>,
    /// The key that seals cursors; the same on every instance.
    pub cursor_key: CursorKey,
    /// Limits per credential; `None` turns them off.
    pub rates: Option<Rates>,
    /// Requests that are worked on at once; more are refused as `overloaded`.
    pub requests_max: usize,
    /// Whether tests may move the clock.
    pub test_clock: TestClock,
    /// What `/metrics` answers; without it the route answers 404.
    pub metrics: Option<RenderMetrics>,
    /// Checks and reads what payment providers send; without it their route answers 404.
    pub provider_messages: Option<Arc<dyn MessageReader>>,
    /// Reasons of the process for `/readyz`.
    pub not_ready: NotReady,
}

/// Whether `POST /test/clock` exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestClock {
    /// The route does not exist.
    Absent,
    /// The route moves the clock.
    Present,
}

/// The default of [`App::requests_max`].
const REQUESTS_MAX: usize = 2_048;

impl App {
    /// An installation with defaults: no operator, no tokens, default limits.
    pub fn new(engine: Engine, cursor_key: CursorKey) -> Self {
        Self {
            engine,
            platform_key: None,
            token_keys: None,
            cursor_key,
            rates: Some(Rates::default()),
            requests_max: REQUESTS_MAX,
            test_clock: TestClock::Absent,
            metrics: None,
            provider_messages: None,
            not_ready: Arc::new(Vec::new),
        }
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("rates", &self.rates)
            .field("test_clock", &self.test_clock)
            .finish_non_exhaustive()
    }
}

/// The state of the router: the app with what is made from it once.
pub(crate) struct Ready {
    pub(crate) engine: Engine,
    pub(crate) authenticator: Authenticator,
    pub(crate) cursor_key: CursorKey,
    pub(crate) rate_limits: Option<RateLimits>,
    pub(crate) request_ids: RequestIds,
    /// One for each request that may be worked on at once.
    pub(crate) places: Semaphore,
    pub(crate) operations: Operations,
    pub(crate) metrics: Option<RenderMetrics>,
    pub(crate) not_ready: NotReady,
    pub(crate) provider_messages: Option<Arc<dyn MessageReader>>,
    /// The published document, as text.
    pub(crate) document: String,
    /// The page made of it.
    pub(crate) docs: String,
}
