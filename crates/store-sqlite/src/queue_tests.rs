//! The queue alone: turns, order, bounds, closing.

use abasto_domain::id::RawId;

use super::*;

const LIMITS: Limits = Limits {
    lane: 4,
    business: 6,
    total: 10,
    group: 5,
};

fn lane(business: u8, branch: u8) -> Lane {
    Lane {
        business: BusinessId(RawId([business; 12])),
        branch: Some(BranchId(RawId([branch; 12]))),
    }
}

#[test]
fn businesses_take_turns_and_lanes_within_them() {
    let queue = Queue::new(LIMITS);
    for item in ["a1", "a2", "a3", "a4"] {
        queue.push(lane(1, 1), item).unwrap();
    }
    queue.push(lane(1, 2), "b1").unwrap();
    queue.push(lane(2, 1), "c1").unwrap();
    queue.push(lane(2, 1), "c2").unwrap();
    assert_eq!(queue.take(), ["a1", "c1", "b1", "c2", "a2"]);
    assert_eq!(queue.take(), ["a3", "a4"]);
    assert_eq!(queue.waiting(), 0);
}

#[test]
fn a_lane_keeps_its_order() {
    let queue = Queue::new(Limits {
        group: 100,
        ..Limits::default()
    });
    for item in 0..100 {
        queue.push(lane(1, 1), item).unwrap();
    }
    assert_eq!(queue.take(), (0..100).collect::<Vec<_>>());
}

#[test]
fn every_bound_holds() {
    let queue = Queue::new(LIMITS);
    let fill = |lane, count| (0..count).filter(|_| queue.push(lane, ()).is_ok()).count();
    assert_eq!(fill(lane(1, 1), 9), LIMITS.lane);
    assert_eq!(fill(lane(1, 2), 9), LIMITS.business - LIMITS.lane);
    assert_eq!(fill(lane(2, 1), 9), LIMITS.total - LIMITS.business);
    assert_eq!(queue.push(lane(3, 1), ()), Err(Refused::Full));
    // A place that becomes free can be taken again.
    assert_eq!(queue.take().len(), LIMITS.group);
    assert_eq!(queue.push(lane(3, 1), ()), Ok(()));
}

#[test]
fn a_closed_queue_serves_what_waits_and_takes_no_more() {
    let queue = Queue::new(LIMITS);
    queue.push(lane(1, 1), 1).unwrap();
    queue.close();
    assert_eq!(queue.push(lane(1, 1), 2), Err(Refused::Closed));
    assert_eq!(queue.take(), [1]);
    assert!(queue.take().is_empty());
}
