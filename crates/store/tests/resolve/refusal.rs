//! Why a unit cannot be: the reasons, which comes first, and that nothing moves.

use abasto_domain::stock::{Shortage, StockLevel};
use abasto_domain::time::Timestamp;
use abasto_store::heads::Heads;
use abasto_store::record::{Claim, Document, DocumentKey, HeadKey, Kind, Unique};
use abasto_store::resolve::resolve;
use abasto_store::unit::{Guard, UnitOfWork};
use abasto_store::verdict::{Rejection, ShortLevel, Verdict};

use crate::sample::{
    SHOP, change, changed, customer, heads_for, level, moving, operation, order, product,
    product_document, put, puts, raw, sale, set_empty, stocked, unit,
};

/// Decides a unit that must be refused, and shows that the heads stay as they were.
#[track_caller]
fn refused(heads: &mut Heads, unit: &UnitOfWork) -> Verdict {
    let before = format!("{heads:?}");
    let verdict = resolve(heads, unit).unwrap_err();
    assert_eq!(
        before,
        format!("{heads:?}"),
        "a refused unit moved the heads"
    );
    verdict
}

/// A unit that touches a head of every kind.
fn touching_everything() -> UnitOfWork {
    let mut unit = sale(1, 2027);
    unit.puts.push(put(None, product(20, "NEW")));
    unit.stock.push(change(level(21), 5, 0));
    unit.operation = Some(operation("k", 1));
    unit.guards = vec![
        Guard::Document(DocumentKey::new(Kind::Product, raw(30)), 0),
        Guard::Level(level(31), 0),
    ];
    unit
}

#[test]
fn a_head_that_was_not_read_is_stale_never_absent() {
    let unit = touching_everything();
    let all = Heads::default().missing(&unit);
    assert_eq!(all.len(), 9, "{all:?}");
    for left_out in &all {
        let mut heads = Heads::default();
        for key in all.iter().filter(|key| *key != left_out) {
            set_empty(&mut heads, SHOP, key.clone());
        }
        assert_eq!(heads.missing(&unit).iter().collect::<Vec<_>>(), [left_out]);
        // Stock that is there, so that nothing else is in the way.
        if *left_out != HeadKey::Level(level(10)) {
            heads = stocked(heads, level(10), 9);
        }
        assert_eq!(refused(&mut heads, &unit), Verdict::Stale(left_out.clone()));
    }
    let mut heads = stocked(heads_for([&unit]), level(10), 9);
    assert!(heads.missing(&unit).is_empty());
    assert!(resolve(&mut heads, &unit).is_ok());
}

#[test]
fn reasons_come_in_their_order() {
    // Wrong in every way; each is put right in turn and the next reason shows.
    let base = product(1, "OLD");
    let mut unit = puts([put(Some(product_document(&base)), changed(&base, "TAKEN"))]);
    unit.operation = Some(operation("k", 1));
    unit.guards = vec![Guard::Document(DocumentKey::new(Kind::Customer, raw(2)), 3)];
    unit.stock = vec![change(level(9), -1, 0)];
    let mut heads = heads_for([&unit]);
    let finished = puts([put(None, customer(77))]);
    let finished = UnitOfWork {
        operation: Some(operation("k", 2)),
        ..finished
    };
    for key in heads.missing(&finished) {
        set_empty(&mut heads, SHOP, key);
    }
    let effects = resolve(&mut heads, &finished).unwrap();
    assert_eq!(refused(&mut heads, &unit), Verdict::KeyReused);

    unit.operation = Some(operation("k", 2));
    assert_eq!(refused(&mut heads, &unit), Verdict::Replayed(effects.reply));

    unit.operation = None;
    let guard = DocumentKey::new(Kind::Customer, raw(2));
    assert_eq!(
        refused(&mut heads, &unit),
        Verdict::Stale(HeadKey::Document(guard))
    );

    heads.set_document(SHOP, guard, 3);
    let own = DocumentKey::new(Kind::Product, base.id);
    assert_eq!(
        refused(&mut heads, &unit),
        Verdict::Stale(HeadKey::Document(own))
    );

    heads.set_document(SHOP, own, 1);
    let claim = Claim {
        rule: Unique::Sku,
        value: "TAKEN".to_owned(),
    };
    heads.set_claim(SHOP, claim.clone(), Some(raw(55)));
    let taken = Verdict::Rejected(Rejection::Taken(claim.clone()));
    assert_eq!(refused(&mut heads, &unit), taken);

    heads.set_claim(SHOP, claim, None);
    let verdict = refused(&mut heads, &unit);
    assert!(
        matches!(verdict, Verdict::Rejected(Rejection::Short(_))),
        "{verdict:?}"
    );

    heads = stocked(heads, level(9), 1);
    assert!(resolve(&mut heads, &unit).is_ok());
}

#[test]
fn a_put_is_stale_unless_its_base_is_the_present_version() {
    let base = product(1, "PAN");
    let next = changed(&base, "PAN");
    let key = DocumentKey::new(Kind::Product, base.id);
    let update = puts([put(Some(product_document(&base)), next)]);
    let create = puts([put(None, base)]);
    for (unit, present) in [(&update, 1), (&create, 0)] {
        for version in 0..4 {
            let mut heads = heads_for([unit]);
            heads.set_document(SHOP, key, version);
            let fits = resolve(&mut heads, unit).is_ok();
            assert_eq!(fits, version == present, "{version}");
        }
    }
}

#[test]
fn all_short_levels_are_named_once_with_what_was_asked() {
    let mut unit = moving(&[
        (level(1), -3),
        (level(2), -1),
        (level(1), -4),
        (level(3), 5),
    ]);
    unit.stock.push(change(level(3), 0, -1));
    let mut heads = stocked(heads_for([&unit]), level(1), 5);
    let Verdict::Rejected(Rejection::Short(short)) = refused(&mut heads, &unit) else {
        panic!("three levels are short");
    };
    let found: Vec<_> = short
        .iter()
        .map(|short| (short.place, short.why, short.available, short.reserved))
        .collect();
    let expected = [
        (level(1), Shortage::Available, -7, 0),
        (level(2), Shortage::Available, -1, 0),
        (level(3), Shortage::Reserved, 5, -1),
    ];
    assert_eq!(found, expected);
    assert_eq!(short[0].level.map(|level| level.available), Some(5));
    assert_eq!(short[1].level, None);
}

#[test]
fn sums_beyond_the_integers_are_refused_not_wrapped() {
    let unit = moving(&[(level(1), i64::MAX), (level(1), i64::MAX)]);
    let mut heads = stocked(heads_for([&unit]), level(1), 1);
    let expected = ShortLevel {
        place: level(1),
        why: Shortage::Overflow,
        level: Some(StockLevel {
            available: 1,
            version: 1,
            updated_at: Timestamp::from_millis(0),
            ..StockLevel::empty(SHOP, level(1))
        }),
        available: i64::MAX,
        reserved: 0,
    };
    let verdict = refused(&mut heads, &unit);
    assert_eq!(verdict, Verdict::Rejected(Rejection::Short(vec![expected])));
    let unit = moving(&[(level(1), i64::MIN), (level(1), i64::MIN)]);
    let verdict = refused(&mut heads, &unit);
    assert!(
        matches!(verdict, Verdict::Rejected(Rejection::Short(_))),
        "{verdict:?}"
    );
}

#[test]
fn two_documents_of_one_unit_cannot_have_one_claim() {
    let unit = puts([put(None, product(1, "PAN")), put(None, product(2, "PAN"))]);
    let verdict = refused(&mut heads_for([&unit]), &unit);
    assert!(
        matches!(verdict, Verdict::Rejected(Rejection::Taken(_))),
        "{verdict:?}"
    );
}

#[test]
fn two_changes_of_one_version_in_a_unit_are_stale() {
    let unit = puts([put(None, product(1, "A")), put(None, product(1, "B"))]);
    let verdict = refused(&mut heads_for([&unit]), &unit);
    let key = DocumentKey::new(Kind::Product, raw(1));
    assert_eq!(verdict, Verdict::Stale(HeadKey::Document(key)));
}

#[test]
fn a_unit_without_anything_is_decided() {
    let mut heads = Heads::default();
    let effects = resolve(&mut heads, &unit()).unwrap();
    assert!(effects.puts.is_empty() && effects.movements.is_empty());
    assert_eq!(heads.moved_levels().count(), 0);
}

#[test]
fn an_order_that_has_its_number_needs_no_series() {
    let mut placed = order(1, 2027);
    placed.number.sequence = 7;
    let base = Document::from(placed.clone());
    placed.stamp = placed.stamp.next(placed.stamp.updated_at);
    let unit = puts([put(Some(base), placed.clone())]);
    let mut heads = heads_for([&unit]);
    heads.set_document(SHOP, DocumentKey::new(Kind::Order, placed.id), 1);
    let effects = resolve(&mut heads, &unit).unwrap();
    assert_eq!(effects.puts[0].0, Document::from(placed));
    assert_eq!(heads.counted_series().count(), 0);
}
