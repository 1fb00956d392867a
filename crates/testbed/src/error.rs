//! What can go wrong while servers are started, asked or broken.
//!
//! Must not know how to recover: a test that sees one of these fails.

use std::io;
use std::path::PathBuf;

/// Why the testbed could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no server program; the text says where it was looked for.
    #[error(
        "no mongod found (looked at {looked_at}); `cargo xtask mongo install` brings one, or name \
         one in TESTBED_MONGOD"
    )]
    NoMongod {
        /// The places, in the order of the search.
        looked_at: String,
    },
    /// A server process ended or stayed silent.
    #[error("the mongod on port {port} did not start: {said}")]
    NotStarted {
        /// Its port.
        port: u16,
        /// The errors in its log, or the end of it.
        said: String,
    },
    /// A server found its port in use.
    #[error("the mongod on port {port} did not start: another program listens there")]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The set did not reach the awaited state in time.
    #[error("the set had not {awaited} after {seconds} s")]
    NotSettled {
        /// What was awaited, as a past participle.
        awaited: &'static str,
        /// How long.
        seconds: u64,
    },
    /// The set has no such member.
    #[error("the set has no node {0}")]
    NoSuchNode(usize),
    /// The server understood a command and refused it.
    #[error("the server refused {command}: {message} (code {code})")]
    Refused {
        /// The name of the command.
        command: String,
        /// The server's error code; 0 when it gave none.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// Bytes that are no frame of the wire protocol, or no document.
    #[error("not the wire protocol: {0}")]
    NotWire(String),
    /// The network or the file system.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A file that could not be used.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: says what was being done.
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }

    /// For `map_err`: says with which file.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            path: path.into(),
            source,
        }
    }
}
