//! Rows of CSV as JSON documents of the same fields.
//!
//! Owns the meaning of headings and cells. Must not know what the fields mean: the schema of the
//! JSON form checks the result.

use serde_json::{Map, Value};

use crate::problem::{Code, Problem};

/// A file of which the heading may be known already.
#[derive(Debug, Default)]
pub(crate) struct Csv {
    heading: Option<Vec<String>>,
}

/// Fields of the JSON form; a column with another name is an attribute.
const TEXTS: [&str; 4] = ["sku", "name", "salePrice", "taxRate"];

impl Csv {
    /// The document of a line; `None` for the heading. A quoted cell does not span lines.
    pub(crate) fn row(&mut self, line: &[u8]) -> Option<Result<Value, Problem>> {
        let cells = match cells(line) {
            Ok(cells) => cells,
            Err(problem) => return Some(Err(problem)),
        };
        let Some(heading) = &self.heading else {
            let names = cells
                .iter()
                .map(|name| name.trim_start_matches('\u{feff}').trim());
            self.heading = Some(names.map(str::to_owned).collect());
            return None;
        };
        if cells.len() != heading.len() {
            let (found, wanted) = (cells.len(), heading.len());
            return Some(Err(malformed(format!(
                "The row has {found} cells, the heading {wanted}."
            ))));
        }
        Some(Ok(document(heading, cells)))
    }
}

fn cells(line: &[u8]) -> Result<Vec<String>, Problem> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(line);
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(_) => Ok(record.iter().map(str::to_owned).collect()),
        Err(_) => Err(malformed("The row is not CSV in UTF-8.".to_owned())),
    }
}

fn malformed(detail: String) -> Problem {
    Problem::new(Code::MalformedBody, detail)
}

fn document(heading: &[String], cells: Vec<String>) -> Value {
    let mut fields = Map::new();
    let mut attributes = Map::new();
    for (name, cell) in heading.iter().zip(cells) {
        if cell.is_empty() {
            continue;
        }
        match name.as_str() {
            name if TEXTS.contains(&name) => {
                fields.insert(name.to_owned(), cell.into());
            }
            "active" | "maxPerOrder" => {
                fields.insert(name.clone(), literal(cell));
            }
            _ => {
                attributes.insert(name.clone(), cell.into());
            }
        }
    }
    if !attributes.is_empty() {
        fields.insert("attributes".to_owned(), attributes.into());
    }
    fields.into()
}

/// A number or truth value; anything else stays a text, which the schema refuses.
fn literal(cell: String) -> Value {
    match cell.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse::<i64>().map_or(Value::String(cell), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_heading_names_fields_and_attributes() {
        let mut csv = Csv::default();
        assert!(
            csv.row("\u{feff}sku,name,salePrice,active,maxPerOrder,department".as_bytes())
                .is_none()
        );
        let row = csv
            .row(b"P-1,\"BEANS, \"\"BAKED\"\"\",0.89,true,5,GROCERY")
            .unwrap()
            .unwrap();
        assert_eq!(
            row,
            json!({
                "sku": "P-1", "name": "BEANS, \"BAKED\"", "salePrice": "0.89", "active": true,
                "maxPerOrder": 5, "attributes": {"department": "GROCERY"}
            })
        );
        let row = csv.row(b"P-2,X,1,yes,,").unwrap().unwrap();
        assert_eq!(
            row,
            json!({"sku": "P-2", "name": "X", "salePrice": "1", "active": "yes"})
        );
    }

    #[test]
    fn a_row_of_another_width_or_encoding_is_refused() {
        let mut csv = Csv::default();
        assert!(csv.row(b"sku,name").is_none());
        for line in [b"a".as_slice(), b"a,b,c", b"a,\xff"] {
            let refused = csv.row(line).unwrap().unwrap_err();
            assert_eq!(refused.code(), Code::MalformedBody);
        }
    }
}
