//! One connection through a proxy: two threads that move frames, and the faults done to them.
//!
//! Owns both sockets and how they end. They are shut down before they are closed: closing a socket
//! that another thread reads would leave the peer waiting for ever. Must not decide which frame is
//! struck.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::link::State;
use super::script::{Fault, Way};
use crate::Error;
use crate::wire::Frame;

/// The two sockets of one connection.
#[derive(Debug)]
pub(super) struct Pair {
    client: TcpStream,
    server: TcpStream,
    /// The command of each request that waits for its answer, by the request's number.
    asked: Mutex<HashMap<i32, String>>,
    /// The way of a frame that was cut short: its receiver is to see a reset.
    reset: OnceLock<Way>,
}

/// Whether the way goes on after a frame.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Frame,
    Close,
}

impl Pair {
    /// Moves frames between the two until one end closes.
    pub(super) fn start(
        client: TcpStream,
        server: TcpStream,
        state: &Arc<State>,
    ) -> Result<(), Error> {
        for socket in [&client, &server] {
            socket
                .set_nodelay(true)
                .map_err(Error::io("prepare a socket of a proxy"))?;
        }
        let (asked, reset) = (Mutex::default(), OnceLock::new());
        let pair = Arc::new(Self {
            client,
            server,
            asked,
            reset,
        });
        if !state.register(&pair) {
            return Ok(());
        }
        for way in [Way::Request, Way::Reply] {
            let (mover, state) = (Arc::clone(&pair), Arc::clone(state));
            let work = move || {
                // An end that went away is no news: the other end learns it by the close.
                drop(mover.pump(way, &state));
                mover.close();
            };
            let thread = thread::Builder::new().name("wire-pump".into()).spawn(work);
            if let Err(error) = thread {
                pair.close();
                return Err(Error::io("start a thread of a proxy")(error));
            }
        }
        Ok(())
    }

    /// Ends both sockets and wakes the threads that wait on them.
    pub(super) fn close(&self) {
        for way in [Way::Request, Way::Reply] {
            let (_, receiver) = self.ends(way);
            // Shutting down the whole socket would say a polite goodbye before the reset.
            let how = match self.reset.get() {
                Some(cut) if *cut == way => Shutdown::Read,
                _ => Shutdown::Both,
            };
            // A socket that is closed already has reached what is wanted.
            drop(receiver.shutdown(how));
        }
    }

    /// Where the frames of one way come from and go to.
    fn ends(&self, way: Way) -> (&TcpStream, &TcpStream) {
        match way {
            Way::Request => (&self.client, &self.server),
            Way::Reply => (&self.server, &self.client),
        }
    }

    /// Moves the frames of one way.
    fn pump(&self, way: Way, state: &State) -> Result<(), Error> {
        let (mut from, _) = self.ends(way);
        while let Some(frame) = Frame::read(&mut from)? {
            let command = self.command(way, &frame);
            let fault = state.decide(way, &command);
            state.wait_audible();
            if self.deliver(way, &frame, fault, state)? == Next::Close {
                break;
            }
        }
        Ok(())
    }

    /// The command of a request, or of the request that a reply answers.
    fn command(&self, way: Way, frame: &Frame) -> String {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (command, awaited) = match way {
            Way::Request => {
                let command = frame.command().unwrap_or_default().to_owned();
                (command, !frame.more_to_come())
            }
            // The answer that follows by itself answers this answer.
            Way::Reply => (
                asked.remove(&frame.response_to()).unwrap_or_default(),
                frame.more_to_come(),
            ),
        };
        if awaited {
            asked.insert(frame.request_id(), command.clone());
        }
        command
    }

    fn deliver(
        &self,
        way: Way,
        frame: &Frame,
        fault: Option<Fault>,
        state: &State,
    ) -> Result<Next, Error> {
        let (_, mut to) = self.ends(way);
        let bytes = frame.bytes();
        let mut write = |bytes: &[u8]| to.write_all(bytes).map_err(Error::io("forward a frame"));
        match fault {
            None => write(bytes)?,
            Some(Fault::Drop) => return Ok(Next::Close),
            Some(Fault::BlackHole) => {
                self.swallow(way)?;
                return Ok(Next::Close);
            }
            Some(Fault::Delay(length)) => {
                state.pause(length);
                write(bytes)?;
            }
            Some(Fault::ResetAfter { bytes: count }) => {
                write(bytes.get(..count).unwrap_or(bytes))?;
                self.arm_reset(way)?;
                return Ok(Next::Close);
            }
            Some(Fault::Halves(length)) => {
                let (first, second) = bytes.split_at(bytes.len() / 2);
                write(first)?;
                state.pause(length);
                write(second)?;
            }
        }
        Ok(Next::Frame)
    }

    /// Takes whatever still comes and delivers none of it.
    fn swallow(&self, way: Way) -> Result<(), Error> {
        let (mut from, _) = self.ends(way);
        let swallowed = io::copy(&mut from, &mut io::sink());
        swallowed.map(drop).map_err(Error::io("swallow frames"))
    }

    /// Makes the coming close of the receiver's socket a reset.
    fn arm_reset(&self, way: Way) -> Result<(), Error> {
        let (_, to) = self.ends(way);
        let armed = set_socket_linger(to, Some(Duration::ZERO));
        // Only the first cut can be seen.
        self.reset.get_or_init(|| way);
        armed.map_err(|error| Error::io("arm a reset")(error.into()))
    }
}
