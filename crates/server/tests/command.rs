//! Commands that need no data: documents, completions, configuration, keys, businesses.

use serde_json::Value;

use super::harness::{PLATFORM_KEY, Server, Shop, abasto, run};

#[test]
fn documents_go_to_stdout() {
    let version = run(abasto().arg("--version"));
    assert_eq!(
        version.stdout.trim(),
        concat!("abasto ", env!("CARGO_PKG_VERSION"))
    );
    let document = run(abasto().arg("openapi"));
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    assert!(document["paths"]["/v1/orders"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        let script = run(abasto().args(["completions", shell]));
        assert!(
            script.code == Some(0) && script.stdout.contains("replay"),
            "{shell}"
        );
    }
}

#[test]
fn the_configuration_shows_values_and_sources_without_secrets() {
    let secret = "a secret that is long enough to be one";
    let mut command = abasto();
    command
        .env("ABASTO_PLATFORM_KEY", secret)
        .env("ABASTO_THREADS", "3");
    let shown = run(command.args(["config", "show", "--redacted"]));
    assert_eq!(shown.code, Some(0));
    assert!(!shown.stdout.contains(secret), "{}", shown.stdout);
    let line = shown
        .stdout
        .lines()
        .find(|line| line.starts_with("threads "));
    assert!(
        line.unwrap().contains("the variable ABASTO_THREADS"),
        "{}",
        shown.stdout
    );
    let checked = run(abasto().args(["config", "check"]));
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn businesses_and_keys_are_managed_from_the_command_line() {
    let server = Server::start();
    assert_eq!(
        run(abasto().args(["healthcheck", "--url", &server.url])).code,
        Some(0)
    );
    let mut create = server.command(PLATFORM_KEY);
    create.args([
        "businesses",
        "create",
        "--name",
        "Café Ñandú",
        "--currency",
        "COP",
    ]);
    let created = run(create.args(["--time-zone", "America/Bogota"]));
    assert_eq!(created.code, Some(0), "{created:?}");
    let owner = created.stdout.trim();
    assert!(owner.starts_with("abasto_"), "{created:?}");
    let listed = run(server.command(PLATFORM_KEY).args(["businesses", "list"]));
    assert!(listed.stdout.contains("Café Ñandú"), "{listed:?}");

    let mut create = server.command(owner);
    create.args(["keys", "create", "--name", "till", "--role", "service"]);
    let created = run(create.args(["--output", "json"]));
    let created: Value = serde_json::from_str(&created.stdout).unwrap();
    let (id, secret) = (
        created["id"].as_str().unwrap(),
        created["secret"].as_str().unwrap(),
    );
    assert_eq!(server.http(secret).get("/v1/business").await.status, 200);
    let listed = run(server.command(owner).args(["keys", "list"]));
    assert!(
        listed.stdout.contains(id) && !listed.stdout.contains(secret),
        "{listed:?}"
    );
    assert_eq!(
        run(server.command(owner).args(["keys", "revoke", id])).code,
        Some(0)
    );
    assert_eq!(server.http(secret).get("/v1/business").await.status, 401);

    let refused = run(server.command("abasto_nobody").args(["keys", "list"]));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("401"), "{refused:?}");
}

#[tokio::test]
async fn a_store_is_migrated_and_checked() {
    let server = Server::start();
    Shop::open(&server, 1, 1).await;
    let checked = run(server.store_command("migrate").arg("--check"));
    assert_eq!(
        checked.code,
        Some(0),
        "beside a running server: {checked:?}"
    );
    let refused = run(&mut server.store_command("migrate"));
    assert_eq!(refused.code, Some(4), "{refused:?}");
    let (setup, mut migrate) = (server.setup().clone(), server.store_command("migrate"));
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(run(&mut migrate).code, Some(0));
    drop(setup);
}
