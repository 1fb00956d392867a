//! Fields of documents: writing and reading BSON values of fixed types.
//!
//! Owns which BSON type stands for which domain type and how a value that cannot be read is named.
//! Must not know any record.

use abasto_domain::currency::Currency;
use abasto_domain::id::RawId;
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::time::Timestamp;
use mongodb::bson::oid::ObjectId;
use mongodb::bson::raw::{CStr, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, DateTime};

use super::decimal;
use super::name::Named;

/// A stored value that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{collection}.{field}: {why}")]
pub(crate) struct Unreadable {
    /// The collection.
    pub(crate) collection: &'static str,
    /// The field.
    pub(crate) field: String,
    /// What is wrong with it.
    pub(crate) why: String,
}

/// The ObjectId of an id.
pub(crate) fn object_id(id: impl Into<RawId>) -> ObjectId {
    ObjectId::from_bytes(id.into().0)
}

/// The date of a time.
pub(crate) fn date(at: Timestamp) -> DateTime {
    DateTime::from_millis(at.as_millis())
}

/// A document being written.
#[derive(Debug, Default)]
pub(crate) struct Fields(RawDocumentBuf);

impl Fields {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn done(self) -> RawDocumentBuf {
        self.0
    }

    pub(crate) fn null(mut self, key: &CStr) -> Self {
        self.0.append(key, RawBsonRef::Null);
        self
    }

    pub(crate) fn id(mut self, key: &CStr, id: impl Into<RawId>) -> Self {
        self.0.append(key, object_id(id));
        self
    }

    pub(crate) fn opt_id(self, key: &CStr, id: Option<impl Into<RawId>>) -> Self {
        match id {
            Some(id) => self.id(key, id),
            None => self.null(key),
        }
    }

    /// A list of ids, or null.
    pub(crate) fn opt_ids<T: Copy + Into<RawId>>(mut self, key: &CStr, ids: Option<&[T]>) -> Self {
        let Some(ids) = ids else {
            return self.null(key);
        };
        let array: RawArrayBuf = ids.iter().map(|id| object_id(*id)).collect();
        self.0.append(key, array);
        self
    }

    pub(crate) fn text(mut self, key: &CStr, text: &str) -> Self {
        self.0.append(key, text);
        self
    }

    pub(crate) fn opt_text(self, key: &CStr, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self.null(key),
        }
    }

    pub(crate) fn name<T: Named>(self, key: &CStr, value: T) -> Self {
        self.text(key, value.name())
    }

    pub(crate) fn flag(mut self, key: &CStr, value: bool) -> Self {
        self.0.append(key, value);
        self
    }

    pub(crate) fn int(mut self, key: &CStr, value: i64) -> Self {
        self.0.append(key, value);
        self
    }

    pub(crate) fn opt_int(self, key: &CStr, value: Option<i64>) -> Self {
        match value {
            Some(value) => self.int(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn date(mut self, key: &CStr, at: Timestamp) -> Self {
        self.0.append(key, date(at));
        self
    }

    pub(crate) fn opt_date(self, key: &CStr, at: Option<Timestamp>) -> Self {
        match at {
            Some(at) => self.date(key, at),
            None => self.null(key),
        }
    }

    pub(crate) fn money(mut self, key: &CStr, amount: Amount, currency: Currency) -> Self {
        let value = decimal::encode(amount.minor(), currency.exponent());
        self.0.append(key, value);
        self
    }

    pub(crate) fn rate(mut self, key: &CStr, rate: TaxRate) -> Self {
        self.0.append(key, decimal::encode_rate(rate));
        self
    }

    pub(crate) fn bytes(mut self, key: &CStr, bytes: &[u8]) -> Self {
        let binary = Binary {
            subtype: BinarySubtype::Generic,
            bytes: bytes.to_vec(),
        };
        self.0.append(key, binary);
        self
    }

    pub(crate) fn value(mut self, key: &CStr, value: RawBson) -> Self {
        self.0.append(key, value);
        self
    }

    pub(crate) fn doc(mut self, key: &CStr, doc: RawDocumentBuf) -> Self {
        self.0.append(key, doc);
        self
    }

    pub(crate) fn docs(mut self, key: &CStr, docs: impl Iterator<Item = RawDocumentBuf>) -> Self {
        let array: RawArrayBuf = docs.collect();
        self.0.append(key, array);
        self
    }
}

/// A document being read. Fields of another type than the one asked for are unreadable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    collection: &'static str,
    doc: &'a RawDocument,
}

type Read<T> = Result<T, Unreadable>;

impl<'a> Row<'a> {
    pub(crate) const fn new(collection: &'static str, doc: &'a RawDocument) -> Self {
        Self { collection, doc }
    }

    pub(crate) const fn raw(&self) -> &'a RawDocument {
        self.doc
    }

    pub(crate) fn unreadable(&self, field: &str, why: impl ToString) -> Unreadable {
        Unreadable {
            collection: self.collection,
            field: field.to_owned(),
            why: why.to_string(),
        }
    }

    /// The value, unless it is null or not there.
    fn find(&self, key: &str) -> Read<Option<RawBsonRef<'a>>> {
        match self.doc.get(key) {
            Ok(None | Some(RawBsonRef::Null)) => Ok(None),
            Ok(value) => Ok(value),
            Err(broken) => Err(self.unreadable(key, broken)),
        }
    }

    fn typed<T>(
        &self,
        key: &str,
        wanted: &'static str,
        read: impl Fn(RawBsonRef<'a>) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(value) = self.find(key)? else {
            return Ok(None);
        };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(self.unreadable(
                key,
                format!("{:?} instead of {wanted}", value.element_type()),
            )),
        }
    }

    fn there<T>(&self, key: &str, value: Read<Option<T>>) -> Read<T> {
        value?.ok_or_else(|| self.unreadable(key, "missing"))
    }

    pub(crate) fn opt_id<T: From<RawId>>(&self, key: &str) -> Read<Option<T>> {
        let id = self.typed(key, "an ObjectId", RawBsonRef::as_object_id)?;
        Ok(id.map(|id| T::from(RawId(id.bytes()))))
    }

    pub(crate) fn id<T: From<RawId>>(&self, key: &str) -> Read<T> {
        self.there(key, self.opt_id(key))
    }

    pub(crate) fn opt_ids<T: From<RawId>>(&self, key: &str) -> Read<Option<Vec<T>>> {
        let Some(array) = self.typed(key, "an array", RawBsonRef::as_array)? else {
            return Ok(None);
        };
        let ids = array.into_iter().map(|value| {
            let id = value.ok().and_then(RawBsonRef::as_object_id);
            let id = id.ok_or_else(|| self.unreadable(key, "not a list of ObjectIds"))?;
            Ok(T::from(RawId(id.bytes())))
        });
        ids.collect::<Read<_>>().map(Some)
    }

    pub(crate) fn opt_str(&self, key: &str) -> Read<Option<&'a str>> {
        self.typed(key, "a string", RawBsonRef::as_str)
    }

    pub(crate) fn str(&self, key: &str) -> Read<&'a str> {
        self.there(key, self.opt_str(key))
    }

    pub(crate) fn opt_text(&self, key: &str) -> Read<Option<String>> {
        Ok(self.opt_str(key)?.map(str::to_owned))
    }

    pub(crate) fn text(&self, key: &str) -> Read<String> {
        self.str(key).map(str::to_owned)
    }

    pub(crate) fn name<T: Named>(&self, key: &str) -> Read<T> {
        let name = self.str(key)?;
        T::from_name(name).ok_or_else(|| self.unreadable(key, format!("unknown value {name:?}")))
    }

    /// A text that a domain type checks.
    pub(crate) fn parsed<T, E: ToString>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Read<T> {
        parse(self.str(key)?).map_err(|why| self.unreadable(key, why))
    }

    pub(crate) fn flag(&self, key: &str) -> Read<bool> {
        self.there(key, self.typed(key, "a bool", RawBsonRef::as_bool))
    }

    pub(crate) fn opt_int(&self, key: &str) -> Read<Option<i64>> {
        self.typed(key, "a long", RawBsonRef::as_i64)
    }

    pub(crate) fn int(&self, key: &str) -> Read<i64> {
        self.there(key, self.opt_int(key))
    }

    /// A whole number that a narrower type checks.
    pub(crate) fn number<T: TryFrom<i64>>(&self, key: &str) -> Read<T> {
        let value = self.int(key)?;
        T::try_from(value).map_err(|_| self.unreadable(key, format!("{value} is out of range")))
    }

    pub(crate) fn opt_date(&self, key: &str) -> Read<Option<Timestamp>> {
        let at = self.typed(key, "a date", RawBsonRef::as_datetime)?;
        Ok(at.map(|at| Timestamp::from_millis(at.timestamp_millis())))
    }

    pub(crate) fn date(&self, key: &str) -> Read<Timestamp> {
        self.there(key, self.opt_date(key))
    }

    pub(crate) fn money(&self, key: &str, currency: Currency) -> Read<Amount> {
        let minor = self.decimal(key, currency.exponent())?;
        Amount::from_minor(minor).map_err(|why| self.unreadable(key, why))
    }

    pub(crate) fn rate(&self, key: &str) -> Read<TaxRate> {
        let millionths = u32::try_from(self.decimal(key, decimal::RATE_DECIMALS)?).ok();
        millionths
            .and_then(TaxRate::from_millionths)
            .ok_or_else(|| self.unreadable(key, "not a rate from 0 to 1"))
    }

    fn decimal(&self, key: &str, decimals: u8) -> Read<i64> {
        let read = |value: RawBsonRef<'a>| match value {
            RawBsonRef::Decimal128(value) => Some(value),
            _ => None,
        };
        let value = self.there(key, self.typed(key, "a decimal", read))?;
        decimal::decode(value, decimals).ok_or_else(|| {
            self.unreadable(
                key,
                format!("{value} has no exact form with {decimals} decimals"),
            )
        })
    }

    pub(crate) fn bytes<const N: usize>(&self, key: &str) -> Read<[u8; N]> {
        let read = |value: RawBsonRef<'a>| <[u8; N]>::try_from(value.as_binary()?.bytes).ok();
        self.there(
            key,
            self.typed(key, "binary data of the right length", read),
        )
    }

    /// Binary data of any length.
    pub(crate) fn blob(&self, key: &str) -> Read<&'a [u8]> {
        let read = |value: RawBsonRef<'a>| value.as_binary().map(|binary| binary.bytes);
        self.there(key, self.typed(key, "binary data", read))
    }

    pub(crate) fn opt_row(&self, key: &str) -> Read<Option<Row<'a>>> {
        let doc = self.typed(key, "a document", RawBsonRef::as_document)?;
        Ok(doc.map(|doc| Row::new(self.collection, doc)))
    }

    pub(crate) fn row(&self, key: &str) -> Read<Row<'a>> {
        self.there(key, self.opt_row(key))
    }

    /// Every document of an array, read by `read`.
    pub(crate) fn rows<T>(&self, key: &str, read: impl Fn(Row<'a>) -> Read<T>) -> Read<Vec<T>> {
        let array = self.there(key, self.typed(key, "an array", RawBsonRef::as_array))?;
        let rows = array.into_iter().map(|value| {
            let doc = value.ok().and_then(RawBsonRef::as_document);
            let doc = doc.ok_or_else(|| self.unreadable(key, "not a list of documents"))?;
            read(Row::new(self.collection, doc))
        });
        rows.collect()
    }

    /// Whether the field is there and not null.
    pub(crate) fn is_there(&self, key: &str) -> bool {
        !matches!(self.doc.get(key), Ok(None | Some(RawBsonRef::Null)))
    }

    /// Whether the field holds a string (for values of two forms).
    pub(crate) fn is_text(&self, key: &str) -> bool {
        matches!(self.doc.get(key), Ok(Some(RawBsonRef::String(_))))
    }
}
