//! Signals that end the process.
//!
//! Owns what the first one means (drain) and what the second one means (now).

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::{During, Exit, Failure};
use crate::output::say;

/// SIGTERM and SIGINT, heard from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts to listen.
    pub(crate) fn new() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).during(|| "cannot listen to signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Waits for one.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// From now on a signal ends the process at once: the operator asked twice.
    pub(crate) fn end_at_next(mut self) {
        tokio::spawn(async move {
            let name = self.next().await;
            say(format_args!(
                "abasto: {name} again: ending without draining"
            ));
            std::process::exit(Exit::Failure as i32);
        });
    }
}
