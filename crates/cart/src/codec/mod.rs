//! Bytes of carts, contexts and tags.
//!
//! Owns the form of stored and sent bytes: compact and canonical, so that equal things have equal
//! bytes and a decoder refuses every other spelling. It must not know what entries mean.
//! A cart is: version · authors with their runs · dots above gaps · entries by line · the rest.

mod cart;
mod dots;
mod entry;
mod tag;
mod wire;

pub(crate) use cart::{decode_cart, encode_cart};
pub(crate) use dots::{decode_context, encode_context};
pub(crate) use entry::{entry_bytes, operation_bytes};
pub(crate) use tag::{decode_tag, encode_tag};

use core::fmt;

/// Bytes that are not what the encoder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Where the reader stood.
    pub offset: usize,
    /// What was wrong there.
    pub fault: Fault,
}

/// What was wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They end too early.
    End,
    /// They go on after the end.
    Trailing,
    /// The version is not one that this code reads.
    Version,
    /// A number is too large or not in its shortest form.
    Number,
    /// A number, name, text or key is out of its bounds.
    Value,
    /// A kind of entry in a place where it cannot stand.
    Kind,
    /// Things are not ascending, or one is there twice.
    Order,
    /// An author that nothing refers to, or an index of none.
    Author,
    /// A context that is not compact, or an entry whose dot is not in it.
    Context,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cart bytes are wrong at offset {}: {:?}",
            self.offset, self.fault
        )
    }
}

impl core::error::Error for DecodeError {}
