//! Several instances over one replica set: they share every rule, and one that dies takes nothing
//! with it.

use hyper::Method;
use serde_json::{Value, json};

use super::harness::{Crowd, Doors, Http, Server, Setup, Shop, StoreKind, text, verify};

const BUYERS: usize = 8;
/// How many people put things into one cart at the same time, and how many things each.
const HANDS: usize = 4;
const THINGS: usize = 10;
/// How often an edit that met others comes back before the test is given up.
const COMES_BACK_MAX: usize = 100;

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

/// An instance keeps nothing of a cart that another would not see.
#[tokio::test]
async fn a_cart_is_the_same_through_both() {
    let setup = Setup::on(StoreKind::Mongo);
    let (first, second) = (setup.start(), setup.start());
    let shop = Shop::open(&first, 2, 0).await;
    for mode in ["crdt", "occ", "events"] {
        let cart = json!({"branchId": shop.branch, "mode": mode});
        let opened = first.http(&shop.key).post("/v1/carts", None, &cart).await;
        let path = format!("/v1/carts/{}", text(&opened.expect(201)["id"]));
        fill(&[&first, &second], &shop, &path).await;
        let there = first.http(&shop.key).get(&path).await;
        let here = second.http(&shop.key).get(&path).await;
        assert_eq!(there.body, here.body, "{mode}");
        let lines = here.expect(200)["lines"].clone();
        let lines = lines.as_array().unwrap();
        let all = lines.iter().map(|line| line["quantity"].as_u64().unwrap());
        assert_eq!(
            all.sum::<u64>(),
            (HANDS * THINGS) as u64,
            "{mode}: {lines:?}"
        );
        assert_eq!(lines.len(), 2, "{mode}: {lines:?}");
    }
}

/// Several hands, spread over the instances, put things into one cart; whoever is told to come back
/// does so with the same key.
async fn fill(servers: &[&Server], shop: &Shop, path: &str) {
    let hands = (0..HANDS).map(|hand| {
        let mut http = servers[hand % servers.len()].http(&shop.key);
        let product = shop.products[hand / 2 % 2].clone();
        let path = path.to_owned();
        tokio::spawn(async move {
            for thing in 0..THINGS {
                let added = json!({"op": "addItem", "productId": product, "quantity": 1});
                let key = format!("{path}-{hand}-{thing}");
                put_in(&mut http, &path, &key, &json!({ "ops": [added] })).await;
            }
        })
    });
    for hand in hands.collect::<Vec<_>>() {
        hand.await.unwrap();
    }
}

async fn put_in(http: &mut Http, path: &str, key: &str, edit: &Value) {
    let headers = [
        ("content-type", "application/json"),
        ("idempotency-key", key),
    ];
    for _ in 0..COMES_BACK_MAX {
        let reply = http.send(Method::PATCH, path, &headers, edit.to_string());
        let reply = reply.await.expect("an answer");
        if reply.status == 200 {
            return;
        }
        let code = text(&reply.json()["code"]);
        let contended = (reply.status, code.as_str()) == (409, "cart-contention");
        assert!(contended || reply.status == 503, "{reply:?}");
        tokio::time::sleep(reply.retry_after()).await;
    }
    panic!("{key}: told to come back again and again")
}
