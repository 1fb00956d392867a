//! How values of the domain become values of SQLite and back.
//!
//! Owns the stored JSON envelope with its schema version, and the byte forms of actors and codes.
//! Must not know tables.

use abasto_domain::access::Actor;
use abasto_domain::id::{ApiKeyId, MemberId, RawId};
use abasto_domain::stock::MovementKind;
use abasto_store::StoreError;
use abasto_store::record::{Kind, SCHEMA_VERSION};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What every stored JSON text begins with.
const VERSION_FIELD: &str = "{\"v\":";

#[derive(Serialize)]
struct Written<'a, T> {
    v: u16,
    record: &'a T,
}

#[derive(Deserialize)]
struct Read<T> {
    record: T,
}

/// The stored text of a record: `{"v":1,"record":…}`.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Written {
        v: SCHEMA_VERSION,
        record,
    })
}

/// Reads a stored text of any schema version that ever was.
pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    match version_of(text) {
        Some(1) => serde_json::from_str::<Read<T>>(text)
            .map(|read| read.record)
            .map_err(|error| StoreError::Corrupt(error.to_string())),
        Some(version) => Err(unknown_version(version)),
        None => Err(StoreError::Corrupt(
            "a record without schema version".to_owned(),
        )),
    }
}

/// Refuses a row of a schema version that this code does not know.
pub(crate) fn check_version(version: i64) -> Result<(), StoreError> {
    if version == i64::from(SCHEMA_VERSION) {
        Ok(())
    } else {
        Err(unknown_version(version))
    }
}

fn unknown_version(version: i64) -> StoreError {
    StoreError::Corrupt(format!("a record of the unknown schema version {version}"))
}

fn version_of(text: &str) -> Option<i64> {
    let (digits, _) = text.strip_prefix(VERSION_FIELD)?.split_once(',')?;
    digits.parse().ok()
}

/// An id from its twelve bytes.
pub(crate) fn id(bytes: &[u8]) -> Result<RawId, StoreError> {
    bytes
        .try_into()
        .map(RawId)
        .map_err(|_| StoreError::Corrupt(format!("an id of {} bytes", bytes.len())))
}

/// An id that may be absent; absent is empty.
pub(crate) fn optional_id(bytes: &[u8]) -> Result<Option<RawId>, StoreError> {
    if bytes.is_empty() {
        Ok(None)
    } else {
        id(bytes).map(Some)
    }
}

/// The bytes of an id that may be absent.
pub(crate) fn id_bytes(id: Option<&RawId>) -> &[u8] {
    id.map_or(&[], |id| id.0.as_slice())
}

/// An actor as one byte for its kind and the twelve bytes of its id, if it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActorBytes {
    bytes: [u8; 13],
    length: usize,
}

impl ActorBytes {
    pub(crate) fn new(actor: Actor) -> Self {
        let (kind, id) = match actor {
            Actor::Key(id) => (0, Some(id.0)),
            Actor::Member(id) => (1, Some(id.0)),
            Actor::Platform => (2, None),
            Actor::System => (3, None),
        };
        let mut bytes = [0; 13];
        bytes[0] = kind;
        if let Some(id) = id {
            bytes[1..].copy_from_slice(&id.0);
        }
        Self {
            bytes,
            length: if id.is_some() { 13 } else { 1 },
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// An actor from [`ActorBytes`].
pub(crate) fn actor(bytes: &[u8]) -> Result<Actor, StoreError> {
    match bytes {
        [0, rest @ ..] => Ok(Actor::Key(ApiKeyId(id(rest)?))),
        [1, rest @ ..] => Ok(Actor::Member(MemberId(id(rest)?))),
        [2] => Ok(Actor::Platform),
        [3] => Ok(Actor::System),
        _ => Err(StoreError::Corrupt("an unknown actor".to_owned())),
    }
}

/// The stored number of a kind of document.
pub(crate) const fn kind_number(kind: Kind) -> i64 {
    kind as i64
}

/// The kind of document of a stored number.
pub(crate) fn kind(number: i64) -> Result<Kind, StoreError> {
    by_number(&Kind::ALL, number, "kind of document")
}

/// The kinds of movement in the order of their stored numbers: append only.
const MOVEMENT_KINDS: [MovementKind; 11] = [
    MovementKind::Receipt,
    MovementKind::Adjustment,
    MovementKind::Count,
    MovementKind::TransferOut,
    MovementKind::TransferIn,
    MovementKind::Hold,
    MovementKind::HoldRelease,
    MovementKind::Reservation,
    MovementKind::Release,
    MovementKind::Dispatch,
    MovementKind::Return,
];

/// The stored number of a kind of movement.
pub(crate) const fn movement_kind_number(kind: MovementKind) -> i64 {
    kind as i64
}

/// The kind of movement of a stored number.
pub(crate) fn movement_kind(number: i64) -> Result<MovementKind, StoreError> {
    by_number(&MOVEMENT_KINDS, number, "kind of movement")
}

fn by_number<T: Copy>(all: &[T], number: i64, what: &str) -> Result<T, StoreError> {
    usize::try_from(number)
        .ok()
        .and_then(|index| all.get(index).copied())
        .ok_or_else(|| StoreError::Corrupt(format!("the unknown {what} {number}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_numbers_are_positions() {
        for (number, kind) in (0..).zip(Kind::ALL) {
            assert_eq!(kind_number(kind), number);
        }
        for (number, kind) in (0..).zip(MOVEMENT_KINDS) {
            assert_eq!(movement_kind_number(kind), number);
        }
    }

    #[test]
    fn actors_come_back() {
        let id = RawId([7; 12]);
        for given in [
            Actor::Key(ApiKeyId(id)),
            Actor::Member(MemberId(id)),
            Actor::Platform,
            Actor::System,
        ] {
            assert_eq!(actor(ActorBytes::new(given).as_slice()).unwrap(), given);
        }
        assert!(actor(&[]).is_err());
        assert!(actor(&[2, 0]).is_err());
        assert!(actor(&[0, 1]).is_err());
    }

    #[test]
    fn a_text_of_another_version_is_refused() {
        assert_eq!(decode::<i64>("{\"v\":1,\"record\":5}").unwrap(), 5);
        for text in [
            "{\"v\":2,\"record\":5}",
            "{\"record\":5}",
            "{\"v\":1,\"record\":\"x\"}",
            "",
        ] {
            assert!(decode::<i64>(text).is_err(), "{text}");
        }
    }
}
