//! Lines of a file, plain or gzip, each within a bound.
//!
//! Owns reading. Must not know what a line holds.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::exit::{During, Exit, Failure};

/// Longest line in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// A reader of a file; gzip is recognised by its first bytes. `-` is stdin.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Failure> {
    let raw: Box<dyn Read + Send> = if path.as_os_str() == "-" {
        Box::new(io::stdin())
    } else {
        let file = File::open(path);
        Box::new(file.during(|| format!("cannot open {}", path.display()))?)
    };
    let mut raw = BufReader::with_capacity(64 * 1024, raw);
    let head = raw.fill_buf();
    let head = head.during(|| format!("cannot read {}", path.display()))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        Ok(Box::new(BufReader::new(MultiGzDecoder::new(raw))))
    } else {
        Ok(Box::new(raw))
    }
}

/// Lines with their number, counted from 1; empty ones are left out.
pub(crate) struct Lines {
    reader: Box<dyn BufRead + Send>,
    number: u64,
}

impl Lines {
    /// The lines of a file.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            reader: open(path)?,
            number: 0,
        })
    }

    fn read(&mut self) -> Result<Option<(u64, String)>, Failure> {
        loop {
            let mut line = String::new();
            self.number += 1;
            let mut bounded = (&mut self.reader).take(LINE_BYTES_MAX);
            let read = bounded.read_line(&mut line);
            if read.during(|| format!("line {}", self.number))? == 0 {
                return Ok(None);
            }
            if !line.ends_with('\n') && line.len() as u64 >= LINE_BYTES_MAX {
                let what = format!("line {} is longer than 1 MiB", self.number);
                return Err(Failure::new(Exit::Failure, what));
            }
            let text = line.trim();
            if !text.is_empty() {
                return Ok(Some((self.number, text.to_owned())));
            }
        }
    }
}

impl Iterator for Lines {
    type Item = Result<(u64, String), Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::Lines;

    fn read(bytes: &[u8]) -> Vec<Result<(u64, String), String>> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(bytes).expect("written");
        let lines = Lines::open(file.path()).expect("open");
        lines
            .map(|line| line.map_err(|failure| failure.message().unwrap_or_default().to_owned()))
            .take(10)
            .collect()
    }

    fn line(number: u64, text: &str) -> Result<(u64, String), String> {
        Ok((number, text.to_owned()))
    }

    #[test]
    fn plain_and_gzip_read_the_same() {
        let text = b"a\n\n b \r\nc";
        let wanted = [line(1, "a"), line(3, "b"), line(4, "c")];
        assert_eq!(read(text), wanted);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text).expect("packed");
        assert_eq!(read(&packed.finish().expect("packed")), wanted);
    }

    #[test]
    fn a_line_has_a_bound() {
        let long = vec![b'x'; 1 << 20];
        let said = read(&long).remove(0).expect_err("too long");
        assert_eq!(said, "line 1 is longer than 1 MiB");
    }

    #[test]
    fn a_torn_gzip_is_said() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&[b'x'; 1000]).expect("packed");
        let whole = packed.finish().expect("packed");
        let torn = read(&whole[..whole.len() - 8]);
        assert!(torn.iter().any(Result::is_err), "{torn:?}");
    }
}
