//! The chain of a level's movements.

use abasto_store::verdict::Verdict;
use rusqlite::Connection;

use super::world::World;
use super::{commit_all, empty};
use crate::head::Memory;
use crate::level::{self, Numbered};
use crate::{group, movement};

fn chain(length: usize) -> (Connection, Numbered) {
    let mut connection = empty();
    let world = World::new(1, 1, 2);
    let place = world.place(0, 0);
    let units: Vec<_> = (0..length)
        .map(|_| world.adjustment(place, 1))
        .flat_map(|unit| [unit, world.adjustment(world.place(0, 1), 1)])
        .collect();
    let mut memory = Memory::default();
    for group in units.chunks(7) {
        commit_all(&mut connection, &mut memory, group);
    }
    let level = level::read(&connection, world.id(), place)
        .unwrap()
        .unwrap();
    (connection, level)
}

#[test]
fn every_page_of_a_chain_is_right() {
    for length in [1, 2, 15, 16, 17, 31, 32, 33, 50] {
        let (connection, level) = chain(length);
        let length = i64::try_from(length).unwrap();
        for below in 0..length + 3 {
            for limit in [0, 1, 5, 16, 17, 100] {
                let found = movement::newest(&connection, &level, below, limit).unwrap();
                let sequences: Vec<i64> = found.iter().map(|it| it.sequence).collect();
                let wanted: Vec<i64> = (1..below.min(length + 1)).rev().take(limit).collect();
                assert_eq!(sequences, wanted, "{length} {below} {limit}");
                assert!(found.iter().all(|it| it.available_after == it.sequence));
            }
        }
        let all = movement::newest(&connection, &level, i64::MAX, 1000).unwrap();
        assert_eq!(all.len(), usize::try_from(length).unwrap());
    }
}

/// Any page of a long history begins at most fifteen steps from a known movement.
#[test]
fn the_depth_of_a_page_costs_nothing() {
    let (connection, level) = chain(500);
    for wanted in 1..=500 {
        let (_, known) = movement::known_at_or_above(&connection, &level, wanted).unwrap();
        assert!(
            (wanted..wanted + 16).contains(&known),
            "{wanted} from {known}"
        );
    }
}

#[test]
fn a_broken_chain_is_said_to_be_broken() {
    let (connection, level) = chain(40);
    connection
        .execute_batch("UPDATE stock_movements SET previous = 1 WHERE sequence = 10 AND level = 1")
        .unwrap();
    assert!(movement::newest(&connection, &level, i64::MAX, 100).is_err());
    connection
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM stock_movements WHERE sequence = 32")
        .unwrap();
    assert!(movement::newest(&connection, &level, 30, 1).is_err());
}

/// Should anything but the writer have moved a level on, its version gives it away.
#[test]
fn a_level_that_moved_behind_the_writer_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("abasto.db");
    let (mut connection, _) = crate::open::writing(&path).unwrap();
    crate::migration::run(&mut connection, 0, crate::migration::known()).unwrap();
    let world = World::new(1, 1, 1);
    let mut memory = Memory::default();
    let unit = world.adjustment(world.place(0, 0), 5);
    commit_all(&mut connection, &mut memory, &[unit]);
    Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE stock_levels SET available = 1")
        .unwrap();
    let unit = world.adjustment(world.place(0, 0), -2);
    let decided = group::commit(&mut connection, &mut memory, [&unit].into_iter()).unwrap();
    assert!(matches!(decided.verdicts[0], Verdict::Rejected(_)));
}
