//! Import of products over HTTP: a stream of rows in, their outcomes out.
//!
//! Owns the two forms of rows (NDJSON, CSV) and the form of outcomes. A bad row stops no other;
//! memory is bounded by one batch of rows and one line.

use std::sync::Arc;

use abasto_domain::limits::{IMPORT_LINE_BYTES_MAX, IMPORT_ROWS_MAX};
use abasto_engine::product::ChangeProduct;
use abasto_engine::product_import::{Imported, ROWS_MAX};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Ready;
use crate::auth::Caller;
use crate::body::{check_media_type, decode};
use crate::csv_rows::Csv;
use crate::edge::Exchange;
use crate::lines::{Ends, Line, Lines};
use crate::operation::Operation;
use crate::problem::{Code, Problem};
use crate::product::ProductChange;
use crate::value::Id;

pub(crate) fn router() -> OpenApiRouter<Arc<Ready>> {
    OpenApiRouter::new().routes(routes!(import))
}

/// What became of a row.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RowStatus {
    Created,
    Updated,
    Unchanged,
    Failed,
}

/// The outcome of one row.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportedRow {
    /// 1 for the first row; the heading of a CSV file does not count.
    row: usize,
    /// The sku, where the row could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    status: RowStatus,
    /// The product.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    /// Why it failed: the code of a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Why it failed, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// All faults of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<crate::openapi::FaultView>>)]
    errors: Option<Value>,
    /// In the first outcome of a CSV file: the columns that became attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    attribute_columns: Option<Vec<String>>,
}

/// All outcomes, for callers who ask for `application/json`.
#[derive(Debug, Serialize, ToSchema)]
struct ImportedRows {
    items: Vec<ImportedRow>,
}

/// Import products
///
/// Rows are products by `sku`: a row makes the product or changes what it gives. As
/// `application/x-ndjson` each line is one document; as `text/csv` the heading names the fields
/// (`sku`, `name`, `salePrice`, `taxRate`, `active`, `maxPerOrder`), every other column is an
/// attribute, and an empty cell counts as left out. The first outcome lists the columns that became
/// attributes. A heading that has a column twice, or one that looks like a field and is none
/// (`total`, `Sale price`), is refused as a whole; `attributes.total` is an attribute under any
/// name. At most 100 000 rows, each of at most 64 KiB.
/// The answer has one outcome per row, in their order, as NDJSON, or as one document when `Accept`
/// is `application/json`. A bad row stops no other.
#[utoipa::path(
    post, path = "/v1/products:import", operation_id = "importProducts", tag = "Catalogue",
    request_body(
        content((ProductChange = "application/x-ndjson"), (String = "text/csv")),
        description = "Rows",
    ),
    responses((
        status = 200, description = "One outcome per row",
        content((ImportedRow = "application/x-ndjson"), (ImportedRows = "application/json")),
    )),
)]
async fn import(
    caller: Caller,
    State(ready): State<Arc<Ready>>,
    request: Request,
) -> Result<Response, Problem> {
    check_media_type(request.headers(), |essence| form(essence).is_some())?;
    let form = media_type(request.headers(), CONTENT_TYPE).and_then(|essence| form(&essence));
    let whole = media_type(request.headers(), ACCEPT).is_some_and(|accept| accept == JSON);
    let exchange: Option<&Arc<Exchange>> = request.extensions().get();
    let operation = exchange.and_then(|exchange| exchange.operation.clone());
    let ends = match form {
        Some(Form::Csv) => Ends::OutsideQuotes,
        _ => Ends::Anywhere,
    };
    let mut import = Import {
        caller,
        ready,
        operation: operation.ok_or_else(Problem::internal)?,
        lines: Lines::new(request.into_body(), IMPORT_LINE_BYTES_MAX, ends),
        csv: None,
        row: 0,
        explained: 0,
        ended: false,
    };
    // The right to import is checked before the first row is read.
    run(&import.caller, &import.ready, Vec::new()).await?;
    if let Some(Form::Csv) = form {
        import.csv = import.heading().await?;
    }
    // Clients that send all before they read would wait for ever if outcomes were sent meanwhile.
    let mut outcomes = Vec::new();
    let (open, between, close) = if whole {
        ("{\"items\":[", ",", "]}")
    } else {
        ("", "\n", "\n")
    };
    while let Some(rows) = import.next_batch().await {
        for row in rows {
            outcomes.extend(if outcomes.is_empty() { open } else { between }.as_bytes());
            // Rows are plain data: writing them to memory cannot fail.
            let _ = serde_json::to_writer(&mut outcomes, &row);
        }
    }
    if outcomes.is_empty() && whole {
        outcomes.extend(open.as_bytes());
    }
    if !outcomes.is_empty() {
        outcomes.extend(close.as_bytes());
    }
    let media = if whole { JSON } else { NDJSON };
    Ok(([(CONTENT_TYPE, media)], outcomes).into_response())
}

/// Failed rows whose faults are told in full; of later ones only the code and the sentence.
const EXPLAINED_MAX: usize = 1_000;
const BROKEN: &str = "the body ended before it was whole";
const NDJSON: &str = "application/x-ndjson";
const JSON: &str = "application/json";

enum Form {
    Ndjson,
    Csv,
}

fn form(essence: &str) -> Option<Form> {
    match essence {
        NDJSON | "application/ndjson" | "application/jsonl" => Some(Form::Ndjson),
        "text/csv" => Some(Form::Csv),
        _ => None,
    }
}

fn media_type(headers: &HeaderMap, name: axum::http::HeaderName) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?;
    let essence = text.split([';', ',']).next().unwrap_or_default();
    Some(essence.trim().to_ascii_lowercase())
}

/// An import that is under way.
struct Import {
    caller: Caller,
    ready: Arc<Ready>,
    operation: Arc<Operation>,
    lines: Lines,
    csv: Option<Csv>,
    row: usize,
    explained: usize,
    ended: bool,
}

/// A row that was read, or why it could not be.
struct Read {
    row: usize,
    sku: Option<String>,
    product: Result<ChangeProduct, Problem>,
}

impl Import {
    /// The heading of a CSV file; nothing when the file is empty.
    async fn heading(&mut self) -> Result<Option<Csv>, Problem> {
        loop {
            match self.lines.next().await {
                Line::Text(text) if text.iter().all(u8::is_ascii_whitespace) => {}
                Line::Text(text) => return Csv::of(&text).map(Some),
                Line::TooLong => return Err(row_too_long()),
                Line::Broken => return Err(crate::body::malformed(BROKEN)),
                Line::TooSlow => return Err(crate::body::too_slow()),
                Line::End => return Ok(None),
            }
        }
    }

    /// The outcomes of the next rows; `None` after the last.
    async fn next_batch(&mut self) -> Option<Vec<ImportedRow>> {
        let mut batch: Vec<Read> = Vec::new();
        while batch.len() < ROWS_MAX && !self.ended {
            match self.lines.next().await {
                Line::Text(text) => batch.extend(self.read_line(&text)),
                Line::TooLong => {
                    batch.extend(self.failed(row_too_long()));
                }
                Line::Broken => {
                    batch.extend(self.failed(crate::body::malformed(BROKEN)));
                    self.ended = true;
                }
                Line::TooSlow => {
                    batch.extend(self.failed(crate::body::too_slow()));
                    self.ended = true;
                }
                Line::End => self.ended = true,
            }
            if self.row > IMPORT_ROWS_MAX {
                self.ended = true;
            }
        }
        if batch.is_empty() {
            return None;
        }
        Some(self.outcomes(batch).await)
    }

    fn read_line(&mut self, text: &[u8]) -> Option<Read> {
        if text.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let document = match &self.csv {
            None => decode::<ProductChange>(text, Some(&self.operation)),
            Some(csv) => match csv.row(text) {
                Ok(value) => decode(value.to_string().as_bytes(), Some(&self.operation)),
                Err(problem) => Err(problem),
            },
        };
        match document {
            Ok(document) => {
                let sku = document.sku.clone();
                self.count(sku, document.read(self.caller.currency))
            }
            Err(problem) => self.failed(problem),
        }
    }

    fn failed(&mut self, problem: Problem) -> Option<Read> {
        self.count(None, Err(problem))
    }

    fn count(
        &mut self,
        sku: Option<String>,
        product: Result<ChangeProduct, Problem>,
    ) -> Option<Read> {
        self.row += 1;
        let product = if self.row > IMPORT_ROWS_MAX {
            Err(Problem::new(
                Code::BodyTooLarge,
                format!("An import has at most {IMPORT_ROWS_MAX} rows; the rest was not read."),
            ))
        } else {
            product
        };
        Some(Read {
            row: self.row,
            sku,
            product,
        })
    }

    async fn outcomes(&mut self, batch: Vec<Read>) -> Vec<ImportedRow> {
        let mut wanted = Vec::new();
        let mut rows = Vec::with_capacity(batch.len());
        for read in batch {
            let problem = match read.product {
                Ok(product) => {
                    wanted.push(product);
                    None
                }
                Err(problem) => Some(problem),
            };
            rows.push((read.row, read.sku, problem));
        }
        let mut done = match run(&self.caller, &self.ready, wanted).await {
            Ok(done) => Ok(done.into_iter()),
            Err(problem) => Err(problem),
        };
        let mut outcomes = Vec::with_capacity(rows.len());
        for (row, sku, problem) in rows {
            let mut outcome = match (problem, &mut done) {
                (Some(problem), _) => ImportedRow::failed(row, sku, &problem),
                (None, Ok(done)) => self.outcome(row, sku, done.next()),
                (None, Err(problem)) => ImportedRow::failed(row, sku, problem),
            };
            if outcome.errors.is_some() {
                self.explained += 1;
                if self.explained > EXPLAINED_MAX {
                    outcome.errors = None;
                }
            }
            if row == 1 {
                outcome.attribute_columns = self.csv.as_ref().map(Csv::attributes);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    fn outcome(&self, row: usize, sku: Option<String>, done: Option<Imported>) -> ImportedRow {
        let (status, id) = match done {
            Some(Imported::Created(id)) => (RowStatus::Created, id),
            Some(Imported::Updated(id)) => (RowStatus::Updated, id),
            Some(Imported::Unchanged(id)) => (RowStatus::Unchanged, id),
            Some(Imported::Failed(error)) => {
                return ImportedRow::failed(row, sku, &self.caller.problem(error));
            }
            None => return ImportedRow::failed(row, sku, &Problem::internal()),
        };
        ImportedRow {
            row,
            sku,
            status,
            id: Some(id.into()),
            code: None,
            detail: None,
            errors: None,
            attribute_columns: None,
        }
    }
}

fn row_too_long() -> Problem {
    Problem::new(
        Code::BodyTooLarge,
        format!("A row has at most {IMPORT_LINE_BYTES_MAX} bytes."),
    )
}

async fn run(
    caller: &Caller,
    ready: &Ready,
    rows: Vec<ChangeProduct>,
) -> Result<Vec<Imported>, Problem> {
    let done = ready.engine.import_products(&caller.context, rows);
    done.await.map_err(|error| caller.problem(error))
}

impl ImportedRow {
    fn failed(row: usize, sku: Option<String>, problem: &Problem) -> Self {
        Self {
            row,
            sku,
            status: RowStatus::Failed,
            id: None,
            code: Some(problem.code().name()),
            detail: Some(problem.detail().to_owned()),
            errors: problem.field("errors").cloned(),
            attribute_columns: None,
        }
    }
}
