//! Commands that need no data: documents, completions, configuration, keys, businesses.

use serde_json::Value;

use super::harness::{PLATFORM_KEY, Server, Shop, StoreKind, abasto, on_both_stores, run};

on_both_stores!(businesses_and_keys_are_managed_from_the_command_line);

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

async fn businesses_and_keys_are_managed_from_the_command_line(kind: StoreKind) {
    let server = Server::on(kind);
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

/// `--url` and `--key` may stand before and behind the subcommand.
#[tokio::test]
async fn the_server_is_named_before_or_behind_the_subcommand() {
    let server = Server::start();
    let owner = Shop::business(&server, "USD").await;
    let file = server.setup().folder().join("products.csv");
    std::fs::write(&file, "sku,name,salePrice\nA,Apple,1.00\n").unwrap();
    let file = file.to_str().unwrap();
    let to = ["--url", server.url.as_str(), "--key", owner.as_str()];
    let words = |before: &[&str], behind: &[&str]| -> Vec<String> {
        let all = before.iter().chain(behind);
        all.map(|word| (*word).to_owned()).collect()
    };
    for (command, rest) in [
        ("keys", &["list"][..]),
        ("keys", &["create", "--name", "x", "--role", "manager"]),
        ("import", &["products", file]),
    ] {
        for line in [
            [words(&[command], &to), words(rest, &[])].concat(),
            [words(&[command], rest), words(&to, &[])].concat(),
        ] {
            let ran = run(abasto().args(&line));
            assert_eq!(ran.code, Some(0), "{line:?} {ran:?}");
        }
    }
    let operator = [
        "--url",
        server.url.as_str(),
        "--key",
        super::harness::PLATFORM_KEY,
    ];
    let ran = run(abasto().args(words(&["businesses", "list"], &operator)));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let both = ["--key", "a", "--key-file", "b"];
    let ran = run(abasto().args(words(&["keys", "list"], &both)));
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

/// A server that is not there is said at once, and then waited for only so long.
#[test]
fn nobody_there_is_said_at_once_and_ends_with_4() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let mut child = abasto()
        .args(["keys", "list", "--url", &url, "--key", "abasto_x"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
    assert!(line.contains("cannot connect to"), "{line}");
    assert!(
        line.contains(&url) && line.contains("trying again for 5 s"),
        "{line}"
    );
    assert!(
        child.try_wait().unwrap().is_none(),
        "it is said before it gives up"
    );
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
    assert_eq!(rest.lines().count(), 1, "said once, then the end: {rest}");
    assert_eq!(child.wait().unwrap().code(), Some(4));
}
