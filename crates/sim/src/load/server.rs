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

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) platform_key: String,
    child: Option<Child>,
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
            _folder: None,
        }
    }

    /// Starts one on a new embedded store, or on the store of this URL.
    pub(crate) fn spawn(
        binary: Option<&Path>,
        folder: Option<&Path>,
        url: Option<&str>,
    ) -> Result<Self> {
        let temporary = match folder {
            Some(_) => None,
            None => Some(tempfile::tempdir()?),
        };
        let folder = folder.or_else(|| temporary.as_ref().map(TempDir::path));
        let store = folder.context("a folder")?.join("load.db");
        if store.exists() {
            bail!(
                "{} is there already; a measurement begins with a new store",
                store.display()
            );
        }
        let binary = binary.map_or_else(beside, |path| Ok(path.to_owned()))?;
        let mut child = Command::new(&binary)
            .args([
                "serve",
                "--no-rate-limit",
                "--listen",
                "127.0.0.1:0",
                "--store",
            ])
            .arg(url.map_or_else(|| format!("sqlite:{}", store.display()), str::to_owned))
            .env("ABASTO_PLATFORM_KEY", PLATFORM_KEY)
            .env("ABASTO_LOG__FILTER", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("its stdout")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        let url = url.context("the server ended before it was ready")?;
        Ok(Self {
            endpoint: url.parse()?,
            platform_key: PLATFORM_KEY.to_owned(),
            child: Some(child),
            _folder: temporary,
        })
    }

    /// Memory that the process holds, where it is ours and the system tells.
    pub(crate) fn memory_mib(&self) -> Option<u64> {
        let id = self.child.as_ref()?.id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib / 1024)
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
