//! Tags as bytes.

use super::dots::{Authors, ReadAuthors};
use super::wire::{Reader, VERSION, Writer};
use super::{DecodeError, Fault};
use crate::dot::Rid;
use crate::limit::MAX_QUANTITY;
use crate::observed::{Observed, Subject, Tag};
use crate::value::Quantity;
use alloc::vec::Vec;

type Read<T> = Result<T, DecodeError>;

pub(crate) fn encode_tag(tag: &Tag) -> Vec<u8> {
    let seen = &tag.seen;
    let rids = seen
        .all_dots()
        .chain(seen.instances.iter().copied())
        .map(|dot| dot.rid());
    let authors = Authors::collect(rids.collect());
    let mut out = Writer::with_capacity(64);
    out.byte(VERSION);
    match &tag.subject {
        Subject::Line(line) => {
            out.byte(0);
            out.line_key(line);
        }
        Subject::Coupon(code) => {
            out.byte(1);
            out.blob(code.as_str().as_bytes());
        }
        Subject::Field(name) => {
            out.byte(2);
            out.blob(name.as_str().as_bytes());
        }
        Subject::Lines => out.byte(3),
    }
    out.count(authors.iter().len());
    for rid in authors.iter() {
        out.raw(&rid.bits().to_be_bytes());
    }
    out.number(seen.quantity.map_or(0, |quantity| quantity.get().into()));
    out.signed(seen.raw);
    authors.write_dots(&seen.instances, &mut out);
    authors.write_dots(&seen.dots, &mut out);
    out.count(seen.attributes.len());
    for (name, dot) in &seen.attributes {
        out.blob(name.as_str().as_bytes());
        authors.write_dot(*dot, &mut out);
    }
    out.finish()
}

pub(crate) fn decode_tag(bytes: &[u8]) -> Read<Tag> {
    let mut input = Reader::new(bytes);
    input.version()?;
    let subject = match input.byte()? {
        0 => Subject::Line(input.line_key()?),
        1 => Subject::Coupon(input.name()?),
        2 => Subject::Field(input.name()?),
        3 => Subject::Lines,
        _ => return input.fail(Fault::Kind),
    };
    let mut authors = ReadAuthors::read(&mut input, |_, _: Rid| Ok(false))?;
    let units = u32::try_from(input.number()?).unwrap_or(u32::MAX);
    input.check(units <= MAX_QUANTITY, Fault::Value)?;
    let mut seen = Observed {
        quantity: Quantity::new(units).ok(),
        raw: input.signed()?,
        instances: authors.read_dots(&mut input)?,
        dots: authors.read_dots(&mut input)?,
        attributes: Vec::new(),
    };
    // A sum of a million entries of a million units is far inside this; arithmetic on it is safe.
    input.check(seen.raw.unsigned_abs() < 1 << 48, Fault::Value)?;
    for _ in 0..input.count()? {
        seen.attributes
            .push((input.name()?, authors.read_dot(&mut input)?));
    }
    authors.check_used(&input)?;
    input.finish()?;
    Ok(Tag { subject, seen })
}
