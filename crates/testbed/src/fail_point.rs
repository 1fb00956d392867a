//! The server's own fail points: faults inside the server, where no proxy reaches.
//!
//! Owns switching one on, waiting for it, and switching it off again. Needs a server started with
//! `enableTestCommands`, as [`crate::mongo_cluster`] starts them. A point that is not bound to an
//! `appName` strikes everybody on that server: use it on a set of one's own.

use std::net::SocketAddr;
use std::time::Duration;

use bson::{Document, doc};

use crate::{Error, wire};

/// When a fail point strikes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// Every time, until it is switched off.
    Always,
    /// The next so many times.
    Times(u32),
    /// Every time but the first so many.
    Skip(u32),
    /// Each time with this probability, 0 to 1.
    Probability(f64),
}

/// A fail point, described.
#[derive(Debug, Clone, PartialEq)]
pub struct FailPoint {
    name: String,
    mode: Mode,
    data: Document,
}

impl FailPoint {
    /// The point of this name, which strikes always.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            mode: Mode::Always,
            data: Document::new(),
        }
    }

    /// Fails or delays these commands. The document says how, in the server's words: `errorCode`,
    /// `errorLabels`, `writeConcernError`, `closeConnection`, `blockConnection` with `blockTimeMS`;
    /// `appName` and `namespace` narrow whom it strikes.
    #[must_use]
    pub fn fail_command(commands: &[&str], how: Document) -> Self {
        let mut data = how;
        data.insert("failCommands", commands);
        Self {
            data,
            ..Self::new("failCommand")
        }
    }

    /// The same point with another mode.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Switches it on at one server. It is switched off when the answer is dropped.
    ///
    /// # Errors
    /// When the server does not know it or does not answer.
    pub fn switch_on(self, server: SocketAddr) -> Result<SwitchedOn, Error> {
        let mode = match self.mode {
            Mode::Always => "alwaysOn".into(),
            Mode::Times(count) => doc! { "times": i64::from(count) }.into(),
            Mode::Skip(count) => doc! { "skip": i64::from(count) }.into(),
            Mode::Probability(p) => doc! { "activationProbability": p }.into(),
        };
        let answer = configure(server, &self.name, mode, Some(self.data))?;
        let entered_before = answer.get_i32("count").map_or(0, i64::from);
        Ok(SwitchedOn {
            server,
            name: self.name,
            entered_before,
        })
    }
}

/// A fail point that is on at one server.
#[derive(Debug)]
#[must_use = "it is switched off when it is dropped"]
pub struct SwitchedOn {
    server: SocketAddr,
    name: String,
    entered_before: i64,
}

impl SwitchedOn {
    /// Waits until it has struck `times` since it was switched on.
    ///
    /// # Errors
    /// When it has not within `limit`.
    pub fn wait(&self, times: u32, limit: Duration) -> Result<(), Error> {
        let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        let entered = self.entered_before + i64::from(times);
        let command = doc! {
            "waitForFailPoint": &self.name, "timesEntered": entered, "maxTimeMS": limit_ms,
        };
        wire::admin(self.server, command).map(drop)
    }

    /// Switches it off, and says when that was not possible.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn switch_off(self) -> Result<(), Error> {
        configure(self.server, &self.name, "off".into(), None).map(drop)
    }
}

impl Drop for SwitchedOn {
    fn drop(&mut self) {
        // A server that died has forgotten it.
        drop(configure(self.server, &self.name, "off".into(), None));
    }
}

fn configure(
    server: SocketAddr,
    name: &str,
    mode: bson::Bson,
    data: Option<Document>,
) -> Result<Document, Error> {
    let mut command = doc! { "configureFailPoint": name, "mode": mode };
    if let Some(data) = data {
        command.insert("data", data);
    }
    wire::admin(server, command)
}
