//! Rust text taken apart far enough for the rules: code without comments and literals, and the
//! lines that only tests compile.
//!
//! Must not know any rule. It is a scanner, not a parser: it understands tokens that can hide a
//! brace or a word (comments, strings, characters), and balanced braces.

use std::ops::RangeInclusive;

/// A Rust file whose comments and literals are blanked out.
#[derive(Debug)]
pub(super) struct Source {
    /// As long as the original, line for line; comments and literals are spaces.
    pub(super) code: String,
    /// The offset of each line end.
    line_ends: Vec<usize>,
    /// The lines that only tests compile.
    tests: Vec<RangeInclusive<usize>>,
}

/// A function that has a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    /// Where its `fn` stands.
    pub(super) line: usize,
    /// The lines between its braces.
    pub(super) body_lines: usize,
}

impl Source {
    pub(super) fn parse(text: &str) -> Self {
        let code = blank(text);
        let line_ends = code.match_indices('\n').map(|(offset, _)| offset).collect();
        let mut source = Self {
            code,
            line_ends,
            tests: Vec::new(),
        };
        source.tests = source.items_after("#[cfg(test)]");
        source
    }

    /// The lines of each item that directly follows the attribute `marker`.
    fn items_after(&self, marker: &str) -> Vec<RangeInclusive<usize>> {
        self.code
            .match_indices(marker)
            .filter_map(|(start, _)| {
                let end = item_end(&self.code, start + marker.len())?;
                Some(self.line(start)..=self.line(end))
            })
            .collect()
    }

    /// The line of an offset, counted from 1.
    fn line(&self, offset: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < offset)
    }

    /// Whether only tests compile this line (counted from 1).
    pub(super) fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&line))
    }

    /// Code lines with their number, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// Every function that has a body.
    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        words(&self.code)
            .filter(|(_, word)| *word == "fn")
            .filter_map(|(start, _)| {
                // `fn(u8)` is a type.
                self.code.get(start + 2..)?.strip_prefix(' ')?;
                let (_, name) = words(self.code.get(start + 2..)?).next()?;
                let end = item_end(&self.code, start)?;
                let open = start + self.code.get(start..=end)?.find('{')?;
                let body_lines = (self.line(end) - self.line(open)).saturating_sub(1);
                Some(Function {
                    name,
                    line: self.line(start),
                    body_lines,
                })
            })
            .collect()
    }
}

/// The identifiers of `code` with their byte offset.
pub(super) fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code.get(rest..)?.find(is_part)?;
        let tail = code.get(start..)?;
        let length = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        rest = start + length;
        tail.get(..length).map(|word| (start, word))
    })
}

/// The offset of the brace or semicolon that ends the item which begins at or after `start`.
fn item_end(code: &str, start: usize) -> Option<usize> {
    let (mut braces, mut brackets) = (0_u32, 0_u32);
    let rest = code.get(start..)?;
    for (offset, byte) in (start..).zip(rest.bytes()) {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => braces += 1,
            b'}' if braces <= 1 => return Some(offset),
            b'}' => braces -= 1,
            b';' if braces == 0 && brackets == 0 => return Some(offset),
            _ => {}
        }
    }
    None
}

/// Replaces comments and the contents of literals by spaces, byte for byte; line ends stay.
fn blank(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let hidden = hidden_length(rest, out.chars().next_back());
        let (token, tail) = rest.split_at(if hidden > 0 { hidden } else { first.len_utf8() });
        if hidden > 0 {
            for c in token.chars() {
                let blank = if c == '\n' { "\n" } else { " " };
                (0..c.len_utf8()).for_each(|_| out.push_str(blank));
            }
        } else {
            out.push(first);
        }
        rest = tail;
    }
    out
}

/// The length in bytes of the comment or literal that begins `text`; 0 when it begins with code.
fn hidden_length(text: &str, previous: Option<char>) -> usize {
    let in_word = previous.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return block_comment_length(text);
    }
    if text.starts_with('\'') {
        return character_length(text);
    }
    let prefix = text.len() - text.trim_start_matches(['b', 'c', 'r']).len();
    let literal = text.get(prefix..).unwrap_or_default();
    if prefix > 2 || (prefix > 0 && in_word) {
        return 0;
    }
    if text
        .get(..prefix)
        .is_some_and(|letters| letters.ends_with('r'))
    {
        return raw_string_length(literal).map_or(0, |length| prefix + length);
    }
    if literal.starts_with('"') {
        return prefix + string_length(literal);
    }
    0
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut offset = 0;
    while let Some(rest) = text.get(offset..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            offset += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            offset += 2;
            if depth == 0 {
                return offset;
            }
        } else {
            offset += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// A character literal, or 0 when the quote begins a lifetime.
fn character_length(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            let escaped = text.get(3..).and_then(|rest| rest.find('\''));
            escaped.map_or(text.len(), |offset| 3 + offset + 1)
        }
        Some(_) => match characters.next() {
            Some((offset, '\'')) => offset + 1,
            _ => 0,
        },
        None => 0,
    }
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return offset + 1,
            _ => {}
        }
    }
    text.len()
}

/// A raw string from its first `#` or quote; nothing when this is a raw identifier.
fn raw_string_length(text: &str) -> Option<usize> {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let body = text.get(hashes..)?.strip_prefix('"')?;
    let closing = format!("\"{}", "#".repeat(hashes));
    let end = body
        .find(&closing)
        .map_or(body.len(), |offset| offset + closing.len());
    Some(hashes + 1 + end)
}
