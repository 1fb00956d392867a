//! A set that outlives the process that started it, and how a later process finds and stops it.
//!
//! Owns the record of such a set. A process number alone names nobody for long: the record keeps
//! the time at which each process began, and only a process that matches both is ever signalled.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::wait;
use crate::Error;

const STOP_LIMIT: Duration = Duration::from_secs(20);

/// A set that was let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The connection string of the set.
    pub uri: String,
    /// The folder that holds the files of all servers.
    pub directory: PathBuf,
    pub(super) processes: Vec<Process>,
}

/// A process of this machine, past or present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    id: i32,
    /// When it began, in the system's own words.
    began: String,
}

impl Process {
    /// The process that has this number now.
    pub(super) fn living(id: i32) -> Option<Self> {
        Some(Self {
            id,
            began: began(id)?,
        })
    }

    fn lives(&self) -> bool {
        began(self.id).is_some_and(|began| began == self.began)
    }
}

impl Detached {
    /// Writes the record: one line each for the string, the folder and every process.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut lines = vec![self.uri.clone(), self.directory.display().to_string()];
        lines.extend(
            self.processes
                .iter()
                .map(|process| format!("{} {}", process.id, process.began)),
        );
        fs::write(path, lines.join("\n") + "\n").map_err(Error::file(path))
    }

    /// Reads the record; nothing when there is none.
    ///
    /// # Errors
    /// When the file cannot be read or is no such record.
    pub fn load(path: &Path) -> Result<Option<Self>, Error> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file(path)(error)),
        };
        let mut lines = text.lines();
        let (Some(uri), Some(directory)) = (lines.next(), lines.next()) else {
            return Err(Error::file(path)(ErrorKind::InvalidData.into()));
        };
        let processes = lines.map(|line| {
            let (id, began) = line.split_once(' ')?;
            Some(Process {
                id: id.parse().ok()?,
                began: began.to_owned(),
            })
        });
        let processes = processes.collect::<Option<_>>();
        let processes =
            processes.ok_or_else(|| Error::file(path)(ErrorKind::InvalidData.into()))?;
        Ok(Some(Self {
            uri: uri.to_owned(),
            directory: directory.into(),
            processes,
        }))
    }

    /// Whether any server of the set still runs.
    #[must_use]
    pub fn lives(&self) -> bool {
        self.processes.iter().any(Process::lives)
    }

    /// Kills what is left of the set and removes its files.
    ///
    /// # Errors
    /// When a server cannot be signalled or does not end.
    pub fn stop(&self) -> Result<(), Error> {
        for process in self.processes.iter().filter(|process| process.lives()) {
            let Some(id) = Pid::from_raw(process.id) else {
                continue;
            };
            let sent = kill_process(id, Signal::KILL);
            sent.map_err(|error| Error::io("stop a mongod")(error.into()))?;
        }
        wait("stopped", STOP_LIMIT, || (!self.lives()).then_some(()))?;
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::file(&self.directory)(error))
            }
            _ => Ok(()),
        }
    }
}

/// When the living process of this number began; nothing when there is none.
fn began(id: i32) -> Option<String> {
    if let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) {
        // The name in parentheses may hold anything; the fields after it are counted from the
        // third: state, … the number of threads as the 20th, the time of its start as the 22nd.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<_> = fields.split_whitespace().collect();
        let field = |n: usize| fields.get(n - 3).copied();
        // A dead process whose threads still wind up holds its ports until the last is gone.
        let ended = field(3)? == "Z" && field(20)?.parse::<u32>().is_ok_and(|threads| threads <= 1);
        return field(22).filter(|_| !ended).map(str::to_owned);
    }
    let shown = Command::new("ps")
        .args(["-o", "lstart=", "-p"])
        .arg(id.to_string())
        .output();
    let text = String::from_utf8(shown.ok()?.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|began| !began.is_empty())
}
