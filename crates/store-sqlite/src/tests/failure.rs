//! Groups that break, disks that are full, schemas that lack something.

use std::sync::Arc;

use abasto_domain::stock::Place;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::Verdict;
use abasto_store::{Store, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::world::World;
use crate::checkpoint::Checkpoints;
use crate::head::Memory;
use crate::queue::Limits;
use crate::writer::{Job, Shared, Writer};
use crate::{Options, SqliteStore, read};

type Answer = Result<Verdict, StoreError>;

fn writer(connection: Connection) -> Writer {
    Writer::new(
        connection,
        Checkpoints::none(),
        Arc::new(Shared::new(Limits::default(), 0)),
    )
}

/// Serves the units as one group.
fn serve(writer: &mut Writer, units: Vec<UnitOfWork>) -> Vec<Answer> {
    let (jobs, answers): (Vec<Job>, Vec<_>) = units
        .into_iter()
        .map(|unit| {
            let (answer, answered) = oneshot::channel();
            let unit = Box::new(unit);
            (Job::Commit { unit, answer }, answered)
        })
        .unzip();
    writer.serve(jobs);
    answers
        .into_iter()
        .map(|answer| answer.blocking_recv().unwrap())
        .collect()
}

fn furnished(world: &World) -> Writer {
    let mut writer = writer(super::empty());
    let units = world.catalogue().into_iter().chain(world.stocked(0, 100));
    for answer in serve(&mut writer, units.collect()) {
        assert!(matches!(answer, Ok(Verdict::Committed(_))), "{answer:?}");
    }
    writer
}

/// An order that brings its own number is refused by the index, which nothing before looks at.
fn numbered(world: &World, key: &str, number: i64) -> UnitOfWork {
    let mut unit = world.order(key, 0, &[0], 0);
    let Document::Order(order) = &mut unit.puts[0].next else {
        panic!("no order");
    };
    Arc::make_mut(order).number.sequence = number;
    unit
}

fn available(writer: &Writer, world: &World, place: Place) -> i64 {
    let levels = read::levels(writer.connection(), world.id(), &[place]).unwrap();
    levels[0].unwrap().available
}

/// Whichever place the bad unit has among its neighbours, only it fails, and it leaves nothing.
#[test]
fn a_bad_unit_does_not_hurt_its_neighbours() {
    for position in [0, 3, 6] {
        let world = World::new(1, 1, 3);
        let mut writer = furnished(&world);
        let first = serve(&mut writer, vec![world.order("first", 0, &[0], 0)]);
        assert!(matches!(first[0], Ok(Verdict::Committed(_))));
        let mut units: Vec<_> = (0..6)
            .map(|index| world.order(&format!("key-{index}"), 0, &[0, 1], 0))
            .collect();
        let bad = numbered(&world, "bad", 1);
        let bad_order = bad.puts[0].next.key();
        units.insert(position, bad.clone());
        let answers = serve(&mut writer, units);
        for (index, answer) in answers.iter().enumerate() {
            let bad = matches!(answer, Err(StoreError::Backend(_)));
            let good = matches!(answer, Ok(Verdict::Committed(_)));
            assert!(
                if index == position { bad } else { good },
                "{index}: {answer:?}"
            );
        }
        assert_eq!(available(&writer, &world, world.place(0, 0)), 93);
        assert_eq!(available(&writer, &world, world.place(0, 1)), 94);
        let key = DocumentKey::new(Kind::Order, bad_order.id);
        let found = read::documents(writer.connection(), world.id(), &[key]).unwrap();
        assert_eq!(found, [None]);
        // Numbers without a gap: 1 before, then six more.
        let next = serve(&mut writer, vec![world.order("next", 0, &[2], 0)]);
        let number = number_of(&next[0]);
        assert_eq!(number, 8);
        assert_eq!(
            writer
                .shared()
                .written
                .broken
                .load(std::sync::atomic::Ordering::Relaxed),
            1
        );
    }
}

fn number_of(answer: &Answer) -> i64 {
    match answer {
        Ok(Verdict::Committed(abasto_store::verdict::Reply::Document(Document::Order(order)))) => {
            order.number.sequence
        }
        other => panic!("{other:?}"),
    }
}

/// An effect that was there before breaks its group in the same way.
#[test]
fn an_effect_on_stock_cannot_happen_twice() {
    let world = World::new(1, 1, 2);
    let mut writer = furnished(&world);
    let unit = world.adjustment(world.place(0, 0), 5);
    let again = UnitOfWork {
        stock: unit.stock.clone(),
        ..world.adjustment(world.place(0, 0), 5)
    };
    let other = world.adjustment(world.place(0, 1), 1);
    let answers = serve(&mut writer, vec![unit, again, other]);
    assert!(matches!(answers[0], Ok(Verdict::Committed(_))));
    assert!(matches!(answers[1], Err(StoreError::Backend(_))));
    assert!(matches!(answers[2], Ok(Verdict::Committed(_))));
    assert_eq!(available(&writer, &world, world.place(0, 0)), 105);
}

/// What the writer remembers of a group that was rolled back is forgotten with it.
#[test]
fn a_broken_group_leaves_no_memory() {
    let world = World::new(1, 1, 1);
    let mut connection = super::empty();
    let mut memory = Memory::default();
    super::commit_all(&mut connection, &mut memory, &world.catalogue());
    super::commit_all(&mut connection, &mut memory, &world.stocked(0, 10));
    super::commit_all(
        &mut connection,
        &mut memory,
        &[world.order("a", 0, &[0], 0)],
    );
    let units = [world.order("b", 0, &[0], 0), numbered(&world, "c", 1)];
    assert!(crate::group::commit(&mut connection, &mut memory, units.iter()).is_err());
    let level = memory
        .level(&connection, world.id(), world.place(0, 0))
        .unwrap()
        .unwrap();
    assert_eq!((level.level.available, level.level.version), (9, 2));
}

const MEBIBYTE: u64 = 1 << 20;

async fn fill(store: &SqliteStore, world: &World, most: usize) -> (Vec<UnitOfWork>, StoreError) {
    let mut kept = Vec::new();
    for index in 0..most {
        let unit = world.order(&format!("fill-{index}"), 0, &[0, 1, 2], 0);
        match store.commit(unit.clone()).await {
            Ok(Verdict::Committed(_)) => kept.push(unit),
            Ok(other) => panic!("{other:?}"),
            Err(error) => return (kept, error),
        }
    }
    panic!("the file was never full");
}

#[tokio::test]
async fn a_full_disk_refuses_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Options {
        file_bytes_max: Some(MEBIBYTE),
        ..Options::new(folder.path().join("abasto.db"))
    })
    .unwrap();
    let world = World::new(1, 1, 3);
    for unit in world
        .catalogue()
        .into_iter()
        .chain(world.stocked(0, 1_000_000))
    {
        store.commit(unit).await.unwrap();
    }
    assert_eq!(store.health().await.unwrap(), Vec::<String>::new());

    let (kept, error) = fill(&store, &world, 2_000).await;
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(kept.len() > 10);
    let reasons = store.health().await.unwrap();
    assert!(reasons[0].contains("read-only"), "{reasons:?}");
    // Reads go on, and nothing is half there.
    let levels = store
        .levels(world.id(), &[world.place(0, 0)])
        .await
        .unwrap();
    let reserved = i64::try_from(kept.len()).unwrap();
    assert_eq!(levels[0].unwrap().reserved, reserved);

    store.bound_file(Some(2 * MEBIBYTE));
    // Health alone finds out, without a unit that tries.
    assert_eq!(store.health().await.unwrap(), Vec::<String>::new());
    let unit = world.order("after", 0, &[0, 1, 2], 0);
    let verdict = store.commit(unit).await.unwrap();
    assert!(matches!(verdict, Verdict::Committed(_)));
    for unit in kept {
        let again = store.commit(unit).await.unwrap();
        assert!(matches!(again, Verdict::Replayed(_)), "{again:?}");
    }
}

/// Every unit of a group is refused alike when the disk is full: trying each alone would not help.
#[tokio::test]
async fn a_full_disk_refuses_whole_groups() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(
        SqliteStore::open(Options {
            file_bytes_max: Some(MEBIBYTE / 2),
            ..Options::new(folder.path().join("abasto.db"))
        })
        .unwrap(),
    );
    let world = Arc::new(World::new(1, 1, 3));
    for unit in world
        .catalogue()
        .into_iter()
        .chain(world.stocked(0, 1_000_000))
    {
        store.commit(unit).await.unwrap();
    }
    let tasks: Vec<_> = (0..600)
        .map(|index| {
            let unit = world.order(&format!("key-{index}"), 0, &[0, 1, 2], 0);
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.commit(unit).await })
        })
        .collect();
    let (mut kept, mut refused) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(Verdict::Committed(_)) => kept += 1,
            Err(StoreError::Unavailable(_)) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 0);
    assert_eq!(store.counts().broken, 0);
    let levels = store
        .levels(world.id(), &[world.place(0, 0)])
        .await
        .unwrap();
    assert_eq!(levels[0].unwrap().reserved, kept);
}

#[tokio::test]
async fn a_missing_unique_index_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let world = World::new(1, 1, 1);
    let store = SqliteStore::open(Options::new(&path)).unwrap();
    for unit in world.catalogue() {
        store.commit(unit).await.unwrap();
    }
    let outside = Connection::open(&path).unwrap();
    // One that only sorts makes lists fail, not writes.
    outside
        .execute_batch("DROP INDEX customers_newest")
        .unwrap();
    let reasons = store.health().await.unwrap();
    assert_eq!(reasons, ["the index customers_newest is missing"]);
    let unit = world.adjustment(world.place(0, 0), 1);
    assert!(matches!(
        store.commit(unit).await,
        Ok(Verdict::Committed(_))
    ));

    outside.execute_batch("DROP INDEX uq_products_sku").unwrap();
    let reasons = store.health().await.unwrap();
    assert!(reasons.contains(&"the unique index uq_products_sku is missing".to_owned()));
    let refused = store.commit(world.adjustment(world.place(0, 0), 1)).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    drop(store);
    // Opening finds it too, and so does the check beside it.
    let store = SqliteStore::open(Options::new(&path)).unwrap();
    let refused = store.commit(world.adjustment(world.place(0, 0), 1)).await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    assert_eq!(crate::check(&path).unwrap().len(), 2);
    // The right name on the wrong columns is no better.
    outside
        .execute_batch("CREATE INDEX uq_products_sku ON products (business, sku)")
        .unwrap();
    let reasons = store.health().await.unwrap();
    assert!(
        reasons.contains(&"the unique index uq_products_sku differs from the schema".to_owned())
    );
    outside
        .execute_batch(
            "DROP INDEX uq_products_sku; CREATE UNIQUE INDEX uq_products_sku ON products (business, sku) WHERE deleted = 0",
        )
        .unwrap();
    store.health().await.unwrap();
    let unit = world.adjustment(world.place(0, 0), 1);
    assert!(matches!(
        store.commit(unit).await,
        Ok(Verdict::Committed(_))
    ));
}
