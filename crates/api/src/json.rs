//! Strict JSON: a tree that says where a field stands twice, where a number is not whole and where
//! a text holds a control character.
//!
//! Owns what is refused whatever the schema says. Must not know any schema.

use std::cell::RefCell;
use std::fmt;

use abasto_domain::fault::{Fault, InvalidValue};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Most faults that one answer lists.
pub(crate) const FAULTS_MAX: usize = 100;

const TWICE: InvalidValue = InvalidValue::new("duplicate-field", "the field stands here twice");
const NOT_WHOLE: InvalidValue = InvalidValue::new(
    "invalid-type",
    "a number is whole, without point or exponent",
);
const TOO_LARGE: InvalidValue = InvalidValue::new("out-of-range", "the number is out of range");
const CONTROL: InvalidValue = InvalidValue::new(
    "control-character",
    "control characters are not allowed in a text",
);

/// Why a text was not read to its end.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is no JSON: syntax, encoding, nesting deeper than 128.
    NotJson(serde_json::Error),
    /// It is JSON with a number that nothing can hold.
    OutOfRange(Fault),
}

/// Reads a whole JSON text. The faults list what is JSON but never accepted.
pub(crate) fn parse(bytes: &[u8]) -> Result<(Value, Vec<Fault>), Unread> {
    let faults = RefCell::new(Vec::new());
    let stopped = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let root = Tree {
        place: Place {
            parent: None,
            step: Step::Root,
        },
        faults: &faults,
        stopped: &stopped,
    };
    let read = root.deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    match read {
        Ok(value) => Ok((value, faults.into_inner())),
        // The reader has no other name for this kind of error.
        Err(error) if error.to_string().starts_with("number out of range") => {
            let pointer = stopped.into_inner().unwrap_or_default();
            Err(Unread::OutOfRange(TOO_LARGE.at(pointer)))
        }
        Err(error) => Err(Unread::NotJson(error)),
    }
}

/// Where the reader is: a list on the stack, so that nothing is allocated unless there is a fault.
#[derive(Clone, Copy)]
struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Field(&'p str),
    Index(usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Self::pointer).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Field(name) => push_step(&mut pointer, name),
            Step::Index(index) => push_step(&mut pointer, &index.to_string()),
        }
        pointer
    }
}

/// Adds one step to a JSON pointer (RFC 6901).
pub(crate) fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    for c in step.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

struct Tree<'p> {
    place: Place<'p>,
    faults: &'p RefCell<Vec<Fault>>,
    /// The innermost place at which the reader stopped.
    stopped: &'p RefCell<Option<String>>,
}

impl Tree<'_> {
    fn note(&self, fault: InvalidValue) {
        let mut faults = self.faults.borrow_mut();
        if faults.len() < FAULTS_MAX {
            faults.push(fault.at(self.place.pointer()));
        }
    }

    fn check_text(&self, text: &str) {
        if text.chars().any(|c| c.is_control() && c != '\n') {
            self.note(CONTROL);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;
    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let (place, stopped) = (self.place, self.stopped);
        reader.deserialize_any(self).inspect_err(|_| {
            stopped.borrow_mut().get_or_insert_with(|| place.pointer());
        })
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        self.note(NOT_WHOLE);
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        self.check_text(text);
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        self.check_text(&text);
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let item = Tree {
                place: Place {
                    parent: Some(&self.place),
                    step: Step::Index(values.len()),
                },
                faults: self.faults,
                stopped: self.stopped,
            };
            match items.next_element_seed(item)? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let field = || Tree {
                place: Place {
                    parent: Some(&self.place),
                    step: Step::Field(&name),
                },
                faults: self.faults,
                stopped: self.stopped,
            };
            field().check_text(&name);
            let value = fields.next_value_seed(field())?;
            if values.contains_key(&name) {
                field().note(TWICE);
            } else {
                values.insert(name, value);
            }
        }
        Ok(Value::Object(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(String, &'static str)> {
        let (_, faults) = parse(text.as_bytes()).unwrap();
        faults
            .into_iter()
            .map(|fault| (fault.pointer, fault.code))
            .collect()
    }

    #[test]
    fn a_tree_without_faults_is_the_same_as_the_lenient_one() {
        let text = r#" {"a":[1,-2,{"b":null}],"c":"x\ny","d":true,"e":9223372036854775807} "#;
        let (value, faults) = parse(text.as_bytes()).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert!(faults.is_empty());
    }

    #[test]
    fn duplicates_are_found_at_every_depth_with_their_pointer() {
        assert_eq!(
            faults(r#"{"a":1,"a":2,"b":[{"c/d":1,"c/d":1,"c~":{"e":1,"e":{}}}]}"#),
            [
                ("/a".to_owned(), "duplicate-field"),
                ("/b/0/c~1d".to_owned(), "duplicate-field"),
                ("/b/0/c~0/e".to_owned(), "duplicate-field"),
            ]
        );
    }

    #[test]
    fn escaped_spellings_of_one_name_are_one_name() {
        assert_eq!(
            faults(r#"{"a":1,"\u0061":2}"#),
            [("/a".to_owned(), "duplicate-field")]
        );
    }

    #[test]
    fn numbers_that_are_not_whole_and_control_characters_are_faults() {
        assert_eq!(
            faults("{\"a\":1.0,\"b\":1e3,\"c\":\"\\u0000\",\"d\":\"\\t\",\"e\\u0001\":1}"),
            [
                ("/a".to_owned(), "invalid-type"),
                ("/b".to_owned(), "invalid-type"),
                ("/c".to_owned(), "control-character"),
                ("/d".to_owned(), "control-character"),
                ("/e\u{1}".to_owned(), "control-character"),
            ]
        );
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let deep = "[".repeat(200);
        for text in ["", "{", "{}x", "\"\\ud800\"", "\"\\udc00x\"", "01", &deep] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn a_number_that_nothing_can_hold_is_a_fault_at_its_place() {
        let digits = "9".repeat(400);
        for number in ["1e400", "-1e400", "1E+999", &digits] {
            for (text, place) in [
                (number.to_owned(), ""),
                (format!("{{\"a\":[1,{{\"b/c\":{number}}}]}}"), "/a/1/b~1c"),
                (format!("[[],{number},{{}}]"), "/1"),
            ] {
                let Err(Unread::OutOfRange(fault)) = parse(text.as_bytes()) else {
                    panic!("{text}");
                };
                assert_eq!(
                    (fault.pointer.as_str(), fault.code),
                    (place, "out-of-range")
                );
            }
        }
    }

    #[test]
    fn the_list_of_faults_is_bounded() {
        let text = format!("[{}]", vec!["1.5"; 1000].join(","));
        assert_eq!(faults(&text).len(), FAULTS_MAX);
    }
}
