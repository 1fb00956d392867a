//! What goes wrong in a transaction, in our words.
//!
//! Owns the reading of server errors: codes, labels, and the index named by a duplicate key. Must
//! not decide what to do about them.

use abasto_store::StoreError;
use mongodb::bson::Document;
use mongodb::error::{
    Error, ErrorKind, TRANSIENT_TRANSACTION_ERROR, UNKNOWN_TRANSACTION_COMMIT_RESULT,
};

use crate::document::{Unreadable, Unstorable};

pub(crate) const MAX_TIME_EXPIRED: i32 = 50;
pub(crate) const TRANSACTION_TOO_OLD: i32 = 225;
pub(crate) const DUPLICATE_KEY: i32 = 11000;

/// Why the body of a transaction ended early.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The driver or the server failed.
    Driver(Error),
    /// A statement was refused; the server has aborted the transaction.
    Refused(Refusal),
    /// A conditional write found another version than was read.
    Missed(&'static str),
    /// A stored record cannot be read.
    Unreadable(Unreadable),
    /// A value has no stored form; the unit at this place of the batch is at fault.
    Unstorable(usize, Unstorable),
}

/// A statement that the server refused.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// The collection.
    pub(crate) collection: &'static str,
    /// The code.
    pub(crate) code: i32,
    /// Which unit of the batch the statement belonged to.
    pub(crate) unit: usize,
    /// The index, for a duplicate.
    pub(crate) index: Option<String>,
    /// The server's text and details, for the log only.
    pub(crate) detail: String,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Unreadable> for Fault {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}

/// The code of a server's error.
pub(crate) fn code(error: &Error) -> Option<i32> {
    match &*error.kind {
        ErrorKind::Command(command) => Some(command.code),
        ErrorKind::Write(mongodb::error::WriteFailure::WriteConcernError(concern)) => {
            Some(concern.code)
        }
        _ => None,
    }
}

/// Whether the transaction surely did not and will not commit, and may be run again.
pub(crate) fn is_transient(error: &Error) -> bool {
    error.contains_label(TRANSIENT_TRANSACTION_ERROR)
}

/// The labels that the log shows.
pub(crate) fn label(error: &Error) -> &'static str {
    if is_transient(error) {
        "transient"
    } else if error.contains_label(UNKNOWN_TRANSACTION_COMMIT_RESULT) {
        "unknown"
    } else {
        "none"
    }
}

/// The first refused statement of a write's reply: its place, code, index and text.
pub(crate) fn refused(reply: &Document) -> Option<(usize, i32, Option<String>, String)> {
    let errors = reply.get_array("writeErrors").ok()?;
    let error = errors.first()?.as_document()?;
    let place = error
        .get_i32("index")
        .ok()
        .and_then(|at| usize::try_from(at).ok());
    let text = error.get_str("errmsg").unwrap_or_default();
    let details = error.get_document("errInfo").map(ToString::to_string);
    Some((
        place.unwrap_or_default(),
        error.get_i32("code").unwrap_or_default(),
        index_name(text),
        format!("{text} {}", details.unwrap_or_default()),
    ))
}

/// The index in the text of a duplicate key error. The server names it nowhere else.
pub(crate) fn index_name(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(" index: ")?;
    let name = rest.split_whitespace().next()?;
    Some(name.to_owned())
}

/// Whether nothing can be reached, so that the store is away rather than broken.
pub(crate) fn is_away(error: &Error) -> bool {
    matches!(
        &*error.kind,
        ErrorKind::ServerSelection { .. }
            | ErrorKind::Io(_)
            | ErrorKind::ConnectionPoolCleared { .. }
    ) || error.contains_label(mongodb::error::RETRYABLE_WRITE_ERROR)
        || matches!(
            code(error),
            Some(MAX_TIME_EXPIRED | 91 | 189 | 10107 | 11600 | 11602 | 13435 | 13436)
        )
}

/// The port's error for a failed read or a failed transaction.
pub(crate) fn store_error(error: Error) -> StoreError {
    if is_away(&error) || is_transient(&error) {
        StoreError::Unavailable(brief(&error))
    } else {
        StoreError::Backend(Box::new(error))
    }
}

impl From<Unreadable> for StoreError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Corrupt(unreadable.to_string())
    }
}

/// One line about an error, without the topology that the driver appends.
pub(crate) fn brief(error: &Error) -> String {
    match &*error.kind {
        ErrorKind::ServerSelection { .. } => "no primary answers".to_owned(),
        ErrorKind::Command(command) => format!("{} ({})", command.code_name, command.code),
        _ => {
            let text = error.kind.to_string();
            text.lines().next().unwrap_or_default().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::doc;

    #[test]
    fn the_index_of_a_duplicate_is_found() {
        let text = "E11000 duplicate key error collection: shop.orders index: uq_orders_number dup \
                    key: { businessId: ObjectId('000000000000000000000001'), number: \"B-1\" }";
        assert_eq!(index_name(text).as_deref(), Some("uq_orders_number"));
        let collated = "E11000 duplicate key error collection: shop.x index: uq_x collation: { locale: \"en\" } dup key: {}";
        assert_eq!(index_name(collated).as_deref(), Some("uq_x"));
        assert_eq!(index_name("Document failed validation"), None);
    }

    #[test]
    fn a_refused_statement_is_read_from_the_reply() {
        let reply = doc! { "ok": 1, "n": 3, "writeErrors": [
            { "index": 3, "code": 11000, "errmsg": "E11000 duplicate key error collection: a.b index: uq dup key: {}" },
        ] };
        let (place, code, index, _) = refused(&reply).expect("refused");
        assert_eq!((place, code, index.as_deref()), (3, 11000, Some("uq")));
        assert!(refused(&doc! { "ok": 1, "n": 3 }).is_none());
    }
}
