//! Lines of a streamed body, each of bounded length.
//!
//! Owns the cutting, also where quoted cells of CSV hold line ends. A line that is too long is
//! passed over as a whole, so that the next is whole. Must not know what a line means.

use axum::body::{Body, BodyDataStream};
use bytes::{Buf, Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::body::BODY_PAUSE_MAX;

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What comes next in a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Bytes),
    /// A line that was longer than allowed.
    TooLong,
    /// The sender went away in the middle.
    Broken,
    /// The sender paused for too long.
    TooSlow,
    /// Nothing more.
    End,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Every LF.
    Anywhere,
    /// Every LF that is not inside a quoted cell of CSV.
    OutsideQuotes,
}

/// Cuts a body into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    body: BodyDataStream,
    kept: BytesMut,
    bytes_max: usize,
    ends: Ends,
    /// Whether the mark that some programs begin a file with was looked for.
    begun: bool,
    ended: bool,
    /// Whether the rest of a line that was too long is being passed over.
    skipping: bool,
}

impl Lines {
    pub(crate) fn new(body: Body, bytes_max: usize, ends: Ends) -> Self {
        Self {
            body: body.into_data_stream(),
            kept: BytesMut::new(),
            bytes_max,
            ends,
            begun: false,
            ended: false,
            skipping: false,
        }
    }

    pub(crate) async fn next(&mut self) -> Line {
        loop {
            if let Some(line) = self.take() {
                return line;
            }
            if self.ended {
                return Line::End;
            }
            match timeout(BODY_PAUSE_MAX, self.body.next()).await {
                Ok(Some(Ok(bytes))) => self.kept.extend_from_slice(&bytes),
                Ok(Some(Err(_))) => return self.broken(Line::Broken),
                Err(_) => return self.broken(Line::TooSlow),
                Ok(None) => self.ended = true,
            }
        }
    }

    fn broken(&mut self, why: Line) -> Line {
        self.ended = true;
        self.skipping = false;
        self.kept.clear();
        why
    }

    /// The next line of what was received, when it is whole.
    fn take(&mut self) -> Option<Line> {
        if !self.begun && (self.ended || self.kept.len() >= MARK.len()) {
            self.begun = true;
            let marked = self.kept.starts_with(MARK);
            self.kept.advance(if marked { MARK.len() } else { 0 });
        }
        let end = match self.ends {
            Ends::OutsideQuotes if !self.skipping => end_outside_quotes(&self.kept),
            _ => self.kept.iter().position(|byte| *byte == b'\n'),
        };
        match end {
            Some(end) => {
                let line = self.kept.split_to(end);
                self.kept.advance(1);
                Some(self.line(line))
            }
            None if self.ended && (self.skipping || !self.kept.is_empty()) => {
                let line = self.kept.split();
                Some(self.line(line))
            }
            None => {
                if self.kept.len() > self.bytes_max {
                    self.skipping = true;
                    self.kept.clear();
                }
                None
            }
        }
    }

    fn line(&mut self, line: BytesMut) -> Line {
        let too_long = std::mem::take(&mut self.skipping) || line.len() > self.bytes_max;
        if too_long {
            return Line::TooLong;
        }
        let line = line.freeze();
        let end = line.len() - usize::from(line.ends_with(b"\r"));
        Line::Text(line.slice(..end))
    }
}

/// Where the first LF outside of quoted cells is. A quote opens a cell only at its beginning.
fn end_outside_quotes(bytes: &[u8]) -> Option<usize> {
    let (mut quoted, mut at_start) = (false, true);
    bytes.iter().position(|byte| {
        let opens = *byte == b'"' && (quoted || at_start);
        // Inside quotes a doubled quote closes and opens again.
        quoted ^= opens;
        at_start = matches!(byte, b',' | b'"') && !quoted && (*byte == b',' || opens);
        *byte == b'\n' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn cut(chunks: &[&'static str]) -> Vec<Line> {
        cut_at(Ends::Anywhere, chunks).await
    }

    async fn cut_at(ends: Ends, chunks: &[&'static str]) -> Vec<Line> {
        let chunks: Vec<Result<Bytes, std::io::Error>> =
            chunks.iter().map(|chunk| Ok((*chunk).into())).collect();
        let mut lines = Lines::new(Body::from_stream(stream::iter(chunks)), 8, ends);
        let mut cut = Vec::new();
        loop {
            match lines.next().await {
                Line::End => return cut,
                line => cut.push(line),
            }
        }
    }

    #[tokio::test]
    async fn lines_are_whole_however_the_body_arrives() {
        let text = |text: &'static str| Line::Text(text.into());
        assert_eq!(
            cut(&["a\r\nbb\n", "c", "c\n", "\nd"]).await,
            [text("a"), text("bb"), text("cc"), text(""), text("d")]
        );
        assert_eq!(cut(&[]).await, []);
        assert_eq!(cut(&["a\n"]).await, [text("a")]);
    }

    #[tokio::test]
    async fn the_mark_at_the_beginning_is_no_text() {
        let text = |text: &'static str| Line::Text(text.into());
        for chunks in [&["\u{feff}a\nb"][..], &["\u{feff}", "a\nb"]] {
            assert_eq!(cut(chunks).await, [text("a"), text("b")]);
        }
        assert_eq!(cut(&["a\n\u{feff}b"]).await, [text("a"), text("\u{feff}b")]);
        assert_eq!(cut(&["\u{feff}"]).await, []);
    }

    #[tokio::test]
    async fn quoted_cells_may_hold_line_ends() {
        let text = |text: &'static str| Line::Text(text.into());
        for (whole, lines) in [
            ("a,\"b\nc\"\nd", vec![text("a,\"b\nc\""), text("d")]),
            ("\"a\n\"\"\"\nd", vec![text("\"a\n\"\"\""), text("d")]),
            ("19\",a\nd", vec![text("19\",a"), text("d")]),
            ("a,\"\"\nd", vec![text("a,\"\""), text("d")]),
        ] {
            assert_eq!(
                cut_at(Ends::OutsideQuotes, &[whole]).await,
                lines,
                "{whole}"
            );
        }
        // A quote that is never closed costs one line that is too long, not all that follows.
        let open = cut_at(Ends::OutsideQuotes, &["a,\"b\nccccccc\n", "d\ne"]).await;
        assert_eq!(open, [Line::TooLong, text("e")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_does_not_hurt_the_next() {
        let chunks = ["123456789", "0\n12345678\n123456789\nab\n", "1234567890"];
        assert_eq!(
            cut(&chunks).await,
            [
                Line::TooLong,
                Line::Text("12345678".into()),
                Line::TooLong,
                Line::Text("ab".into()),
                Line::TooLong,
            ]
        );
    }
}
