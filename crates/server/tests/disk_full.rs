//! A disk that is full, and has room again. The bound is the size that the system lets the files
//! of the process have (`RLIMIT_FSIZE`), which needs no mount.

use rustix::process::{Resource, Rlimit};

use super::harness::{Http, Server, Setup, Shop, run};

fn bound_files(server: &Server, bytes: Option<u64>) {
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    rustix::process::prlimit(Some(server.pid()), Resource::Fsize, limit).unwrap();
}

/// The largest file of the server's folder.
fn largest(server: &Server) -> u64 {
    let files = std::fs::read_dir(server.setup().folder()).unwrap();
    let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
    sizes.max().unwrap()
}

async fn sold(http: &mut Http) -> usize {
    http.all("/v1/orders").await.len()
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_else_and_room_heals_it() {
    let server = Setup::new().ignoring_file_bounds().start();
    let shop = Shop::open(&server, 3, 100_000).await;
    let mut http = server.http(&shop.key);
    let order = shop.order(&[0, 1, 2]);
    http.post("/v1/orders", Some("before"), &order)
        .await
        .expect(201);

    bound_files(&server, Some(largest(&server) + 200_000));
    let (mut placed, mut refused) = (1, Vec::new());
    for number in 0..2_000 {
        let key = format!("full-{number}");
        let reply = http.post("/v1/orders", Some(&key), &order).await;
        if reply.status == 201 {
            placed += 1;
            continue;
        }
        let problem = reply.expect(503);
        let code = problem["code"].as_str().unwrap();
        assert!(
            ["unavailable", "outcome-unknown"].contains(&code),
            "{problem}"
        );
        assert!(reply.headers.contains_key("retry-after"));
        let text = problem.to_string();
        assert!(
            !text.contains("sqlite") && !text.contains("abasto.db"),
            "{text}"
        );
        refused.push(key);
        if refused.len() == 5 {
            break;
        }
    }
    assert_eq!(refused.len(), 5, "the disk was never full");
    // Reading goes on, and readiness says what is wrong.
    assert_eq!(
        sold(&mut http).await,
        placed,
        "what was refused is not there"
    );
    let ready = server.nobody().get("/readyz").await;
    assert_eq!(ready.status, 503, "{ready:?}");
    assert_eq!(server.nobody().get("/healthz").await.status, 200);

    bound_files(&server, None);
    for key in &refused {
        http.post("/v1/orders", Some(key), &order).await.expect(201);
    }
    assert_eq!(server.nobody().get("/readyz").await.status, 200);
    assert_eq!(sold(&mut http).await, placed + refused.len());
    for product in 0..3 {
        let level = shop.level(&mut http, product).await;
        assert_eq!(level["reserved"], placed + refused.len());
    }
    assert_eq!(server.stop().code(), Some(0));
}

/// The same, with the process ended while the disk is full.
#[tokio::test]
async fn a_store_on_a_full_disk_is_whole_after_a_crash() {
    let setup = Setup::new().ignoring_file_bounds();
    let server = setup.start();
    let shop = Shop::open(&server, 1, 100_000).await;
    let mut http = server.http(&shop.key);
    let order = shop.order(&[0]);
    bound_files(&server, Some(largest(&server) + 100_000));
    let mut placed = 0;
    for number in 0..2_000 {
        let reply = http
            .post("/v1/orders", Some(&format!("o-{number}")), &order)
            .await;
        if reply.status != 201 {
            break;
        }
        placed += 1;
    }
    let server = server.kill().start();
    let mut http = server.http(&shop.key);
    let found = sold(&mut http).await;
    assert!(
        found == placed || found == placed + 1,
        "{found} of {placed}"
    );
    let audit = run(&mut server.store_command("reconcile"));
    assert_eq!(audit.code, Some(0), "{audit:?}");
}
