//! `abasto import`: a catalogue of any length, in requests that can each be sent again.
//!
//! Owns the cutting of a file into requests and the summary. Must not judge a row: the server does.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;

use abasto_client::{Call, Client};
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::Dialer;
use crate::cli::{Import, Server};
use crate::exit::{During, Exit, Failure};
use crate::lines::{self, Lines};
use crate::output::{Format, counted, say, show};

/// Rows of one request: small enough to be sent again without regret, large enough to be cheap.
const ROWS: usize = 500;
/// Bytes after which a request is closed, whatever its rows.
const BYTES: usize = 512 * 1024;
/// Failed rows that are listed; the rest is counted.
const LISTED: usize = 100;

const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

/// What the server says of a row.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RowResult {
    row: u64,
    status: String,
    sku: Option<String>,
    #[serde(default)]
    attribute_columns: BTreeSet<String>,
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

/// What became of the file.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    rows: u64,
    created: u64,
    updated: u64,
    unchanged: u64,
    failed: u64,
    /// Columns that became attributes.
    attribute_columns: BTreeSet<String>,
    failures: Vec<FailedRow>,
}

#[derive(Debug, Serialize)]
struct FailedRow {
    row: u64,
    sku: Option<String>,
    reason: String,
}

/// The rows of one request.
struct Batch {
    media: &'static str,
    body: Vec<u8>,
    rows: usize,
}

pub(super) fn run(server: &Server, what: Import, format: Format) -> Result<(), Failure> {
    let Import::Products { file } = what;
    let mut client = Dialer::new(server)?.client()?;
    let bar = ProgressBar::no_length().with_style(
        ProgressStyle::with_template("{spinner} {human_pos} rows, {per_sec}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    let mut summary = Summary::default();
    super::block_on(async {
        for batch in batches(&file)? {
            let batch = batch?;
            send(&mut client, &batch, &mut summary).await?;
            bar.set_position(summary.rows);
        }
        Ok(())
    })
    .map_err(|failure| failure.during(format_args!("after {} rows", summary.rows)))?;
    bar.finish_and_clear();
    report(&summary, format)
}

fn batches(file: &Path) -> Result<Box<dyn Iterator<Item = Result<Batch, Failure>>>, Failure> {
    let name = file.to_string_lossy();
    let plain = name.trim_end_matches(".gz");
    if plain.ends_with(".ndjson") || plain.ends_with(".jsonl") {
        Ok(Box::new(NdjsonBatches(Lines::open(file)?)))
    } else {
        Ok(Box::new(CsvBatches::open(file)?))
    }
}

struct NdjsonBatches(Lines);

impl Iterator for NdjsonBatches {
    type Item = Result<Batch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = Batch {
            media: NDJSON,
            body: Vec::new(),
            rows: 0,
        };
        while batch.rows < ROWS && batch.body.len() < BYTES {
            match self.0.next() {
                Some(Ok((_, line))) => {
                    batch.body.extend_from_slice(line.as_bytes());
                    batch.body.push(b'\n');
                    batch.rows += 1;
                }
                Some(Err(failure)) => return Some(Err(failure)),
                None => break,
            }
        }
        (batch.rows > 0).then_some(Ok(batch))
    }
}

struct CsvBatches {
    reader: csv::Reader<Box<dyn BufRead + Send>>,
    header: csv::ByteRecord,
}

impl CsvBatches {
    fn open(file: &Path) -> Result<Self, Failure> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_reader(lines::open(file)?);
        let header = reader.byte_headers().map_err(unreadable)?.clone();
        Ok(Self { reader, header })
    }

    fn batch(&mut self) -> Result<Option<Batch>, Failure> {
        let mut writer = csv::WriterBuilder::new()
            .flexible(true)
            .from_writer(Vec::new());
        writer.write_byte_record(&self.header).map_err(unreadable)?;
        let mut record = csv::ByteRecord::new();
        let (mut rows, mut bytes) = (0, 0);
        while rows < ROWS && bytes < BYTES {
            if !self
                .reader
                .read_byte_record(&mut record)
                .map_err(unreadable)?
            {
                break;
            }
            writer.write_byte_record(&record).map_err(unreadable)?;
            rows += 1;
            bytes += record.as_slice().len() + record.len();
        }
        let body = writer
            .into_inner()
            .map_err(|error| unreadable(error.into_error().into()))?;
        let batch = Batch {
            media: CSV,
            body,
            rows,
        };
        Ok((rows > 0).then_some(batch))
    }
}

impl Iterator for CsvBatches {
    type Item = Result<Batch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

fn unreadable(error: csv::Error) -> Failure {
    Failure::new(
        Exit::Failure,
        format_args!("the file cannot be read: {error}"),
    )
}

async fn send(client: &mut Client, batch: &Batch, summary: &mut Summary) -> Result<(), Failure> {
    // A product that an import brought is found unchanged by the same import sent again.
    let call = Call::post_bytes("/v1/products:import", batch.media, batch.body.clone());
    let answer = client.call(&call.accept(NDJSON).repeatable()).await?;
    let before = summary.rows;
    for line in answer.body.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            let row = serde_json::from_slice::<RowResult>(line);
            let row = row.map_err(|error| Failure::new(Exit::Failure, error));
            summary.add(
                before,
                row.during(|| "the answer of the import cannot be read")?,
            );
        }
    }
    if summary.rows - before == batch.rows as u64 {
        return Ok(());
    }
    let told = summary.rows - before;
    let what = format!("{} rows were sent, the server told of {told}", batch.rows);
    Err(Failure::new(Exit::Failure, what))
}

impl Summary {
    fn add(&mut self, before: u64, mut result: RowResult) {
        self.rows += 1;
        self.attribute_columns.append(&mut result.attribute_columns);
        match result.status.as_str() {
            "created" => self.created += 1,
            "updated" => self.updated += 1,
            "unchanged" => self.unchanged += 1,
            _ => {
                self.failed += 1;
                if self.failures.len() < LISTED {
                    self.failures.push(FailedRow {
                        row: before + result.row,
                        reason: reason(&result),
                        sku: result.sku,
                    });
                }
            }
        }
    }
}

/// The faults of a row as a sentence.
fn reason(result: &RowResult) -> String {
    let faults = result
        .more
        .get("errors")
        .and_then(|errors| errors.as_array());
    let told = faults.into_iter().flatten().filter_map(|fault| {
        let message = fault.get("message")?.as_str()?;
        let pointer = fault.get("pointer").and_then(|pointer| pointer.as_str());
        Some(
            format!("{} {message}", pointer.unwrap_or_default())
                .trim()
                .to_owned(),
        )
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        let detail = result
            .more
            .get("detail")
            .or_else(|| result.more.get("code"));
        return detail
            .and_then(|detail| detail.as_str())
            .unwrap_or("no reason given")
            .to_owned();
    }
    told.join("; ")
}

fn report(summary: &Summary, format: Format) -> Result<(), Failure> {
    show(format, summary, |summary| {
        let mut text = format!(
            "{}: {} created, {} updated, {} unchanged, {} failed\n",
            counted(summary.rows, "row", "rows"),
            summary.created,
            summary.updated,
            summary.unchanged,
            summary.failed
        );
        if !summary.attribute_columns.is_empty() {
            let columns: Vec<_> = summary
                .attribute_columns
                .iter()
                .map(String::as_str)
                .collect();
            text.push_str(&format!("kept as attributes: {}\n", columns.join(", ")));
        }
        for row in &summary.failures {
            let sku = row
                .sku
                .as_ref()
                .map_or_else(String::new, |sku| format!(" ({sku})"));
            text.push_str(&format!("row {}{sku}: {}\n", row.row, row.reason));
        }
        text
    })?;
    let unlisted = summary.failed.saturating_sub(LISTED as u64);
    if unlisted > 0 {
        say(format_args!("{unlisted} more failed rows are not listed."));
    }
    match summary.failed {
        0 => Ok(()),
        failed => Err(Failure::new(
            Exit::Partial,
            format_args!("rows that failed: {failed}"),
        )),
    }
}
