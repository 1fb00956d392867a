//! Authors, dots and contexts as bytes.
//!
//! Owns the author table: 8 bytes once per author, and a small index wherever a dot names it.

use super::wire::{Reader, VERSION, Writer};
use super::{DecodeError, Fault};
use crate::context::Context;
use crate::dot::{Dot, Rid};
use crate::entry::Instances;
use crate::limit::MAX_INSTANCES;
use alloc::vec::Vec;

type Read<T> = Result<T, DecodeError>;

/// Ascending, each once.
pub(super) struct Authors(Vec<Rid>);

impl Authors {
    pub(super) fn collect(mut rids: Vec<Rid>) -> Self {
        rids.sort_unstable();
        rids.dedup();
        Self(rids)
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Rid> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn write_dot(&self, dot: Dot, out: &mut Writer) {
        // Every author was collected before; if one were not, the index is out of the table
        // and no reader would accept it.
        let index = self.0.binary_search(&dot.rid()).unwrap_or(self.0.len());
        out.count(index);
        out.number(dot.seq());
    }

    pub(super) fn write_dots(&self, dots: &[Dot], out: &mut Writer) {
        out.count(dots.len());
        for dot in dots {
            self.write_dot(*dot, out);
        }
    }
}

/// The table as read, with what has been referred to so far.
pub(super) struct ReadAuthors {
    rids: Vec<Rid>,
    used: Vec<bool>,
}

impl ReadAuthors {
    /// Reads ids in ascending order, each followed by what `used` reads and judges.
    pub(super) fn read(
        input: &mut Reader<'_>,
        mut used: impl FnMut(&mut Reader<'_>, Rid) -> Read<bool>,
    ) -> Read<Self> {
        let count = input.count()?;
        let mut authors = Self {
            rids: Vec::with_capacity(count.min(64)),
            used: Vec::with_capacity(count.min(64)),
        };
        for _ in 0..count {
            let bits = input
                .raw(8)?
                .iter()
                .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            let rid = Rid::from_bits(bits);
            input.check(
                authors.rids.last().is_none_or(|last| *last < rid),
                Fault::Order,
            )?;
            authors.rids.push(rid);
            let is_used = used(input, rid)?;
            authors.used.push(is_used);
        }
        Ok(authors)
    }

    pub(super) fn read_dot(&mut self, input: &mut Reader<'_>) -> Read<Dot> {
        let index = usize::try_from(input.number()?).unwrap_or(usize::MAX);
        let Some(&rid) = self.rids.get(index) else {
            return input.fail(Fault::Author);
        };
        self.used[index] = true;
        let seq = input.number()?;
        match Dot::new(rid, seq) {
            Some(dot) => Ok(dot),
            None => input.fail(Fault::Value),
        }
    }

    /// Dots that must ascend.
    pub(super) fn read_dots(&mut self, input: &mut Reader<'_>) -> Read<Vec<Dot>> {
        let count = input.count()?;
        let mut dots: Vec<Dot> = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            let dot = self.read_dot(input)?;
            input.check(dots.last().is_none_or(|last| *last < dot), Fault::Order)?;
            dots.push(dot);
        }
        Ok(dots)
    }

    /// The lives that an entry names besides its own.
    pub(super) fn read_instances(&mut self, input: &mut Reader<'_>, own: Dot) -> Read<Instances> {
        let dots = self.read_dots(input)?;
        input.check(dots.len() <= MAX_INSTANCES && dots != [own], Fault::Value)?;
        match Instances::collect(dots) {
            Some(instances) => Ok(instances),
            None => input.fail(Fault::Value),
        }
    }

    pub(super) fn check_used(&self, input: &Reader<'_>) -> Read<()> {
        input.check(self.used.iter().all(|used| *used), Fault::Author)
    }
}

pub(super) fn write_context(context: &Context, authors: &Authors, out: &mut Writer) {
    out.count(authors.iter().len());
    for rid in authors.iter() {
        out.raw(&rid.bits().to_be_bytes());
        out.number(context.run_of(rid));
    }
    authors.write_dots(context.cloud(), out);
}

pub(super) fn read_context(input: &mut Reader<'_>) -> Read<(Context, ReadAuthors)> {
    let mut vector = Vec::new();
    let mut authors = ReadAuthors::read(input, |input, rid| {
        let run = input.number()?;
        // The longest run is as good as the largest dot.
        input.check(run == 0 || Dot::new(rid, run).is_some(), Fault::Value)?;
        if run > 0 {
            vector.push((rid, run));
        }
        Ok(run > 0)
    })?;
    let cloud = authors.read_dots(input)?;
    let context = Context::from_checked(vector, cloud);
    let is_compact = context
        .cloud()
        .iter()
        .all(|dot| dot.seq() > context.run_of(dot.rid()) + 1);
    // A dot that continues another cloud dot is fine as long as the gap below them is open.
    input.check(is_compact, Fault::Context)?;
    Ok((context, authors))
}

pub(crate) fn encode_context(context: &Context) -> Vec<u8> {
    let authors = Authors::collect(context.authors());
    let mut out = Writer::with_capacity(16 + 11 * authors.iter().len());
    out.byte(VERSION);
    write_context(context, &authors, &mut out);
    out.finish()
}

pub(crate) fn decode_context(bytes: &[u8]) -> Read<Context> {
    let mut input = Reader::new(bytes);
    input.version()?;
    let (context, authors) = read_context(&mut input)?;
    authors.check_used(&input)?;
    input.finish()?;
    Ok(context)
}
