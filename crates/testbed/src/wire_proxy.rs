//! A TCP proxy that understands the frames of the wire protocol and breaks them on command.
//!
//! Owns its listener, the script of faults and the state of the link. A fault is named by the
//! command that it strikes, the way the frame goes and the occurrence, so that a test says exactly
//! what is lost. Must not know what the commands mean.
//!
//! ```no_run
//! use abasto_testbed::wire_proxy::{Fault, Rule, WireProxy};
//!
//! # fn main() -> Result<(), abasto_testbed::Error> {
//! let proxy = WireProxy::start(([127, 0, 0, 1], 27017).into())?;
//! // The second commit is carried out, and its answer is lost.
//! let lost = proxy.script(Rule::reply("commitTransaction", Fault::Drop).skip(1));
//! let client = proxy.uri();
//! assert_eq!(lost.fired(), 0);
//! # Ok(())
//! # }
//! ```

mod link;
mod pump;
mod script;

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use self::link::Link;
use self::link::State;
use self::pump::Pair;
pub use self::script::{Fault, Rule, Way};
use crate::Error;

/// How long the server may take to accept.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// A running proxy before one server; dropping it cuts every connection.
#[derive(Debug)]
pub struct WireProxy {
    address: SocketAddr,
    state: Arc<State>,
    listener: Option<JoinHandle<()>>,
}

/// A rule that was given to a proxy: tells how often it has struck.
#[derive(Debug)]
pub struct Scripted {
    state: Arc<State>,
    index: usize,
}

impl WireProxy {
    /// Listens on a free port of loopback and forwards to `server`, which need not run yet.
    ///
    /// # Errors
    /// When no port or thread is to be had.
    pub fn start(server: SocketAddr) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.map_err(Error::io("listen for a proxy"))?;
        let address = listener
            .local_addr()
            .map_err(Error::io("listen for a proxy"))?;
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let listen = move || {
            for client in listener.incoming().map_while(Result::ok) {
                if !shared.accepts() {
                    break;
                }
                // A refused or unreachable client sees its connection close.
                drop(accept(client, server, &shared));
            }
        };
        let thread = thread::Builder::new()
            .name("wire-proxy".into())
            .spawn(listen);
        let listener = Some(thread.map_err(Error::io("start the thread of a proxy"))?);
        Ok(Self {
            address,
            state,
            listener,
        })
    }

    /// Where clients, or other members of the set, reach the server through this proxy.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The connection string of this one server.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("mongodb://{}/?directConnection=true", self.address)
    }

    /// Adds a rule; the first rule that matches a frame decides about it.
    pub fn script(&self, rule: Rule) -> Scripted {
        Scripted {
            index: self.state.add(rule),
            state: Arc::clone(&self.state),
        }
    }

    /// Forgets all rules; what they have broken stays broken.
    pub fn clear(&self) {
        self.state.clear();
    }

    /// Opens, silences or cuts the whole wire.
    pub fn set_link(&self, link: Link) {
        self.state.set_link(link);
    }

    /// How many requests with this command have arrived from clients.
    #[must_use]
    pub fn seen(&self, command: &str) -> u64 {
        self.state.seen(command)
    }
}

impl Drop for WireProxy {
    fn drop(&mut self) {
        self.state.end();
        // Wakes the thread that waits for a client; if it is gone already nobody answers.
        drop(TcpStream::connect_timeout(&self.address, CONNECT_LIMIT));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

impl Scripted {
    /// How many frames the rule has struck.
    #[must_use]
    pub fn fired(&self) -> u32 {
        self.state.fired(self.index)
    }

    /// Waits until the rule has struck `times` frames.
    ///
    /// # Errors
    /// When it has not within `limit`.
    pub fn wait(&self, times: u32, limit: Duration) -> Result<(), Error> {
        self.state.wait_fired(self.index, times, limit)
    }
}

fn accept(client: TcpStream, server: SocketAddr, state: &Arc<State>) -> Result<(), Error> {
    if state.link() == Link::Cut {
        return Ok(());
    }
    let server = TcpStream::connect_timeout(&server, CONNECT_LIMIT);
    let server = server.map_err(Error::io("reach the server behind a proxy"))?;
    Pair::start(client, server, state)
}
