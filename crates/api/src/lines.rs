//! Lines of a streamed body, each of bounded length.
//!
//! Owns the cutting. A line that is too long is passed over as a whole, so that the next is whole.
//! Must not know what a line holds.

use axum::body::{Body, BodyDataStream};
use bytes::{Buf, Bytes, BytesMut};
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::body::BODY_PAUSE_MAX;

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

/// Cuts a body into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    body: BodyDataStream,
    kept: BytesMut,
    bytes_max: usize,
    ended: bool,
    /// Whether the rest of a line that was too long is being passed over.
    skipping: bool,
}

impl Lines {
    pub(crate) fn new(body: Body, bytes_max: usize) -> Self {
        Self {
            body: body.into_data_stream(),
            kept: BytesMut::new(),
            bytes_max,
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
        let end = self.kept.iter().position(|byte| *byte == b'\n');
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

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn cut(chunks: &[&'static str]) -> Vec<Line> {
        let chunks: Vec<Result<Bytes, std::io::Error>> =
            chunks.iter().map(|chunk| Ok((*chunk).into())).collect();
        let mut lines = Lines::new(Body::from_stream(stream::iter(chunks)), 8);
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
