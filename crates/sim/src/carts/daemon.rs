//! Processes of the comparison: each on a loopback port, in a folder that goes away, ended by us.
//!
//! Owns their start and end. Must not know what they are asked.

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use abasto_client::Endpoint;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, getuid, kill_process};
use tempfile::TempDir;

/// How long a server of ours has to come up.
pub(super) const START: Duration = Duration::from_secs(20);

/// A folder, and who owns it: PostgreSQL refuses to run as root.
#[derive(Debug)]
pub(super) struct Folder {
    folder: TempDir,
    /// User and group of the processes, when it is not ours.
    other: Option<(u32, u32)>,
}

impl Folder {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let other = if getuid().is_root() {
            postgres_user()
        } else {
            None
        };
        if let Some((user, group)) = other {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group))?;
        }
        Ok(Self { folder, other })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command whose process owns the folder.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null());
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
        command
    }
}

/// User and group of the account that the package makes.
fn postgres_user() -> Option<(u32, u32)> {
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = accounts
        .lines()
        .find(|line| line.starts_with("postgres:"))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// A port that is free now.
pub(super) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// A process that we started.
#[derive(Debug)]
pub(super) struct Daemon {
    child: Option<Child>,
    end: Signal,
}

impl Daemon {
    /// Starts a program of a Debian package; it ends at `end`.
    pub(super) fn start(command: &mut Command, package: &str, end: Signal) -> Result<Self> {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing(package),
            _ => error.into(),
        })?;
        Ok(Self {
            child: Some(child),
            end,
        })
    }

    /// Starts the HTTP server of a lock; `url` says where the lock is.
    pub(super) fn lock_server(url: &str) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["cart-lock", url]).stdout(Stdio::piped());
        Ok(Self {
            child: Some(command.spawn()?),
            end: Signal::TERM,
        })
    }

    /// Where an HTTP server of ours is, as its first line says.
    pub(super) fn endpoint(&self) -> Result<Endpoint> {
        let child = self.child.as_ref().context("it runs")?;
        // A copy of the pipe: the process never writes more than the one line.
        let stdout = child.stdout.as_ref().context("its stdout")?;
        let copy = std::fs::File::from(rustix::io::dup(stdout)?);
        let mut line = String::new();
        BufReader::new(copy).read_line(&mut line)?;
        if line.trim().is_empty() {
            bail!("the server of a lock ended before it was ready");
        }
        Ok(line.trim().parse()?)
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> Result<bool> {
        let child = self.child.as_mut().context("it runs")?;
        Ok(child.try_wait()?.is_some())
    }

    /// Ends it in order.
    pub(super) fn end(mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            kill_process(Pid::from_child(&child), self.end)?;
            child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // After a failure; what it holds goes away with its folder.
            let _ = kill_process(Pid::from_child(&child), self.end);
            let _ = child.wait();
        }
    }
}

/// What to say when a program is not there.
pub(super) fn missing(package: &str) -> anyhow::Error {
    anyhow::anyhow!("{package} is not installed: `apt-get install {package}`")
}
