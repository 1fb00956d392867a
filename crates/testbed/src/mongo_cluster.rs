//! A replica set of real servers on loopback, for one test, one test binary or one developer.
//!
//! Owns the life of the set: start, first primary, faults of processes, end. Every server hangs on
//! a leash and dies with this process, whatever ends it. Must not know what is stored there.

mod detached;
mod node;
mod program;
mod scratch;
mod shared;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bson::{Bson, Document, doc};
use rustix::process::Signal;
use tempfile::TempDir;

pub use self::detached::Detached;
use self::detached::Process;
use self::node::Node;
pub use self::program::{PROGRAM_VARIABLE, find_program, installed_program};
pub use self::scratch::{Scratch, database_uri};
pub use self::shared::{URI_VARIABLE, shared_primary, shared_uri};
use crate::wire_proxy::WireProxy;
use crate::{Error, wire};

/// The name of every set.
const SET: &str = "abasto";
/// Until a set of three has synchronised and elected on a busy machine.
const SETTLE_LIMIT: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);
/// How often ports are chosen before a set is given up.
const PORT_CHOICES_MAX: usize = 5;
/// Short, so that tests of a lost primary are short.
const ELECTION_TIMEOUT_MS: i32 = 3000;
const HEARTBEAT_INTERVAL_MS: i32 = 500;

/// A running replica set; dropping it kills the servers and removes their files.
#[derive(Debug)]
pub struct MongoCluster {
    nodes: Vec<Node>,
    proxies: Vec<WireProxy>,
    /// After the nodes, which use it.
    directory: Option<TempDir>,
}

/// Which ports the servers listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// Whatever the system has free.
    Free,
    /// This one and those after it.
    From(u16),
}

/// What a set looks like to its clients and to its own members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Each member is known by the port it listens on.
    Direct,
    /// Each member is known by the port of a [`WireProxy`] before it, so that the wires between
    /// members can be broken as well as those to clients.
    Proxied,
}

/// A set to be started: `Plan { nodes: 3, ..Plan::default() }.start()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How many servers.
    pub nodes: usize,
    /// Where they listen.
    pub ports: Ports,
    /// How they are known.
    pub face: Face,
    /// The server program; [`find_program`] looks for one when this names none.
    pub program: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            nodes: 1,
            ports: Ports::Free,
            face: Face::Direct,
            program: None,
        }
    }
}

impl Plan {
    /// Starts the set and waits until all its members are in service.
    ///
    /// # Errors
    /// When there is no server program, or the set does not come up.
    pub fn start(self) -> Result<MongoCluster, Error> {
        let program = self.program.clone().map_or_else(find_program, Ok)?;
        // Between the choice of a free port and its use, any other program may take it.
        for _ in 1..PORT_CHOICES_MAX {
            match self.attempt(&program) {
                Err(Error::PortTaken { .. }) if self.ports == Ports::Free => {}
                started => return started,
            }
        }
        self.attempt(&program)
    }

    fn attempt(&self, program: &Path) -> Result<MongoCluster, Error> {
        let directory = tempfile::Builder::new().prefix("abasto-mongo-").tempdir();
        let directory = directory.map_err(Error::io("make a folder for a set"))?;
        let files = directory.path().to_owned();
        let (nodes, proxies) = (Vec::new(), Vec::new());
        let mut set = MongoCluster {
            nodes,
            proxies,
            directory: Some(directory),
        };
        for (index, port) in choose(self.nodes, self.ports)?.into_iter().enumerate() {
            let mut node = Node::new(program, files.join(index.to_string()), SET, port);
            node.spawn()?;
            set.nodes.push(node);
        }
        if self.face == Face::Proxied {
            let proxies = set
                .nodes
                .iter()
                .map(|node| WireProxy::start(node.address()));
            set.proxies = proxies.collect::<Result<_, _>>()?;
        }
        set.initiate()?;
        Ok(set)
    }
}

impl MongoCluster {
    /// A set of `nodes` servers with a primary, all of them in service.
    ///
    /// # Errors
    /// When there is no server program, or the set does not come up.
    pub fn start(nodes: usize) -> Result<Self, Error> {
        Plan {
            nodes,
            ..Plan::default()
        }
        .start()
    }

    fn initiate(&self) -> Result<(), Error> {
        for node in &self.nodes {
            node.wait_answering()?;
        }
        let members = (0_i32..).zip(self.members());
        let members: Vec<_> = members
            .map(|(id, address)| Bson::Document(doc! { "_id": id, "host": address.to_string() }))
            .collect();
        let settings = doc! {
            "electionTimeoutMillis": ELECTION_TIMEOUT_MS,
            "heartbeatIntervalMillis": HEARTBEAT_INTERVAL_MS,
        };
        let config = doc! { "_id": SET, "version": 1, "members": members, "settings": settings };
        self.on(0, doc! { "replSetInitiate": config })?;
        self.settle()
    }

    /// Waits until one member is the primary and all others follow it.
    ///
    /// # Errors
    /// When that takes longer than 90 s.
    pub fn settle(&self) -> Result<(), Error> {
        wait("settled", SETTLE_LIMIT, || {
            let states = self.states();
            let count = |state| states.iter().filter(|other| **other == state).count();
            if count(PRIMARY) == 0 && count(SECONDARY) == self.nodes.len() {
                // The first election would wait for its whole timeout.
                let _asked = self.on(0, doc! { "replSetStepUp": 1 });
            }
            let followed = count(SECONDARY) + 1 == self.nodes.len();
            // A new primary takes writes only when it has caught up with its past.
            self.primary().filter(|_| followed).map(drop)
        })
    }

    /// The state of each member as itself sees it; -1 when it does not answer.
    fn states(&self) -> Vec<i32> {
        let ask = |node: &Node| {
            let status = wire::admin(node.address(), doc! { "replSetGetStatus": 1 })?;
            status
                .get_i32("myState")
                .map_err(|error| Error::NotWire(error.to_string()))
        };
        self.nodes
            .iter()
            .map(|node| ask(node).unwrap_or(-1))
            .collect()
    }

    /// The connection string of the whole set.
    #[must_use]
    pub fn uri(&self) -> String {
        let members: Vec<_> = self.members().map(|address| address.to_string()).collect();
        format!("mongodb://{}/?replicaSet={SET}", members.join(","))
    }

    /// The addresses by which the members know each other.
    pub fn members(&self) -> impl Iterator<Item = SocketAddr> {
        let direct = self.nodes.iter().map(Node::address);
        let proxied = self.proxies.iter().map(WireProxy::address);
        // One of the two is empty or has them all.
        proxied.chain(direct).take(self.nodes.len())
    }

    /// The proxies before the members, in their order; none when the set is direct.
    #[must_use]
    pub fn proxies(&self) -> &[WireProxy] {
        &self.proxies
    }

    /// The address that node `n` itself listens on.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn address(&self, n: usize) -> Result<SocketAddr, Error> {
        self.nodes
            .get(n)
            .map(Node::address)
            .ok_or(Error::NoSuchNode(n))
    }

    /// The number of the node that takes writes now.
    #[must_use]
    pub fn primary(&self) -> Option<usize> {
        self.nodes
            .iter()
            .position(|node| wire::is_primary(node.address()))
    }

    /// Waits until a node takes writes, and gives its number.
    ///
    /// # Errors
    /// When none does within 90 s.
    pub fn wait_primary(&self) -> Result<usize, Error> {
        wait("elected a primary", SETTLE_LIMIT, || self.primary())
    }

    /// Sends an administrative command to node `n`.
    ///
    /// # Errors
    /// When there is no such node, or it refuses or does not answer.
    pub fn on(&self, n: usize, command: Document) -> Result<Document, Error> {
        wire::admin(self.address(n)?, command)
    }

    /// Ends node `n` at once (SIGKILL), as a power cut would. Its files stay.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn kill(&mut self, n: usize) -> Result<(), Error> {
        self.nodes.get_mut(n).ok_or(Error::NoSuchNode(n))?.kill()
    }

    /// Starts a killed node on its old files and waits until it answers.
    ///
    /// # Errors
    /// When there is no such node or it does not come up.
    pub fn restart(&mut self, n: usize) -> Result<(), Error> {
        let node = self.nodes.get_mut(n).ok_or(Error::NoSuchNode(n))?;
        node.spawn()?;
        node.wait_answering()
    }

    /// Stops node `n` in its tracks (SIGSTOP): its sockets stay open and silent.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn freeze(&self, n: usize) -> Result<(), Error> {
        self.nodes
            .get(n)
            .ok_or(Error::NoSuchNode(n))?
            .signal(Signal::STOP)
    }

    /// Lets a frozen node go on (SIGCONT).
    ///
    /// # Errors
    /// When there is no such node.
    pub fn thaw(&self, n: usize) -> Result<(), Error> {
        self.nodes
            .get(n)
            .ok_or(Error::NoSuchNode(n))?
            .signal(Signal::CONT)
    }

    /// Asks the primary to stand back for ten seconds; it must find a successor first.
    ///
    /// # Errors
    /// When there is no primary or nobody can succeed it.
    pub fn step_down(&self) -> Result<(), Error> {
        let primary = self.wait_primary()?;
        let asked = doc! { "replSetStepDown": 10, "secondaryCatchUpPeriodSecs": 5 };
        match self.on(primary, asked) {
            // It lost its place while it waited for the others: stepped down all the same.
            Err(Error::Refused { code: 189, .. }) => Ok(()),
            done => done.map(drop),
        }
    }

    /// Takes the servers off their leash: they live on when this process ends.
    ///
    /// # Errors
    /// When a server cannot be let go; those that were are killed no more.
    pub fn detach(mut self) -> Result<Detached, Error> {
        let uri = self.uri();
        let mut processes = Vec::new();
        for node in &mut self.nodes {
            processes.extend(node.detach()?.and_then(Process::living));
        }
        let directory = self.directory.take().map(TempDir::keep).unwrap_or_default();
        Ok(Detached {
            uri,
            directory,
            processes,
        })
    }

    /// The folder that holds the files of all servers.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_ref().map(TempDir::path)
    }
}

const PRIMARY: i32 = 1;
const SECONDARY: i32 = 2;

/// Ports for `nodes` servers, all different.
fn choose(nodes: usize, ports: Ports) -> Result<Vec<u16>, Error> {
    if let Ports::From(first) = ports {
        return Ok((first..=u16::MAX).take(nodes).collect());
    }
    let reserve = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let reserved = (0..nodes).map(reserve).collect::<Result<Vec<_>, _>>();
    let reserved = reserved.map_err(Error::io("reserve a port"))?;
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let chosen = reserved.iter().map(port).collect::<Result<_, _>>();
    chosen.map_err(Error::io("reserve a port"))
}

/// Looks again and again until there is something to be found, or until the limit.
fn wait<T>(
    awaited: &'static str,
    limit: Duration,
    mut look: impl FnMut() -> Option<T>,
) -> Result<T, Error> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if Instant::now() > deadline {
            return Err(Error::NotSettled {
                awaited,
                seconds: limit.as_secs(),
            });
        }
        std::thread::sleep(POLL);
    }
}
