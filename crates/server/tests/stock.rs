//! Stock under crowds, over the real wire.

use serde_json::Value;

use super::harness::{Server, Setup, Shop, StoreKind, on_both_stores, run};

on_both_stores!(a_hot_product_is_sold_exactly);

async fn a_hot_product_is_sold_exactly(kind: StoreKind) {
    let server = Server::on(kind);
    sell_out(&[&server]).await;
}

/// Two instances over one replica set: it does not matter which of them a buyer meets.
#[tokio::test]
async fn two_instances_sell_exactly_what_is_there() {
    let setup = Setup::on(StoreKind::Mongo);
    let (first, second) = (setup.start(), setup.start());
    sell_out(&[&first, &second]).await;
}

/// Fifty buyers, spread over the instances, want one each of forty units.
async fn sell_out(servers: &[&Server]) {
    let server = servers[0];
    let shop = Shop::open(server, 1, 40).await;
    let buyers = (0..50).map(|number| {
        let mut http = servers[number % servers.len()].http(&shop.key);
        let order = shop.order(&[0]);
        tokio::spawn(async move {
            let key = format!("buyer-{number}");
            http.insist("/v1/orders", &key, &order).await
        })
    });
    let buyers: Vec<_> = buyers.collect();
    let (mut numbers, mut short) = (Vec::new(), 0);
    for buyer in buyers {
        let reply = buyer.await.unwrap();
        if reply.status == 201 {
            numbers.push(reply.json()["number"].as_str().unwrap().to_owned());
        } else {
            assert_eq!(reply.expect(409)["code"], "insufficient-stock");
            short += 1;
        }
    }
    assert_eq!((numbers.len(), short), (40, 10));
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), 40);
    assert!(
        numbers[39].ends_with("-000040"),
        "no number is lost: {numbers:?}"
    );
    let level = shop.level(&mut server.http(&shop.key), 0).await;
    assert_eq!(
        (&level["available"], &level["reserved"]),
        (&Value::from(0), &Value::from(40))
    );
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
