//! kill −9 in mid-load: what was acknowledged is there, what was not is there once or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::harness::{Http, Server, Shop, StoreKind, on_both_stores, run};

on_both_stores!(every_acknowledged_order_survives);

const CLIENTS: usize = 8;
const BEFORE_THE_CUT: usize = 300;

/// Places orders until the server is gone; gives the answers by key, and the key left open.
async fn shop_on(
    mut http: Http,
    shop: Arc<Shop>,
    client: usize,
    placed: Arc<AtomicUsize>,
) -> (BTreeMap<String, Value>, String) {
    let mut answers = BTreeMap::new();
    for number in 0.. {
        let key = format!("order-{client}-{number}");
        let order = shop.order(&[(client + number) % 5, 5 + number % 5]);
        match http.try_insist("/v1/orders", &key, &order).await {
            Ok(reply) => {
                answers.insert(key, reply.expect(201));
                placed.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => return (answers, key),
        }
    }
    unreachable!("the loop has no end of its own")
}

async fn every_acknowledged_order_survives(kind: StoreKind) {
    let server = Server::on(kind);
    let shop = Arc::new(Shop::open(&server, 10, 1_000_000).await);
    let placed = Arc::new(AtomicUsize::new(0));
    let clients = (0..CLIENTS).map(|client| {
        let http = server.http(&shop.key);
        tokio::spawn(shop_on(http, shop.clone(), client, placed.clone()))
    });
    let clients: Vec<_> = clients.collect();
    while placed.load(Ordering::Relaxed) < BEFORE_THE_CUT {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let server = server.kill().start();
    let mut http = server.http(&shop.key);
    let (mut acknowledged, mut open) = (BTreeMap::new(), Vec::new());
    for client in clients {
        let (answers, key) = client.await.unwrap();
        acknowledged.extend(answers);
        open.push(key);
    }
    for order in acknowledged.values() {
        let path = format!("/v1/orders/{}", order["id"].as_str().unwrap());
        assert_eq!(&http.get(&path).await.expect(200), order);
    }
    let stored = http.all("/v1/orders").await.len();
    let extra = stored - acknowledged.len();
    assert!(extra <= open.len(), "{extra} orders that nobody asked for");
    // A client that does not know what became of its order sends it again.
    for key in open {
        let parts: Vec<usize> = key
            .split('-')
            .skip(1)
            .map(|part| part.parse().unwrap())
            .collect();
        let order = shop.order(&[(parts[0] + parts[1]) % 5, 5 + parts[1] % 5]);
        http.insist("/v1/orders", &key, &order).await.expect(201);
    }
    let stored = http.all("/v1/orders").await.len();
    assert_eq!(stored, acknowledged.len() + CLIENTS);
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
