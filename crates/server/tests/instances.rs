//! Several instances over one replica set: they share every rule, and one that dies takes nothing
//! with it.

use super::harness::{Crowd, Doors, Setup, Shop, StoreKind, verify};

const BUYERS: usize = 8;

#[tokio::test]
async fn two_instances_serve_one_hot_branch() {
    let setup = Setup::on(StoreKind::Mongo);
    let (first, second) = (setup.start(), setup.start());
    let shop = Shop::open(&first, 2, 1_000_000).await;
    let crowd = Crowd::start(&Doors::of(&[&first, &second]), &shop, BUYERS, &[0, 1]);
    crowd.more(400).await;
    let seen = crowd.finish().await;
    assert_eq!(seen.lost, 0, "{:?}", seen.told_to_wait);
    verify(&second, &shop, &[0, 1], &seen).await;
}

#[tokio::test]
async fn an_instance_killed_in_mid_load_loses_nothing() {
    let setup = Setup::on(StoreKind::Mongo);
    let (first, second) = (setup.start(), setup.start());
    let shop = Shop::open(&first, 2, 1_000_000).await;
    let doors = Doors::of(&[&first, &second]);
    let crowd = Crowd::start(&doors, &shop, BUYERS, &[0, 1]);
    crowd.more(150).await;
    // Whoever stood at its door goes to the other, with orders of unknown outcome.
    let setup = first.kill();
    crowd.more(150).await;
    let first = setup.start();
    doors.moved(0, &first);
    crowd.more(50).await;
    let seen = crowd.finish().await;
    assert!(seen.lost > 0, "nobody stood at the door");
    verify(&first, &shop, &[0, 1], &seen).await;
}
