//! 10 000 seeded runs of three places against the oracle.

use crate::simulation::{Mistake, run};

fn runs(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        if let Err(wrong) = run(seed, Mistake::None) {
            panic!("{wrong}");
        }
    }
}

// Four tests, so that they run beside each other.

#[test]
fn three_places_agree_with_the_specification_1() {
    runs(0..2_500);
}

#[test]
fn three_places_agree_with_the_specification_2() {
    runs(2_500..5_000);
}

#[test]
fn three_places_agree_with_the_specification_3() {
    runs(5_000..7_500);
}

#[test]
fn three_places_agree_with_the_specification_4() {
    runs(7_500..10_000);
}
