//! Stock: nothing below zero, nothing lost, nothing made.

use abasto_domain::id::{BranchId, BusinessId, MovementId, ProductId};
use abasto_domain::stock::{
    AdjustmentReason, Cause, CountRejection, MovementKind, OperationId, Place, Shortage, Step,
    StockChange, StockLevel, UNITS_MAX, count, releasing, reserving,
};
use abasto_domain::time::Timestamp;
use proptest::prelude::*;

use crate::sample::{NOW, raw, units};

fn place() -> Place {
    Place {
        branch: BranchId(raw(2)),
        product: ProductId(raw(3)),
    }
}

fn change(available: i64, reserved: i64) -> StockChange {
    StockChange {
        id: MovementId(raw(4)),
        place: place(),
        kind: MovementKind::Adjustment,
        available,
        reserved,
        operation: OperationId {
            source: raw(5),
            step: Step::Apply,
            line: 0,
        },
        cause: Cause::default(),
    }
}

fn level(available: i64, reserved: i64, version: i64) -> StockLevel {
    StockLevel {
        available,
        reserved,
        version,
        ..StockLevel::empty(BusinessId(raw(1)), place())
    }
}

#[test]
fn what_a_level_takes_and_what_it_does_not() {
    let table = [
        ((5, 0), (-5, 5), Ok((0, 5))),
        ((5, 0), (-6, 6), Err(Shortage::Available)),
        ((0, 5), (5, -5), Ok((5, 0))),
        ((0, 5), (6, -6), Err(Shortage::Reserved)),
        ((0, 0), (-1, 0), Err(Shortage::Available)),
        ((0, 0), (0, -1), Err(Shortage::Reserved)),
        ((0, 0), (-1, -1), Err(Shortage::Available)),
        ((0, 0), (0, 0), Ok((0, 0))),
        ((0, 0), (UNITS_MAX, 0), Ok((UNITS_MAX, 0))),
        ((UNITS_MAX, 0), (1, 0), Err(Shortage::Overflow)),
        ((UNITS_MAX, 0), (-1, 1), Ok((UNITS_MAX - 1, 1))),
        ((UNITS_MAX, 0), (0, 1), Err(Shortage::Overflow)),
        ((1, 1), (i64::MAX, 0), Err(Shortage::Overflow)),
        ((1, 1), (0, i64::MAX), Err(Shortage::Overflow)),
        ((1, 1), (i64::MIN, 0), Err(Shortage::Available)),
        ((1, 1), (0, i64::MIN), Err(Shortage::Reserved)),
        ((1, 1), (i64::MAX, i64::MAX), Err(Shortage::Overflow)),
    ];
    for ((available, reserved), delta, expected) in table {
        let after = level(available, reserved, 7).after(&change(delta.0, delta.1), NOW);
        let found = after.map(|level| (level.available, level.reserved));
        assert_eq!(found, expected, "({available}, {reserved}) and {delta:?}");
        if let Ok(after) = after {
            assert_eq!((after.version, after.updated_at), (8, NOW));
        }
    }
}

#[test]
fn counts() {
    let counted = [
        ((5, 2, 3), 7, 3, Ok(0)),
        ((5, 2, 3), 10, 3, Ok(3)),
        ((5, 2, 3), 2, 3, Ok(-5)),
        ((5, 2, 3), 1, 3, Err(CountRejection::BelowReserved)),
        ((5, 2, 3), -1, 3, Err(CountRejection::BelowReserved)),
        ((5, 2, 3), 7, 2, Err(CountRejection::Changed)),
        ((5, 2, 3), 1, 4, Err(CountRejection::Changed)),
        ((0, 0, 0), 0, 0, Ok(0)),
        ((0, 0, 0), i64::MAX, 0, Ok(i64::MAX)),
        ((0, 0, 0), i64::MIN, 0, Err(CountRejection::BelowReserved)),
    ];
    for ((available, reserved, version), number, expected_version, expected) in counted {
        let found = count(
            &level(available, reserved, version),
            number,
            expected_version,
        );
        assert_eq!(
            found, expected,
            "{number} at ({available}, {reserved}, {version})"
        );
    }
}

#[test]
fn only_a_receipt_is_a_receipt() {
    use AdjustmentReason as Reason;
    let kinds = [
        (Reason::Receipt, MovementKind::Receipt, "receipt"),
        (Reason::Damage, MovementKind::Adjustment, "damage"),
        (Reason::Loss, MovementKind::Adjustment, "loss"),
        (Reason::Found, MovementKind::Adjustment, "found"),
        (Reason::Correction, MovementKind::Adjustment, "correction"),
    ];
    for (reason, kind, name) in kinds {
        assert_eq!((reason.kind(), reason.name()), (kind, name));
    }
}

proptest! {
    #[test]
    fn no_sequence_of_changes_goes_below_zero_or_loses_a_unit(
        changes in prop::collection::vec((-30..40i64, -30..40i64), 0..60),
    ) {
        let mut present = level(0, 0, 0);
        let (mut available, mut reserved, mut taken) = (0, 0, 0);
        for (number, (a, r)) in (0i64..).zip(changes) {
            let at = Timestamp::from_millis(number);
            if let Ok(after) = present.after(&change(a, r), at) {
                (available, reserved, taken) = (available + a, reserved + r, taken + 1);
                present = after;
            }
            prop_assert!(present.available >= 0 && present.reserved >= 0);
        }
        prop_assert_eq!((present.available, present.reserved), (available, reserved));
        prop_assert_eq!(present.version, taken);
        prop_assert_eq!(present.on_hand(), available + reserved);
    }

    #[test]
    fn reserving_and_releasing_cancel_out(quantity in 1..=1_000_000i64) {
        let (taken, given) = (reserving(units(quantity)), releasing(units(quantity)));
        prop_assert_eq!(taken.0 + taken.1, 0);
        prop_assert_eq!((taken.0 + given.0, taken.1 + given.1), (0, 0));
    }

    #[test]
    fn a_count_leaves_what_was_counted(
        available in 0..10_000i64,
        reserved in 0..10_000i64,
        counted in 0..30_000i64,
    ) {
        let before = level(available, reserved, 4);
        match count(&before, counted, 4) {
            Ok(delta) => {
                let after = before.after(&change(delta, 0), NOW).unwrap();
                prop_assert_eq!(after.on_hand(), counted);
                prop_assert_eq!(after.reserved, reserved);
            }
            Err(why) => {
                prop_assert_eq!(why, CountRejection::BelowReserved);
                prop_assert!(counted < reserved);
            }
        }
    }

    #[test]
    fn the_identity_of_an_effect_survives_its_bytes(
        source in any::<[u8; 12]>(),
        step in 0..8usize,
        line in any::<u16>(),
    ) {
        let operation = OperationId {
            source: abasto_domain::id::RawId(source),
            step: Step::ALL[step],
            line,
        };
        prop_assert_eq!(OperationId::from_bytes(operation.to_bytes()), Some(operation));
        let mut unknown = operation.to_bytes();
        unknown[12] = 200;
        prop_assert_eq!(OperationId::from_bytes(unknown), None);
    }
}
