//! Processes: one serves a file, others may read it, and one that is killed loses nothing that it
//! acknowledged.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[expect(dead_code, reason = "each program uses its own part of it")]
mod world;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use abasto_store::invariants::Audit;
use abasto_store::query::{OrderFilter, Page, Query};
use abasto_store::record::{Document, DocumentKey, Kind, Record};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Reply, Verdict};
use abasto_store::{Store, StoreError};
use abasto_store_sqlite::{OpenError, Options, SqliteStore, check, migrate};
use rusqlite::Connection;
use world::World;

/// The name under which a child is given its file.
const FILE: &str = "file=";
/// Orders that a child places when nobody kills it.
const ORDERS: usize = 200;
const SUBMITTERS: usize = 8;

fn world() -> Arc<World> {
    Arc::new(World::new(1, 1, 50))
}

async fn furnish(store: &SqliteStore, world: &World) {
    let units = world.catalogue().into_iter();
    for unit in units.chain(world.stocked(0, 1_000_000)) {
        store.commit(unit).await.unwrap();
    }
}

fn order(world: &World, number: usize) -> UnitOfWork {
    let products = [number % 50, (number + 7) % 50, (number + 21) % 50];
    world.order(&format!("key-{number}"), 0, &products, 0)
}

/// A process of this very program that places orders and says of each when it is acknowledged.
struct Shop {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Shop {
    fn open(path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "orders_are_placed", "--nocapture"])
            .arg(format!("{FILE}{}", path.display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The numbers of the next acknowledged orders.
    fn acknowledged(&mut self, most: usize) -> Vec<usize> {
        let lines = self.lines.by_ref().map(Result::unwrap);
        let numbers = lines.filter_map(|line| line.strip_prefix("ack ")?.parse().ok());
        numbers.take(most).collect()
    }

    /// Ends it as a power switch would end its work; gives what it still said.
    fn kill(mut self) -> Vec<usize> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.acknowledged(usize::MAX)
    }
}

/// As a test: some orders into a file of its own. As a child of one: orders into the file given,
/// until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn orders_are_placed() {
    let given = std::env::args().find_map(|argument| Some(argument.strip_prefix(FILE)?.to_owned()));
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("abasto.db");
    let most = if given.is_some() { usize::MAX } else { ORDERS };
    let path = given.map_or(own, PathBuf::from);
    let store = Arc::new(SqliteStore::open(Options::new(path)).unwrap());
    let world = world();
    furnish(&store, &world).await;
    let tasks: Vec<_> = (0..SUBMITTERS)
        .map(|submitter| {
            let (store, world) = (store.clone(), world.clone());
            tokio::spawn(async move {
                for number in (submitter..most).step_by(SUBMITTERS) {
                    let verdict = store.commit(order(&world, number)).await.unwrap();
                    assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
                    // One write, so that lines of several tasks do not mix.
                    let line = format!("ack {number}\n");
                    std::io::stdout().write_all(line.as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let path = folder.path().join(format!("round-{round}.db"));
        let mut shop = Shop::open(&path);
        let mut acknowledged = shop.acknowledged(300 + 170 * round);
        acknowledged.extend(shop.kill());

        let integrity: String = Connection::open(&path)
            .unwrap()
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(integrity, "ok");
        let store = SqliteStore::open(Options::new(&path)).unwrap();
        let world = world();
        for number in &acknowledged {
            let key = world::operation(&format!("key-{number}")).key;
            let operation = store.operation(world.id(), &key).await.unwrap().unwrap();
            let Reply::Document(Document::Order(order)) = operation.reply else {
                panic!("no order");
            };
            let key = DocumentKey::new(Kind::Order, order.id);
            let found = store.documents(world.id(), &[key]).await.unwrap();
            assert_eq!(found, [Some(Document::Order(order))]);
        }
        let placed = consistent(&store, &world).await;
        assert!(placed >= acknowledged.len());
    }
}

/// The invariants hold; gives the number of orders.
async fn consistent(store: &SqliteStore, world: &World) -> usize {
    let mut audit = Audit::new(world.id());
    let mut orders = 0;
    store
        .walk(world.id(), &mut |record| {
            orders += usize::from(matches!(record, Record::Document(Document::Order(_))));
            audit.take(&record);
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(audit.finish().differences, []);
    orders
}

#[tokio::test]
async fn a_file_has_one_server_and_any_number_of_readers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let mut shop = Shop::open(&path);
    shop.acknowledged(20);

    let refused = SqliteStore::open(Options::new(&path)).unwrap_err();
    assert!(matches!(refused, OpenError::Locked { .. }), "{refused:?}");
    let text = refused.to_string();
    assert!(
        text.contains(&format!("process {}", shop.child.id())),
        "{text}"
    );
    assert!(!text.contains('\n'), "{text}");
    assert!(matches!(migrate(&path), Err(OpenError::Locked { .. })));

    assert_eq!(check(&path).unwrap(), Vec::<String>::new());
    let reader = SqliteStore::open_read_only(&path).unwrap();
    let world = world();
    let page = Page {
        after: None,
        limit: 10,
    };
    let query = Query::Orders(OrderFilter::default());
    assert_eq!(
        reader.list(world.id(), &query, page).await.unwrap().len(),
        10
    );
    // Consistent, although the other goes on writing.
    let before = consistent(&reader, &world).await;
    shop.acknowledged(50);
    assert!(consistent(&reader, &world).await > before);
    assert_eq!(reader.health().await.unwrap(), Vec::<String>::new());
    let refused = reader.commit(order(&world, 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");

    shop.kill();
    // The lock goes with the process.
    SqliteStore::open(Options::new(&path)).unwrap();
}

#[tokio::test]
async fn a_reader_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let world = world();
    let store = SqliteStore::open(Options::new(&path)).unwrap();
    furnish(&store, &world).await;
    assert!(matches!(
        SqliteStore::open(Options::new(&path)),
        Err(OpenError::Locked { .. })
    ));
    drop(store);
    let reader = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(consistent(&reader, &world).await, 0);
    // Nor does it keep one away.
    SqliteStore::open(Options::new(&path)).unwrap();
}
