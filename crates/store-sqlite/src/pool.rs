//! The readers: a few threads, each with its own connection, and one bounded queue before them.
//!
//! Owns how a read gets to a thread and its answer back. Must not know what is read.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use abasto_store::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::store_error;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The threads.
#[derive(Debug)]
pub(crate) struct Pool {
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts one thread per connection; at most `waiting_max` reads wait for them.
    pub(crate) fn start(connections: Vec<Connection>, waiting_max: usize) -> std::io::Result<Self> {
        let (jobs, waiting) = sync_channel(waiting_max);
        let waiting = Arc::new(Mutex::new(waiting));
        let threads = connections
            .into_iter()
            .map(|connection| {
                let waiting = Arc::clone(&waiting);
                thread::Builder::new()
                    .name("sqlite-reader".to_owned())
                    .spawn(move || serve(&connection, &waiting))
            })
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            jobs: Some(jobs),
            threads,
        })
    }

    /// Runs a read in one snapshot. Nothing is read for a caller that has gone meanwhile.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            if !answer.is_closed() {
                let result = in_snapshot(connection, read);
                let _ = answer.send(result);
            }
        });
        let closing = || StoreError::Unavailable("the store is closing".to_owned());
        match self.jobs.as_ref().map(|jobs| jobs.try_send(job)) {
            Some(Ok(())) => answered.await.unwrap_or_else(|_| Err(closing())),
            Some(Err(TrySendError::Full(_))) => Err(StoreError::Overloaded),
            Some(Err(TrySendError::Disconnected(_))) | None => Err(closing()),
        }
    }

    /// Answers what waits and ends the threads.
    pub(crate) fn close(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A reader that panicked has dropped its answers, which says so to their askers.
            let _ = thread.join();
        }
    }
}

fn in_snapshot<T>(
    connection: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let snapshot = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
        .map_err(store_error)?;
    let result = read(&snapshot)?;
    snapshot.finish().map_err(store_error)?;
    Ok(result)
}

fn serve(connection: &Connection, waiting: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is held while waiting: whoever has it takes the next job.
        let job = waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        match job {
            Ok(job) => job(connection),
            Err(_) => return,
        }
    }
}
