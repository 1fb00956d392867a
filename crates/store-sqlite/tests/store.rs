//! What only this adapter can show: files, processes, full disks.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[expect(dead_code, reason = "each program uses its own part of it")]
mod world;

use std::sync::Arc;
use std::time::Duration;

use abasto_store::record::{DocumentKey, Kind};
use abasto_store::verdict::{Reply, Verdict};
use abasto_store::{Store, StoreError};
use abasto_store_sqlite::{Limits, Options, SqliteStore};
use world::World;

async fn furnish(store: &SqliteStore, world: &World, quantity: i64) {
    let units = world.catalogue().into_iter();
    for unit in units.chain(world.stocked(0, quantity)) {
        let verdict = store.commit(unit).await.unwrap();
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
    }
}

#[tokio::test]
async fn an_order_is_kept_and_its_key_answers_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let world = World::new(1, 1, 3);
    let store = SqliteStore::open(Options::new(&path)).unwrap();
    furnish(&store, &world, 10).await;
    let unit = world.order("key-1", 0, &[0, 1, 2], 5);
    let Verdict::Committed(Reply::Document(placed)) = store.commit(unit.clone()).await.unwrap()
    else {
        panic!("refused");
    };
    drop(store);
    let store = SqliteStore::open(Options::new(&path)).unwrap();
    let key = DocumentKey::new(Kind::Order, placed.key().id);
    let found = store.documents(world.id(), &[key]).await.unwrap();
    assert_eq!(found, [Some(placed.clone())]);
    let again = store.commit(unit).await.unwrap();
    assert_eq!(again, Verdict::Replayed(Reply::Document(placed)));
}

/// The write-ahead log is copied beside the writer, begins anew, and is gone when the store closes.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let log = folder.path().join("abasto.db-wal");
    let world = Arc::new(World::new(1, 1, 100));
    let store = Arc::new(SqliteStore::open(Options::new(&path)).unwrap());
    furnish(&store, &world, 1_000_000).await;
    let mut largest = 0;
    for round in 0..40 {
        let tasks: Vec<_> = (0..100)
            .map(|index| {
                let key = format!("{}-{round}", index * 7919 % 100);
                let products = [index, (index + 33) % 100, (index + 66) % 100];
                let unit = world.order(&key, 0, &products, 0);
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.commit(unit).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    // On a busy machine whoever copies comes late.
    let written = || std::fs::metadata(&path).unwrap().len();
    for _ in 0..300 {
        if written() > 4 << 20 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(
        written() > 4 << 20,
        "nothing was copied: {} bytes",
        written()
    );
    assert!(largest < 64 << 20, "{largest} bytes");
    let store = Arc::into_inner(store).unwrap();
    drop(store);
    assert!(!log.exists());
}

/// A tenant that floods is told so; another one does not notice.
#[tokio::test]
async fn a_flood_is_refused_and_hurts_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        lane: 16,
        business: 24,
        total: 40,
        group: 4,
    };
    let options = Options {
        limits,
        ..Options::new(folder.path().join("abasto.db"))
    };
    let store = Arc::new(SqliteStore::open(options).unwrap());
    let (flood, calm) = (World::new(1, 2, 1), World::new(2, 1, 1));
    furnish(&store, &flood, 1_000_000).await;
    furnish(&store, &calm, 1_000_000).await;
    // One thread: nobody is answered before all of them have asked.
    let tasks: Vec<_> = (0..1_000)
        .map(|index| {
            let unit = flood.adjustment(flood.place(index % 2, 0), 1);
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.commit(unit).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(store.counts().waiting <= limits.business);
    for _ in 0..5 {
        let unit = calm.adjustment(calm.place(0, 0), 1);
        let verdict = store.commit(unit).await.unwrap();
        assert!(matches!(verdict, Verdict::Committed(_)), "{verdict:?}");
    }
    let (mut kept, mut refused) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(Verdict::Committed(_)) => kept += 1,
            Err(StoreError::Overloaded) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(refused > 0, "{kept} kept");
    // What was refused left nothing, what was not is there.
    let places = [flood.place(0, 0), flood.place(1, 0)];
    let levels = store.levels(flood.id(), &places).await.unwrap();
    let available: i64 = levels.iter().flatten().map(|level| level.available).sum();
    assert_eq!(available, 1_000_000 + kept);
}
