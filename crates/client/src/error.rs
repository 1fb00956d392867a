//! Why a call failed, for the code that made it.
//!
//! Owns the closed set of outcomes. Must not choose exit codes.

use crate::connection::Lost;
use crate::problem::Problem;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server refused.
    #[error("the server refused: {0}")]
    Refused(Box<Problem>),
    /// There was no answer, after as many tries as were allowed.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The answer is not what the contract says.
    #[error("the answer to {target} cannot be read: {why}")]
    Unreadable {
        /// The path.
        target: String,
        /// What was found.
        why: String,
    },
    /// The request has no form that can be sent.
    #[error("the request cannot be sent: {0}")]
    Encode(String),
    /// The credential has characters that a header cannot carry.
    #[error("the key has characters that no key has")]
    InvalidKey,
}

impl Error {
    /// The problem, when the server refused.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }
}
