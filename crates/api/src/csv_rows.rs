//! Rows of CSV as JSON documents of the same fields.
//!
//! Owns the meaning of headings and cells. Must not know what the fields mean: the schema of the
//! JSON form checks the result.

use abasto_domain::fault::{Fault, InvalidValue};
use serde_json::{Map, Value};

use crate::json::push_step;
use crate::problem::{Code, Problem};

/// The columns of a file, in their order; no two are the same.
#[derive(Debug)]
pub(crate) struct Csv {
    columns: Vec<Column>,
}

#[derive(Debug, PartialEq, Eq)]
enum Column {
    Field(&'static str),
    Attribute(String),
}

/// Fields of the JSON form.
const FIELDS: [&str; 6] = [
    "sku",
    "name",
    "salePrice",
    "taxRate",
    "active",
    "maxPerOrder",
];
/// What somebody who sends it takes for a field: the server does not take it, and keeping it as an
/// attribute would hide that.
const FOREIGN: [&str; 22] = [
    "id",
    "version",
    "createdAt",
    "updatedAt",
    "deletedAt",
    "branchIds",
    "businessId",
    "attributes",
    "status",
    "price",
    "unitPrice",
    "cost",
    "total",
    "subtotal",
    "discount",
    "tax",
    "currency",
    "quantity",
    "available",
    "reserved",
    "onHand",
    "stock",
];
/// What makes any column an attribute.
const PREFIX: &str = "attributes.";

const UNKNOWN: InvalidValue = InvalidValue::new(
    "unknown-field",
    "the import has no such column; attributes.NAME makes it an attribute",
);
const TWICE: InvalidValue = InvalidValue::new("duplicate-field", "the column stands here twice");
const NAMELESS: InvalidValue = InvalidValue::new("required", "the column has no name");

impl Csv {
    /// Reads the heading; all of its faults at once, each with the column's name as pointer.
    pub(crate) fn of(heading: &[u8]) -> Result<Self, Problem> {
        let mut columns = Vec::new();
        let mut faults: Vec<Fault> = Vec::new();
        for name in cells(heading)? {
            let name = name.trim();
            let mut pointer = String::new();
            push_step(&mut pointer, name);
            match column(name) {
                Ok(column) if columns.contains(&column) => faults.push(TWICE.at(pointer)),
                Ok(column) => columns.push(column),
                Err(invalid) => faults.push(invalid.at(pointer)),
            }
        }
        if faults.is_empty() {
            Ok(Self { columns })
        } else {
            Err(Problem::validation(&faults))
        }
    }

    /// The names of the attributes that the rows bring.
    pub(crate) fn attributes(&self) -> Vec<String> {
        let attribute = |column: &Column| match column {
            Column::Attribute(name) => Some(name.clone()),
            Column::Field(_) => None,
        };
        self.columns.iter().filter_map(attribute).collect()
    }

    /// The document of a row.
    pub(crate) fn row(&self, line: &[u8]) -> Result<Value, Problem> {
        let cells = cells(line)?;
        if cells.len() != self.columns.len() {
            let (found, wanted) = (cells.len(), self.columns.len());
            return Err(malformed(format!(
                "The row has {found} cells, the heading {wanted}."
            )));
        }
        Ok(document(&self.columns, cells))
    }
}

/// What a heading stands for.
fn column(name: &str) -> Result<Column, InvalidValue> {
    if let Some(field) = FIELDS.iter().find(|field| **field == name) {
        return Ok(Column::Field(field));
    }
    if let Some(attribute) = name.strip_prefix(PREFIX).map(str::trim) {
        return match attribute {
            "" => Err(NAMELESS),
            attribute => Ok(Column::Attribute(attribute.to_owned())),
        };
    }
    let meant = plain(name);
    let mut taken = FIELDS.iter().chain(&FOREIGN);
    if name.is_empty() {
        Err(NAMELESS)
    } else if taken.any(|taken| plain(taken) == meant) {
        Err(UNKNOWN)
    } else {
        Ok(Column::Attribute(name.to_owned()))
    }
}

/// A name without what people write differently: `Sale price` and `sale_price` mean `salePrice`.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn cells(line: &[u8]) -> Result<Vec<String>, Problem> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(line);
    let mut record = csv::StringRecord::new();
    let read = reader.read_record(&mut record);
    let cells = record.iter().map(str::to_owned).collect();
    match (read, reader.read_record(&mut record)) {
        (Ok(_), Ok(false)) => Ok(cells),
        (Ok(_), Ok(true)) => Err(malformed(
            "Rows end with LF or CRLF, not with CR.".to_owned(),
        )),
        (Err(_), _) | (_, Err(_)) => Err(malformed("The row is not CSV in UTF-8.".to_owned())),
    }
}

fn malformed(detail: String) -> Problem {
    Problem::new(Code::MalformedBody, detail)
}

fn document(columns: &[Column], cells: Vec<String>) -> Value {
    let mut fields = Map::new();
    let mut attributes = Map::new();
    for (column, cell) in columns.iter().zip(cells) {
        if cell.is_empty() {
            continue;
        }
        match column {
            Column::Field(name @ ("active" | "maxPerOrder")) => {
                fields.insert((*name).to_owned(), literal(cell));
            }
            Column::Field(name) => {
                fields.insert((*name).to_owned(), cell.into());
            }
            Column::Attribute(name) => {
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
        let heading = "sku,name,salePrice,active,maxPerOrder,department,attributes.total";
        let csv = Csv::of(heading.as_bytes()).unwrap();
        assert_eq!(csv.attributes(), ["department", "total"]);
        let row = csv.row(b"P-1,\"BEANS, \"\"BAKED\"\"\",0.89,true,5,GROCERY,9");
        assert_eq!(
            row.unwrap(),
            json!({
                "sku": "P-1", "name": "BEANS, \"BAKED\"", "salePrice": "0.89", "active": true,
                "maxPerOrder": 5, "attributes": {"department": "GROCERY", "total": "9"}
            })
        );
        let row = csv.row(b"P-2,X,1,yes,,,").unwrap();
        assert_eq!(
            row,
            json!({"sku": "P-2", "name": "X", "salePrice": "1", "active": "yes"})
        );
    }

    #[test]
    fn a_row_of_another_width_or_encoding_is_refused() {
        let csv = Csv::of(b"sku,name").unwrap();
        for line in [
            b"a".as_slice(),
            b"a,b,c",
            b"a,\xff",
            b"a,b\rc,d",
            b"a,\xff\rc,d",
        ] {
            let refused = csv.row(line).unwrap_err();
            assert_eq!(refused.code(), Code::MalformedBody);
        }
    }

    #[test]
    fn a_file_of_another_system_is_refused_at_its_heading() {
        let refused = Csv::of(b"sku,name\ra,b\rc,d").unwrap_err();
        assert_eq!(refused.code(), Code::MalformedBody);
    }

    #[test]
    fn columns_that_mean_something_else_or_stand_twice_are_named() {
        for (heading, code, pointer) in [
            ("sku,total", Code::UnknownField, "/total"),
            ("sku,unitPrice", Code::UnknownField, "/unitPrice"),
            ("sku,Sale_Price", Code::UnknownField, "/Sale_Price"),
            ("SKU,name", Code::UnknownField, "/SKU"),
            ("sku,id", Code::UnknownField, "/id"),
            ("sku,sku", Code::Validation, "/sku"),
            ("sku,color,color", Code::Validation, "/color"),
            (
                "sku,color,attributes.color",
                Code::Validation,
                "/attributes.color",
            ),
            ("sku,,name", Code::Validation, "/"),
            ("sku,attributes.", Code::Validation, "/attributes."),
        ] {
            let refused = Csv::of(heading.as_bytes()).unwrap_err();
            assert_eq!(refused.code(), code, "{heading}");
            let errors = refused.field("errors").unwrap().as_array().unwrap();
            assert_eq!(errors.len(), 1, "{heading}");
            assert_eq!(errors[0]["pointer"], pointer, "{heading}");
        }
    }
}
