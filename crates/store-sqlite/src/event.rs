//! Events as rows.
//!
//! Owns the columns of an event. Must not know what is delivered where.

use abasto_domain::id::{BusinessId, EventId};
use abasto_domain::time::Timestamp;
use abasto_store::StoreError;
use abasto_store::event::Event;
use abasto_store::record::{DocumentKey, SCHEMA_VERSION};
use rusqlite::{Connection, Row, params};

use crate::codec::{self, ActorBytes};
use crate::document::text;
use crate::group::WriteError;
use crate::level::{blob, integer};

const INSERT: &str = "INSERT INTO events \
    (business, kind, subject, sequence, id, name, actor, request, at, v, data) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

/// The columns of an event, as [`from_row`] reads them.
macro_rules! event_columns {
    () => {
        "kind, subject, sequence, id, name, actor, request, at, v, data"
    };
}
pub(crate) use event_columns;

/// Writes an event.
pub(crate) fn write(connection: &Connection, event: &Event) -> Result<(), WriteError> {
    connection.prepare_cached(INSERT)?.execute(params![
        event.business.0.0,
        codec::kind_number(event.subject.kind),
        event.subject.id.0,
        event.sequence,
        event.id.0.0,
        event.name,
        ActorBytes::new(event.actor).as_slice(),
        event.request,
        event.at.as_millis(),
        SCHEMA_VERSION,
        serde_json::to_string(&event.data)?
    ])?;
    Ok(())
}

/// An event from its columns.
pub(crate) fn from_row(business: BusinessId, row: &Row<'_>) -> Result<Event, StoreError> {
    codec::check_version(integer(row, 8)?)?;
    Ok(Event {
        business,
        id: EventId(codec::id(blob(row, 3)?)?),
        subject: DocumentKey {
            kind: codec::kind(integer(row, 0)?)?,
            id: codec::id(blob(row, 1)?)?,
        },
        sequence: integer(row, 2)?,
        name: text(row, 4)?.to_owned(),
        actor: codec::actor(blob(row, 5)?)?,
        request: text(row, 6)?.to_owned(),
        at: Timestamp::from_millis(integer(row, 7)?),
        data: serde_json::from_str(text(row, 9)?)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?,
    })
}
