//! What `/metrics` says after orders: names, labels and values.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::harness::{Http, Server, Shop, StoreKind, on_both_stores};

on_both_stores!(
    alerts_see_their_counters_from_the_start,
    commits_and_shortages_are_measured,
);

/// Every series with its value.
async fn scrape(http: &mut Http) -> BTreeMap<String, f64> {
    let reply = http.get("/metrics").await;
    assert_eq!(reply.status, 200);
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let series = text.lines().filter(|line| !line.starts_with('#'));
    series
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

#[track_caller]
fn value(series: &BTreeMap<String, f64>, name: &str) -> f64 {
    let found = series.get(name);
    *found.unwrap_or_else(|| panic!("{name} is not in {series:#?}"))
}

/// Every counter that an alert of the operators' page names is there before anything has happened.
async fn alerts_see_their_counters_from_the_start(kind: StoreKind) {
    const PAGE: &str = include_str!("../../../docs/operations.md");
    let (_, alerts) = PAGE.split_once("\n## Alerts").expect("a section");
    let alerts = alerts.split("\n## ").next().unwrap();
    let words = alerts.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let counters = words.filter(|word| word.starts_with("abasto_") && word.ends_with("_total"));
    let counters: BTreeSet<&str> = counters.collect();
    assert!(counters.len() > 3, "{counters:?}");
    let server = Server::on(kind);
    // What is counted by route is there, all its statuses at once, from the route's first answer.
    assert_eq!(server.nobody().get("/readyz").await.status, 200);
    let series = scrape(&mut server.nobody()).await;
    for counter in counters {
        let is_one = |name: &&String| name.split('{').next() == Some(counter);
        assert!(
            series.keys().find(is_one).is_some(),
            "{counter} in {series:#?}"
        );
    }
}

/// The counters that are watched are there before anything has happened.
async fn counters_start_at_zero(server: &Server, store: StoreKind) {
    let series = scrape(&mut server.nobody()).await;
    let labelled = |name: &str| format!("{name}{{store=\"{}\"}}", store.name());
    for name in [
        labelled("abasto_commit_retries_total"),
        labelled("abasto_commit_overloaded_total"),
        labelled("abasto_commit_queue_depth"),
        "abasto_commit_stale_total".to_owned(),
        "abasto_insufficient_stock_total{of=\"order\"}".to_owned(),
        "abasto_insufficient_stock_total{of=\"checkout\"}".to_owned(),
        "abasto_insufficient_stock_total{of=\"stock\"}".to_owned(),
    ] {
        assert!(value(&series, &name).abs() < 0.5, "{name} in {series:#?}");
    }
}

async fn commits_and_shortages_are_measured(kind: StoreKind) {
    let server = Server::on(kind);
    counters_start_at_zero(&server, kind).await;
    let shop = Shop::open(&server, 1, 3).await;
    let mut http = server.http(&shop.key);
    let before = scrape(&mut server.nobody()).await;
    for number in 0..5 {
        let reply = http
            .post(
                "/v1/orders",
                Some(&format!("o-{number}")),
                &shop.order(&[0]),
            )
            .await;
        reply.expect(if number < 3 { 201 } else { 409 });
    }
    let path = format!("/v1/branches/{}/inventory/adjustments", shop.branch);
    let item = json!({"productId": shop.products[0], "delta": -1, "reason": "loss"});
    let body = json!({ "items": [item] });
    http.post(&path, Some("loss"), &body).await.expect(409);

    let after = scrape(&mut server.nobody()).await;
    let grew = |name: &str| value(&after, name) - value(&before, name);
    let is = |name: &str, by: f64| assert!((grew(name) - by).abs() < 0.5, "{name}: {after:#?}");
    let store = kind.name();
    let of_store = |name: &str| format!("{name}{{store=\"{store}\"}}");
    is(&of_store("abasto_commit_duration_seconds_count"), 3.0);
    is(&of_store("abasto_commit_group_size_count"), 3.0);
    is(&of_store("abasto_commit_group_size_sum"), 3.0);
    let single = format!("abasto_commit_group_size_bucket{{store=\"{store}\",le=\"1\"}}");
    is(&single, 3.0);
    let depth = of_store("abasto_commit_queue_depth");
    is(&depth, 0.0);
    assert!(value(&after, &depth).abs() < 0.5);
    assert!(grew(&of_store("abasto_commit_duration_seconds_sum")) > 0.0);
    is("abasto_insufficient_stock_total{of=\"order\"}", 2.0);
    is("abasto_insufficient_stock_total{of=\"stock\"}", 1.0);
}
