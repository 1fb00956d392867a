//! Frames of the MongoDB wire protocol, and the smallest client that can send a command.
//!
//! Owns how a frame is read, whom it answers and which command it carries. Must not know sessions,
//! retries or pools: where those are wanted, the driver is used.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bson::{Document, doc};

use crate::Error;

/// The protocol's own limit (48 000 000 bytes) with room for the header.
const FRAME_BYTES: usize = 48 * 1024 * 1024;
const HEADER_BYTES: usize = 16;
const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;
/// The flag of a message that wants no answer, or of an answer that more will follow.
const MORE_TO_COME: i32 = 1 << 1;

/// One message, header included.
#[derive(Debug)]
pub struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    /// Reads the next frame; nothing at a clean end of the stream.
    ///
    /// # Errors
    /// When the stream breaks, ends inside a frame, or carries something else than frames.
    pub fn read(from: &mut impl Read) -> Result<Option<Self>, Error> {
        let mut header = [0; HEADER_BYTES];
        if let Err(error) = from.read_exact(&mut header) {
            return match error.kind() {
                io::ErrorKind::UnexpectedEof => Ok(None),
                _ => Err(Error::Io {
                    doing: "read a frame",
                    source: error,
                }),
            };
        }
        let length = usize::try_from(number(&header, 0)).unwrap_or(0);
        if !(HEADER_BYTES..=FRAME_BYTES).contains(&length) {
            return Err(Error::NotWire(format!("a frame of {length} bytes")));
        }
        let mut bytes = header.to_vec();
        bytes.resize(length, 0);
        let rest = bytes.get_mut(HEADER_BYTES..).unwrap_or_default();
        from.read_exact(rest)
            .map_err(Error::io("read the rest of a frame"))?;
        Ok(Some(Self { bytes }))
    }

    /// A message that carries one command.
    ///
    /// # Errors
    /// When the document cannot be written as BSON.
    pub fn message(request_id: i32, body: &Document) -> Result<Self, Error> {
        let body = body
            .to_vec()
            .map_err(|error| Error::NotWire(error.to_string()))?;
        let length = HEADER_BYTES + 5 + body.len();
        let length_field = i32::try_from(length)
            .map_err(|_| Error::NotWire(format!("a frame of {length} bytes")))?;
        let mut bytes = Vec::with_capacity(length);
        for field in [length_field, request_id, 0, OP_MSG, 0] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.push(0);
        bytes.extend_from_slice(&body);
        Ok(Self { bytes })
    }

    /// All bytes, header included.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number that its sender gave it.
    #[must_use]
    pub fn request_id(&self) -> i32 {
        number(&self.bytes, 4)
    }

    /// The number of the frame that it answers; 0 in a request.
    #[must_use]
    pub fn response_to(&self) -> i32 {
        number(&self.bytes, 8)
    }

    /// In a request: no answer is wanted. In an answer: another one follows by itself.
    #[must_use]
    pub fn more_to_come(&self) -> bool {
        self.operation() == OP_MSG && number(&self.bytes, HEADER_BYTES) & MORE_TO_COME != 0
    }

    /// The name of the command that a request carries.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        let body = self.body()?;
        // Length of the document, type of the first element, then its name.
        let name = body.get(5..)?;
        let end = name.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(name.get(..end)?).ok()
    }

    /// The document of a message or an answer.
    ///
    /// # Errors
    /// When the frame is of another kind or the document is broken.
    pub fn document(&self) -> Result<Document, Error> {
        let body = self
            .body()
            .ok_or_else(|| Error::NotWire("a frame without a document".into()))?;
        Document::from_reader(body).map_err(|error| Error::NotWire(error.to_string()))
    }

    fn operation(&self) -> i32 {
        number(&self.bytes, 12)
    }

    /// The bytes from the main document on.
    fn body(&self) -> Option<&[u8]> {
        match self.operation() {
            OP_MSG => body_section(self.bytes.get(HEADER_BYTES + 4..)?),
            OP_QUERY => {
                let name = self.bytes.get(HEADER_BYTES + 4..)?;
                let end = name.iter().position(|byte| *byte == 0)?;
                name.get(end + 9..)
            }
            _ => None,
        }
    }
}

/// The section of kind 0, which may stand after sequences of documents (kind 1).
fn body_section(mut sections: &[u8]) -> Option<&[u8]> {
    loop {
        let (kind, rest) = sections.split_first()?;
        if *kind == 0 {
            return Some(rest);
        }
        let length = usize::try_from(number(rest, 0))
            .ok()
            .filter(|length| *length >= 4)?;
        sections = rest.get(length..)?;
    }
}

/// The little-endian number at `offset`; 0 past the end.
fn number(bytes: &[u8], offset: usize) -> i32 {
    let field = bytes
        .get(offset..offset + 4)
        .and_then(|field| field.try_into().ok());
    i32::from_le_bytes(field.unwrap_or_default())
}

/// One connection to one server, one command at a time.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    last_id: i32,
}

impl Connection {
    /// Connects; every later wait is bounded by `limit` too.
    ///
    /// # Errors
    /// When nobody answers in time.
    pub fn open(address: SocketAddr, limit: Duration) -> Result<Self, Error> {
        let connect = || {
            let stream = TcpStream::connect_timeout(&address, limit)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            Ok(stream)
        };
        let stream = connect().map_err(Error::io("connect to a mongod"))?;
        Ok(Self { stream, last_id: 0 })
    }

    /// Sends one command to a database and gives the server's answer.
    ///
    /// # Errors
    /// When the wire breaks, the wait is over, or the server refuses the command.
    pub fn run(&mut self, database: &str, mut command: Document) -> Result<Document, Error> {
        let name = command.keys().next().cloned().unwrap_or_default();
        command.insert("$db", database);
        self.last_id = self.last_id.wrapping_add(1);
        let request = Frame::message(self.last_id, &command)?;
        self.stream
            .write_all(request.bytes())
            .map_err(Error::io("send a command"))?;
        let answer = Frame::read(&mut self.stream)?
            .ok_or_else(|| Error::NotWire(format!("{name}: the server hung up")))?
            .document()?;
        if answer.get_f64("ok").is_ok_and(|ok| ok > 0.0) {
            return Ok(answer);
        }
        Err(Error::Refused {
            command: name,
            code: answer.get_i32("code").unwrap_or(0),
            message: answer.get_str("errmsg").unwrap_or_default().to_owned(),
        })
    }
}

/// Sends one command to the `admin` database of one server.
///
/// # Errors
/// As [`Connection::open`] and [`Connection::run`].
pub fn admin(address: SocketAddr, command: Document) -> Result<Document, Error> {
    Connection::open(address, ADMIN_LIMIT)?.run("admin", command)
}

/// Whether the server at `address` takes writes now; a dead or frozen one does not.
#[must_use]
pub fn is_primary(address: SocketAddr) -> bool {
    let hello = Connection::open(address, HELLO_LIMIT)
        .and_then(|mut connection| connection.run("admin", doc! { "hello": 1 }));
    hello.is_ok_and(|hello| hello.get_bool("isWritablePrimary").unwrap_or(false))
}

/// A frozen server must not hold up the look at its neighbours.
const HELLO_LIMIT: Duration = Duration::from_millis(500);
const ADMIN_LIMIT: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    //! Frames are read as they were written, and nonsense is refused within bounds.

    use super::*;

    #[test]
    fn a_message_reads_back() {
        let frame = Frame::message(7, &doc! { "ping": 1, "$db": "admin" }).unwrap();
        let read = Frame::read(&mut frame.bytes()).unwrap().unwrap();
        assert_eq!(
            (read.request_id(), read.response_to(), read.more_to_come()),
            (7, 0, false)
        );
        assert_eq!(read.command(), Some("ping"));
        assert_eq!(read.document().unwrap().get_str("$db").unwrap(), "admin");
    }

    #[test]
    fn a_body_after_a_document_sequence_is_found() {
        let message = Frame::message(1, &doc! { "insert": "a" }).unwrap();
        let mut bytes = message.bytes().to_vec();
        let sequence = [&[1][..], &9_i32.to_le_bytes(), b"docs\0"].concat();
        bytes.splice(HEADER_BYTES + 4..HEADER_BYTES + 4, sequence);
        assert_eq!(Frame { bytes }.command(), Some("insert"));
    }

    #[test]
    fn a_legacy_query_names_its_command() {
        let body = doc! { "isMaster": 1 }.to_vec().unwrap();
        let head = [0_i32, 1, 0, OP_QUERY, 0].map(i32::to_le_bytes).concat();
        let bytes = [&head[..], b"admin.$cmd\0", &[0; 8], &body].concat();
        assert_eq!(Frame { bytes }.command(), Some("isMaster"));
    }

    #[test]
    fn nonsense_is_refused_before_it_is_allocated() {
        for length in [i32::MAX, -1, 0, 15] {
            let header = [length, 0, 0, OP_MSG].map(i32::to_le_bytes).concat();
            assert!(matches!(
                Frame::read(&mut header.as_slice()),
                Err(Error::NotWire(_))
            ));
        }
        assert!(Frame::read(&mut [0_u8; 3].as_slice()).unwrap().is_none());
        for cut in 0..30 {
            let frame = Frame {
                bytes: vec![0xff; cut],
            };
            assert_eq!(frame.command(), None);
        }
    }
}
