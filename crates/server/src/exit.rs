//! How a command ends: a typed code and one readable line.
//!
//! Owns the codes that scripts rely on. Must not print.

use std::fmt;
use std::io;

/// Why a command did not end well. The numbers are part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did not succeed.
    Failure = 1,
    /// It was asked for something that makes no sense.
    Usage = 2,
    /// The configuration is not usable.
    Config = 3,
    /// What it needs cannot be reached now.
    Unavailable = 4,
    /// A part of it succeeded.
    Partial = 5,
}

/// A failure as the person at the terminal sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// Nothing when whoever read our output has gone away: there is nobody to tell.
    message: Option<String>,
}

impl Failure {
    /// A failure with its line.
    pub(crate) fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self {
            exit,
            message: Some(message.to_string()),
        }
    }

    /// The code.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The line.
    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The same failure with what was being done in front of it.
    pub(crate) fn during(self, what: impl fmt::Display) -> Self {
        Self {
            message: self.message.map(|message| format!("{what}: {message}")),
            ..self
        }
    }
}

/// Adds to an error what was being done.
pub(crate) trait During<T> {
    /// The failure with what was being done in front of it.
    fn during<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> During<T> for Result<T, E> {
    fn during<D: fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Failure> {
        self.map_err(|error| error.into().during(what()))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self {
                exit: Exit::Failure,
                message: None,
            };
        }
        Self::new(Exit::Failure, error)
    }
}

impl From<abasto_client::Error> for Failure {
    fn from(error: abasto_client::Error) -> Self {
        let busy = matches!(
            error.problem().map(|problem| problem.status),
            Some(429 | 502..=504)
        );
        let exit = match &error {
            abasto_client::Error::Lost(_) => Exit::Unavailable,
            abasto_client::Error::InvalidKey => Exit::Usage,
            _ if busy => Exit::Unavailable,
            _ => Exit::Failure,
        };
        Self::new(exit, error)
    }
}

impl From<crate::config::Invalid> for Failure {
    fn from(invalid: crate::config::Invalid) -> Self {
        Self::new(Exit::Config, invalid)
    }
}
