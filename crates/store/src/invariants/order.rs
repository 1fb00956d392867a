//! Orders: their amounts and numbers, and what each line did to stock.
//!
//! Keeps one small entry per order line, and the runs of numbers per series. Stock movements are
//! matched with lines as they come by.

use std::collections::BTreeMap;

use abasto_domain::id::{OrderId, ProductId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::number::Series;
use abasto_domain::order::Order;
use abasto_domain::order_state::Status;
use abasto_domain::pricing::Line;
use abasto_domain::stock::{Movement, MovementKind, Place, Step};

use super::report::{Code, Location, Report};
use super::run::Runs;
use crate::record::Counter;

/// The orders of the business.
#[derive(Debug, Default)]
pub(super) struct Orders {
    lines: BTreeMap<(OrderId, ProductId), LineEffects>,
    numbers: BTreeMap<Series, Runs>,
}

/// What is expected of a line, and what its movements did.
#[derive(Debug)]
struct LineEffects {
    place: Place,
    units: i64,
    /// Units that came back, as the order says.
    returned: i64,
    status: Status,
    /// Whether a checkout may have held the units before the order did.
    from_checkout: bool,
    /// What its movements' identities begin with since it was reserved a second time.
    reserved_anew: Option<RawId>,
    seen: Seen,
}

/// What the movements of a line did.
#[derive(Debug, Default)]
struct Seen {
    reservations: u32,
    releases: u32,
    dispatches: u32,
    write_offs: u32,
    returned: i64,
}

impl LineEffects {
    fn new(order: &Order, line: &Line) -> Self {
        let back = order.returned.iter();
        let back = back.filter(|item| item.product == line.product);
        Self {
            place: Place {
                branch: order.branch,
                product: line.product,
            },
            units: line.quantity.units(),
            returned: back.map(|item| item.quantity.units()).sum(),
            status: order.status,
            from_checkout: order.checkout.is_some(),
            reserved_anew: order.reserved_anew,
            seen: Seen::default(),
        }
    }

    /// Whether a movement is one of the order's own steps, not of a return.
    fn owns(&self, order: OrderId, movement: &Movement) -> bool {
        let source = movement.operation.source;
        source == order.0 || Some(source) == self.reserved_anew
    }

    /// Counts a movement; false when it has not the units of the line.
    fn count(&mut self, movement: &Movement) -> bool {
        let units = self.units;
        let found = (movement.available, movement.reserved);
        let seen = &mut self.seen;
        let (count, expected) = match movement.kind {
            MovementKind::Return => {
                seen.returned = seen.returned.saturating_add(movement.available);
                return true;
            }
            // A hold that passes to its order moves nothing.
            MovementKind::Reservation if self.from_checkout && found == (0, 0) => {
                (&mut seen.reservations, (0, 0))
            }
            MovementKind::Reservation => (&mut seen.reservations, (-units, units)),
            MovementKind::Release => (&mut seen.releases, (units, -units)),
            MovementKind::Dispatch => (&mut seen.dispatches, (0, -units)),
            _ => (&mut seen.write_offs, (-units, 0)),
        };
        *count = count.saturating_add(1);
        found == expected
    }
}

impl Orders {
    pub(super) fn take(&mut self, order: &Order, report: &mut Report) {
        let number = &order.number;
        let fresh = self
            .numbers
            .entry(number.series.clone())
            .or_default()
            .insert(number.sequence);
        report.check(Code::NumberRepeated, fresh, || {
            let location = Location::order(order.id, format!("number {number}"));
            (location, "one order".to_owned(), "another one".to_owned())
        });
        check_totals(order, report);
        for line in &order.lines {
            check_line(order.id, line, report);
            let effects = LineEffects::new(order, line);
            let twin = self.lines.insert((order.id, line.product), effects);
            report.check(Code::LineReservation, twin.is_none(), || {
                let location = line_location(order.id, line.product);
                let found = "two lines of the product".to_owned();
                (location, "one line per product".to_owned(), found)
            });
        }
    }

    /// Notes a movement that an order's life makes; others pass.
    pub(super) fn note(&mut self, movement: &Movement, report: &mut Report) {
        let write_off = movement.operation.step == Step::WriteOff;
        let of_return = movement.kind == MovementKind::Return;
        let of_life = matches!(
            movement.kind,
            MovementKind::Reservation | MovementKind::Release | MovementKind::Dispatch
        );
        if !of_life && !of_return && !write_off {
            return;
        }
        let order = movement.cause.order;
        let key = order.map(|order| (order, movement.place.product));
        let line = key.and_then(|key| self.lines.get_mut(&key));
        let mut line = line.filter(|line| line.place == movement.place);
        if of_life {
            line = line.filter(|line| order.is_some_and(|order| line.owns(order, movement)));
        }
        let location = || Location {
            order_id: order,
            ..Location::level(movement.place, format!("movement {}", movement.sequence))
        };
        report.check(Code::MovementWithoutLine, line.is_some(), || {
            let expected = "the order line it belongs to".to_owned();
            (location(), expected, "none".to_owned())
        });
        let (Some(line), Some(order)) = (line, order) else {
            return;
        };
        if write_off && !line.owns(order, movement) {
            // Units of a return that cannot be sold again.
            return;
        }
        let fits = line.count(movement);
        report.check(Code::LineUnits, fits, || {
            let found = format!(
                "{:+} available and {:+} reserved",
                movement.available, movement.reserved
            );
            let units = line.units;
            let expected = format!("a {} of {units} units", movement.kind.name());
            (location(), expected, found)
        });
    }

    /// The units that open orders hold, by level.
    pub(super) fn held(&self) -> BTreeMap<Place, i64> {
        let mut held = BTreeMap::new();
        let open = self.lines.values().filter(|line| line.status.holds_stock());
        for line in open {
            let units: &mut i64 = held.entry(line.place).or_default();
            *units = units.saturating_add(line.units);
        }
        held
    }

    pub(super) fn count(&mut self, counter: &Counter, report: &mut Report) {
        let runs = self.numbers.remove(&counter.series).unwrap_or_default();
        check_numbers(&counter.series, &runs, counter.last, report);
    }

    pub(super) fn finish(self, report: &mut Report) {
        for ((order, product), line) in &self.lines {
            check_effects(*order, *product, line, report);
        }
        // Series that no counter was read for.
        for (series, runs) in &self.numbers {
            check_numbers(series, runs, 0, report);
        }
    }
}

fn line_location(order: OrderId, product: ProductId) -> Location {
    Location {
        product_id: Some(product),
        ..Location::order(order, "line")
    }
}

fn check_numbers(series: &Series, runs: &Runs, counted: i64, report: &mut Report) {
    let named = || Location::named(format!("series {}-{}", series.code, series.year));
    let mut last = 0;
    for (first, end) in runs.iter() {
        report.check(Code::NumberGap, first == last + 1, || {
            (
                named(),
                format!("number {}", last + 1),
                format!("number {first}"),
            )
        });
        last = end;
    }
    report.check(Code::CounterDiffers, counted == last, || {
        let expected = format!("the counter at {last}");
        (named(), expected, format!("the counter at {counted}"))
    });
}

fn check_effects(order: OrderId, product: ProductId, line: &LineEffects, report: &mut Report) {
    let seen = &line.seen;
    // An order that was paid after it had expired took its units, gave them back and took them
    // again.
    let again = u32::from(line.reserved_anew.is_some());
    report.check(
        Code::LineReservation,
        seen.reservations == 1 + again,
        || {
            let expected = format!("{} reservations", 1 + again);
            let found = format!("{} reservations", seen.reservations);
            (line_location(order, product), expected, found)
        },
    );
    let (cancelled, dispatched) = match line.status {
        Status::Dispatched | Status::Delivered => (0, 1),
        Status::Cancelled => (1, 0),
        Status::PendingPayment | Status::Pending | Status::Confirmed | Status::Preparing => (0, 0),
    };
    let releases = again + cancelled;
    let as_stated = seen.releases == releases
        && seen.dispatches == dispatched
        && seen.write_offs <= seen.releases
        && seen.returned == line.returned;
    report.check(Code::LineOutcome, as_stated, || {
        let expected = format!(
            "{releases} releases, {dispatched} dispatches and {} units back of a {} order",
            line.returned,
            line.status.name()
        );
        let found = format!(
            "{} releases, {} dispatches, {} write-offs, {} units back",
            seen.releases, seen.dispatches, seen.write_offs, seen.returned
        );
        (line_location(order, product), expected, found)
    });
}

fn check_line(order: OrderId, line: &Line, report: &mut Report) {
    let mut amount = |name: &str, expected: Option<Amount>, found: Amount| {
        report.check(Code::LineAmount, expected == Some(found), || {
            let location = Location {
                subject: format!("{name} of a line"),
                ..line_location(order, line.product)
            };
            (location, words(expected), words(Some(found)))
        });
    };
    let subtotal = line.unit_price.times(line.quantity.units()).ok();
    amount("subtotal", subtotal, line.subtotal);
    amount("total", line.subtotal.minus(line.discount).ok(), line.total);
    amount("tax", Some(line.tax.min(line.total)), line.tax);
}

fn check_totals(order: &Order, report: &mut Report) {
    let mut amount = |name: &str, expected: Option<Amount>, found: Amount| {
        report.check(Code::TotalAmount, expected == Some(found), || {
            let location = Location::order(order.id, name);
            (location, words(expected), words(Some(found)))
        });
    };
    let sum = |part: fn(&Line) -> Amount| Amount::sum(order.lines.iter().map(part)).ok();
    let totals = &order.totals;
    amount("subtotal", sum(|line| line.subtotal), totals.subtotal);
    amount("discount", sum(|line| line.discount), totals.discount);
    amount("tax", sum(|line| line.tax), totals.tax);
    let goods = totals.subtotal.minus(totals.discount);
    let total = goods.and_then(|goods| goods.plus(totals.delivery_fee));
    amount("total", total.ok(), totals.total);
}

fn words(amount: Option<Amount>) -> String {
    match amount {
        Some(amount) => format!("{} minor units", amount.minor()),
        None => "an amount in range".to_owned(),
    }
}
