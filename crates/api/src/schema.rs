//! Schemas as validators: what the published document says of a value is what is checked.
//!
//! Owns the translation of schema errors into faults with pointers, stable codes and sentences.
//! Must not know any route; the schemas come from the OpenAPI document.

use abasto_domain::fault::Fault;
use abasto_domain::text::{self, Lines, TextBound};
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::json::{FAULTS_MAX, push_step};

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Schema(Validator);

/// A schema of the document that cannot be compiled: a defect of ours, found at start.
#[derive(Debug)]
pub struct InvalidSchema(String);

impl std::fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a schema of the API document is broken: {}", self.0)
    }
}

impl std::error::Error for InvalidSchema {}

impl Schema {
    /// Compiles a schema of the document; `components` is the document's own table of them.
    pub(crate) fn compile(schema: &Value, components: &Value) -> Result<Self, InvalidSchema> {
        let mut used = Map::new();
        gather(schema, components, &mut used);
        let root = json!({"allOf": [schema], "components": {"schemas": used}});
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&root)
            .map(Self)
            .map_err(|error| InvalidSchema(error.to_string()))
    }

    /// Adds everything that is wrong with the value.
    pub(crate) fn check(&self, value: &Value, faults: &mut Vec<Fault>) {
        if self.0.is_valid(value) {
            return;
        }
        for error in self.0.iter_errors(value) {
            translate(&error, faults);
            if faults.len() >= FAULTS_MAX {
                break;
            }
        }
    }
}

/// The named schemas that a schema needs, directly or through others.
fn gather(schema: &Value, components: &Value, used: &mut Map<String, Value>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get("$ref")
                && let Some(name) = target.strip_prefix("#/components/schemas/")
                && !used.contains_key(name)
                && let Some(found) = components.get(name)
            {
                used.insert(name.to_owned(), found.clone());
                gather(found, components, used);
            }
            for value in fields.values() {
                gather(value, components, used);
            }
        }
        Value::Array(items) => {
            for item in items {
                gather(item, components, used);
            }
        }
        _ => {}
    }
}

fn translate(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let here = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => {
            let mut pointer = here.to_owned();
            push_step(&mut pointer, property.as_str().unwrap_or_default());
            push(faults, pointer, "required", "this field is required");
        }
        Kind::AdditionalProperties { unexpected } => {
            for name in unexpected {
                let mut pointer = here.to_owned();
                push_step(&mut pointer, name);
                push(faults, pointer, "unknown-field", "there is no such field");
            }
        }
        Kind::MaxLength { limit } if fits_when_clean(error.instance(), *limit) => {}
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
            alternatives(here, context, faults);
        }
        Kind::PropertyNames { error } => translate(error, faults),
        kind => {
            let (code, message) = sentence(kind);
            push(faults, here.to_owned(), code, message);
        }
    }
}

/// Lengths count what is kept: texts are normalised and trimmed first.
fn fits_when_clean(value: &Value, limit: u64) -> bool {
    let bound = TextBound {
        min_chars: 0,
        max_chars: usize::try_from(limit).unwrap_or(usize::MAX),
        lines: Lines::Many,
    };
    value
        .as_str()
        .is_some_and(|text| text::clean(text, bound).is_ok())
}

/// Of the alternatives of a value, the one that it was meant to be is the one whose outer type it
/// has; when that is not exactly one, only the type can be named.
fn alternatives(here: &str, context: &[Vec<ValidationError<'static>>], faults: &mut Vec<Fault>) {
    let meant = |errors: &&Vec<ValidationError<'static>>| {
        !errors.iter().any(|error| {
            matches!(error.kind(), Kind::Type { .. }) && error.instance_path().as_str() == here
        })
    };
    let mut candidates = context.iter().filter(meant);
    match (candidates.next(), candidates.next()) {
        (Some(errors), None) => {
            for error in errors {
                translate(error, faults);
            }
        }
        _ => push(
            faults,
            here.to_owned(),
            "invalid-type",
            "the value has none of the accepted forms",
        ),
    }
}

fn sentence(kind: &Kind) -> (&'static str, String) {
    match kind {
        Kind::Type { kind } => ("invalid-type", format!("expected {}", type_name(kind))),
        Kind::Enum { options } => ("not-one-of", format!("expected one of {}", list(options))),
        Kind::Constant { expected_value } => ("not-one-of", format!("expected {expected_value}")),
        Kind::Pattern { .. } | Kind::Format { .. } => (
            "invalid-format",
            "the text does not have the documented form".to_owned(),
        ),
        Kind::Minimum { limit } => ("out-of-range", format!("at least {limit}")),
        Kind::Maximum { limit } => ("out-of-range", format!("at most {limit}")),
        Kind::MinLength { limit: 1 } => ("required", "the text must not be empty".to_owned()),
        Kind::MinLength { limit } => ("too-short", format!("at least {limit} characters")),
        Kind::MaxLength { limit } => ("too-long", format!("at most {limit} characters")),
        Kind::MinItems { limit } => ("too-few", format!("at least {limit} items")),
        Kind::MaxItems { limit } => ("too-many", format!("at most {limit} items")),
        Kind::MinProperties { limit } => ("too-few", format!("at least {limit} fields")),
        Kind::MaxProperties { limit } => ("too-many", format!("at most {limit} fields")),
        Kind::UniqueItems => ("duplicate-item", "each item may stand here once".to_owned()),
        Kind::Not { .. } => ("out-of-range", "this value is not allowed".to_owned()),
        _ => ("invalid", "the value is not accepted".to_owned()),
    }
}

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            let names: Vec<String> = kinds.iter().map(|kind| kind.to_string()).collect();
            names.join(" or ")
        }
    }
}

fn list(options: &Value) -> String {
    let texts = options.as_array().into_iter().flatten();
    let texts: Vec<String> = texts.map(Value::to_string).collect();
    texts.join(", ")
}

fn push(
    faults: &mut Vec<Fault>,
    pointer: String,
    code: &'static str,
    message: impl Into<std::borrow::Cow<'static, str>>,
) {
    let known = faults
        .iter()
        .any(|fault| fault.pointer == pointer && fault.code == code);
    if !known && faults.len() < FAULTS_MAX {
        faults.push(Fault {
            pointer,
            code,
            message: message.into(),
        });
    }
}
