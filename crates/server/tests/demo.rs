//! The demo: made once, found again.

use serde_json::Value;

use super::harness::{Server, Setup};

fn demo(setup: &Setup) -> (Server, Vec<String>) {
    let mut server = setup.start();
    let mut lines = Vec::new();
    while lines
        .last()
        .is_none_or(|line: &String| !line.contains("/docs"))
    {
        lines.push(server.line());
        assert!(lines.last() != Some(&String::new()), "it ended: {lines:?}");
    }
    (server, lines)
}

#[tokio::test]
async fn it_is_made_once_and_found_again() {
    let setup = Setup::new().command("demo");
    let (server, lines) = demo(&setup);
    let key = lines
        .iter()
        .map(|line| line.trim())
        .find(|line| line.starts_with("abasto_"));
    let key = key.unwrap_or_else(|| panic!("no key: {lines:?}"));
    let mut http = server.http(key);
    assert_eq!(http.all("/v1/branches").await.len(), 3);
    assert_eq!(http.all("/v1/products").await.len(), 40);
    let orders = http.all("/v1/orders").await;
    let in_state = |state: &str| {
        orders
            .iter()
            .filter(|order| order["status"] == state)
            .count()
    };
    assert!(
        in_state("delivered") >= 3 && in_state("cancelled") == 1,
        "{orders:?}"
    );
    assert!(
        in_state("pending") >= 1 && in_state("preparing") >= 1,
        "{orders:?}"
    );
    assert_eq!(server.stop().code(), Some(0));

    let (server, lines) = demo(&setup);
    assert!(!lines.concat().contains(key), "the key is shown once");
    let mut http = server.http(key);
    let found: Vec<Value> = http.all("/v1/orders").await;
    assert_eq!(found, orders);
    assert_eq!(server.stop().code(), Some(0));
    let kept = std::fs::read_dir(setup.folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in kept.filter(|path| path.to_string_lossy().contains(".json")) {
        assert!(
            !std::fs::read_to_string(path).unwrap().contains(key),
            "the key is not kept"
        );
    }
}
