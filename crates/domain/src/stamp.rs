//! The version and the two times that every changeable record carries.
//!
//! Owns how a version moves on: by one with each committed change, each of which is one event.

use crate::time::Timestamp;

/// Version (1, 2, 3 …; also the sequence of the record's last event) and times of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stamp {
    /// 1 for a new record.
    pub version: i64,
    /// When the record came to be.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Stamp {
    /// The stamp of a new record.
    pub const fn first(now: Timestamp) -> Self {
        Self {
            version: 1,
            created_at: now,
            updated_at: now,
        }
    }

    /// The stamp after one more change.
    #[must_use]
    pub fn next(self, now: Timestamp) -> Self {
        Self {
            version: self.version + 1,
            created_at: self.created_at,
            updated_at: now.max(self.updated_at),
        }
    }
}
