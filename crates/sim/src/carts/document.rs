//! The table, and the document that says what it means.
//!
//! Owns the form. Must not measure.

use std::fmt::Write;

use super::run::{Row, Spread};

/// The head of the table on the terminal.
pub(super) const HEAD: &str = "what                 carts  clients      ops/s     p50 ms     \
p99 ms     max ms   lost  refused";

/// A row on the terminal.
pub(super) fn line(row: &Row) -> String {
    format!(
        "{:<20} {:>5} {:>8} {:>10.0} {:>10.2} {:>10.2} {:>10.2} {:>6} {:>8}",
        row.load.contender,
        row.load.spread.carts(),
        row.load.clients,
        row.per_s,
        row.latencies.ms_at(0.5),
        row.latencies.ms_at(0.99),
        row.latencies.max_ms(),
        row.lost,
        row.refused,
    )
}

/// The whole document.
pub(super) fn text(store: Option<&str>, seconds: u64, rows: &[Row]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let store = match store {
        Some(url) if url.starts_with("mongodb") => "MongoDB",
        _ => "SQLite, every commit synced",
    };
    let mut text = format!(
        "{OPENING}\n\n{METHOD}\n\nThis run: {cores} cores, {build} build, Abasto on {store}, \
         {seconds} s per row after a warm-up of a fifth of it.\n"
    );
    for (title, is_one) in [("One cart", true), ("Many carts", false)] {
        let of = |row: &&Row| (row.load.spread == Spread::One) == is_one;
        table(&mut text, title, rows.iter().filter(of));
    }
    beside(&mut text, rows);
    text.push_str(CHOICE);
    text
}

fn table<'a>(text: &mut String, title: &str, rows: impl Iterator<Item = &'a Row>) {
    let _ = write!(
        text,
        "\n## {title}\n\n| what | carts | clients | ops/s | p50 ms | p99 ms | lost | refused |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|\n"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} | {:.2} | {:.2} | {} | {} |",
            row.load.contender,
            row.load.spread.carts(),
            row.load.clients,
            row.per_s,
            row.latencies.ms_at(0.5),
            row.latencies.ms_at(0.99),
            row.lost,
            row.refused,
        );
    }
}

/// `crdt` beside each lock, on one cart with the most clients.
fn beside(text: &mut String, rows: &[Row]) {
    let most = rows.iter().map(|row| row.load.clients).max();
    let hottest = |name: &str| {
        rows.iter().find(|row| {
            row.load.contender == name
                && row.load.spread == Spread::One
                && Some(row.load.clients) == most
        })
    };
    let Some(ours) = hottest("crdt") else {
        return;
    };
    text.push_str("\n## `crdt` beside the locks\n\n");
    let _ = writeln!(text, "On one cart, with {} clients:\n", ours.load.clients);
    for name in ["Redis lock", "PostgreSQL row lock"] {
        if let Some(lock) = hottest(name) {
            let _ = writeln!(
                text,
                "- {name}: its p99 is {:.1} times that of `crdt`; `crdt` does {:.1} times its \
                 edits a second.",
                lock.latencies.ms_at(0.99) / ours.latencies.ms_at(0.99),
                ours.per_s / lock.per_s,
            );
        }
    }
}

const OPENING: &str = "# Which way to let many change one cart

Written by `cargo run --release -p abasto-sim -- carts` (build `abasto` first with
`cargo build --release`). It needs the Debian packages `redis-server` and `postgresql`, starts both
itself on loopback ports in a folder that goes away, and ends them. `--store mongodb://…` measures
Abasto on a replica set instead of the embedded store; `--help` names the rest.";

const METHOD: &str = "## What is compared

Five servers, one after the other, asked by the same client on one thread, each client with a
connection of its own, sending when it has its answer. An edit is `PATCH /v1/carts/{id}` with one
`addItem` of one unit, spread over ten products, answered with the whole view of the cart.

- **crdt, events, occ**: `abasto serve`, as shipped, without rate limits: credentials, validation,
  prices from the catalogue, the edit durable before its answer.
- **Redis lock**: a small server on the same HTTP framework. `SET lock NX PX 10000` with a random
  token, tried again with full jitter from 1 to 32 ms for at most 30 s; then `GET`, add, `SET`; then
  a release by a script that checks the token. Redis syncs its append-only file once a second, so
  an acknowledged edit may be lost with the power; Abasto and PostgreSQL sync before they answer.
- **PostgreSQL row lock**: the same server. `BEGIN`, `SELECT … FOR UPDATE`, `UPDATE`, `COMMIT` with
  prepared statements through a pool of ten connections.

The two servers of locks have no credentials, tenants, schemas, tags, prices or history: whatever
that is worth is in their favour.

*ops/s* are answers with 200 in the time that is measured. Latencies are of every edit that was
begun in it, however late its answer. *Lost* are units that were acknowledged and are not in the
carts at the end. *Refused* are all other answers; in `occ` they are `cart-contention` after five
tries, and nothing of them was done.";

const CHOICE: &str = "
## Which mode when

| question | choose |
|---|---|
| Several devices, tabs or workers change one cart at once, or clients work offline | `crdt` |
| The same, and the history of every edit is to be kept and read again | `events` |
| Edits must be decided one after the other, `If-Match` is wanted, and fewer than about one in twenty meets another | `occ` |
| A rule must never be broken, not even for a second | none of the three: it belongs in the checkout |

`crdt` and `events` store an edit under its own name and therefore conflict with nothing: those who
wait together are committed together; what is left is the work of an edit itself, which grows with
the entries of the cart. `occ` replaces the cart under its version, so that on one busy cart all but
one of those who meet must decide again. A lock has one holder at a time, and everyone else waits
for its whole round of messages: the Redis lock by chance, so that some wait very long, the row lock
in a queue. On many carts nobody waits for anybody, and what is left is the cost of a commit.
";
