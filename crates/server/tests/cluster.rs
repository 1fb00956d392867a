//! Servers of a replica set of three die, freeze and come back while the binary sells over HTTP.
//! Each test has a set of its own; they run one at a time.

use std::time::{Duration, Instant};

use abasto_testbed::mongo_cluster::{MongoCluster, database_uri};

use super::harness::{ANSWER_MAX, Buyer, Crowd, Doors, Server, Setup, Shop, verify};

const BUYERS: usize = 8;
const BOUGHT: [usize; 2] = [0, 1];

/// A set, an instance on it, and a shop with full shelves.
struct Stage {
    // Dropped before the set that it speaks to.
    server: Server,
    shop: Shop,
    set: MongoCluster,
}

impl Stage {
    async fn set() -> Self {
        let set = MongoCluster::start(3).expect("a set");
        let server = Setup::on_set(&database_uri(&set.uri(), "shop")).start();
        let shop = Shop::open(&server, 2, 1_000_000).await;
        Self { server, shop, set }
    }

    fn crowd(&self) -> Crowd {
        Crowd::start(&Doors::of(&[&self.server]), &self.shop, BUYERS, &BOUGHT)
    }

    fn secondaries(&self) -> Vec<usize> {
        let primary = self.set.wait_primary().expect("a primary");
        (0..3).filter(|node| *node != primary).collect()
    }

    /// Ends the crowd when all is well again, and looks at what is left.
    async fn leave(self, crowd: Crowd) {
        self.set.settle().expect("settled");
        let seen = crowd.finish().await;
        assert_eq!(seen.lost, 0, "the instance itself was never gone");
        verify(&self.server, &self.shop, &BOUGHT, &seen).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_dies_three_times_under_load() {
    let mut stage = Stage::set().await;
    let crowd = stage.crowd();
    for _ in 0..3 {
        crowd.more(50).await;
        let primary = stage.set.wait_primary().expect("a primary");
        stage.set.kill(primary).expect("killed");
        crowd.more(50).await;
        stage.set.restart(primary).expect("restarted");
        stage.set.settle().expect("settled");
    }
    stage.leave(crowd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_primary_freezes_under_load_and_comes_back() {
    let stage = Stage::set().await;
    let crowd = stage.crowd();
    crowd.more(50).await;
    let primary = stage.set.wait_primary().expect("a primary");
    stage.set.freeze(primary).expect("frozen");
    crowd.more(50).await;
    stage.set.thaw(primary).expect("thawed");
    crowd.more(50).await;
    stage.leave(crowd).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_majority_nothing_is_acknowledged_and_it_comes_back() {
    let mut stage = Stage::set().await;
    let secondaries = stage.secondaries();
    for node in &secondaries {
        stage.set.kill(*node).expect("killed");
    }
    // The primary still takes writes, for it has not noticed yet; they must not be believed. The
    // same order is insisted on until long after it has noticed.
    let mut buyer = Buyer::new(&Doors::of(&[&stage.server]), &stage.shop, 0, &BOUGHT);
    let crowd = stage.crowd();
    let begun = Instant::now();
    while begun.elapsed() < 2 * ANSWER_MAX {
        let acknowledged = buyer.ask("alone").await;
        assert!(!acknowledged, "acknowledged without a majority");
    }
    let told = &buyer.seen.told_to_wait;
    let codes = ["outcome-unknown", "unavailable", "overloaded"];
    let known = told.keys().all(|code| codes.contains(&code.as_str()));
    assert!(known && !told.is_empty(), "{told:?}");
    for node in &secondaries {
        stage.set.restart(*node).expect("restarted");
    }
    while !buyer.ask("alone").await {
        assert!(begun.elapsed() < Duration::from_secs(240), "never settled");
    }
    crowd.more(50).await;
    stage.set.settle().expect("settled");
    let mut seen = crowd.finish().await;
    seen.add(buyer.seen);
    assert_eq!(seen.lost, 0, "the instance itself was never gone");
    verify(&stage.server, &stage.shop, &BOUGHT, &seen).await;
}
