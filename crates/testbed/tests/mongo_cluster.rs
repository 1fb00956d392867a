//! The replica set does what it says: every fault of a process is seen, and nothing is left behind.
#![cfg(test)]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use abasto_testbed::Error;
use abasto_testbed::mongo_cluster::{Detached, Face, MongoCluster, Plan, Ports};
use abasto_testbed::wire::is_primary;
use abasto_testbed::wire_proxy::Link;

/// Far beyond what anything here takes; a bound, not an expectation.
const LIMIT: Duration = Duration::from_secs(60);

#[track_caller]
fn wait(mut reached: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !reached() {
        assert!(Instant::now() < deadline, "not reached in time");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn listens(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

#[test]
fn three_nodes_survive_every_fault_of_one() {
    let mut set = MongoCluster::start(3).unwrap();
    assert_eq!(set.uri().matches("127.0.0.1:").count(), 3);

    let killed = set.wait_primary().unwrap();
    set.kill(killed).unwrap();
    assert!(!listens(set.address(killed).unwrap()));
    wait(|| set.primary().is_some_and(|primary| primary != killed));
    set.restart(killed).unwrap();
    set.settle().unwrap();

    let frozen = set.wait_primary().unwrap();
    set.freeze(frozen).unwrap();
    // Its socket is open and silent: that is the difference to a killed one.
    assert!(listens(set.address(frozen).unwrap()));
    wait(|| set.primary().is_some_and(|primary| primary != frozen));
    set.thaw(frozen).unwrap();
    set.settle().unwrap();

    let old = set.wait_primary().unwrap();
    set.step_down().unwrap();
    wait(|| set.primary().is_some_and(|primary| primary != old));
    set.settle().unwrap();

    assert!(matches!(set.kill(3), Err(Error::NoSuchNode(3))));
}

#[test]
fn a_taken_port_is_named() {
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = other.local_addr().unwrap().port();
    let plan = Plan {
        ports: Ports::From(port),
        ..Plan::default()
    };
    let refused = plan.start().unwrap_err();
    assert!(
        matches!(refused, Error::PortTaken { port: named } if named == port),
        "{refused}"
    );
}

#[test]
fn a_dropped_set_leaves_nothing() {
    let set = MongoCluster::start(1).unwrap();
    let (address, files) = (set.address(0).unwrap(), set.directory().unwrap().to_owned());
    assert!(listens(address) && files.is_dir());
    drop(set);
    assert!(!listens(address) && !files.exists());
}

#[test]
fn a_detached_set_is_found_and_stopped_by_its_record() {
    let set = MongoCluster::start(1).unwrap();
    let address = set.address(0).unwrap();
    let here = tempfile::tempdir().unwrap();
    let record = here.path().join("record");
    assert!(Detached::load(&record).unwrap().is_none());
    set.detach().unwrap().save(&record).unwrap();
    assert!(listens(address));
    let found = Detached::load(&record).unwrap().unwrap();
    assert!(found.lives() && found.directory.is_dir());

    // A process that has the number and not the birth is a stranger.
    let text = std::fs::read_to_string(&record).unwrap();
    let (head, process) = text.trim_end().rsplit_once('\n').unwrap();
    let (number, _) = process.split_once(' ').unwrap();
    let elsewhere = here.path().join("other").display().to_string();
    let head = head.replace(&found.directory.display().to_string(), &elsewhere);
    std::fs::write(&record, format!("{head}\n{number} 1\n")).unwrap();
    let stranger = Detached::load(&record).unwrap().unwrap();
    assert!(!stranger.lives());
    stranger.stop().unwrap();
    assert!(listens(address));

    found.stop().unwrap();
    assert!(!listens(address) && !found.lives() && !found.directory.exists());
}

#[test]
fn members_known_by_their_proxies_can_be_parted() {
    let plan = Plan {
        nodes: 3,
        face: Face::Proxied,
        ..Plan::default()
    };
    let set = plan.start().unwrap();
    for proxy in set.proxies() {
        assert!(
            set.uri().contains(&proxy.address().to_string()),
            "{}",
            set.uri()
        );
        assert!(proxy.seen("replSetHeartbeat") > 0);
    }
    let parted = set.wait_primary().unwrap();
    set.proxies()[parted].set_link(Link::Cut);
    let others = (0..3)
        .filter(|n| *n != parted)
        .map(|n| set.address(n).unwrap());
    let others: Vec<_> = others.collect();
    wait(|| others.iter().any(|other| is_primary(*other)));
    set.proxies()[parted].set_link(Link::Open);
    set.settle().unwrap();
}

/// Tells this test, started again as a child, to be the process that is killed.
const HOLD: &str = "TESTBED_HOLD";

#[test]
fn a_killed_process_leaves_nothing() {
    if std::env::var_os(HOLD).is_some() {
        let set = MongoCluster::start(1).unwrap();
        println!(
            "\nheld {} {}",
            set.address(0).unwrap(),
            set.directory().unwrap().display()
        );
        std::thread::sleep(LIMIT);
        return;
    }
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_process_leaves_nothing", "--nocapture"])
        .env(HOLD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let line = lines
        .into_iter()
        .find_map(|line| line.strip_prefix("held ").map(str::to_owned));
    let line = line.expect("the child has started a set");
    let (address, files) = line.split_once(' ').unwrap();
    let address: SocketAddr = address.parse().unwrap();
    assert!(listens(address));
    holder.kill().unwrap();
    holder.wait().unwrap();
    wait(|| !listens(address) && !std::path::Path::new(files).exists());
}

#[test]
fn a_program_that_is_no_server_is_reported_with_its_words() {
    let here = tempfile::tempdir().unwrap();
    let program = here.path().join("mongod");
    std::fs::write(&program, "#!/bin/sh\necho broken library >&2\nexit 3\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let started = Plan {
        program: Some(program),
        ..Plan::default()
    }
    .start();
    let said = started.expect_err("it cannot start").to_string();
    assert!(said.contains("broken library"), "{said}");
}
