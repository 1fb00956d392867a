//! Stamps and the clock that makes them.

use abasto_cart::limit::MAX_DEVICE_CLOCK_AHEAD_MS;
use abasto_cart::{Clock, ClockSkew, Hlc};
use std::collections::BTreeSet;
use std::sync::Mutex;

#[test]
fn stamps_only_grow_while_time_stands_still_or_goes_back() {
    let clock = Clock::new();
    let mut last = Hlc::ZERO;
    for now_ms in [5, 5, 5, 9, 3, 3, 9, 10, 0] {
        let stamp = clock.stamp(now_ms);
        assert!(stamp > last && stamp.ms() >= now_ms);
        last = stamp;
    }
    for _ in 0..70_000 {
        let stamp = clock.stamp(10);
        assert!(stamp > last, "the counter runs over into the milliseconds");
        last = stamp;
    }
    assert_eq!(last.ms(), 11);
}

#[test]
fn threads_never_share_a_stamp() {
    let clock = Clock::new();
    let all = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mine: Vec<Hlc> = (0..2_000).map(|n| clock.stamp(n / 100)).collect();
                assert!(mine.is_sorted());
                all.lock().unwrap().extend(mine);
            });
        }
    });
    assert_eq!(all.lock().unwrap().len(), 8_000);
}

#[test]
fn a_stamp_from_the_future_is_turned_away_and_leaves_the_clock_alone() {
    let clock = Clock::new();
    let now_ms = 1_000_000;
    let edge = Hlc::new(now_ms + MAX_DEVICE_CLOCK_AHEAD_MS, u16::MAX);
    let beyond = Hlc::new(now_ms + MAX_DEVICE_CLOCK_AHEAD_MS + 1, 0);
    let refused = clock.observe(beyond, now_ms, MAX_DEVICE_CLOCK_AHEAD_MS);
    assert_eq!(
        refused,
        Err(ClockSkew {
            ahead_ms: MAX_DEVICE_CLOCK_AHEAD_MS + 1
        })
    );
    assert_eq!(clock.stamp(now_ms).ms(), now_ms);
    assert_eq!(
        clock.observe(edge, now_ms, MAX_DEVICE_CLOCK_AHEAD_MS),
        Ok(())
    );
    assert!(
        clock.stamp(now_ms) > edge,
        "what comes after has a later stamp"
    );
    assert_eq!(
        Hlc::new(1, 0).check(now_ms, 0),
        Ok(()),
        "old stamps are fine"
    );
    assert_eq!(Hlc::new(u64::MAX, 0).ms(), Hlc::MAX_MS);
}
