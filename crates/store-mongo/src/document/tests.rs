//! Every value that is written is read back as it was, and what was written once stays readable.
//!
//! The fixtures show the documents as a shell would; whole numbers in them are longs.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::access::{Actor, Role};
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::business::{Business, CartMode, Settings};
use abasto_domain::coupon::{AppliedCoupon, CouponCode, Redemption};
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::id::RawId;
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::number::{OrderNumber, Series};
use abasto_domain::order::{Address, Buyer, Fulfilment, FulfilmentKind, Order, PaymentMethod};
use abasto_domain::order_state::{PaymentStatus, Status, Timeline};
use abasto_domain::pricing::{Item, Line, Totals};
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::{Cause, Movement, MovementKind, OperationId, Place, Step, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::event::Event;
use abasto_store::record::{Counter, Document, DocumentKey, Kind};
use abasto_store::verdict::{Operation, Reply, Skus, StockReply};
use mongodb::bson::raw::RawDocumentBuf;
use mongodb::bson::{self, Bson};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::name::Named;
use super::{Row, counter, event, operation, read_document, stock, write_document};

fn raw() -> impl Strategy<Value = RawId> {
    any::<[u8; 12]>().prop_map(RawId)
}

fn id<T: From<RawId> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    any::<[u8; 12]>().prop_map(|bytes| T::from(RawId(bytes)))
}

fn text() -> impl Strategy<Value = String> {
    "[a-zA-Zñé€𝄞 .$]{1,12}"
}

fn at() -> impl Strategy<Value = Timestamp> {
    (-62_000_000_000_000i64..253_000_000_000_000).prop_map(Timestamp::from_millis)
}

fn named<T: Named + std::fmt::Debug>() -> impl Strategy<Value = T> {
    select(T::ALL).prop_map(|(value, _)| value)
}

fn amount() -> impl Strategy<Value = Amount> {
    (0i64..=1_000_000_000_000_000).prop_map(|minor| Amount::from_minor(minor).expect("in range"))
}

fn quantity() -> impl Strategy<Value = Quantity> {
    (1i64..=1_000_000).prop_map(|units| Quantity::new(units).expect("in range"))
}

fn currency() -> impl Strategy<Value = Currency> {
    select(vec!["COP", "JPY", "BHD"]).prop_map(|code| Currency::parse(code).expect("a currency"))
}

fn code() -> impl Strategy<Value = BranchCode> {
    "[A-Z0-9]{2,8}".prop_map(|code| BranchCode::parse(&code).expect("a code"))
}

fn stamp() -> impl Strategy<Value = Stamp> {
    (1i64..i64::MAX, at(), at()).prop_map(|(version, created_at, updated_at)| Stamp {
        version,
        created_at,
        updated_at,
    })
}

fn pairs() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(text(), text(), 0..4)
}

fn business() -> impl Strategy<Value = Document> {
    let settings = (
        1u32..=1_440,
        1u32..=10_080,
        any::<bool>(),
        any::<bool>(),
        named::<CartMode>(),
    );
    (id(), text(), currency(), text(), settings, stamp()).prop_map(
        |(id, name, currency, time_zone, settings, stamp)| {
            let (
                hold_minutes,
                unpaid_order_minutes,
                auto_confirm_paid,
                restock_on_cancel,
                cart_mode,
            ) = settings;
            Document::from(Business {
                id,
                name,
                currency,
                time_zone,
                settings: Settings {
                    hold_minutes,
                    unpaid_order_minutes,
                    auto_confirm_paid,
                    restock_on_cancel,
                    return_coupons_on_cancel: !restock_on_cancel,
                    cart_mode,
                },
                stamp,
            })
        },
    )
}

fn branch() -> impl Strategy<Value = Document> {
    (id(), id(), code(), text(), text(), any::<bool>(), stamp()).prop_map(
        |(business, id, code, name, time_zone, active, stamp)| {
            Document::from(Branch {
                business,
                id,
                code,
                name,
                time_zone,
                active,
                stamp,
            })
        },
    )
}

fn member() -> impl Strategy<Value = Document> {
    let limits = (option::of(vec(id(), 0..3)), option::of(id()));
    (
        id(),
        id(),
        text(),
        named::<Role>(),
        limits,
        any::<bool>(),
        stamp(),
    )
        .prop_map(
            |(business, id, user_id, role, (branches, customer), active, stamp)| {
                Document::from(Member {
                    business,
                    id,
                    user_id,
                    role,
                    branches,
                    customer,
                    active,
                    stamp,
                })
            },
        )
}

fn api_key() -> impl Strategy<Value = Document> {
    let limits = (
        option::of(vec(id(), 0..3)),
        option::of(id()),
        any::<[u8; 32]>(),
        option::of(at()),
    );
    (id(), id(), text(), named::<Role>(), limits, stamp()).prop_map(
        |(business, id, name, role, (branches, customer, secret_hash, revoked_at), stamp)| {
            Document::from(ApiKey {
                business,
                id,
                name,
                role,
                branches,
                customer,
                secret_hash,
                revoked_at,
                stamp,
            })
        },
    )
}

fn product() -> impl Strategy<Value = Document> {
    let price = (
        amount(),
        (0u32..=1_000_000).prop_map(|rate| TaxRate::from_millionths(rate).expect("a rate")),
    );
    let limits = (
        any::<bool>(),
        option::of(vec(id(), 0..3)),
        option::of(quantity()),
    );
    (
        id(),
        id(),
        text(),
        text(),
        price,
        limits,
        pairs(),
        option::of(at()),
        stamp(),
    )
        .prop_map(
            |(business, id, sku, name, price, limits, attributes, deleted_at, stamp)| {
                let ((sale_price, tax_rate), (active, branches, max_per_order)) = (price, limits);
                Document::from(Product {
                    business,
                    id,
                    sku,
                    name,
                    sale_price,
                    tax_rate,
                    active,
                    branches,
                    max_per_order,
                    attributes,
                    deleted_at,
                    stamp,
                })
            },
        )
}

fn customer() -> impl Strategy<Value = Document> {
    let contact = (option::of(text()), option::of(text()), option::of(at()));
    (id(), id(), text(), contact, stamp()).prop_map(
        |(business, id, name, (phone, email, email_verified_at), stamp)| {
            Document::from(Customer {
                business,
                id,
                name,
                phone,
                email,
                email_verified_at,
                stamp,
            })
        },
    )
}

fn line() -> impl Strategy<Value = Line> {
    let sums = (amount(), amount(), amount(), amount(), amount());
    (id(), text(), text(), quantity(), sums).prop_map(
        |(product, sku, name, quantity, (unit_price, subtotal, discount, tax, total))| Line {
            product,
            sku,
            name,
            quantity,
            unit_price,
            subtotal,
            discount,
            tax,
            total,
        },
    )
}

fn coupon() -> impl Strategy<Value = AppliedCoupon> {
    (id(), "[A-Z0-9_-]{2,40}", amount(), named::<Redemption>()).prop_map(
        |(coupon, code, discount, redemption)| AppliedCoupon {
            coupon,
            code: CouponCode::parse(&code).expect("a code"),
            discount,
            redemption,
        },
    )
}

fn returned() -> impl Strategy<Value = Item> {
    (id(), quantity()).prop_map(|(product, quantity)| Item { product, quantity })
}

fn fulfilment() -> impl Strategy<Value = Fulfilment> {
    let address = prop_oneof![
        text().prop_map(Address::Text),
        pairs().prop_map(Address::Parts)
    ];
    (
        named::<FulfilmentKind>(),
        option::of(address),
        option::of(id()),
    )
        .prop_map(|(kind, address, courier)| Fulfilment {
            kind,
            address,
            courier,
        })
}

fn totals() -> impl Strategy<Value = Totals> {
    [amount(), amount(), amount(), amount(), amount()].prop_map(
        |[subtotal, discount, tax, delivery_fee, total]| Totals {
            subtotal,
            discount,
            tax,
            delivery_fee,
            total,
        },
    )
}

fn order_as_placed() -> impl Strategy<Value = Order> {
    let keys = (
        id(),
        id(),
        code(),
        1000i16..=9999,
        1i64..=999_999_999_999_999,
        id(),
    );
    let buyer = (option::of(id()), option::of(text()), option::of(text()))
        .prop_map(|(id, name, phone)| Buyer { id, name, phone });
    let money = (vec(line(), 1..4), totals(), currency(), vec(coupon(), 0..3));
    let links = (
        option::of(id()),
        option::of(id()),
        option::of(text()),
        named::<PaymentMethod>(),
    );
    (keys, buyer, money, fulfilment(), links).prop_map(
        |(keys, customer, money, fulfilment, links)| {
            let (business, id, code, year, sequence, branch) = keys;
            let (lines, totals, currency, coupons) = money;
            let (checkout, cart, note, payment_method) = links;
            Order {
                business,
                id,
                number: OrderNumber {
                    series: Series { code, year },
                    sequence,
                },
                branch,
                payment_method,
                customer,
                lines,
                totals,
                currency,
                coupons,
                fulfilment,
                note,
                checkout,
                cart,
                ..sample_order()
            }
        },
    )
}

fn order() -> impl Strategy<Value = Document> {
    let states = (named::<Status>(), named::<PaymentStatus>(), stamp());
    let later = (
        option::of(text()),
        option::of(raw()),
        vec(returned(), 0..3),
        0usize..9,
    );
    (order_as_placed(), states, vec(option::of(at()), 8), later).prop_map(
        |(placed, states, times, later)| {
            Document::from(Order {
                status: states.0,
                payment_status: states.1,
                reservation_expires_at: times[0],
                timeline: Timeline {
                    confirmed_at: times[1],
                    preparing_at: times[2],
                    dispatched_at: times[3],
                    delivered_at: times[4],
                    cancelled_at: times[5],
                    expired_at: times[6],
                    paid_at: times[7],
                },
                cancel_reason: later.0,
                reserved_anew: later.1,
                returned: later.2,
                returns: later.3,
                stamp: states.2,
                ..placed
            })
        },
    )
}

fn document() -> impl Strategy<Value = Document> {
    prop_oneof![
        business(),
        branch(),
        member(),
        api_key(),
        product(),
        customer(),
        order()
    ]
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![
        id().prop_map(Actor::Key),
        id().prop_map(Actor::Member),
        Just(Actor::Platform),
        Just(Actor::System),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    (id(), id()).prop_map(|(branch, product)| Place { branch, product })
}

fn level() -> impl Strategy<Value = StockLevel> {
    let numbers = (any::<i64>(), any::<i64>(), any::<i64>());
    (id(), place(), numbers, at()).prop_map(
        |(business, place, (available, reserved, version), updated_at)| StockLevel {
            business,
            place,
            available,
            reserved,
            version,
            updated_at,
        },
    )
}

fn movement() -> impl Strategy<Value = Movement> {
    let numbers = [
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
        any::<i64>(),
    ];
    let operation = (raw(), named::<Step>(), any::<u16>())
        .prop_map(|(source, step, line)| OperationId { source, step, line });
    let cause = (
        option::of(id()),
        option::of(id()),
        option::of(text()),
        option::of(text()),
    )
        .prop_map(|(order, checkout, reason, reference)| Cause {
            order,
            checkout,
            reason,
            reference,
        });
    (
        id(),
        id(),
        place(),
        numbers,
        named::<MovementKind>(),
        operation,
        cause,
        actor(),
        at(),
    )
        .prop_map(
            |(business, id, place, numbers, kind, operation, cause, actor, at)| Movement {
                business,
                id,
                place,
                sequence: numbers[0],
                kind,
                available: numbers[1],
                reserved: numbers[2],
                available_after: numbers[3],
                reserved_after: numbers[4],
                operation,
                cause,
                actor,
                at,
            },
        )
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has no others", |number| number.is_finite())
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn happened() -> impl Strategy<Value = Event> {
    let subject = (named::<Kind>(), raw()).prop_map(|(kind, id)| DocumentKey { kind, id });
    (
        id(),
        id(),
        subject,
        any::<i64>(),
        text(),
        actor(),
        text(),
        at(),
        json_value(),
    )
        .prop_map(
            |(business, id, subject, sequence, name, actor, request, at, data)| Event {
                business,
                id,
                subject,
                sequence,
                name,
                actor,
                request,
                at,
                data,
            },
        )
}

fn reply() -> impl Strategy<Value = Reply> {
    let skus = btree_map(id(), "[A-Z]{1,8}", 0..3);
    let stock =
        (vec(movement(), 0..3), vec(level(), 0..3), skus).prop_map(|(movements, levels, skus)| {
            Reply::Stock(Arc::new(StockReply {
                movements,
                levels,
                skus,
            }))
        });
    prop_oneof![document().prop_map(Reply::Document), stock]
}

fn done() -> impl Strategy<Value = Operation> {
    let key = (option::of(id()), text()).prop_map(|(customer, key)| OperationKey { customer, key });
    (id(), key, any::<[u8; 32]>(), reply(), at()).prop_map(
        |(business, key, fingerprint, reply, at)| Operation {
            business,
            key,
            fingerprint: Fingerprint(fingerprint),
            reply,
            at,
        },
    )
}

proptest! {
    #[test]
    fn every_document_survives(document in document(), currency in currency()) {
        let stored = write_document(&document, Some(currency)).expect("stored");
        let read = read_document(document.key().kind, Row::new("test", &stored)).expect("read");
        prop_assert_eq!(read, document);
    }

    #[test]
    fn every_record_survives(level in level(), movement in movement(), event in happened()) {
        let stored = stock::write_level(&level);
        prop_assert_eq!(stock::read_level(Row::new("test", &stored)), Ok(level));
        let stored = stock::write_movement(&movement);
        prop_assert_eq!(stock::read_movement(Row::new("test", &stored)), Ok(movement));
        let stored = event::write(&event).expect("stored");
        prop_assert_eq!(event::read(Row::new("test", &stored)), Ok(event));
    }

    #[test]
    fn every_answer_survives(operation in done(), currency in currency()) {
        let stored = operation::write(&operation, Some(currency)).expect("stored");
        prop_assert_eq!(operation::read(Row::new("test", &stored)), Ok(operation));
    }

    #[test]
    fn every_counter_survives(code in code(), year in 0i16..=9999, last in any::<i64>(), business in id()) {
        let series = Series { code, year };
        let stored = counter::write(business, &series, last);
        prop_assert_eq!(counter::read(Row::new("test", &stored)), Ok(Counter { series, last }));
    }
}

#[test]
fn what_has_no_exact_form_is_refused_not_bent() {
    let mut event = sample_event();
    event.data = json!({ "huge": u64::MAX });
    assert!(event::write(&event).is_err());
    event.data = json!({ "a\0b": 1 });
    assert!(event::write(&event).is_err());
    let product = Document::Product(Arc::new(sample_product()));
    assert!(
        write_document(&product, None).is_err(),
        "a price needs a currency"
    );
}

#[test]
fn a_value_of_another_type_is_named() {
    let stored = stock::write_level(&sample_level());
    let mut document = bson::Document::try_from(&stored).expect("a document");
    document.insert("available", 1.5);
    let stored = RawDocumentBuf::try_from(&document).expect("raw");
    let unreadable = stock::read_level(Row::new("stockLevels", &stored)).expect_err("unreadable");
    assert_eq!(
        unreadable.to_string(),
        "stockLevels.available: Double instead of a long"
    );
    document.insert("available", 1i64);
    document.insert("schemaVersion", 99i64);
    let stored = RawDocumentBuf::try_from(&document).expect("raw");
    let unreadable = stock::read_level(Row::new("stockLevels", &stored)).expect_err("unreadable");
    assert!(
        unreadable.to_string().contains("newer than this program"),
        "{unreadable}"
    );
}

fn raw_id(last: u8) -> RawId {
    let mut bytes = [0x65; 12];
    bytes[11] = last;
    RawId(bytes)
}

fn money(minor: i64) -> Amount {
    Amount::from_minor(minor).expect("an amount")
}

const THEN: Timestamp = Timestamp::from_millis(1_796_040_000_123);

fn sample_product() -> Product {
    Product {
        business: raw_id(1).into(),
        id: raw_id(2).into(),
        sku: "CAFE-500".into(),
        name: "Café 500 g".into(),
        sale_price: money(350_000),
        tax_rate: TaxRate::parse("0.19").expect("a rate"),
        active: true,
        branches: Some(vec![raw_id(3).into()]),
        max_per_order: None,
        attributes: BTreeMap::from([("origin.region".into(), "Huila".into())]),
        deleted_at: None,
        stamp: Stamp {
            version: 3,
            created_at: THEN,
            updated_at: THEN,
        },
    }
}

fn sample_order() -> Order {
    let product = sample_product();
    Order {
        business: product.business,
        id: raw_id(4).into(),
        number: OrderNumber::parse("BOG-2026-000184").expect("a number"),
        branch: raw_id(3).into(),
        status: Status::PendingPayment,
        payment_status: PaymentStatus::Unpaid,
        payment_method: PaymentMethod::OnDelivery,
        customer: Buyer {
            id: Some(raw_id(5).into()),
            name: Some("Ana".into()),
            phone: None,
        },
        lines: vec![Line {
            product: product.id,
            sku: product.sku,
            name: product.name,
            quantity: Quantity::new(2).expect("a quantity"),
            unit_price: money(350_000),
            subtotal: money(700_000),
            discount: Amount::ZERO,
            tax: money(111_765),
            total: money(700_000),
        }],
        totals: Totals {
            subtotal: money(700_000),
            discount: Amount::ZERO,
            tax: money(111_765),
            delivery_fee: money(500_000),
            total: money(1_200_000),
        },
        currency: Currency::parse("COP").expect("a currency"),
        fulfilment: Fulfilment {
            kind: FulfilmentKind::Delivery,
            address: Some(Address::Parts(BTreeMap::from([(
                "city".into(),
                "Bogotá".into(),
            )]))),
            courier: None,
        },
        note: None,
        checkout: None,
        cart: None,
        reservation_expires_at: Some(THEN),
        timeline: Timeline::default(),
        cancel_reason: None,
        coupons: Vec::new(),
        reserved_anew: None,
        returned: Vec::new(),
        returns: 0,
        stamp: Stamp {
            version: 1,
            created_at: THEN,
            updated_at: THEN,
        },
    }
}

fn sample_level() -> StockLevel {
    StockLevel {
        business: raw_id(1).into(),
        place: Place {
            branch: raw_id(3).into(),
            product: raw_id(2).into(),
        },
        available: 8,
        reserved: 2,
        version: 2,
        updated_at: THEN,
    }
}

fn sample_movement() -> Movement {
    Movement {
        business: raw_id(1).into(),
        id: raw_id(6).into(),
        place: sample_level().place,
        sequence: 2,
        kind: MovementKind::Reservation,
        available: -2,
        reserved: 2,
        available_after: 8,
        reserved_after: 2,
        operation: OperationId {
            source: raw_id(4),
            step: Step::WriteOff,
            line: 7,
        },
        cause: Cause {
            order: Some(raw_id(4).into()),
            ..Cause::default()
        },
        actor: Actor::Key(raw_id(7).into()),
        at: THEN,
    }
}

fn sample_event() -> Event {
    Event {
        business: raw_id(1).into(),
        id: raw_id(8).into(),
        subject: DocumentKey::new(Kind::Order, raw_id(4)),
        sequence: 1,
        name: "abasto.order.created".into(),
        actor: Actor::Platform,
        request: "req-1".into(),
        at: THEN,
        data: json!({ "to": "pending", "lines": 1, "list": [null, true, 0.5] }),
    }
}

/// The document as JSON that shows its types; dates, ids and decimals are marked, longs are not.
fn shown(stored: &RawDocumentBuf) -> Value {
    let document = bson::Document::try_from(stored).expect("a document");
    serde_json::to_value(document).expect("JSON")
}

/// A fixture as it was stored.
fn stored(fixture: &Value) -> RawDocumentBuf {
    let document: bson::Document = serde_json::from_value(fixture.clone()).expect("a fixture");
    let Bson::Document(document) = longs(Bson::Document(document)) else {
        panic!("a document stays one");
    };
    RawDocumentBuf::try_from(&document).expect("raw")
}

fn longs(value: Bson) -> Bson {
    match value {
        Bson::Int32(number) => Bson::Int64(number.into()),
        Bson::Array(values) => Bson::Array(values.into_iter().map(longs).collect()),
        Bson::Document(document) => {
            let entries = document.into_iter().map(|(key, value)| match value {
                Bson::Array(bytes) if BINARY.contains(&key.as_str()) => (key, binary(&bytes)),
                value => (key, longs(value)),
            });
            Bson::Document(entries.collect())
        }
        other => other,
    }
}

/// Fields of binary data, which plain JSON shows as lists of numbers.
const BINARY: [&str; 2] = ["secretHash", "fingerprint"];

fn binary(bytes: &[Bson]) -> Bson {
    let bytes = bytes.iter().map(|byte| match byte {
        Bson::Int32(byte) => u8::try_from(*byte).expect("a byte"),
        other => panic!("no byte: {other}"),
    });
    Bson::Binary(bson::Binary {
        subtype: bson::spec::BinarySubtype::Generic,
        bytes: bytes.collect(),
    })
}

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).expect("a fixture is JSON")
}

macro_rules! fixtures {
    ($($name:ident: $sample:expr, $write:expr, $read:expr;)*) => {$(
        #[test]
        fn $name() {
            let kept = fixture(include_str!(concat!("fixtures/", stringify!($name), ".v1.json")));
            let sample = $sample;
            let written = shown(&$write(&sample));
            assert_eq!(written, kept, "the stored form changed:\n{}", serde_json::to_string_pretty(&written).expect("JSON"));
            let old = stored(&kept);
            assert_eq!($read(Row::new("fixture", &old)).expect("readable"), sample);
        }
    )*};
}

fn cop() -> Option<Currency> {
    Currency::parse("COP").ok()
}

fn write_doc(document: &Document) -> RawDocumentBuf {
    write_document(document, cop()).expect("stored")
}

fixtures! {
    kept_product: Document::from(sample_product()), write_doc, |row| read_document(Kind::Product, row);
    kept_order: Document::from(sample_order()), write_doc, |row| read_document(Kind::Order, row);
    kept_stock_level: sample_level(), stock::write_level, stock::read_level;
    kept_stock_movement: sample_movement(), stock::write_movement, stock::read_movement;
    kept_event: sample_event(), |event| event::write(event).expect("stored"), event::read;
    kept_branch: Document::from(Branch {
        business: raw_id(1).into(), id: raw_id(3).into(), code: BranchCode::parse("BOG").expect("a code"),
        name: "Centro".into(), time_zone: "America/Bogota".into(), active: true,
        stamp: Stamp::first(THEN),
    }), write_doc, |row| read_document(Kind::Branch, row);
    kept_business: Document::from(Business {
        id: raw_id(1).into(), name: "Tienda".into(), currency: Currency::parse("COP").expect("a currency"),
        time_zone: "America/Bogota".into(), settings: Settings::default(), stamp: Stamp::first(THEN),
    }), write_doc, |row| read_document(Kind::Business, row);
    kept_member: Document::from(Member {
        business: raw_id(1).into(), id: raw_id(9).into(), user_id: "auth|1".into(), role: Role::Staff,
        branches: Some(vec![raw_id(3).into()]), customer: None, active: true, stamp: Stamp::first(THEN),
    }), write_doc, |row| read_document(Kind::Member, row);
    kept_api_key: Document::from(ApiKey {
        business: raw_id(1).into(), id: raw_id(7).into(), name: "till".into(), role: Role::Service,
        branches: None, customer: None, secret_hash: [7; 32], revoked_at: None, stamp: Stamp::first(THEN),
    }), write_doc, |row| read_document(Kind::ApiKey, row);
    kept_customer: Document::from(Customer {
        business: raw_id(1).into(), id: raw_id(5).into(), name: "Ana".into(), phone: Some("+573001234567".into()),
        email: Some("Ana@Example.org".into()), email_verified_at: Some(THEN), stamp: Stamp::first(THEN),
    }), write_doc, |row| read_document(Kind::Customer, row);
    kept_operation: Operation {
        business: raw_id(1).into(), key: OperationKey { customer: None, key: "abc".into() },
        fingerprint: Fingerprint([9; 32]), at: THEN,
        reply: Reply::Stock(Arc::new(StockReply { movements: vec![sample_movement()], levels: vec![sample_level()], skus: Skus::new() })),
    }, |done| operation::write(done, None).expect("stored"), operation::read;
    kept_counter: Counter { series: Series { code: BranchCode::parse("BOG").expect("a code"), year: 2026 }, last: 184 },
        |counter: &Counter| counter::write(raw_id(1).into(), &counter.series, counter.last), counter::read;
}
