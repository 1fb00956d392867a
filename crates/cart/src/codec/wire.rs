//! Numbers, texts and keys as bytes.
//!
//! Owns [`Writer`] and [`Reader`]. Every value has one spelling; the reader refuses others and
//! never takes more memory than the input justifies.

use super::{DecodeError, Fault};
use crate::hlc::Hlc;
use crate::limit::MAX_LINE_KEY_BYTES;
use crate::line_key::LineKey;
use crate::value::{Name, Quantity, Text};
use alloc::vec::Vec;

pub(super) const VERSION: u8 = 1;
const HEX: &[u8; 16] = b"0123456789abcdef";

#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Seven bits a byte, least first.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    pub(super) fn count(&mut self, count: usize) {
        // A usize is at most 64 bits on every target there is.
        self.number(count as u64);
    }

    /// Small whatever the sign: 0, −1, 1, −2, …
    pub(super) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    pub(super) fn hlc(&mut self, hlc: Hlc) {
        self.raw(&hlc.ms().to_be_bytes()[2..]);
        self.number(hlc.bits() & 0xffff);
    }

    /// Product, then the pairs if any. A product of lower-case hex pairs takes half its length.
    pub(super) fn line_key(&mut self, key: &LineKey) {
        let (product, pairs) = match key.as_str().split_once('?') {
            Some((product, pairs)) => (product.as_bytes(), Some(pairs)),
            None => (key.as_str().as_bytes(), None),
        };
        let packed = is_packable(product);
        let len = if packed {
            product.len() / 2
        } else {
            product.len()
        };
        self.count(len << 2 | usize::from(packed) << 1 | usize::from(pairs.is_some()));
        if packed {
            let pairs = product.chunks_exact(2);
            self.bytes
                .extend(pairs.map(|pair| nibble(pair[0]) << 4 | nibble(pair[1])));
        } else {
            self.raw(product);
        }
        if let Some(pairs) = pairs {
            self.blob(pairs.as_bytes());
        }
    }
}

fn is_packable(product: &[u8]) -> bool {
    product.len().is_multiple_of(2)
        && product
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The value of a digit that [`is_packable`] accepted.
fn nibble(digit: u8) -> u8 {
    if digit <= b'9' {
        digit - b'0'
    } else {
        digit - b'a' + 10
    }
}

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Read<T> = Result<T, DecodeError>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn fail<T>(&self, fault: Fault) -> Read<T> {
        Err(DecodeError {
            offset: self.at,
            fault,
        })
    }

    pub(super) fn check(&self, holds: bool, fault: Fault) -> Read<()> {
        if holds { Ok(()) } else { self.fail(fault) }
    }

    pub(super) fn byte(&mut self) -> Read<u8> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return self.fail(Fault::End);
        };
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn raw(&mut self, len: usize) -> Read<&'a [u8]> {
        let end = self
            .at
            .checked_add(len)
            .filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return self.fail(Fault::End);
        };
        let raw = &self.bytes[self.at..end];
        self.at = end;
        Ok(raw)
    }

    pub(super) fn number(&mut self) -> Read<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            self.check(shift < 63 || bits <= 1, Fault::Number)?;
            number |= bits << shift;
            if byte < 0x80 {
                self.check(byte != 0 || shift == 0, Fault::Number)?;
                return Ok(number);
            }
        }
        self.fail(Fault::Number)
    }

    pub(super) fn signed(&mut self) -> Read<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A number of things that each take at least one byte, so the input bounds it.
    pub(super) fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        let left = self.bytes.len() - self.at;
        match usize::try_from(count) {
            Ok(count) if count <= left => Ok(count),
            _ => self.fail(Fault::End),
        }
    }

    pub(super) fn blob(&mut self) -> Read<&'a [u8]> {
        let len = self.count()?;
        self.raw(len)
    }

    pub(super) fn str(&mut self) -> Read<&'a str> {
        let bytes = self.blob()?;
        core::str::from_utf8(bytes).or_else(|_| self.fail(Fault::Value))
    }

    pub(super) fn name(&mut self) -> Read<Name> {
        let text = self.str()?;
        Name::new(text).or_else(|_| self.fail(Fault::Value))
    }

    pub(super) fn text(&mut self) -> Read<Text> {
        let text = self.str()?;
        Text::new(text).or_else(|_| self.fail(Fault::Value))
    }

    pub(super) fn quantity(&mut self) -> Read<Quantity> {
        let units = u32::try_from(self.number()?).unwrap_or(u32::MAX);
        Quantity::new(units).or_else(|_| self.fail(Fault::Value))
    }

    pub(super) fn hlc(&mut self) -> Read<Hlc> {
        let ms = self
            .raw(6)?
            .iter()
            .fold(0u64, |ms, byte| ms << 8 | u64::from(*byte));
        let counter = u16::try_from(self.number()?);
        counter
            .map(|counter| Hlc::new(ms, counter))
            .or_else(|_| self.fail(Fault::Number))
    }

    pub(super) fn line_key(&mut self) -> Read<LineKey> {
        let head = self.number()?;
        let (len, is_packed, has_pairs) = (head >> 2, head & 2 != 0, head & 1 != 0);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let product = self.raw(len)?;
        self.check(is_packed || !is_packable(product), Fault::Value)?;
        // A question mark inside the product would move the border between the two parts.
        self.check(is_packed || !product.contains(&b'?'), Fault::Value)?;
        if !is_packed && !has_pairs {
            return self.parse_line_key(product);
        }
        let mut text = Vec::with_capacity(MAX_LINE_KEY_BYTES);
        if is_packed {
            self.check(len <= MAX_LINE_KEY_BYTES, Fault::Value)?;
            let digits = product.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            text.extend(digits.map(|digit| HEX[usize::from(digit)]));
        } else {
            text.extend_from_slice(product);
        }
        if has_pairs {
            text.push(b'?');
            text.extend_from_slice(self.blob()?);
        }
        self.parse_line_key(&text)
    }

    fn parse_line_key(&self, text: &[u8]) -> Read<LineKey> {
        let text = core::str::from_utf8(text).or_else(|_| self.fail(Fault::Value))?;
        LineKey::parse(text).or_else(|_| self.fail(Fault::Value))
    }

    pub(super) fn version(&mut self) -> Read<()> {
        let version = self.byte()?;
        self.check(version == VERSION, Fault::Version)
    }

    pub(super) fn finish(self) -> Read<()> {
        self.check(self.at == self.bytes.len(), Fault::Trailing)
    }
}
