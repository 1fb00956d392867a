//! A row lock in PostgreSQL around reading and writing a cart: `SELECT … FOR UPDATE`.
//!
//! Owns the server's configuration, the pool and the transaction.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use tokio::sync::Semaphore;
use tokio_postgres::{Client, NoTls, Statement};

use super::daemon::{Daemon, Folder, START, free_port, missing};
use super::lock::{Basket, Failed, Step};

const PACKAGE: &str = "postgresql";
/// Connections of the pool.
const POOL: usize = 10;

/// Starts PostgreSQL on a new cluster, with its own defaults: every commit is synced.
pub(super) async fn start(folder: &Folder) -> Result<(Daemon, String)> {
    let programs = programs()?;
    let data = folder.path().join("data");
    let made = folder
        .command(&programs.join("initdb"))
        .args([
            "--username",
            "carts",
            "--auth",
            "trust",
            "--encoding",
            "UTF8",
        ])
        .args(["--locale", "C", "--pgdata"])
        .arg(&data)
        .stdout(Stdio::null())
        .status()?;
    if !made.success() {
        bail!("initdb ended with {made}");
    }
    let port = free_port()?.to_string();
    let mut command = folder.command(&programs.join("postgres"));
    command
        .args([
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories=",
        ])
        .args(["-p", &port, "-D"])
        .arg(&data);
    // SIGINT: the fast shutdown, which waits for nobody.
    let mut daemon = Daemon::start(&mut command, PACKAGE, Signal::INT)?;
    let url = format!("postgresql://carts@127.0.0.1:{port}/postgres");
    let deadline = Instant::now() + START;
    let client = loop {
        match connect(&url).await {
            Ok(client) => break client,
            Err(error) if Instant::now() > deadline => bail!("PostgreSQL did not start: {error}"),
            Err(_) if daemon.has_ended()? => bail!("PostgreSQL ended at once"),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    };
    let table = "CREATE TABLE carts (id text PRIMARY KEY, body text NOT NULL)";
    client.batch_execute(table).await?;
    Ok((daemon, url))
}

/// The folder of the programs of the newest version that is installed.
fn programs() -> Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| missing(PACKAGE))?;
    let folders = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    let newest = folders
        .filter(|folder| Path::exists(&folder.join("initdb")))
        .max();
    newest.ok_or_else(|| missing(PACKAGE))
}

async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // It ends with its client; what it says then is nobody's business.
    tokio::spawn(async { drop(connection.await) });
    Ok(client)
}

#[derive(Debug)]
struct Session {
    client: Client,
    read: Statement,
    lock: Statement,
    write: Statement,
}

/// Carts behind a row lock.
#[derive(Debug)]
pub(super) struct PostgresCarts {
    free: Mutex<Vec<Session>>,
    places: Semaphore,
}

impl PostgresCarts {
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let mut free = Vec::with_capacity(POOL);
        for _ in 0..POOL {
            let client = connect(url).await?;
            free.push(Session {
                read: client
                    .prepare("SELECT body FROM carts WHERE id = $1")
                    .await?,
                lock: client
                    .prepare("SELECT body FROM carts WHERE id = $1 FOR UPDATE")
                    .await?,
                write: client
                    .prepare("UPDATE carts SET body = $2 WHERE id = $1")
                    .await?,
                client,
            });
        }
        Ok(Self {
            free: Mutex::new(free),
            places: Semaphore::new(POOL),
        })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session of the pool; a request waits for its turn.
    async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let _place = self.places.acquire().await.context("the pool is open")?;
        let session = self.free().pop();
        let mut session = session.context("a place is a session")?;
        let done = work(&mut session).await;
        self.free().push(session);
        done
    }

    pub(super) async fn open(&self, cart: &str) -> Result<(), Failed> {
        let body = serde_json::to_string(&Basket::default())?;
        self.with(async |session| {
            let insert = "INSERT INTO carts (id, body) VALUES ($1, $2)";
            session.client.execute(insert, &[&cart, &body]).await?;
            Ok(())
        })
        .await
    }

    pub(super) async fn read(&self, cart: &str) -> Result<Basket, Failed> {
        self.with(async |session| {
            let row = session.client.query_one(&session.read, &[&cart]).await?;
            Ok(serde_json::from_str(row.get(0))?)
        })
        .await
    }

    pub(super) async fn add(&self, cart: &str, step: Step<'_>) -> Result<Basket, Failed> {
        self.with(async |session| {
            let transaction = session.client.transaction().await?;
            let row = transaction.query_one(&session.lock, &[&cart]).await?;
            let mut basket: Basket = serde_json::from_str(row.get(0))?;
            basket.add(step);
            let body = serde_json::to_string(&basket)?;
            transaction.execute(&session.write, &[&cart, &body]).await?;
            transaction.commit().await?;
            Ok(basket)
        })
        .await
    }
}
