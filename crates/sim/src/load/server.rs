//! The server that is measured: one that runs already, or one of our own.
//!
//! Owns the process that it started, and its end. Must not know what is measured.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use abasto_client::Endpoint;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Long enough for the server's own check; it lives as long as the measurement.
const PLATFORM_KEY: &str = "a platform key for one measurement";
/// The same of every server of a measurement, as several on one store need.
const CURSOR_SECRET: &str = "a cursor secret for one measurement";

/// A server to be started.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Launch<'a> {
    /// The binary; by default the `abasto` beside this one.
    pub(crate) binary: Option<&'a Path>,
    /// The folder of a new embedded store; by default one that goes away afterwards.
    pub(crate) folder: Option<&'a Path>,
    /// The store instead of a new embedded one.
    pub(crate) store: Option<&'a str>,
    /// More of its environment.
    pub(crate) variables: &'a [(&'a str, &'a str)],
}

impl Launch<'_> {
    /// Starts it and waits until it is ready. A store on MongoDB is made ready first.
    pub(crate) fn start(self) -> Result<Server> {
        let temporary = match self.folder {
            Some(_) => None,
            None => Some(tempfile::tempdir()?),
        };
        let folder = self
            .folder
            .or_else(|| temporary.as_ref().map(TempDir::path));
        let file = folder.context("a folder")?.join("load.db");
        if file.exists() {
            bail!(
                "{} is there already; a measurement begins with a new store",
                file.display()
            );
        }
        let store = match self.store {
            Some(store) => store.to_owned(),
            None => format!("sqlite:{}", file.display()),
        };
        let binary = self
            .binary
            .map_or_else(beside, |path| Ok(path.to_owned()))?;
        let own = Own { binary, store };
        if own.store.starts_with("mongodb") {
            own.run("migrate")?;
        }
        let (child, endpoint) = own.serve(self.variables)?;
        Ok(Server {
            endpoint,
            platform_key: PLATFORM_KEY.to_owned(),
            child: Some(child),
            own: Some(own),
            _folder: temporary,
        })
    }
}

/// What a server of our own was started from.
#[derive(Debug)]
struct Own {
    binary: PathBuf,
    store: String,
}

impl Own {
    /// Runs a command of the binary on the store; it must exit with 0.
    fn run(&self, command: &str) -> Result<()> {
        let status = Command::new(&self.binary)
            .args([command, "--store", &self.store])
            .stdout(Stdio::null())
            .status()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        if !status.success() {
            bail!("`abasto {command}` ended with {status}");
        }
        Ok(())
    }

    fn serve(&self, variables: &[(&str, &str)]) -> Result<(Child, Endpoint)> {
        let listen = ["serve", "--no-rate-limit", "--listen", "127.0.0.1:0"];
        let mut child = Command::new(&self.binary)
            .args(listen)
            .args(["--store", &self.store])
            .env("ABASTO_PLATFORM_KEY", PLATFORM_KEY)
            .env("ABASTO_CURSOR_SECRET", CURSOR_SECRET)
            .env("ABASTO_LOG__FILTER", "warn")
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("its stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let url = url.context("the server ended before it was ready")?;
        Ok((child, url.parse()?))
    }
}

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) platform_key: String,
    child: Option<Child>,
    own: Option<Own>,
    /// Kept until the end: with it the folder goes away.
    _folder: Option<TempDir>,
}

impl Server {
    /// One that runs already.
    pub(crate) fn running(endpoint: Endpoint, platform_key: &str) -> Self {
        Self {
            endpoint,
            platform_key: platform_key.to_owned(),
            child: None,
            own: None,
            _folder: None,
        }
    }

    /// Memory that the process holds, where it is ours and the system tells.
    pub(crate) fn memory_mib(&self) -> Option<u64> {
        let id = self.child.as_ref()?.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024)
    }

    /// Holds the records against each other, where the store is ours to open; whether it could.
    pub(crate) fn reconcile(&self) -> Result<bool> {
        let Some(own) = &self.own else {
            return Ok(false);
        };
        own.run("reconcile").map(|()| true)
    }

    /// Ends a server of our own in order; it must exit with 0.
    pub(crate) fn end(mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        kill_process(Pid::from_child(&child), Signal::TERM)?;
        let status = child.wait()?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Only after a failure; there is nothing to keep.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The `abasto` in the folder of this binary.
fn beside() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("abasto");
    if !path.exists() {
        bail!(
            "{} is not there: build it with `cargo build --release`",
            path.display()
        );
    }
    Ok(path)
}
