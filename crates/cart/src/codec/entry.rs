//! Single entries and operations as bytes that depend on nothing around them.
//!
//! Owns the order between two contents of one dot, and fingerprints. Both compare across places
//! and versions, so authors are spelled out here and no table is used.

use super::wire::Writer;
use crate::dot::Dot;
use crate::entry::Entry;
use crate::hlc::Hlc;
use crate::operation::Operation;
use alloc::vec::Vec;

/// An entry by itself. A kind that is unknown here has the bytes that a later version would give.
pub(crate) fn entry_bytes(entry: &Entry) -> Vec<u8> {
    let mut out = Writer::default();
    match entry {
        Entry::Add { line, quantity, .. } => {
            out.byte(0);
            out.line_key(line);
            out.number(quantity.get().into());
        }
        Entry::Set {
            line,
            quantity,
            hlc,
            ..
        } => {
            out.byte(1);
            out.line_key(line);
            out.number(quantity.get().into());
            out.hlc(*hlc);
        }
        Entry::Adjust { line, by, .. } => {
            out.byte(2);
            out.line_key(line);
            out.signed(by.get().into());
        }
        Entry::Attribute {
            line,
            name,
            value,
            hlc,
            ..
        } => {
            out.byte(3);
            out.line_key(line);
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
            out.hlc(*hlc);
        }
        Entry::Coupon { code } => {
            out.byte(4);
            out.blob(code.as_str().as_bytes());
        }
        Entry::Field { name, value, hlc } => {
            out.byte(5);
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
            out.hlc(*hlc);
        }
        Entry::Unknown(opaque) => {
            out.byte(opaque.kind());
            out.raw(opaque.payload());
        }
    }
    for &dot in entry
        .instances()
        .map_or(&[] as &[Dot], |instances| instances.as_slice())
    {
        out.raw(&dot.rid().bits().to_be_bytes());
        out.number(dot.seq());
    }
    out.finish()
}

/// An operation and the time that its request named, by themselves.
pub(crate) fn operation_bytes(operation: &Operation, sent: Option<Hlc>) -> Vec<u8> {
    let mut out = Writer::default();
    out.number(sent.map_or(0, Hlc::bits));
    match operation {
        Operation::AddItem { line, quantity } => {
            out.byte(0);
            out.line_key(line);
            out.number(quantity.get().into());
        }
        Operation::SetQuantity { line, quantity } => {
            out.byte(1);
            out.line_key(line);
            out.number(quantity.map_or(0, |quantity| quantity.get().into()));
        }
        Operation::Increment { line, by } => {
            out.byte(2);
            out.line_key(line);
            out.number(by.get().into());
        }
        Operation::Decrement { line, by } => {
            out.byte(3);
            out.line_key(line);
            out.number(by.get().into());
        }
        Operation::RemoveItem { line } => {
            out.byte(4);
            out.line_key(line);
        }
        Operation::Clear => out.byte(5),
        Operation::SetAttribute { line, name, value } => {
            out.byte(6);
            out.line_key(line);
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
        }
        Operation::ApplyCoupon { code } => {
            out.byte(7);
            out.blob(code.as_str().as_bytes());
        }
        Operation::RemoveCoupon { code } => {
            out.byte(8);
            out.blob(code.as_str().as_bytes());
        }
        Operation::SetField { name, value } => {
            out.byte(9);
            out.blob(name.as_str().as_bytes());
            out.blob(value.as_str().as_bytes());
        }
    }
    out.finish()
}
