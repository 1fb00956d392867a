//! Starting and ending: what the process prints, and its exit codes.

use std::net::TcpListener;

use rustix::process::Signal;

use super::harness::{Ran, Server, Setup, StoreKind, abasto, on_both_stores, run};

on_both_stores!(it_prints_one_line_when_ready_and_ends_with_0_on_a_signal);

/// A command that fails says why in one line on stderr and nothing on stdout.
#[track_caller]
fn failed(ran: &Ran, code: i32, said: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert_eq!(ran.stdout, "", "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert!(ran.stderr.starts_with("abasto: "), "{ran:?}");
    for part in said {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
}

async fn it_prints_one_line_when_ready_and_ends_with_0_on_a_signal(kind: StoreKind) {
    let setup = Setup::on(kind);
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = setup.start();
        let mut http = server.nobody();
        assert_eq!(http.get("/healthz").await.status, 200);
        assert_eq!(http.get("/readyz").await.status, 200);
        server.signal(signal);
        assert_eq!(server.line(), "", "one line only");
        assert_eq!(server.wait().code(), Some(0));
    }
}

#[test]
fn a_second_server_on_the_same_store_is_refused() {
    let server = Server::start();
    let ran = run(&mut server.setup().line());
    failed(&ran, 4, &["abasto.db", "another process"]);
}

#[test]
fn an_address_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = Setup::new();
    let mut command = abasto();
    let ran = run(command.args(["serve", "--listen", &address, "--store", folder.store()]));
    failed(&ran, 4, &["cannot listen on", &address]);
}

#[test]
fn a_configuration_that_cannot_be_used_ends_with_3() {
    let folder = Setup::new();
    let file = folder.folder().join("abasto.toml");
    std::fs::write(&file, "lissten = 'x'").unwrap();
    let file = file.to_str().unwrap();
    for (variables, arguments, said) in [
        (
            &[("ABASTO_PLATFORM_KEY", "short")][..],
            &[][..],
            "platform_key must have at least 32",
        ),
        (
            &[("ABASTO_LISTEN", "nowhere")],
            &[],
            "the variable ABASTO_LISTEN",
        ),
        (&[("ABASTO_LISTENING", "x")], &[], "listening is not a key"),
        (&[], &["--listen", "nowhere"], "the flag --listen"),
        (
            &[],
            &["--store", "postgres://h/d"],
            "a store is sqlite:PATH",
        ),
        (
            &[],
            &["--config", "/nowhere/abasto.toml"],
            "/nowhere/abasto.toml",
        ),
        (&[], &["--config", file], "did you mean listen?"),
        (&[("ABASTO_LOG__FILTER", "a=b=c")], &[], "log.filter"),
        (
            &[("ABASTO_JWT__JWKS_FILE", "/nowhere")],
            &[],
            "jwt.jwks_file",
        ),
    ] {
        let mut command = abasto();
        command
            .current_dir(folder.folder())
            .arg("serve")
            .args(arguments);
        let ran = run(command.envs(variables.iter().copied()));
        failed(&ran, 3, &[said]);
    }
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2() {
    for arguments in [
        &["sevre"][..],
        &["serve", "--port", "1"],
        &["replay"],
        &["keys", "create", "--name", "x", "--role", "king"],
        &["import", "customers", "x.csv"],
        &[],
    ] {
        let ran = run(abasto().args(arguments));
        assert_eq!(ran.code, Some(2), "{arguments:?} {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
    let ran = run(abasto().args(["keys", "list"]));
    failed(&ran, 2, &["ABASTO_KEY"]);
    let ran = run(abasto().args(["keys", "--url", "ftp://x", "--key", "k", "list"]));
    failed(&ran, 2, &["ftp://x"]);
}

#[test]
fn nobody_there_ends_with_4() {
    let url = ["--url", "http://127.0.0.1:1"];
    let ran = run(abasto().arg("healthcheck").args(url));
    failed(&ran, 4, &["http://127.0.0.1:1"]);
}

#[test]
fn a_store_that_is_not_there_is_a_fault_of_the_configuration() {
    let folder = Setup::new();
    for command in [&["reconcile"][..], &["migrate", "--check"]] {
        let ran = run(abasto().args(command).args(["--store", folder.store()]));
        failed(&ran, 3, &["abasto.db"]);
    }
    assert_eq!(std::fs::read_dir(folder.folder()).unwrap().count(), 0);
}

#[test]
fn a_file_of_another_kind_is_not_touched() {
    let folder = Setup::new();
    let path = folder.folder().join("abasto.db");
    std::fs::write(&path, "these are somebody's notes, and long ones at that").unwrap();
    let ran = run(&mut folder.line());
    failed(&ran, 3, &["not a store of Abasto"]);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .starts_with("these are")
    );
}

#[tokio::test]
async fn the_test_clock_is_announced_and_else_absent() {
    let server = Server::start();
    let body = serde_json::json!({"advanceMs": 1000});
    let reply = server.operator().post("/test/clock", None, &body).await;
    assert_eq!(reply.status, 404);
    assert!(!server.log().contains("ABASTO_TEST_CLOCK"));
    let server = Setup::new().variable("ABASTO_TEST_CLOCK", "1").start();
    let reply = server.operator().post("/test/clock", None, &body).await;
    assert!(reply.status < 300, "{reply:?}");
    assert!(server.log().contains("ABASTO_TEST_CLOCK"));
}

#[tokio::test]
async fn without_a_platform_key_the_platform_routes_are_not_there() {
    let server = Setup::new().without_platform_key().start();
    let reply = server.operator().get("/v1/businesses").await;
    assert_eq!(reply.status, 404, "{reply:?}");
}

#[tokio::test]
async fn a_rate_limit_is_kept_and_can_be_turned_off() {
    let setup = Setup::new().variable("ABASTO_RATE_LIMIT__READS_PER_SECOND", "5");
    let server = setup.start();
    let mut statuses = Vec::new();
    let mut http = server.operator();
    for _ in 0..20 {
        let reply = http.get("/v1/businesses").await;
        if reply.status == 429 {
            assert!(reply.headers.contains_key("retry-after"));
        }
        statuses.push(reply.status);
    }
    assert!(
        statuses.contains(&200) && statuses.contains(&429),
        "{statuses:?}"
    );
    assert_eq!(server.stop().code(), Some(0));
    let server = setup.argument("--no-rate-limit").start();
    let mut http = server.operator();
    for _ in 0..20 {
        assert_eq!(http.get("/v1/businesses").await.status, 200);
    }
}
