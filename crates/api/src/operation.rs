//! Operations: what the document says of each route, made ready to be used per request.
//!
//! Owns the table from (route template, method) to body schema, query schema and meters. It is
//! built from the OpenAPI document itself, so what is published is what is checked.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::rate_limit::Class;
use crate::schema::{InvalidSchema, Schema};
use crate::telemetry::Meter;

/// One route and method.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The path template.
    pub(crate) route: String,
    /// Whether it only reads.
    pub(crate) class: Class,
    /// What its body (or each line of it) must be.
    pub(crate) body: Option<Schema>,
    /// What its query string must be.
    pub(crate) query: Parameters,
    /// Its counters.
    pub(crate) meter: Meter,
}

/// The query parameters of an operation.
#[derive(Debug)]
pub(crate) struct Parameters {
    /// How the text of each is read.
    pub(crate) forms: BTreeMap<String, Form>,
    /// What all of them together must be.
    pub(crate) schema: Schema,
}

/// How the text of a parameter becomes a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Integer,
    Boolean,
    /// Values with commas between them.
    List,
}

/// All operations by route template and method.
#[derive(Debug, Default)]
pub(crate) struct Operations(HashMap<String, Vec<(Method, Arc<Operation>)>>);

impl Operations {
    /// Reads them out of the document.
    pub(crate) fn of(document: &Value) -> Result<Self, InvalidSchema> {
        let components = &document["components"]["schemas"];
        let mut table: HashMap<String, Vec<(Method, Arc<Operation>)>> = HashMap::new();
        for (route, item) in document["paths"].as_object().into_iter().flatten() {
            for (name, operation) in item.as_object().into_iter().flatten() {
                let Ok(method) = Method::from_bytes(name.to_uppercase().as_bytes()) else {
                    continue;
                };
                let operation = Operation::of(route, &method, operation, components)?;
                let of_route = table.entry(route.clone()).or_default();
                of_route.push((method, Arc::new(operation)));
            }
        }
        Ok(Self(table))
    }

    /// The operation of a request; a `HEAD` is its `GET`.
    pub(crate) fn find(&self, route: &str, method: &Method) -> Option<&Arc<Operation>> {
        let wanted = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let of_route = self.0.get(route)?;
        of_route
            .iter()
            .find(|(method, _)| method == wanted)
            .map(|(_, operation)| operation)
    }
}

impl Operation {
    fn of(
        route: &str,
        method: &Method,
        operation: &Value,
        components: &Value,
    ) -> Result<Self, InvalidSchema> {
        let class = if method == Method::GET {
            Class::Read
        } else {
            Class::Write
        };
        let content = &operation["requestBody"]["content"];
        let body = ["application/json", "application/x-ndjson"]
            .into_iter()
            .find_map(|media| content.get(media)?.get("schema"));
        Ok(Self {
            route: route.to_owned(),
            class,
            body: body
                .map(|schema| Schema::compile(schema, components))
                .transpose()?,
            query: Parameters::of(operation, components)?,
            meter: Meter::new(route, method),
        })
    }
}

impl Parameters {
    fn of(operation: &Value, components: &Value) -> Result<Self, InvalidSchema> {
        let mut forms = BTreeMap::new();
        let mut properties = Map::new();
        let mut required = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let Some(name) = parameter["name"]
                .as_str()
                .filter(|_| parameter["in"] == "query")
            else {
                continue;
            };
            let schema = &parameter["schema"];
            forms.insert(name.to_owned(), form(schema));
            properties.insert(name.to_owned(), schema.clone());
            if parameter["required"] == true {
                required.push(name.to_owned());
            }
        }
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Ok(Self {
            forms,
            schema: Schema::compile(&schema, components)?,
        })
    }
}

fn form(schema: &Value) -> Form {
    let is = |name: &str| match &schema["type"] {
        Value::String(kind) => kind == name,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        _ => false,
    };
    if is("integer") {
        Form::Integer
    } else if is("boolean") {
        Form::Boolean
    } else if is("array") {
        Form::List
    } else {
        Form::Text
    }
}
