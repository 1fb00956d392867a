//! A real catalogue imported, real baskets replayed: every sum to the cent, no order twice.

use std::process::Command;

use serde_json::{Value, json};

use super::harness::{Ran, Server, Shop, StoreKind, on_both_stores, run, testdata};

on_both_stores!(
    real_baskets_come_out_to_the_cent_and_never_twice,
    what_cannot_be_sold_is_counted_and_ends_with_5,
    bad_rows_of_an_import_are_listed_and_end_with_5,
);

fn replay(server: &Server, key: &str) -> Command {
    let mut command = server.command(key);
    command.args(["replay", "--clients", "8", "--output", "json"]);
    command
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

/// The sums of the data set as rows of the report.
fn totals() -> Vec<Value> {
    let mut reader = csv::Reader::from_path(testdata("totals.csv")).unwrap();
    let rows = reader.records().map(|row| {
        let row = row.unwrap();
        json!({
            "branch": &row[0],
            "orders": row[1].parse::<u64>().unwrap(),
            "units": row[2].parse::<u64>().unwrap(),
            "total": &row[3],
        })
    });
    rows.collect()
}

async fn real_baskets_come_out_to_the_cent_and_never_twice(kind: StoreKind) {
    let server = Server::on(kind);
    let key = Shop::business(&server, "USD").await;
    let mut import = server.command(&key);
    import
        .args(["import", "products", "--output", "json"])
        .arg(testdata("products.csv"));
    let first = report(&run(&mut import));
    assert_eq!(
        (&first["created"], &first["failed"]),
        (&json!(300), &json!(0))
    );
    let second = report(&run(&mut import));
    assert_eq!(
        (&second["unchanged"], &second["failed"]),
        (&json!(300), &json!(0))
    );

    let baskets = testdata("baskets.ndjson");
    let unprepared = run(replay(&server, &key).arg(&baskets));
    assert_eq!(unprepared.code, Some(1), "{unprepared:?}");
    assert!(unprepared.stderr.contains("--prepare"), "{unprepared:?}");

    let first = run(replay(&server, &key).arg("--prepare").arg(&baskets));
    assert_eq!(first.code, Some(0), "{first:?}");
    let first = report(&first);
    assert_eq!(
        (&first["orders"], &first["replayed"]),
        (&json!(120), &json!(0))
    );
    assert_eq!(
        (&first["rejected"], &first["differences"]),
        (&json!(0), &json!(0))
    );
    let [p50, p99] = ["p50Ms", "p99Ms"].map(|name| first[name].as_f64().unwrap());
    assert!(p50 > 0.0 && p50 <= p99, "{first}");
    let seconds = first["seconds"].as_f64().unwrap();
    assert!(p99 / 1000.0 <= seconds, "{first}");
    for (row, sums) in first["branches"].as_array().unwrap().iter().zip(totals()) {
        for name in ["branch", "orders", "units", "total"] {
            assert_eq!(row[name], sums[name], "{row}");
        }
    }
    let mut http = server.http(&key);
    let orders = http.all("/v1/orders").await;
    assert_eq!(orders.len(), 120);

    let again = run(replay(&server, &key).arg("--prepare").arg(&baskets));
    assert_eq!(again.code, Some(0), "{again:?}");
    let again = report(&again);
    assert_eq!(
        (&again["orders"], &again["replayed"]),
        (&json!(120), &json!(120))
    );
    assert_eq!(again["branches"], first["branches"]);
    assert_eq!(http.all("/v1/orders").await, orders);

    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
    assert!(audit.stdout.contains(" 0 differences"), "{audit:?}");
}

async fn what_cannot_be_sold_is_counted_and_ends_with_5(kind: StoreKind) {
    let server = Server::on(kind);
    let shop = Shop::open(&server, 2, 1).await;
    let file = server.setup().folder().join("baskets.ndjson");
    let baskets = [
        r#"{"basket":"1","branch":"MAIN","items":[{"sku":"SKU-0","quantity":1}],"total":"1.00"}"#,
        r#"{"basket":"2","branch":"MAIN","items":[{"sku":"SKU-0","quantity":1}],"total":"1.00"}"#,
        r#"{"basket":"3","branch":"MAIN","items":[{"sku":"SKU-1","quantity":1}],"total":"9.99"}"#,
    ];
    std::fs::write(&file, baskets.join("\n")).unwrap();
    let mut command = server.command(&shop.key);
    let ran = run(command
        .args(["replay", "--clients", "1", "--output", "json"])
        .arg(&file));
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let report = report(&ran);
    assert_eq!(report["rejectedByCode"], json!({"insufficient-stock": 1}));
    let difference = json!([{"basket": "3", "expected": "9.99", "total": "2.00"}]);
    assert_eq!(report["firstDifferences"], difference);
}

async fn bad_rows_of_an_import_are_listed_and_end_with_5(kind: StoreKind) {
    let server = Server::on(kind);
    let key = Shop::business(&server, "USD").await;
    let file = server.setup().folder().join("products.csv");
    let mut rows = "sku,name,salePrice,department\n".to_owned();
    for number in 0..700 {
        let price = if number == 650 { "free" } else { "1.50" };
        rows.push_str(&format!(
            "P-{number},\"Product, {number}\",{price},\"A\"\"B\"\n"
        ));
    }
    std::fs::write(&file, rows).unwrap();
    let mut import = server.command(&key);
    let ran = run(import.args(["import", "products"]).arg(&file));
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.stdout.contains("699 created"), "{ran:?}");
    assert!(ran.stdout.contains("row 651: /salePrice"), "{ran:?}");
    let found = server
        .http(&key)
        .get("/v1/products?q=P-699")
        .await
        .expect(200);
    let product = &found["items"][0];
    assert_eq!(product["name"], "Product, 699");
    assert_eq!(product["attributes"], json!({"department": "A\"B"}));
}
