//! Copying the write-ahead log into the file, beside the writer instead of between its groups.
//!
//! Owns when that happens. A thread with a connection of its own copies what has gathered while the
//! writer goes on; what the writer adds meanwhile is little, and the writer itself copies that, so
//! that the log can begin anew. Without the thread every fiftieth group would wait for all of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

/// Pages that gather before they are copied. Many, because a page that changes in every group is
/// then copied once for all of them.
const PAGES: i64 = 4_096;

/// So few that the writer may copy them between two groups.
const REST: i64 = 512;

/// Times that the thread goes after what was added while it copied.
const PASSES: usize = 4;

/// So many that the writer waits for all of them to be copied: the bound of the log, unless a walk
/// holds on to an old state meanwhile.
const PAGES_MAX: i64 = 65_536;

/// The writer's side.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    wanted: Option<SyncSender<()>>,
    copied: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// How far the log has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Progress {
    written: i64,
    copied: i64,
}

impl Checkpoints {
    /// None at all: for tests of a writer alone.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self {
            wanted: None,
            copied: Arc::default(),
            thread: None,
        }
    }

    /// Starts the thread.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (wanted, asked) = sync_channel(1);
        let copied = Arc::new(AtomicBool::new(false));
        let thread = {
            let copied = Arc::clone(&copied);
            thread::Builder::new()
                .name("sqlite-checkpoint".to_owned())
                .spawn(move || serve(&connection, &asked, &copied))?
        };
        Ok(Self {
            wanted: Some(wanted),
            copied,
            thread: Some(thread),
        })
    }

    /// To be called by the writer after a commit, with its connection. Errors do not matter here:
    /// whatever is wrong with the disk, the next commit meets it too, and the log keeps everything.
    pub(crate) fn committed(&self, connection: &Connection) {
        let Ok(now) = progress(connection, LOOK) else {
            return;
        };
        let rest = self.copied.swap(false, Ordering::AcqRel);
        if rest || now.written - now.copied > PAGES_MAX {
            let _ = progress(connection, COPY);
        } else if now.written - now.copied > PAGES
            && let Some(wanted) = &self.wanted
        {
            // Full when it was asked already.
            let _ = wanted.try_send(());
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wanted = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(connection: &Connection, asked: &Receiver<()>, copied: &AtomicBool) {
    while asked.recv().is_ok() {
        for _ in 0..PASSES {
            match progress(connection, COPY) {
                Ok(now) if now.written - now.copied > REST => {}
                _ => break,
            }
        }
        copied.store(true, Ordering::Release);
    }
}

/// Only looks.
const LOOK: &str = "PRAGMA wal_checkpoint(NOOP)";

/// Copies as much as can be without waiting for anybody.
const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

fn progress(connection: &Connection, sql: &str) -> rusqlite::Result<Progress> {
    connection.prepare_cached(sql)?.query_row([], |row| {
        Ok(Progress {
            written: row.get(1)?,
            copied: row.get(2)?,
        })
    })
}
