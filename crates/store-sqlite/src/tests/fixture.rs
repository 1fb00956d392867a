//! What was ever stored stays readable.
//!
//! `tests/fixtures/schema-N.sql` holds rows of every kind as schema N keeps them, and
//! `schema-N.ndjson` what they mean. Once a release writes a schema, its fixture is never edited: a
//! change of what is stored then comes with a migration or a new schema version of records, and
//! with fixtures of its own. Before that, the test that fails says where it left the new form.

use std::fmt::Write;
use std::sync::Arc;

use abasto_domain::access::{Actor, Role};
use abasto_domain::coupon::Redemption;
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::customer::Customer;
use abasto_domain::id::{CustomerId, MemberId, RawId};
use abasto_domain::idempotency::OperationKey;
use abasto_domain::order::{Address, FulfilmentKind, Order};
use abasto_domain::order_state::{Action, Units};
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::{Cause, MovementKind};
use abasto_domain::time::Timestamp;
use abasto_store::record::{Document, Kind, Record};
use abasto_store::unit::{Answer, OperationDraft, UnitOfWork};
use rusqlite::Connection;
use tokio::sync::mpsc;

use super::fixture_cart::carts;
use super::fixture_sale::sale;
use super::world::{START, World, operation, stamp};
use super::{commit_all, empty};
use crate::head::Memory;
use crate::migration::{known, run};
use crate::{codec, document, walk};

/// The rows and their meaning, per schema.
const FIXTURES: [(i64, &str, &str); 1] = [(
    1,
    include_str!("../../tests/fixtures/schema-1.sql"),
    include_str!("../../tests/fixtures/schema-1.ndjson"),
)];

const CUSTOMER: CustomerId = CustomerId(RawId([0xc; 12]));
const MEMBER: MemberId = MemberId(RawId([0xd; 12]));

/// A business with every kind of record, every field of them set at least once.
fn sample() -> (Connection, World) {
    let mut connection = empty();
    let mut memory = Memory::default();
    let world = World::new(1, 2, 3);
    let mut units = world.catalogue();
    units.extend(world.stocked(0, 40));
    units.push(people(&world));
    units.push(odd_product(&world));
    units.extend(movements(&world));
    units.push(sale(&world));
    units.push(carts(&world));
    commit_all(&mut connection, &mut memory, &units);
    for unit in orders(&world) {
        commit_all(&mut connection, &mut memory, &[unit]);
    }
    (connection, world)
}

fn people(world: &World) -> UnitOfWork {
    let customer = Customer {
        business: world.id(),
        id: CUSTOMER,
        name: "Ana 'la de siempre' 🥐".to_owned(),
        phone: Some("+573001234567".to_owned()),
        email: Some("Ana@Example.org".to_owned()),
        email_verified_at: Some(Timestamp::from_millis(START + 1)),
        stamp: stamp(),
    };
    let member = Member {
        business: world.id(),
        id: MEMBER,
        user_id: "user|1".to_owned(),
        role: Role::Courier,
        branches: Some(vec![world.branches[0].id]),
        customer: None,
        active: true,
        stamp: stamp(),
    };
    let former = Member {
        id: MemberId(RawId([0xe; 12])),
        role: Role::Customer,
        branches: None,
        customer: Some(CUSTOMER),
        active: false,
        ..member.clone()
    };
    let key = ApiKey {
        business: world.id(),
        id: RawId([0xa; 12]).into(),
        name: "till".to_owned(),
        role: Role::Service,
        branches: Some(Vec::new()),
        customer: None,
        secret_hash: [7; 32],
        revoked_at: Some(Timestamp::from_millis(START + 2)),
        stamp: stamp(),
    };
    UnitOfWork {
        puts: vec![
            world.put(None, customer),
            world.put(None, member),
            world.put(None, former),
            world.put(None, key),
        ],
        actor: Actor::Member(MEMBER),
        answer: Answer::Put(0),
        ..world.unit(None)
    }
}

fn odd_product(world: &World) -> UnitOfWork {
    let product = Product {
        sku: "SKU-000000".to_owned(),
        active: false,
        branches: Some(vec![world.branches[1].id]),
        max_per_order: Some(Quantity::new(3).unwrap()),
        attributes: [("color".to_owned(), "azul".to_owned())].into(),
        deleted_at: Some(Timestamp::from_millis(START + 3)),
        id: world.next_id().into(),
        ..(*world.products[0]).clone()
    };
    UnitOfWork {
        puts: vec![world.put(None, product)],
        answer: Answer::Put(0),
        actor: Actor::Key(RawId([0xa; 12]).into()),
        ..world.unit(None)
    }
}

/// Every kind of movement, answered by itself under a key of a customer.
fn movements(world: &World) -> Vec<UnitOfWork> {
    use MovementKind as K;
    let kinds = [
        K::Receipt,
        K::Adjustment,
        K::Count,
        K::TransferOut,
        K::TransferIn,
        K::Hold,
    ];
    let more = [
        K::HoldRelease,
        K::Reservation,
        K::Release,
        K::Dispatch,
        K::Return,
    ];
    let unit = |(index, kind): (usize, MovementKind)| {
        let mut change = world.change(world.place(0, 0), 2);
        change.kind = kind;
        change.reserved = 1;
        change.cause = Cause {
            order: None,
            checkout: Some(RawId([0xb; 12]).into()),
            reason: None,
            reference: Some("Remisión 7".to_owned()),
        };
        UnitOfWork {
            stock: vec![change],
            operation: Some(OperationDraft {
                key: OperationKey {
                    customer: Some(CUSTOMER),
                    key: format!("movement-{index}"),
                },
                ..operation("movement")
            }),
            actor: Actor::System,
            ..world.unit(Some(world.branches[0].id))
        }
    };
    kinds
        .into_iter()
        .chain(more)
        .enumerate()
        .map(unit)
        .collect()
}

fn placed(unit: &UnitOfWork, sequence: i64) -> Arc<Order> {
    let Document::Order(order) = &unit.puts[0].next else {
        panic!("no order");
    };
    let mut order = Arc::clone(order);
    Arc::make_mut(&mut order).number.sequence = sequence;
    order
}

fn after(unit: &UnitOfWork) -> Arc<Order> {
    placed(unit, placed(unit, 1).number.sequence)
}

/// One order as it is placed, one with everything that an order can have, cancelled in the end.
fn orders(world: &World) -> Vec<UnitOfWork> {
    let plain = world.order("plain", 0, &[0, 1, 2], 4);
    let mut full = world.order_for(Some(CUSTOMER), "full", 0, &[1, 2], 5);
    let Document::Order(order) = &mut full.puts[0].next else {
        panic!("no order");
    };
    let order = Arc::make_mut(order);
    order.note = Some("sin azúcar\npor favor".to_owned());
    order.fulfilment.kind = FulfilmentKind::Delivery;
    let street = ("street".to_owned(), "Calle 1 # 2-3".to_owned());
    order.fulfilment.address = Some(Address::Parts([street].into()));
    order.fulfilment.courier = Some(MEMBER);
    order.checkout = Some(RawId([0xb; 12]).into());
    order.cart = Some(RawId([0xf; 12]).into());
    order.reservation_expires_at = Some(Timestamp::from_millis(START + 99));
    let mut steps = vec![plain.clone()];
    // Dispatched and delivered from here on.
    let mut order = placed(&plain, 1);
    for (index, action) in [
        Action::Confirm,
        Action::Prepare,
        Action::Dispatch,
        Action::Deliver,
    ]
    .into_iter()
    .enumerate()
    {
        let unit = world.step(&format!("step-{index}"), &order, action, 10);
        order = after(&unit);
        steps.push(unit);
    }
    let second = placed(&full, 2);
    let cancel = Action::Cancel {
        reason: "roto".to_owned(),
        units: Units::WriteOff,
        coupons: Redemption::Returned,
    };
    let cancel = world.step("cancel", &second, cancel, 11);
    let unchanged = UnitOfWork {
        operation: Some(operation("unchanged")),
        answer: Answer::Unchanged(after(&cancel).into()),
        ..world.unit(None)
    };
    steps.extend([full, cancel, unchanged]);
    steps
}

/// All rows as SQL, table by table.
fn dump(connection: &Connection) -> String {
    let mut text = String::new();
    for table in strings(
        connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid",
    ) {
        let columns = strings(
            connection,
            &format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid"),
        );
        let quoted: Vec<String> = columns.iter().map(|it| format!("quote({it})")).collect();
        let values = quoted.join(" || ', ' || ");
        for row in strings(connection, &format!("SELECT {values} FROM {table}")) {
            let columns = columns.join(", ");
            writeln!(text, "INSERT INTO {table} ({columns}) VALUES ({row});").unwrap();
        }
    }
    text
}

fn strings(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

/// Everything of the business, one record per line.
fn meaning(connection: Connection, world: &World) -> String {
    let (sender, mut batches) = mpsc::channel(walk::BATCHES);
    let business = world.id();
    let walking = std::thread::spawn(move || walk::walk(&connection, business, &sender));
    let mut text = String::new();
    while let Some(batch) = batches.blocking_recv() {
        for record in batch.unwrap() {
            writeln!(text, "{}", serde_json::to_string(&record).unwrap()).unwrap();
        }
    }
    walking.join().unwrap();
    text
}

fn check(name: &str, found: &str, wanted: &str) {
    if found == wanted {
        return;
    }
    let (_, path) = tempfile::NamedTempFile::with_suffix(name)
        .unwrap()
        .keep()
        .unwrap();
    std::fs::write(&path, found).unwrap();
    panic!(
        "{name} is not what the fixture says; what was found: {}",
        path.display()
    );
}

#[test]
fn the_newest_fixture_is_what_is_written_today() {
    let (connection, world) = sample();
    let (schema, rows, records) = FIXTURES[FIXTURES.len() - 1];
    assert_eq!(schema, known());
    check("rows.sql", &dump(&connection), rows);
    check("records.ndjson", &meaning(connection, &world), records);
}

#[test]
fn every_schema_is_read_for_ever() {
    let world = World::new(1, 2, 3);
    for (schema, rows, records) in FIXTURES {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection, 0, schema).unwrap();
        connection.execute_batch(rows).unwrap();
        run(&mut connection, schema, known()).unwrap();
        check("records.ndjson", &meaning(connection, &world), records);
    }
}

#[test]
fn the_fixture_has_every_kind() {
    let (_, rows, records) = FIXTURES[FIXTURES.len() - 1];
    let connection = empty();
    for table in strings(
        &connection,
        "SELECT name FROM sqlite_schema WHERE type = 'table'",
    ) {
        assert!(rows.contains(&format!("INSERT INTO {table} ")), "{table}");
    }
    let records: Vec<Record> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for kind in Kind::ALL {
        let found =
            |record: &&Record| matches!(record, Record::Document(it) if it.key().kind == kind);
        assert!(
            records.iter().any(|record| found(&record)),
            "{}",
            kind.name()
        );
    }
    for number in 0..11 {
        let kind = codec::movement_kind(number).unwrap();
        let found = |record: &Record| matches!(record, Record::Movement(it) if it.kind == kind);
        assert!(records.iter().any(found), "{}", kind.name());
    }
}

/// Nothing gets lost or renamed between a record and its text.
#[test]
fn records_come_back_as_they_were_written() {
    let connection = empty();
    connection
        .execute_batch(FIXTURES[FIXTURES.len() - 1].1)
        .unwrap();
    for kind in Kind::ALL {
        let table = crate::table::table(kind).name;
        for text in strings(&connection, &format!("SELECT record FROM {table}")) {
            let read = document::decode(kind, &text).unwrap();
            assert_eq!(document::encode(&read).unwrap(), text);
        }
    }
}
