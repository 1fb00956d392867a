//! Stock: levels against their movements, and against what open orders hold.
//!
//! Keeps one small entry per level and, while its movements come by, one id per movement of the
//! present level.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::id::{BusinessId, ProductId};
use abasto_domain::stock::{Movement, MovementKind, OperationId, Place, StockLevel};

use super::report::{Code, Location, Report};

/// The levels and movements of the business.
#[derive(Debug, Default)]
pub(super) struct Stock {
    levels: BTreeMap<Place, Stored>,
    run: Option<Run>,
    /// Units sent and not received, by product.
    in_transfer: BTreeMap<ProductId, i64>,
}

/// A level as stored, and whether movements of it were seen.
#[derive(Debug, Clone, Copy)]
struct Stored {
    level: StockLevel,
    explained: bool,
}

/// The movements of one level so far.
#[derive(Debug)]
struct Run {
    sum: StockLevel,
    /// The balances after the last movement, as it says.
    after: (i64, i64),
    on_hand: i64,
    effects: BTreeSet<OperationId>,
}

impl Stock {
    pub(super) fn level(&mut self, level: &StockLevel, report: &mut Report) {
        let numbers = (level.available, level.reserved);
        not_negative(level.place, "level", numbers, report);
        let stored = Stored {
            level: *level,
            explained: false,
        };
        self.levels.insert(level.place, stored);
    }

    /// The stored version of a level, when there is one.
    pub(super) fn version(&self, place: Place) -> Option<i64> {
        self.levels.get(&place).map(|stored| stored.level.version)
    }

    pub(super) fn movement(&mut self, movement: &Movement, report: &mut Report) {
        let business = movement.business;
        let current = self.run.take_if(|run| run.sum.place == movement.place);
        let mut run = match current {
            Some(run) => run,
            None => {
                self.close(report);
                Run::new(business, movement.place)
            }
        };
        run.add(movement, report);
        if matches!(
            movement.kind,
            MovementKind::TransferIn | MovementKind::TransferOut
        ) {
            let moved = self.in_transfer.entry(movement.place.product).or_default();
            *moved = moved.saturating_sub(movement.available);
        }
        self.run = Some(run);
    }

    /// Ends the run of movements of one level: all of them were seen.
    fn close(&mut self, report: &mut Report) {
        let Some(run) = self.run.take() else { return };
        let place = run.sum.place;
        let stored = self.levels.get_mut(&place);
        report.check(Code::LevelUnexplained, stored.is_some(), || {
            let found = format!("none, and {} movements", run.sum.version);
            (Location::level(place, "level"), "a level".to_owned(), found)
        });
        let Some(stored) = stored else { return };
        stored.explained = true;
        let level = &stored.level;
        let words = |level: &StockLevel| {
            let StockLevel {
                available,
                reserved,
                version,
                ..
            } = level;
            format!("{available} available, {reserved} reserved, version {version}")
        };
        let (sum, found) = (numbers(&run.sum), numbers(level));
        report.check(Code::LevelDiffers, sum == found, || {
            (
                Location::level(place, "level"),
                words(&run.sum),
                words(level),
            )
        });
        let on_hand = level.available.saturating_add(level.reserved);
        report.check(Code::OnHandDiffers, run.on_hand == on_hand, || {
            let expected = format!("{} units, from what came in and went out", run.on_hand);
            let location = Location::level(place, "units on the shelf");
            (location, expected, format!("{on_hand} units"))
        });
    }

    /// Compares what is reserved with what open orders hold.
    pub(super) fn finish(mut self, held: &BTreeMap<Place, i64>, report: &mut Report) {
        self.close(report);
        for (place, Stored { level, explained }) in &self.levels {
            report.check(Code::LevelUnexplained, *explained, || {
                let expected = format!("{} movements", level.version);
                (
                    Location::level(*place, "level"),
                    expected,
                    "none".to_owned(),
                )
            });
            let held = held.get(place).copied().unwrap_or(0);
            report.check(Code::ReservedDiffers, level.reserved == held, || {
                let expected = format!("{held} units of open orders");
                let found = format!("{} reserved units", level.reserved);
                (Location::level(*place, "reserved"), expected, found)
            });
        }
        for (place, held) in held {
            let known = self.levels.contains_key(place);
            report.check(Code::ReservedDiffers, known, || {
                let expected = format!("{held} units of open orders");
                (
                    Location::level(*place, "reserved"),
                    expected,
                    "no level".to_owned(),
                )
            });
        }
        for (product, missing) in &self.in_transfer {
            report.check(Code::TransferUnbalanced, *missing == 0, || {
                let location = Location {
                    product_id: Some(*product),
                    ..Location::named("transfers")
                };
                let expected = "as many units received as sent".to_owned();
                (
                    location,
                    expected,
                    format!("{missing} more sent than received"),
                )
            });
        }
    }
}

impl Run {
    const fn new(business: BusinessId, place: Place) -> Self {
        Self {
            sum: StockLevel::empty(business, place),
            after: (0, 0),
            on_hand: 0,
            effects: BTreeSet::new(),
        }
    }

    fn add(&mut self, movement: &Movement, report: &mut Report) {
        let place = movement.place;
        let location = || Location::level(place, format!("movement {}", movement.sequence));
        let next = self.sum.version + 1;
        report.check(Code::MovementGap, movement.sequence == next, || {
            let found = format!("sequence {}", movement.sequence);
            (location(), format!("sequence {next}"), found)
        });
        self.sum.version = movement.sequence;
        self.sum.available = self.sum.available.saturating_add(movement.available);
        self.sum.reserved = self.sum.reserved.saturating_add(movement.reserved);
        let balance = (
            self.after.0.saturating_add(movement.available),
            self.after.1.saturating_add(movement.reserved),
        );
        self.after = (movement.available_after, movement.reserved_after);
        not_negative(place, "balance", self.after, report);
        report.check(Code::BalanceDiffers, balance == self.after, || {
            let words = |(available, reserved)| format!("{available} and {reserved} after it");
            (location(), words(balance), words(self.after))
        });
        report.check(Code::MovementKind, fits_kind(movement), || {
            let found = format!(
                "{:+} available and {:+} reserved",
                movement.available, movement.reserved
            );
            (
                location(),
                format!("a change that is a {}", movement.kind.name()),
                found,
            )
        });
        if !keeps_on_hand(movement.kind) {
            let change = movement.available.saturating_add(movement.reserved);
            self.on_hand = self.on_hand.saturating_add(change);
        }
        let fresh = self.effects.insert(movement.operation);
        report.check(Code::EffectRepeated, fresh, || {
            let operation = movement.operation;
            (
                location(),
                format!("operation {operation} once"),
                "it again".to_owned(),
            )
        });
    }
}

const fn numbers(level: &StockLevel) -> (i64, i64, i64) {
    (level.available, level.reserved, level.version)
}

fn not_negative(place: Place, what: &str, numbers: (i64, i64), report: &mut Report) {
    let (available, reserved) = numbers;
    let holds = available >= 0 && reserved >= 0;
    report.check(Code::NegativeStock, holds, || {
        let found = format!("{available} available, {reserved} reserved");
        (
            Location::level(place, what),
            "nothing below zero".to_owned(),
            found,
        )
    });
}

/// Whether a kind only moves units between available and reserved.
const fn keeps_on_hand(kind: MovementKind) -> bool {
    matches!(
        kind,
        MovementKind::Hold
            | MovementKind::HoldRelease
            | MovementKind::Reservation
            | MovementKind::Release
    )
}

/// Whether a movement changed only what its kind may change.
const fn fits_kind(movement: &Movement) -> bool {
    let (available, reserved) = (movement.available, movement.reserved);
    let balanced = matches!(available.checked_add(reserved), Some(0));
    match movement.kind {
        MovementKind::Hold => reserved > 0 && balanced,
        // A hold that passes to its order moves nothing.
        MovementKind::Reservation => reserved >= 0 && balanced,
        MovementKind::HoldRelease | MovementKind::Release => available > 0 && balanced,
        MovementKind::Dispatch => available == 0 && reserved < 0,
        MovementKind::TransferOut => available < 0 && reserved == 0,
        MovementKind::TransferIn | MovementKind::Return => available > 0 && reserved == 0,
        MovementKind::Receipt | MovementKind::Adjustment | MovementKind::Count => reserved == 0,
    }
}
