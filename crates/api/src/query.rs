//! Query strings, as strict as bodies: known names, each once, values that fit the schema.
//!
//! Owns the way from the text after `?` to checked values and the canonical form that cursors
//! are bound to. Must not know what the parameters mean.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::fault::{Fault, InvalidValue};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::edge::Exchange;
use crate::json::push_step;
use crate::operation::{Form, Parameters};
use crate::problem::Problem;

/// The parameter whose value only its list understands.
const CURSOR: &str = "cursor";

/// The parameters of a request, found good.
#[derive(Debug, Clone)]
struct Checked(Map<String, Value>);

/// Refuses a query string that the route does not document, on every route with a credential: a
/// parameter that is ignored would be believed to have worked.
pub(crate) fn check(parts: &mut Parts) -> Result<(), Problem> {
    let values = read(parts)?;
    parts.extensions.insert(Checked(values));
    Ok(())
}

/// The checked parameters of a request.
pub(crate) fn take(parts: &mut Parts) -> Result<Map<String, Value>, Problem> {
    match parts.extensions.remove::<Checked>() {
        Some(Checked(values)) => Ok(values),
        None => read(parts),
    }
}

/// The parameters of a request that is no list.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let values = Value::Object(take(parts)?);
        // The schema has accepted them.
        T::deserialize(values)
            .map(Self)
            .map_err(|_| Problem::internal())
    }
}

fn read(parts: &Parts) -> Result<Map<String, Value>, Problem> {
    let exchange = parts.extensions.get::<Arc<Exchange>>();
    let operation = exchange.and_then(|exchange| exchange.operation.as_ref());
    let Some(operation) = operation else {
        return Err(Problem::internal());
    };
    parse(parts.uri.query().unwrap_or_default(), &operation.query)
        .map_err(|faults| Problem::invalid_query(&faults))
}

fn parse(query: &str, parameters: &Parameters) -> Result<Map<String, Value>, Vec<Fault>> {
    const ENCODING: InvalidValue =
        InvalidValue::new("invalid-encoding", "the text is not percent-encoded UTF-8");
    const TWICE: InvalidValue =
        InvalidValue::new("duplicate-field", "the parameter stands here twice");
    const CONTROL: InvalidValue = InvalidValue::new(
        "control-character",
        "control characters are not allowed in a text",
    );
    let mut faults = Vec::new();
    let mut values = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if name == CURSOR {
            // Opaque: whatever is no cursor of ours is answered as such, not as a fault of a text.
            values.insert(name.to_owned(), decode(value).unwrap_or_default().into());
            continue;
        }
        let (Some(name), Some(value)) = (decode(name), decode(value)) else {
            faults.push(ENCODING.at(""));
            continue;
        };
        let mut pointer = String::new();
        push_step(&mut pointer, &name);
        if values.contains_key(&name) {
            faults.push(TWICE.at(pointer));
            continue;
        }
        if value.chars().any(char::is_control) {
            faults.push(CONTROL.at(pointer));
        }
        let form = parameters.forms.get(&name).copied();
        values.insert(name, typed(value, form.unwrap_or(Form::Text)));
    }
    let value = Value::Object(values);
    parameters.schema.check(&value, &mut faults);
    match value {
        Value::Object(values) if faults.is_empty() => Ok(values),
        _ => Err(faults),
    }
}

/// The value of a parameter; what does not read as its form stays a text, which the schema refuses.
fn typed(text: String, form: Form) -> Value {
    match form {
        Form::Text => Value::String(text),
        Form::Integer => {
            let digits = text.strip_prefix('-').unwrap_or(&text);
            let plain = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
            match text.parse::<i64>() {
                Ok(number) if plain => number.into(),
                _ => Value::String(text),
            }
        }
        Form::Boolean => match text.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text),
        },
        Form::List => text.split(',').map(Value::from).collect(),
    }
}

/// Undoes percent-encoding, with `+` for a space.
fn decode(text: &str) -> Option<String> {
    if !text.contains(['%', '+']) {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The filter in a form that does not depend on how it was written: what a cursor is bound to.
pub(crate) fn canonical(values: &Map<String, Value>) -> String {
    let sorted: BTreeMap<&String, &Value> = values
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "limit" | CURSOR))
        .collect();
    serde_json::to_string(&sorted).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operation::Operations;

    fn check(query: &str) -> Result<Value, Vec<(String, &'static str)>> {
        let document = json!({"paths": {"/p": {"get": {"parameters": [
            {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 200}},
            {"name": "active", "in": "query", "schema": {"type": "boolean"}},
            {"name": "q", "in": "query", "schema": {"type": "string", "minLength": 1}},
            {"name": "ids", "in": "query", "schema": {"type": "array", "maxItems": 2,
                "items": {"type": "string", "pattern": "^[0-9]$"}}},
        ]}}}, "components": {"schemas": {}}});
        let operations = Operations::of(&document).unwrap();
        let operation = operations.find("/p", &axum::http::Method::HEAD).unwrap();
        parse(query, &operation.query)
            .map(Value::Object)
            .map_err(|faults| {
                let faults = faults.into_iter();
                faults.map(|fault| (fault.pointer, fault.code)).collect()
            })
    }

    #[test]
    fn values_are_read_by_the_form_of_their_parameter() {
        assert_eq!(check(""), Ok(json!({})));
        assert_eq!(
            check("limit=20&active=false&q=pan+de%20sal&ids=1,2"),
            Ok(json!({"limit": 20, "active": false, "q": "pan de sal", "ids": ["1", "2"]}))
        );
    }

    #[test]
    fn every_fault_is_named_with_its_parameter() {
        let one = |place: &str, code| Err(vec![(place.to_owned(), code)]);
        assert_eq!(check("limit=0"), one("/limit", "out-of-range"));
        assert_eq!(check("limit=201"), one("/limit", "out-of-range"));
        for text in ["", "+5", "5.0", "1e2", "0x5", "-", "99999999999999999999"] {
            assert_eq!(
                check(&format!("limit={}", text.replace('+', "%2B"))),
                one("/limit", "invalid-type")
            );
        }
        assert_eq!(check("active=1"), one("/active", "invalid-type"));
        assert_eq!(check("q="), one("/q", "required"));
        assert_eq!(check("q=a&q=a"), one("/q", "duplicate-field"));
        assert_eq!(check("q=%00"), one("/q", "control-character"));
        assert_eq!(check("ids=1,x"), one("/ids/1", "invalid-format"));
        assert_eq!(check("ids=1,2,3"), one("/ids", "too-many"));
        assert_eq!(check("businessId=1"), one("/businessId", "unknown-field"));
        for text in ["q=%", "q=%4", "q=%zz", "q=%ff", "%ff=1"] {
            assert_eq!(check(text), one("", "invalid-encoding"));
        }
        assert_eq!(
            check("limit=0&active=x&z=1").unwrap_err().len(),
            3,
            "all at once"
        );
    }
}
