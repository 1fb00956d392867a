//! What a replica set must be before it is trusted with orders, and what is said when it is not.

use std::time::{Duration, Instant};

use super::harness::{Setup, StoreKind, abasto, run};

/// Ends a test that hangs and says nothing of speed.
const LOOKS_AGAIN_MAX: Duration = Duration::from_secs(120);

/// Starts on an address that is refused; gives the line that says why.
fn refused(url: &str, code: i32) -> String {
    let mut command = abasto();
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--store", url])
        .env(
            "ABASTO_CURSOR_SECRET",
            "a secret of these tests, long enough",
        );
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.stdout, "", "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    ran.stderr
}

#[test]
fn an_address_that_could_lose_orders_is_refused() {
    let set = Setup::on(StoreKind::Mongo);
    for (option, said) in [
        ("w=1", "weaker than majority"),
        ("w=0", "weaker than majority"),
        ("w=2", "weaker than majority"),
        ("journal=false", "weaker than majority"),
        ("readConcernLevel=local", "read concern majority"),
        ("readPreference=secondaryPreferred", "from the primary"),
    ] {
        let line = refused(&format!("{}&{option}", set.store()), 3);
        assert!(line.contains(said), "{option}: {line}");
    }
}

#[test]
fn a_set_that_cannot_be_reached_is_said_and_no_password_is() {
    let line = refused(
        "mongodb://ana:secret-word@127.0.0.1:1/shop?replicaSet=abasto",
        4,
    );
    assert!(line.contains("cannot be reached"), "{line}");
    assert!(!line.contains("secret-word"), "{line}");
}

#[test]
fn instances_that_would_seal_cursors_differently_are_refused() {
    let set = Setup::on(StoreKind::Mongo);
    let ran = run(abasto().args(["serve", "--listen", "127.0.0.1:0", "--store", set.store()]));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("cursor_secret is needed"), "{ran:?}");
}

#[tokio::test]
async fn a_database_that_lacks_something_is_not_ready_until_it_is_migrated() {
    let setup = Setup::before_migration();
    let server = setup.start();
    assert!(server.log().contains("abasto migrate"), "{}", server.log());
    let ready = server.nobody().get("/readyz").await.expect(503);
    assert!(!ready["reasons"].as_array().unwrap().is_empty(), "{ready}");
    let checked = run(server.store_command("migrate").arg("--check"));
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!(checked.stdout.contains("orders"), "{checked:?}");

    for _ in 0..2 {
        let migrated = run(&mut server.store_command("migrate"));
        assert_eq!(migrated.code, Some(0), "{migrated:?}");
    }
    let checked = run(server.store_command("migrate").arg("--check"));
    assert_eq!((checked.code, checked.stdout.trim()), (Some(0), ""));
    // An instance looks again by itself.
    let begun = Instant::now();
    while server.nobody().get("/readyz").await.status != 200 {
        assert!(begun.elapsed() < LOOKS_AGAIN_MAX, "never ready");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
