//! One attempt of a transaction: what it reads and writes within its session.
//!
//! Owns how commands carry deadline and comment, how long lists of statements are cut into
//! commands, and how replies are checked. Must not know units.

use abasto_store::index::Collection;
use mongodb::bson::raw::{CStr, RawArrayBuf, RawDocument, RawDocumentBuf, cstr};
use mongodb::bson::{Bson, Document, doc};
use mongodb::{ClientSession, Database};

use crate::collection::comment;
use crate::deadline::Deadline;
use crate::document::{Row, Unreadable};
use crate::fault::{Fault, Refusal, refused};

/// Largest command we send, well below the server's 16 MiB.
const COMMAND_BYTES_MAX: usize = 8 << 20;
/// Rows of one batch of a cursor.
const ROWS_PER_BATCH: u32 = 10_000;

/// A session with an open transaction.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    pub(crate) database: &'a Database,
    pub(crate) session: &'a mut ClientSession,
    pub(crate) deadline: Deadline,
}

/// A find that is read together with others.
#[derive(Debug)]
pub(crate) struct Find {
    pub(crate) collection: Collection,
    pub(crate) filter: Document,
    /// All fields, when nothing is named.
    pub(crate) fields: Option<Document>,
}

/// A statement of a write command and the unit of the batch it belongs to.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) unit: usize,
    pub(crate) body: RawDocumentBuf,
}

/// How a list of statements is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Whole new documents.
    Insert,
    /// `{q, limit}` pairs, of which each must remove exactly one document.
    Delete,
    /// `{q, u}` pairs, of which each must match or make exactly one document.
    Update,
}

impl Verb {
    const fn keys(self) -> (&'static CStr, &'static CStr, &'static str) {
        match self {
            Self::Insert => (cstr!("insert"), cstr!("documents"), "insert"),
            Self::Delete => (cstr!("delete"), cstr!("deletes"), "delete"),
            Self::Update => (cstr!("update"), cstr!("updates"), "update"),
        }
    }
}

impl Transaction<'_> {
    /// All documents that match any of the finds, each with the place of its find: one command,
    /// however many collections there are.
    pub(crate) async fn gather(
        &mut self,
        finds: &[Find],
    ) -> Result<Vec<(usize, RawDocumentBuf)>, Fault> {
        if finds.is_empty() {
            return Ok(Vec::new());
        }
        let gather = self
            .database
            .aggregate(together(finds))
            .batch_size(ROWS_PER_BATCH)
            .max_time(self.deadline.max_time())
            .comment(Bson::String(comment("heads", "batch")));
        let gather = gather.session(&mut *self.session).await?;
        let mut cursor = gather.with_type::<RawDocumentBuf>();
        let mut found = Vec::new();
        while cursor.advance(self.session).await? {
            found.push(apart(cursor.current())?);
        }
        Ok(found)
    }

    /// Sends statements in order, in as few commands as their size allows. Each must have its
    /// effect on exactly one document.
    pub(crate) async fn write(
        &mut self,
        collection: Collection,
        verb: Verb,
        statements: Vec<Statement>,
    ) -> Result<(), Fault> {
        let mut statements = statements.into_iter().peekable();
        while statements.peek().is_some() {
            let (mut array, mut units, mut bytes) = (RawArrayBuf::new(), Vec::new(), 0);
            while let Some(next) = statements.next_if(|next| {
                units.is_empty() || bytes + next.body.as_bytes().len() <= COMMAND_BYTES_MAX
            }) {
                bytes += next.body.as_bytes().len();
                units.push(next.unit);
                array.push(next.body);
            }
            self.send(collection, verb, array, &units).await?;
        }
        Ok(())
    }

    async fn send(
        &mut self,
        collection: Collection,
        verb: Verb,
        statements: RawArrayBuf,
        units: &[usize],
    ) -> Result<(), Fault> {
        let (command, list, part) = verb.keys();
        let mut document = RawDocumentBuf::new();
        document.append(command, collection.name());
        document.append(list, statements);
        document.append(cstr!("ordered"), true);
        document.append(cstr!("maxTimeMS"), self.deadline.max_time_ms());
        document.append(cstr!("comment"), comment(part, collection.name()).as_str());
        let run = self.database.run_raw_command(document);
        let reply = run.session(&mut *self.session).await?;
        if let Some((place, code, index, detail)) = refused(&reply) {
            return Err(Fault::Refused(Refusal {
                collection: collection.name(),
                code,
                unit: units.get(place).copied().unwrap_or_default(),
                index,
                detail,
            }));
        }
        let done = reply.get("n").and_then(whole).unwrap_or_default();
        if usize::try_from(done) == Ok(units.len()) {
            Ok(())
        } else {
            Err(Fault::Missed(collection.name()))
        }
    }
}

/// The finds as one pipeline. `$unionWith` is refused within transactions, `$lookup` is not; its
/// arrays are taken apart again so that no document of the answer grows with the batch.
fn together(finds: &[Find]) -> Vec<Document> {
    let mut pipeline = vec![doc! { "$documents": [{}] }];
    let mut rows = Vec::with_capacity(finds.len());
    for (place, find) in (0i64..).zip(finds) {
        let mut inner = vec![doc! { "$match": &find.filter }];
        inner.extend(find.fields.iter().map(|fields| doc! { "$project": fields }));
        let name = format!("find{place}");
        rows.push(doc! { "$map": {
            "input": format!("${name}"), "in": { "find": { "$literal": place }, "row": "$$this" },
        } });
        pipeline.push(doc! { "$lookup": {
            "from": find.collection.name(), "pipeline": inner, "as": name,
        } });
    }
    pipeline.push(doc! { "$project": { "rows": { "$concatArrays": rows } } });
    pipeline.push(doc! { "$unwind": "$rows" });
    pipeline.push(doc! { "$replaceWith": "$rows" });
    pipeline
}

/// The place of a row's find, and the row.
fn apart(found: &RawDocument) -> Result<(usize, RawDocumentBuf), Unreadable> {
    let found = Row::new("heads", found);
    Ok((found.number("find")?, found.row("row")?.raw().to_owned()))
}

/// A whole number of a reply, of either width.
fn whole(value: &Bson) -> Option<i64> {
    value.as_i64().or_else(|| value.as_i32().map(i64::from))
}
