//! The bug zoo: every mistake that cost others data, put back, is noticed.

use crate::simulation::{MISTAKES, Mistake, run};
use std::panic::catch_unwind;

/// The first of 300 seeds whose run notices the mistake.
fn noticed(mistake: Mistake) -> Option<(u64, String)> {
    (0..300).find_map(|seed| {
        // A mistake may also show as a difference that the run asserts on.
        let outcome = catch_unwind(|| run(seed, mistake));
        match outcome {
            Ok(Ok(())) => None,
            Ok(Err(wrong)) => Some((seed, wrong)),
            Err(_) => Some((seed, "asserted".to_owned())),
        }
    })
}

#[test]
fn every_mistake_is_noticed() {
    for mistake in MISTAKES {
        let (seed, wrong) =
            noticed(mistake).unwrap_or_else(|| panic!("{mistake:?} went unnoticed"));
        let wrong: String = wrong.chars().take(160).collect();
        println!("{mistake:?}: noticed with seed {seed}: {wrong}");
    }
}

#[test]
fn without_a_mistake_nothing_is_noticed() {
    assert_eq!(noticed(Mistake::None), None);
}
