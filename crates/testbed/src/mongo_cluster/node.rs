//! One server process: started on a leash, killed, frozen, started again.
//!
//! Owns the process and its folder. Must not know of replica sets.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use bson::doc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::{Error, wire};

/// A shell that holds the server: when the pipe from us closes, however we end, it kills the
/// server and removes its folder. It keeps the dead server's number taken until we have let go, so
/// that no signal of ours can reach a stranger.
const LEASH: &str = r#"
directory=$1
shift
"$@" </dev/null &
server=$!
echo "$server"
exec >/dev/null
read -r order
[ "$order" = detach ] && exit
kill -KILL "$server"
wait "$server"
[ "$order" = keep ] && exit
rm -rf "$directory"
rmdir "$(dirname "$directory")"
"#;

/// How long a server may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
/// How the server's log marks an error and a fatal one.
const GRAVE: [&str; 2] = [r#""s":"E""#, r#""s":"F""#];
/// How many lines of a log an error shows.
const LINES_MAX: usize = 5;
/// What a server says that finds its port in use.
const PORT_TAKEN: &str = "Address already in use";

/// A server of a set, running or not.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) port: u16,
    program: PathBuf,
    directory: PathBuf,
    set: String,
    leash: Option<Leash>,
}

#[derive(Debug)]
struct Leash {
    shell: Child,
    orders: ChildStdin,
    output: BufReader<ChildStdout>,
    server: Pid,
}

impl Node {
    /// Describes a server; nothing runs yet.
    pub(super) fn new(program: &Path, directory: PathBuf, set: &str, port: u16) -> Self {
        let (program, set) = (program.to_owned(), set.to_owned());
        Self {
            port,
            program,
            directory,
            set,
            leash: None,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Starts the process unless it runs already.
    pub(super) fn spawn(&mut self) -> Result<(), Error> {
        if self.leash.is_some() {
            return Ok(());
        }
        fs::create_dir_all(&self.directory).map_err(Error::file(&self.directory))?;
        let errors = self.directory.join("stderr.log");
        let errors = File::create(&errors).map_err(Error::file(&errors))?;
        let mut shell = Command::new("sh")
            .args(["-c", LEASH, "leash"])
            .arg(&self.directory)
            .arg(&self.program)
            .args(self.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .process_group(0)
            .spawn()
            .map_err(Error::io("start a shell"))?;
        let (Some(orders), Some(output)) = (shell.stdin.take(), shell.stdout.take()) else {
            return Err(self.not_started());
        };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output
            .read_line(&mut line)
            .map_err(Error::io("read the number of a process"))?;
        let server = line.trim().parse().ok().and_then(Pid::from_raw);
        let server = server.ok_or_else(|| self.not_started())?;
        self.leash = Some(Leash {
            shell,
            orders,
            output,
            server,
        });
        Ok(())
    }

    /// Small, on loopback only, with fail points, and without what only costs time here.
    fn arguments(&self) -> Vec<String> {
        let directory = self.directory.display();
        let port = self.port;
        let set = &self.set;
        let mut arguments: Vec<String> = [
            format!("--dbpath={directory}"),
            format!("--logpath={directory}/mongod.log"),
            format!("--port={port}"),
            format!("--replSet={set}"),
        ]
        .into();
        let fixed = [
            "--bind_ip=127.0.0.1",
            "--nounixsocket",
            "--wiredTigerCacheSizeGB=0.25",
            "--oplogSize=256",
            // The proxy reads the frames between members too.
            "--networkMessageCompressors=disabled",
            "--setParameter=enableTestCommands=1",
            "--setParameter=diagnosticDataCollectionEnabled=false",
            // A process that died in a transaction frees its documents after this many seconds.
            "--setParameter=transactionLifetimeLimitSeconds=10",
        ];
        arguments.extend(fixed.map(str::to_owned));
        arguments
    }

    /// Waits until the server answers.
    pub(super) fn wait_answering(&self) -> Result<(), Error> {
        let deadline = Instant::now() + START_LIMIT;
        while wire::admin(self.address(), doc! { "ping": 1 }).is_err() {
            let ended = self.leash.as_ref().is_none_or(Leash::has_ended);
            if ended || Instant::now() > deadline {
                return Err(self.not_started());
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn not_started(&self) -> Error {
        let log = ["stderr.log", "mongod.log"].map(|name| complaint(&self.directory.join(name)));
        let said = log.join("\n").trim().to_owned();
        let port = self.port;
        if said.contains(PORT_TAKEN) {
            return Error::PortTaken { port };
        }
        Error::NotStarted { port, said }
    }

    /// Ends the process as a power cut would; its files stay.
    pub(super) fn kill(&mut self) -> Result<(), Error> {
        match self.leash.take() {
            Some(leash) => leash.end("keep"),
            None => Ok(()),
        }
    }

    /// Lets the process live on without us; its number, for whoever stops it.
    pub(super) fn detach(&mut self) -> Result<Option<i32>, Error> {
        let Some(leash) = self.leash.take() else {
            return Ok(None);
        };
        let server = leash.server.as_raw_nonzero().get();
        leash.end("detach")?;
        Ok(Some(server))
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), Error> {
        let Some(leash) = &self.leash else {
            return Ok(());
        };
        let sent = kill_process(leash.server, signal);
        sent.map_err(|error| Error::io("signal a mongod")(error.into()))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(leash) = self.leash.take() {
            // Nobody is left to tell; the shell does its work even when we cannot wait for it.
            drop(leash.end(""));
        }
    }
}

impl Leash {
    /// Gives the last order and waits until it is carried out.
    fn end(mut self, order: &str) -> Result<(), Error> {
        let told = writeln!(self.orders, "{order}");
        drop(self.orders);
        self.shell
            .wait()
            .map_err(Error::io("wait for a mongod to end"))?;
        told.map_err(Error::io("give an order to a shell"))
    }

    /// The server holds the only other end of its output.
    fn has_ended(&self) -> bool {
        let mut pipe = [PollFd::new(self.output.get_ref(), PollFlags::empty())];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let polled = poll(&mut pipe, Some(&now));
        polled.is_ok()
            && pipe
                .iter()
                .any(|pipe| pipe.revents().contains(PollFlags::HUP))
    }
}

/// The errors in a log, or its last lines when it names none; nothing when there is no log.
fn complaint(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let grave = |line: &&str| GRAVE.iter().any(|mark| line.contains(mark));
    let mut lines: Vec<_> = text.lines().filter(grave).take(LINES_MAX).collect();
    if lines.is_empty() {
        lines = text.lines().rev().take(LINES_MAX).collect();
        lines.reverse();
    }
    lines.join("\n")
}
