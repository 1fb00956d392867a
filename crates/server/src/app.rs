//! The process as a whole: store, engine, API, listener, put together from the configuration.
//!
//! Owns the order of start and end. Must not decide anything that a ring decides.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use abasto_api::{App, CursorKey, Rates, TestClock};
use abasto_engine::Engine;
use axum::Router;
use metrics_exporter_prometheus::PrometheusHandle;
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::config::{Config, Environment};
use crate::exit::{During, Exit, Failure};
use crate::http::{self, Bounds};
use crate::output::say;
use crate::signal::Signals;
use crate::{gateway, secret, store, telemetry, tokens, worker};

/// A server that has its address and is ready, but answers nobody yet.
pub(crate) struct Server {
    listener: TcpListener,
    router: Router,
    draining: Arc<AtomicBool>,
    bounds: Bounds,
    drain_delay: Duration,
    signals: Signals,
}

impl Server {
    /// Opens everything that the configuration names.
    pub(crate) async fn start(config: &Config, environment: &Environment) -> Result<Self, Failure> {
        // First of all, so that no signal ends the process by its default.
        let signals = Signals::new()?;
        telemetry::start_log(&config.log, environment)?;
        let metrics = telemetry::start_metrics()?;
        let store = store::open(&config.store)?;
        let engine = Engine::new(store);
        let engine = engine.map_err(|error| Failure::new(Exit::Unavailable, error))?;
        let gateway = gateway::gateway(config)?;
        let engine = engine.with_providers(&gateway.providers());
        // Last, so that nobody connects to a server that then cannot start.
        let listener = http::bind(config.listen).await?;
        let draining = Arc::new(AtomicBool::new(false));
        worker::start(&engine, gateway.clone());
        let mut app = app(config, engine, metrics, Arc::clone(&draining))?;
        app.provider_messages = Some(Arc::new(gateway));
        let router = abasto_api::router(app);
        Ok(Self {
            listener,
            router: router.map_err(|error| Failure::new(Exit::Failure, error))?,
            draining,
            bounds: bounds(config),
            drain_delay: Duration::from_millis(config.drain_delay_ms),
            signals,
        })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.listener.local_addr()?)
    }

    /// Serves until a signal, then drains.
    pub(crate) async fn run(self) {
        let Self {
            listener,
            router,
            draining,
            bounds,
            drain_delay,
            mut signals,
        } = self;
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let name = signals.next().await;
            draining.store(true, Ordering::Relaxed);
            tracing::info!(signal = name, "draining");
            signals.end_at_next();
            tokio::time::sleep(drain_delay).await;
            let _ = stop.send(());
        });
        let stop = async move {
            let _ = stopped.await;
        };
        http::serve(listener, router, bounds, stop).await;
        tracing::info!("drained");
    }
}

fn bounds(config: &Config) -> Bounds {
    Bounds {
        connections: config.connections_max,
        header_timeout: Duration::from_millis(config.header_timeout_ms),
        drain: Duration::from_millis(config.drain_ms),
    }
}

fn app(
    config: &Config,
    engine: Engine,
    metrics: PrometheusHandle,
    draining: Arc<AtomicBool>,
) -> Result<App, Failure> {
    let mut app = App::new(engine, cursor_key(config)?);
    app.platform_key.clone_from(&config.platform_key);
    app.token_keys = tokens::keys(&config.jwt)?;
    app.rates = rates(config);
    if config.test_clock {
        say("abasto: warning: ABASTO_TEST_CLOCK is set, so the clock can be moved; for tests only");
        app.test_clock = TestClock::Present;
    }
    app.metrics = Some(Arc::new(move || metrics.render()));
    app.not_ready = Arc::new(move || {
        let draining = draining.load(Ordering::Relaxed);
        draining
            .then(|| "the process is draining".to_owned())
            .into_iter()
            .collect()
    });
    Ok(app)
}

fn rates(config: &Config) -> Option<Rates> {
    let limit = &config.rate_limit;
    limit.enabled.then(|| Rates {
        reads_per_s: NonZeroU32::new(limit.reads_per_second).unwrap_or(NonZeroU32::MIN),
        writes_per_s: NonZeroU32::new(limit.writes_per_second).unwrap_or(NonZeroU32::MIN),
    })
}

/// The key that seals cursors: from the configuration, or from a file beside the store that is
/// made once. Several instances over one database must be given the same secret.
fn cursor_key(config: &Config) -> Result<CursorKey, Failure> {
    if let Some(secret) = &config.cursor_secret {
        return Ok(CursorKey::derive(secret.expose_secret().as_bytes()));
    }
    let Some(path) = store::beside(&config.store, ".cursor-secret") else {
        let needed = "cursor_secret is needed with this store (the same on every instance)";
        return Err(Failure::new(Exit::Config, needed));
    };
    let secret = secret::find_or_make(&path).during(|| "the secret of cursors")?;
    Ok(CursorKey::derive(&secret))
}
