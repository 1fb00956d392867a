//! The audit of invariants: silent on what is right, and loud on every kind of corruption.
//!
//! A business with a life behind it is walked, one thing in the records is changed as a defect or
//! a hand in the database would, and the audit must name the rule that broke.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod checkout;
mod corruption;
mod history;

use std::collections::BTreeSet;

use abasto_domain::id::BusinessId;
use abasto_store::invariants::{Audit, Code, DIFFERENCES_MAX, Invariant, Report};
use abasto_store::record::Record;

use crate::corruption::corruptions;
use crate::history::records;

fn audited(business: BusinessId, records: &[Record]) -> Report {
    let mut audit = Audit::new(business);
    records.iter().for_each(|record| audit.take(record));
    audit.finish()
}

/// Applies each corruption of a rule to fresh records; the audit must find its code.
fn finds(invariant: Invariant) {
    let clean = records();
    let business = history::business(&clean);
    let mut tried = 0;
    for corruption in corruptions() {
        if corruption.code.invariant() != invariant {
            continue;
        }
        tried += 1;
        let mut records = clean.clone();
        (corruption.corrupt)(&mut records);
        assert_ne!(records, clean, "{}: nothing was corrupted", corruption.what);
        let report = audited(business, &records);
        let found = report
            .differences
            .iter()
            .any(|difference| difference.code == corruption.code);
        assert!(
            found,
            "{} is not found as {:?}: {report}",
            corruption.what, corruption.code
        );
    }
    assert!(tried > 0, "{invariant:?} has no corruption");
}

macro_rules! one_test_per_rule {
    ($($name:ident => $invariant:ident),* $(,)?) => {
        $(#[test] fn $name() { finds(Invariant::$invariant); })*

        #[test]
        fn every_rule_has_a_test() {
            let tested = BTreeSet::from([$(Invariant::$invariant),*]);
            assert_eq!(tested, BTreeSet::from(Invariant::ALL));
        }
    };
}

one_test_per_rule! {
    stock_is_not_negative => StockNotNegative,
    levels_are_sums => StockIsSum,
    movements_have_no_gaps => MovementsWithoutGaps,
    on_hand_is_explained => OnHandExplained,
    reserved_is_explained => ReservedExplained,
    lines_act_once => LineEffectsOnce,
    a_key_is_one_order => OneOrderPerKey,
    numbers_have_no_gaps => NumbersWithoutGaps,
    histories_are_whole => HistoryWhole,
    amounts_add_up => AmountsAddUp,
    references_stay_inside => ReferencesStayInside,
    money_is_bounded => MoneyBounded,
    limits_are_explained => LimitsExplained,
}

#[test]
fn what_is_right_is_found_right_and_everything_is_looked_at() {
    let records = records();
    let business = history::business(&records);
    let report = audited(business, &records);
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.records, u64::try_from(records.len()).unwrap());
    for invariant in Invariant::ALL {
        assert!(
            report.checked[&invariant] > 0,
            "{invariant:?} was never checked"
        );
    }
}

#[test]
fn every_code_is_provoked() {
    let provoked: BTreeSet<Code> = corruptions()
        .iter()
        .map(|corruption| corruption.code)
        .collect();
    assert_eq!(provoked, BTreeSet::from(Code::ALL));
}

#[test]
fn a_report_lists_so_many_differences_and_counts_the_rest() {
    let mut records = records();
    let business = history::business(&records);
    let event = history::position(&records, |record| matches!(record, Record::Event(_)));
    let mut late = records[event].clone();
    for sequence in 10_000..12_000 {
        if let Record::Event(event) = &mut late {
            event.sequence = sequence * 2;
        }
        records.push(late.clone());
    }
    let report = audited(business, &records);
    assert_eq!(report.differences.len(), DIFFERENCES_MAX);
    assert!(
        report.difference_count >= 2_000,
        "{}",
        report.difference_count
    );
}

#[test]
fn a_difference_says_where_and_what_in_plain_words() {
    let mut records = records();
    let business = history::business(&records);
    let level = history::position(&records, |record| matches!(record, Record::Level(_)));
    let Record::Level(level) = &mut records[level] else {
        panic!("no level");
    };
    let place = level.place;
    level.available += 3;
    let (available, reserved) = (level.available, level.reserved);
    let report = audited(business, &records);
    let difference = &report.differences[0];
    assert_eq!(difference.code, Code::LevelDiffers);
    assert_eq!(difference.location.branch_id, Some(place.branch));
    assert_eq!(difference.location.product_id, Some(place.product));
    let words = difference.to_string();
    let found = format!("found {available} available, {reserved} reserved");
    assert!(words.contains(&found), "{words}");
    assert!(
        words.contains(&format!("expected {} available", available - 3)),
        "{words}"
    );
}
