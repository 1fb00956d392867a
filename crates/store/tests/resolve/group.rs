//! A group: each unit is decided against what the ones before it leave.

use abasto_domain::stock::MovementKind;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::resolve::{Effects, resolve};
use abasto_store::unit::{Answer, Guard, UnitOfWork};
use abasto_store::verdict::{Rejection, Reply, Skus, Verdict};

use crate::sample::{
    NOW, OTHER_SHOP, SHOP, changed, customer, heads_for, level, moving, operation, product,
    product_document, put, puts, sale, series, stocked,
};

fn number(effects: &Effects) -> i64 {
    match &effects.puts[0].0 {
        Document::Order(order) => order.number.sequence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_sequences_and_balances_run_on() {
    let units: Vec<UnitOfWork> = (1..=4).map(|order| sale(order, 2027)).collect();
    let mut heads = stocked(heads_for(&units), level(10), 7);
    heads.set_series(SHOP, series(2027), 41);
    let verdicts: Vec<_> = units.iter().map(|unit| resolve(&mut heads, unit)).collect();
    let numbers: Vec<i64> = verdicts.iter().flatten().map(number).collect();
    assert_eq!(numbers, [42, 43, 44]);
    let movements: Vec<_> = verdicts
        .iter()
        .flatten()
        .flat_map(|effects| &effects.movements)
        .map(|m| (m.sequence, m.available_after, m.reserved_after, m.kind))
        .collect();
    let kind = MovementKind::Reservation;
    assert_eq!(
        movements,
        [(2, 5, 2, kind), (3, 3, 4, kind), (4, 1, 6, kind)]
    );
    // The fourth is short, and its number is not gone.
    let short = matches!(&verdicts[3], Err(Verdict::Rejected(Rejection::Short(_))));
    assert!(short, "{:?}", verdicts[3]);
    let net: Vec<_> = heads
        .moved_levels()
        .map(|level| {
            (
                level.available,
                level.reserved,
                level.version,
                level.updated_at,
            )
        })
        .collect();
    assert_eq!(net, [(1, 6, 4, NOW)]);
    let counted: Vec<_> = heads.counted_series().collect();
    assert_eq!(counted, [(SHOP, &series(2027), 44)]);
}

#[test]
fn two_years_and_two_orders_in_one_unit() {
    let (one, two) = (sale(1, 2027), sale(2, 2028));
    let mut both = sale(3, 2027);
    both.puts.extend(sale(4, 2027).puts);
    let units = [one, two, both];
    let mut heads = stocked(heads_for(&units), level(10), 100);
    let effects: Vec<Effects> = units
        .iter()
        .map(|unit| resolve(&mut heads, unit).unwrap())
        .collect();
    let numbers: Vec<i64> = effects.iter().map(number).collect();
    assert_eq!(numbers, [1, 1, 2]);
    let counted: Vec<_> = heads
        .counted_series()
        .map(|(_, s, last)| (s.year, last))
        .collect();
    assert_eq!(counted, [(2027, 3), (2028, 1)]);
}

#[test]
fn a_key_of_the_same_group_answers() {
    let first = UnitOfWork {
        operation: Some(operation("k", 1)),
        ..puts([put(None, customer(1))])
    };
    let again = UnitOfWork {
        operation: Some(operation("k", 1)),
        ..puts([put(None, customer(2))])
    };
    let other = UnitOfWork {
        operation: Some(operation("k", 2)),
        ..puts([put(None, customer(3))])
    };
    let mut heads = heads_for([&first, &again, &other]);
    let effects = resolve(&mut heads, &first).unwrap();
    assert_eq!(
        resolve(&mut heads, &again),
        Err(Verdict::Replayed(effects.reply))
    );
    assert_eq!(resolve(&mut heads, &other), Err(Verdict::KeyReused));
}

#[test]
fn a_claim_moves_from_unit_to_unit_and_within_one() {
    let old = product(1, "PAN");
    let gone = changed(&old, "OLD");
    let create = puts([put(None, old.clone())]);
    let release = puts([put(Some(product_document(&old)), gone.clone())]);
    let take = puts([put(None, product(2, "PAN"))]);
    let mut heads = heads_for([&create, &release, &take]);
    resolve(&mut heads, &create).unwrap();
    let refusal = resolve(&mut heads, &take).unwrap_err();
    assert!(matches!(refusal, Verdict::Rejected(Rejection::Taken(_))));
    resolve(&mut heads, &release).unwrap();
    resolve(&mut heads, &take).unwrap();
    // And onwards: two documents change places in one unit that goes through a third value.
    let (one, two) = (gone, product(2, "PAN"));
    let (via, to) = (changed(&one, "TMP"), changed(&two, "OLD"));
    let back = changed(&via, "PAN");
    let swap = puts([
        put(Some(product_document(&one)), via.clone()),
        put(Some(product_document(&two)), to),
        put(Some(product_document(&via)), back),
    ]);
    for key in heads.missing(&swap) {
        crate::sample::set_empty(&mut heads, SHOP, key);
    }
    let effects = resolve(&mut heads, &swap).unwrap();
    let bases: Vec<i64> = effects.puts.iter().map(|(_, base)| *base).collect();
    assert_eq!(bases, [2, 1, 3]);
}

#[test]
fn a_guard_sees_the_unit_before_it() {
    let base = product(1, "PAN");
    let change = puts([put(Some(product_document(&base)), changed(&base, "PAN"))]);
    let key = DocumentKey::new(Kind::Product, base.id);
    let guarded = |version| UnitOfWork {
        guards: vec![Guard::Document(key, version), Guard::Level(level(10), 1)],
        ..moving(&[(level(10), -1)])
    };
    let mut heads = stocked(heads_for([&change, &guarded(1)]), level(10), 5);
    heads.set_document(SHOP, key, 1);
    resolve(&mut heads, &change).unwrap();
    assert!(resolve(&mut heads, &guarded(1)).is_err());
    resolve(&mut heads, &guarded(2)).unwrap();
    // The level has moved on too.
    assert!(resolve(&mut heads, &guarded(2)).is_err());
}

#[test]
fn two_businesses_in_one_group_do_not_meet() {
    let mine = UnitOfWork {
        operation: Some(operation("k", 1)),
        ..sale(1, 2027)
    };
    let theirs = UnitOfWork {
        business: OTHER_SHOP,
        operation: Some(operation("k", 2)),
        ..sale(1, 2027)
    };
    let mut heads = stocked(heads_for([&mine, &theirs]), level(10), 5);
    let effects = resolve(&mut heads, &mine).unwrap();
    assert_eq!(number(&effects), 1);
    let refusal = resolve(&mut heads, &theirs).unwrap_err();
    let Verdict::Rejected(Rejection::Short(short)) = refusal else {
        panic!("the other business has no stock: {refusal:?}");
    };
    assert_eq!(short[0].level, None);
    let owners: Vec<_> = heads.moved_levels().map(|level| level.business).collect();
    assert_eq!(owners, [SHOP]);
}

#[test]
fn an_event_is_made_for_each_put_with_the_version_it_comes_to() {
    let base = product(1, "PAN");
    let next = changed(&base, "PAN");
    let unit = puts([
        put(Some(product_document(&base)), next),
        put(None, customer(2)),
    ]);
    let mut heads = heads_for([&unit]);
    heads.set_document(SHOP, DocumentKey::new(Kind::Product, base.id), 1);
    let effects = resolve(&mut heads, &unit).unwrap();
    let events: Vec<_> = effects
        .events
        .iter()
        .map(|event| {
            (
                event.subject.kind,
                event.sequence,
                event.request.as_str(),
                event.at,
            )
        })
        .collect();
    let expected = [
        (Kind::Product, 2, "request", NOW),
        (Kind::Customer, 1, "request", NOW),
    ];
    assert_eq!(events, expected);
}

#[test]
fn answers() {
    let document = Document::from(customer(9));
    let unit = |answer| UnitOfWork {
        answer,
        stock: moving(&[(level(2), 3), (level(1), 4), (level(2), -1)]).stock,
        ..puts([put(None, customer(1)), put(None, customer(2))])
    };
    let decided = |answer| {
        let unit = unit(answer);
        resolve(&mut heads_for([&unit]), &unit).unwrap()
    };
    let second = Reply::Document(customer(2).into());
    assert_eq!(decided(Answer::Put(1)).reply, second);
    let same = Reply::Document(document.clone());
    assert_eq!(decided(Answer::Unchanged(document)).reply, same);
    let Reply::Stock(stock) = decided(Answer::Stock(Skus::new())).reply else {
        panic!("movements were asked for");
    };
    let movements: Vec<_> = stock
        .movements
        .iter()
        .map(|m| (m.place, m.sequence))
        .collect();
    assert_eq!(movements, [(level(1), 1), (level(2), 1), (level(2), 2)]);
    let levels: Vec<_> = stock
        .levels
        .iter()
        .map(|l| (l.place, l.available))
        .collect();
    assert_eq!(levels, [(level(1), 4), (level(2), 2)]);
}
