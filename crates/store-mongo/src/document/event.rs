//! `events`: the history of documents, one per committed change.
//!
//! Owns the form of event data: JSON as native BSON, whole numbers as longs.

use abasto_store::event::Event;
use abasto_store::record::DocumentKey;
use mongodb::bson::raw::{
    CString, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr,
};
use serde_json::{Map, Number, Value};

use super::actor;
use super::field::{Fields, Row, Unreadable};
use super::stamp::{Stamped, check_schema};

/// A value that has no native form: a whole number beyond 64 signed bits, or a key with a NUL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event data cannot be stored: {0}")]
pub(crate) struct Unstorable(pub(crate) String);

pub(crate) fn write(event: &Event) -> Result<RawDocumentBuf, Unstorable> {
    let data = to_bson(&event.data)?;
    let fields = Fields::new()
        .id(cstr!("_id"), event.id)
        .id(cstr!("businessId"), event.business)
        .doc(cstr!("subject"), write_subject(event.subject))
        .int(cstr!("sequence"), event.sequence)
        .text(cstr!("type"), &event.name)
        .doc(cstr!("actor"), actor::write(&event.actor))
        .text(cstr!("requestId"), &event.request)
        .date(cstr!("occurredAt"), event.at)
        .value(cstr!("data"), data);
    Ok(fields.versioned())
}

pub(crate) fn read(row: Row<'_>) -> Result<Event, Unreadable> {
    check_schema(row)?;
    let data = match row.raw().get("data") {
        Ok(Some(value)) => to_json(value),
        _ => None,
    };
    Ok(Event {
        business: row.id("businessId")?,
        id: row.id("_id")?,
        subject: read_subject(row.row("subject")?)?,
        sequence: row.int("sequence")?,
        name: row.text("type")?,
        actor: actor::read(row.row("actor")?)?,
        request: row.text("requestId")?,
        at: row.date("occurredAt")?,
        data: data.ok_or_else(|| row.unreadable("data", "not the form of a JSON value"))?,
    })
}

fn write_subject(subject: DocumentKey) -> RawDocumentBuf {
    Fields::new()
        .name(cstr!("kind"), subject.kind)
        .id(cstr!("id"), subject.id)
        .done()
}

fn read_subject(row: Row<'_>) -> Result<DocumentKey, Unreadable> {
    Ok(DocumentKey {
        kind: row.name("kind")?,
        id: row.id("id")?,
    })
}

/// JSON as BSON.
pub(crate) fn to_value(value: &Value) -> Result<RawBson, Unstorable> {
    to_bson(value)
}

/// JSON back from BSON.
pub(crate) fn from_value(value: RawBsonRef<'_>) -> Option<Value> {
    to_json(value)
}

fn to_bson(value: &Value) -> Result<RawBson, Unstorable> {
    Ok(match value {
        Value::Null => RawBson::Null,
        Value::Bool(value) => RawBson::Boolean(*value),
        Value::String(text) => RawBson::String(text.clone()),
        Value::Number(number) => to_number(number)?,
        Value::Array(values) => {
            let mut array = RawArrayBuf::new();
            for value in values {
                array.push(to_bson(value)?);
            }
            RawBson::Array(array)
        }
        Value::Object(map) => RawBson::Document(to_document(map)?),
    })
}

fn to_number(number: &Number) -> Result<RawBson, Unstorable> {
    let whole = number.as_i64().map(RawBson::Int64);
    let float = || {
        number
            .is_f64()
            .then(|| number.as_f64().map(RawBson::Double))?
    };
    whole
        .or_else(float)
        .ok_or_else(|| Unstorable(format!("{number} is out of range")))
}

fn to_document(map: &Map<String, Value>) -> Result<RawDocumentBuf, Unstorable> {
    let mut document = RawDocumentBuf::new();
    for (key, value) in map {
        let key = CString::try_from(key.as_str())
            .map_err(|_| Unstorable("a key holds a NUL".to_owned()))?;
        document.append(key, to_bson(value)?);
    }
    Ok(document)
}

fn to_json(value: RawBsonRef<'_>) -> Option<Value> {
    Some(match value {
        RawBsonRef::Null => Value::Null,
        RawBsonRef::Boolean(value) => Value::Bool(value),
        RawBsonRef::String(text) => Value::String(text.to_owned()),
        RawBsonRef::Int64(number) => Value::Number(number.into()),
        RawBsonRef::Double(number) => Value::Number(Number::from_f64(number)?),
        RawBsonRef::Array(values) => {
            let values = values.into_iter().map(|value| to_json(value.ok()?));
            Value::Array(values.collect::<Option<_>>()?)
        }
        RawBsonRef::Document(document) => Value::Object(to_map(document)?),
        _ => return None,
    })
}

fn to_map(document: &RawDocument) -> Option<Map<String, Value>> {
    let entries = document.into_iter().map(|entry| {
        let (key, value) = entry.ok()?;
        Some((key.as_str().to_owned(), to_json(value)?))
    });
    entries.collect()
}
