//! Carts as bytes.

use super::dots::{Authors, ReadAuthors, read_context, write_context};
use super::wire::{Reader, VERSION, Writer};
use super::{DecodeError, Fault};
use crate::cart::{Cart, LineEntry};
use crate::dot::Dot;
use crate::entry::{Adjustment, Entry, Instances, Opaque};
use crate::line_key::LineKey;
use alloc::vec::Vec;

type Read<T> = Result<T, DecodeError>;

const ADD: u8 = 0;
const SET: u8 = 1;
const ADJUST: u8 = 2;
const ATTRIBUTE: u8 = 3;
const COUPON: u8 = 4;
const FIELD: u8 = 5;
/// On the kind of a line's entry: it names its own dot as its only life.
const OWN_INSTANCE: u8 = 1 << 3;

pub(crate) fn encode_cart(cart: &Cart) -> Vec<u8> {
    let by_line = cart.by_line();
    let rest = || {
        cart.entries()
            .iter()
            .filter(|(_, entry)| entry.line().is_none())
    };
    let mut rids = cart.context().authors();
    for (_, dot, entry) in &by_line {
        let lives = entry.instances().map_or(&[] as &[Dot], Instances::as_slice);
        // An own life is not spelled out, and the context has its author anyway.
        rids.extend(
            lives
                .iter()
                .filter(|life| *life != dot)
                .map(|life| life.rid()),
        );
    }
    let authors = Authors::collect(rids);
    let mut out = Writer::with_capacity(16 + 11 * authors.iter().len() + 32 * cart.entries().len());
    out.byte(VERSION);
    write_context(cart.context(), &authors, &mut out);
    let lines = || by_line.chunk_by(|a, b| a.0 == b.0);
    out.count(lines().count());
    for group in lines() {
        write_line(group, &authors, &mut out);
    }
    out.count(rest().count());
    for (dot, entry) in rest() {
        write_cart_entry(*dot, entry, &authors, &mut out);
    }
    out.finish()
}

fn write_line(group: &[LineEntry<'_>], authors: &Authors, out: &mut Writer) {
    if let Some((line, _, _)) = group.first() {
        out.line_key(line);
    }
    out.count(group.len());
    for (_, dot, entry) in group {
        write_line_entry(*dot, entry, authors, out);
    }
}

fn write_line_entry(dot: Dot, entry: &Entry, authors: &Authors, out: &mut Writer) {
    let (kind, instances) = match entry {
        Entry::Add { instances, .. } => (ADD, instances),
        Entry::Set { instances, .. } => (SET, instances),
        Entry::Adjust { instances, .. } => (ADJUST, instances),
        Entry::Attribute { instances, .. } => (ATTRIBUTE, instances),
        Entry::Coupon { .. } | Entry::Field { .. } | Entry::Unknown(_) => return,
    };
    let is_own = instances.as_slice() == [dot];
    out.byte(if is_own { kind | OWN_INSTANCE } else { kind });
    authors.write_dot(dot, out);
    if !is_own {
        authors.write_dots(instances.as_slice(), out);
    }
    match entry {
        Entry::Add { quantity, .. } => out.number(quantity.get().into()),
        Entry::Set { quantity, hlc, .. } => {
            out.number(quantity.get().into());
            out.hlc(*hlc);
        }
        Entry::Adjust { by, .. } => out.signed(by.get().into()),
        Entry::Attribute {
            name, value, hlc, ..
        } => {
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
            out.hlc(*hlc);
        }
        Entry::Coupon { .. } | Entry::Field { .. } | Entry::Unknown(_) => {}
    }
}

fn write_cart_entry(dot: Dot, entry: &Entry, authors: &Authors, out: &mut Writer) {
    match entry {
        Entry::Coupon { code } => {
            out.byte(COUPON);
            authors.write_dot(dot, out);
            out.blob(code.as_str().as_bytes());
        }
        Entry::Field { name, value, hlc } => {
            out.byte(FIELD);
            authors.write_dot(dot, out);
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
            out.hlc(*hlc);
        }
        Entry::Unknown(opaque) => {
            out.byte(opaque.kind());
            authors.write_dot(dot, out);
            out.blob(opaque.payload());
        }
        Entry::Add { .. } | Entry::Set { .. } | Entry::Adjust { .. } | Entry::Attribute { .. } => {}
    }
}

pub(crate) fn decode_cart(bytes: &[u8]) -> Read<Cart> {
    let mut input = Reader::new(bytes);
    input.version()?;
    let (context, mut authors) = read_context(&mut input)?;
    let lines = input.count()?;
    let mut entries: Vec<(Dot, Entry)> = Vec::with_capacity(lines.min(64));
    let mut last: Option<LineKey> = None;
    for _ in 0..lines {
        let line = input.line_key()?;
        input.check(last.is_none_or(|last| last < line), Fault::Order)?;
        let count = input.count()?;
        input.check(count > 0, Fault::Value)?;
        read_ascending(&mut input, &mut entries, count, |input| {
            read_line_entry(input, &mut authors, &line)
        })?;
        last = Some(line);
    }
    let rest = input.count()?;
    read_ascending(&mut input, &mut entries, rest, |input| {
        read_cart_entry(input, &mut authors)
    })?;
    authors.check_used(&input)?;
    entries.sort_unstable_by_key(|(dot, _)| *dot);
    let is_unique = entries.windows(2).all(|pair| pair[0].0 < pair[1].0);
    input.check(is_unique, Fault::Order)?;
    input.check(
        entries.iter().all(|(dot, _)| context.contains(*dot)),
        Fault::Context,
    )?;
    input.finish()?;
    Ok(Cart::from_checked(entries, context))
}

fn read_ascending(
    input: &mut Reader<'_>,
    entries: &mut Vec<(Dot, Entry)>,
    count: usize,
    mut read: impl FnMut(&mut Reader<'_>) -> Read<(Dot, Entry)>,
) -> Read<()> {
    let mut last: Option<Dot> = None;
    for _ in 0..count {
        let (dot, entry) = read(input)?;
        input.check(last.is_none_or(|last| last < dot), Fault::Order)?;
        last = Some(dot);
        entries.push((dot, entry));
    }
    Ok(())
}

fn read_line_entry(
    input: &mut Reader<'_>,
    authors: &mut ReadAuthors,
    line: &LineKey,
) -> Read<(Dot, Entry)> {
    let head = input.byte()?;
    let dot = authors.read_dot(input)?;
    let instances = if head & OWN_INSTANCE != 0 {
        Instances::one(dot)
    } else {
        authors.read_instances(input, dot)?
    };
    let line = line.clone();
    let entry = match head & !OWN_INSTANCE {
        ADD => Entry::Add {
            line,
            quantity: input.quantity()?,
            instances,
        },
        SET => Entry::Set {
            line,
            quantity: input.quantity()?,
            hlc: input.hlc()?,
            instances,
        },
        ADJUST => {
            let units = i32::try_from(input.signed()?).unwrap_or(0);
            let by = Adjustment::new(units).or_else(|_| input.fail(Fault::Value))?;
            Entry::Adjust {
                line,
                by,
                instances,
            }
        }
        ATTRIBUTE => {
            let (name, value, hlc) = (input.name()?, input.text()?, input.hlc()?);
            Entry::Attribute {
                line,
                name,
                value,
                hlc,
                instances,
            }
        }
        _ => return input.fail(Fault::Kind),
    };
    Ok((dot, entry))
}

fn read_cart_entry(input: &mut Reader<'_>, authors: &mut ReadAuthors) -> Read<(Dot, Entry)> {
    let kind = input.byte()?;
    let dot = authors.read_dot(input)?;
    let entry = match kind {
        COUPON => Entry::Coupon {
            code: input.name()?,
        },
        FIELD => Entry::Field {
            name: input.name()?,
            value: input.text()?,
            hlc: input.hlc()?,
        },
        later => {
            let payload = input.blob()?;
            match Opaque::new(later, payload) {
                Some(opaque) => Entry::Unknown(opaque),
                None => return input.fail(Fault::Kind),
            }
        }
    };
    Ok((dot, entry))
}
