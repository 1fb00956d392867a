//! The order of the sources and the words of every fault.

use std::io::Write;

use secrecy::ExposeSecret;
use tempfile::NamedTempFile;

use super::{Config, Environment, Flag, Invalid, LogFormat, Secrets, Sources};

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn variables(pairs: &[(&str, &str)]) -> Environment {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn read(toml: &str, pairs: &[(&str, &str)], flags: Vec<Flag>) -> Result<Config, Invalid> {
    let file = file(toml);
    Sources::read(Some(file.path()), &variables(pairs), flags)?.config()
}

fn fault(toml: &str, pairs: &[(&str, &str)]) -> String {
    read(toml, pairs, Vec::new())
        .expect_err("a fault")
        .to_string()
}

#[test]
fn the_defaults_alone_are_usable() {
    let config = Sources::read(None, &Environment::new(), Vec::new()).expect("read");
    let config = config.config().expect("usable");
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.store.to_string(), "sqlite:abasto.db");
    assert_eq!(config.log.format, LogFormat::Auto);
    assert!(config.rate_limit.enabled && !config.test_clock);
    assert!(config.platform_key.is_none() && config.cursor_secret.is_none());
}

#[test]
fn flags_beat_the_environment_which_beats_the_file() {
    let toml = "listen = '127.0.0.1:1'\nthreads = 1\nconnections_max = 1";
    let environment = [("ABASTO_LISTEN", "127.0.0.1:2"), ("ABASTO_THREADS", "2")];
    let flags: Vec<Flag> = vec![("listen", "--listen", "127.0.0.1:3".into())];
    let config = read(toml, &environment, flags).expect("usable");
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.threads, 2);
    assert_eq!(config.connections_max, 1);
}

#[test]
fn the_environment_reaches_into_tables() {
    let environment = [
        ("ABASTO_RATE_LIMIT__READS_PER_SECOND", "7"),
        ("ABASTO_LOG__FORMAT", "json"),
        ("ABASTO_TEST_CLOCK", "1"),
    ];
    let config = read(
        "[rate_limit]\nwrites_per_second = 8",
        &environment,
        Vec::new(),
    );
    let config = config.expect("usable");
    assert_eq!(config.rate_limit.reads_per_second, 7);
    assert_eq!(config.rate_limit.writes_per_second, 8);
    assert_eq!(config.log.format, LogFormat::Json);
    assert!(config.test_clock);
}

#[test]
fn a_secret_of_digits_stays_as_it_was_written() {
    let digits = "00000000001111111111222222222233.50";
    let config = read("", &[("ABASTO_PLATFORM_KEY", digits)], Vec::new()).expect("usable");
    let key = config.platform_key.expect("a key");
    assert_eq!(key.expose_secret(), digits);
}

#[test]
fn a_secret_may_stand_in_a_file() {
    let secret = "a secret that is long enough to be one";
    let held = file(&format!("{secret}\n"));
    let path = held.path().to_str().expect("a path");
    let variable = [("ABASTO_PLATFORM_KEY_FILE", path)];
    let by_variable = read("", &variable, Vec::new()).expect("usable");
    let by_file = read(&format!("platform_key_file = '{path}'"), &[], Vec::new());
    for config in [by_variable, by_file.expect("usable")] {
        let key = config.platform_key.expect("a key");
        assert_eq!(key.expose_secret(), secret);
    }
    let both = [
        ("ABASTO_PLATFORM_KEY_FILE", path),
        ("ABASTO_PLATFORM_KEY", secret),
    ];
    assert_eq!(
        fault("", &both),
        "ABASTO_PLATFORM_KEY and ABASTO_PLATFORM_KEY_FILE are both set"
    );
}

#[test]
fn keys_of_tokens_are_keys_like_others() {
    let secret = "a secret that is long enough to be one";
    let held = file(secret);
    let path = held.path().to_str().expect("a path");
    let toml = format!("[jwt]\nhs256_secret_file = '{path}'\nissuer = 'us'");
    let environment = [("ABASTO_JWT__JWKS_URL", "https://id.example/jwks")];
    let jwt = read(&toml, &environment, Vec::new()).expect("usable").jwt;
    assert_eq!(jwt.hs256_secret.expect("a secret").expose_secret(), secret);
    assert_eq!(jwt.jwks_url.as_deref(), Some("https://id.example/jwks"));
    assert_eq!(jwt.issuer.as_deref(), Some("us"));
    let variable = [("ABASTO_JWT__HS256_SECRET_FILE", path)];
    let jwt = read("", &variable, Vec::new()).expect("usable").jwt;
    assert_eq!(jwt.hs256_secret.expect("a secret").expose_secret(), secret);
}

#[test]
fn every_fault_names_its_key_and_its_source() {
    for (variable, value, said) in [
        (
            "ABASTO_LISTEN",
            "nowhere",
            "listen: \"nowhere\" is no address",
        ),
        (
            "ABASTO_STORE",
            "postgres://h/d",
            "store: a store is sqlite:PATH or mongodb://",
        ),
        (
            "ABASTO_STORE",
            "sqlite:",
            "store: a store is sqlite:PATH or mongodb://",
        ),
        (
            "ABASTO_THREADS",
            "many",
            "threads: \"many\" is not a whole number",
        ),
        (
            "ABASTO_THREADS",
            "-1",
            "threads: \"-1\" is not a whole number",
        ),
        (
            "ABASTO_TEST_CLOCK",
            "maybe",
            "test_clock: \"maybe\" is not true or false",
        ),
        (
            "ABASTO_CONNECTIONS_MAX",
            "0",
            "connections_max must be at least 1",
        ),
        (
            "ABASTO_PLATFORM_KEY",
            "short",
            "platform_key must have at least 32 characters",
        ),
        ("ABASTO_LOG__FORMAT", "xml", "log.format: "),
        (
            "ABASTO_LISTENN",
            "x",
            "listenn is not a key of the configuration",
        ),
        (
            "ABASTO_PLATFORM_KEY_FILE",
            "/nowhere/at/all",
            "cannot read /nowhere/at/all",
        ),
    ] {
        let fault = fault("", &[(variable, value)]);
        assert!(fault.contains(said), "{variable}={value}: {fault}");
        let source = format!("(from the variable {variable})");
        assert!(fault.contains(&source), "{variable}={value}: {fault}");
    }
}

#[test]
fn faults_of_a_file_name_the_file() {
    for (toml, said) in [
        ("listen = 1", "listen: "),
        ("lisen = 'x'", "lisen is not a key of the configuration"),
        ("[rate_limit]\nreads = 1", "rate_limit.reads is not a key"),
        ("listen = ", ""),
        ("threads = 'x'", "threads: "),
        ("threads = -1", "threads: "),
        ("connections_max = 0", "connections_max must be at least 1"),
    ] {
        let file = file(toml);
        let read = Sources::read(Some(file.path()), &Environment::new(), Vec::new());
        let fault = read
            .and_then(|sources| sources.config())
            .expect_err("a fault");
        let fault = fault.to_string();
        assert!(fault.contains(said), "{toml}: {fault}");
        let name = file.path().display().to_string();
        assert!(fault.contains(&name), "{toml}: {fault}");
    }
}

#[test]
fn a_missing_file_is_a_fault() {
    let path = std::path::Path::new("/nowhere/abasto.toml");
    let fault = Sources::read(Some(path), &Environment::new(), Vec::new()).expect_err("a fault");
    assert!(
        fault.to_string().contains("/nowhere/abasto.toml"),
        "{fault}"
    );
}

#[test]
fn near_misses_are_guessed() {
    let fault = fault("", &[("ABASTO_RATE_LIMIT_READS_PER_SECOND", "1")]);
    assert!(
        fault.contains("did you mean rate_limit.reads_per_second?"),
        "{fault}"
    );
}

#[test]
fn variables_of_others_are_left_alone() {
    let environment = [
        ("HOME", "x"),
        ("ABASTO_URL", "x"),
        ("ABASTO_KEY", "x"),
        ("ABASTO_PORT", "tcp://10.0.0.1:80"),
        ("ABASTO_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("ABASTO_SERVICE_HOST", "10.0.0.1"),
    ];
    read("", &environment, Vec::new()).expect("usable");
}

#[test]
fn what_is_shown_can_be_written_back() {
    let environment = variables(&[("ABASTO_THREADS", "3"), ("ABASTO_TEST_CLOCK", "1")]);
    let sources = Sources::read(None, &environment, Vec::new()).expect("read");
    let shown = sources.settings(Secrets::Shown);
    let value = |key: &str| {
        let setting = shown.iter().find(|setting| setting.key == key);
        setting.map(|setting| setting.value.as_str())
    };
    assert_eq!(value("threads"), Some("3"));
    assert_eq!(value("connections_max"), Some("4096"));
    assert_eq!(value("test_clock"), Some("true"));
    assert_eq!(value("listen"), Some("127.0.0.1:8080"));
}

#[test]
fn what_is_shown_has_no_secret() {
    let secret = "a secret that is long enough to be one";
    let environment = variables(&[
        ("ABASTO_PLATFORM_KEY", secret),
        ("ABASTO_STORE", "mongodb://user:hunter2@h/d?replicaSet=r"),
    ]);
    let sources = Sources::read(None, &environment, Vec::new()).expect("read");
    let redacted = format!("{:?}", sources.settings(Secrets::Redacted));
    assert!(
        !redacted.contains(secret) && !redacted.contains("hunter2"),
        "{redacted}"
    );
    assert!(
        redacted.contains("mongodb://…@h/d?replicaSet=r"),
        "{redacted}"
    );
    let config = sources.config().expect("usable");
    let debug = format!("{config:?} {}", config.store);
    assert!(
        !debug.contains(secret) && !debug.contains("hunter2"),
        "{debug}"
    );
    let shown = format!("{:?}", sources.settings(Secrets::Shown));
    assert!(shown.contains(secret) && shown.contains("hunter2"));
}
