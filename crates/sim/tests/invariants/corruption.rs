//! The corruptions: each changes one thing, and names the code that the audit must find.

use std::sync::Arc;

use abasto_domain::id::{BranchId, BusinessId, CustomerId, MemberId, OrderId, ProductId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::order::Order;
use abasto_domain::order_state::Status;
use abasto_domain::pricing::Item;
use abasto_domain::stock::{Movement, MovementKind, OperationId, StockLevel};
use abasto_store::event::Event;
use abasto_store::invariants::Code;
use abasto_store::record::{Counter, Document, Record};
use abasto_store::verdict::{Operation, Reply};

use crate::history::position;

/// One kind of damage.
pub(crate) struct Corruption {
    pub(crate) what: &'static str,
    pub(crate) code: Code,
    pub(crate) corrupt: fn(&mut Vec<Record>),
}

const STRANGER: RawId = RawId([0xee; 12]);

macro_rules! nth {
    ($name:ident, $variant:ident, $type:ty) => {
        /// The first record of the kind that is wanted.
        fn $name(records: &mut [Record], wanted: impl Fn(&$type) -> bool) -> &mut $type {
            let found = records.iter_mut().find_map(|record| match record {
                Record::$variant(value) if wanted(value) => Some(value),
                _ => None,
            });
            found.expect("a record to corrupt")
        }
    };
}

nth!(level, Level, StockLevel);
nth!(movement, Movement, Movement);
nth!(event, Event, Event);
nth!(counter, Counter, Counter);
nth!(operation, Operation, Operation);

fn order(records: &mut [Record], wanted: impl Fn(&Order) -> bool) -> &mut Order {
    let found = records.iter_mut().find_map(|record| match record {
        Record::Document(Document::Order(order)) if wanted(order) => Some(Arc::make_mut(order)),
        _ => None,
    });
    found.expect("an order to corrupt")
}

fn drop_first(records: &mut Vec<Record>, wanted: impl Fn(&Record) -> bool) {
    records.remove(position(records, wanted));
}

fn repeat_first(records: &mut Vec<Record>, wanted: impl Fn(&Record) -> bool) {
    let index = position(records, wanted);
    records.insert(index, records[index].clone());
}

fn any<T>(_: &T) -> bool {
    true
}

fn is(kind: MovementKind) -> impl Fn(&Movement) -> bool {
    move |movement| movement.kind == kind
}

fn of(status: Status) -> impl Fn(&Order) -> bool {
    move |order| order.status == status
}

fn amount(minor: i64) -> Amount {
    Amount::from_minor(minor).unwrap()
}

pub(crate) fn corruptions() -> Vec<Corruption> {
    [
        stock(),
        lines(),
        keys_and_numbers(),
        histories(),
        amounts(),
        references(),
        crate::checkout::corruptions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

macro_rules! corruptions {
    ($($what:literal => $code:ident: $corrupt:expr),* $(,)?) => {
        vec![$(Corruption { what: $what, code: Code::$code, corrupt: $corrupt }),*]
    };
}

fn stock() -> Vec<Corruption> {
    corruptions! {
        "a level below zero" => NegativeStock: |r| level(r, any).available = -1,
        "reserved below zero" => NegativeStock: |r| level(r, any).reserved = -1,
        "a balance below zero" => NegativeStock: |r| movement(r, any).available_after = -5,
        "a level set by hand" => LevelDiffers: |r| level(r, any).available += 1,
        "units moved by hand from available to reserved" => LevelDiffers: |r| {
            let level = level(r, any);
            level.available -= 1;
            level.reserved += 1;
        },
        "a version set back" => LevelDiffers: |r| level(r, any).version -= 1,
        "a level deleted" => LevelUnexplained: |r| {
            drop_first(r, |record| matches!(record, Record::Level(_)));
        },
        "all movements deleted" => LevelUnexplained: |r| {
            r.retain(|record| !matches!(record, Record::Movement(_)));
        },
        "a movement deleted in the middle" => MovementGap: |r| {
            drop_first(r, |record| matches!(record, Record::Movement(m) if m.sequence == 2));
        },
        "the first movement deleted" => MovementGap: |r| {
            drop_first(r, |record| matches!(record, Record::Movement(_)));
        },
        "a movement twice" => MovementGap: |r| {
            repeat_first(r, |record| matches!(record, Record::Movement(_)));
        },
        "the last movement deleted" => LevelDiffers: |r| {
            let last = r.iter().rposition(|record| matches!(record, Record::Movement(_)));
            r.remove(last.unwrap());
        },
        "a balance changed" => BalanceDiffers: |r| movement(r, any).reserved_after += 1,
        "a delta changed" => BalanceDiffers: |r| movement(r, any).available += 1,
        "a reservation that takes more than it gives" => MovementKind: |r| {
            movement(r, is(MovementKind::Reservation)).reserved += 1;
        },
        "a receipt that reserves" => MovementKind: |r| {
            movement(r, is(MovementKind::Adjustment)).reserved = 1;
        },
        "a dispatch that gives units back" => MovementKind: |r| {
            movement(r, is(MovementKind::Dispatch)).available = 1;
        },
        "a dispatch called a release" => OnHandDiffers: |r| {
            movement(r, is(MovementKind::Dispatch)).kind = MovementKind::Release;
        },
        "units that left and never came" => TransferUnbalanced: |r| {
            movement(r, is(MovementKind::TransferIn)).kind = MovementKind::Return;
        },
        "an order closed by hand" => ReservedDiffers: |r| {
            order(r, of(Status::Confirmed)).status = Status::Delivered;
        },
        "an order line changed by hand" => ReservedDiffers: |r| {
            order(r, of(Status::Pending)).lines[0].quantity = 9.try_into().unwrap();
        },
        "an open order deleted" => ReservedDiffers: |r| {
            drop_first(r, |record| {
                matches!(record, Record::Document(Document::Order(o)) if o.status.holds_stock())
            });
        },
    }
}

/// The movement after the first one of its level, with the identity of that one.
fn repeat_effect(records: &mut [Record]) {
    let first = movement(records, |m| m.sequence == 1).operation;
    movement(records, |m| m.sequence == 2).operation = first;
}

fn lines() -> Vec<Corruption> {
    corruptions! {
        "an operation that moved a level twice" => EffectRepeated: |r| repeat_effect(r),
        "an order that never took its units" => LineReservation: |r| {
            drop_first(r, |record| {
                matches!(record, Record::Movement(m) if m.kind == MovementKind::Reservation)
            });
        },
        "an order that took its units twice" => LineReservation: |r| {
            repeat_first(r, |record| {
                matches!(record, Record::Movement(m) if m.kind == MovementKind::Reservation)
            });
        },
        "two lines of one product" => LineReservation: |r| {
            let order = order(r, any);
            order.lines[1].product = order.lines[0].product;
        },
        "a release and a dispatch of one line" => LineOutcome: |r| {
            let index = position(r, |record| {
                matches!(record, Record::Movement(m) if m.kind == MovementKind::Dispatch)
            });
            let mut both = r[index].clone();
            if let Record::Movement(movement) = &mut both {
                movement.kind = MovementKind::Release;
            }
            r.insert(index, both);
        },
        "a cancelled order that kept its units" => LineOutcome: |r| {
            order(r, of(Status::Pending)).status = Status::Cancelled;
        },
        "a dispatched order set back" => LineOutcome: |r| {
            order(r, of(Status::Dispatched)).status = Status::Preparing;
        },
        "a release of an open order" => LineOutcome: |r| {
            order(r, of(Status::Cancelled)).status = Status::Confirmed;
        },
        "a return that the order does not know" => LineOutcome: |r| {
            let movement = movement(r, is(MovementKind::Dispatch));
            movement.kind = MovementKind::Return;
        },
        "a return that never came in" => LineOutcome: |r| {
            let order = order(r, of(Status::Delivered));
            let line = &order.lines[0];
            let (product, quantity) = (line.product, line.quantity);
            order.returned.push(Item { product, quantity });
        },
        "a second reservation that never was" => LineReservation: |r| {
            order(r, any).reserved_anew = Some(STRANGER);
        },
        "a release of fewer units" => LineUnits: |r| {
            movement(r, is(MovementKind::Release)).available -= 1;
        },
        "a reservation of more units" => LineUnits: |r| {
            movement(r, is(MovementKind::Reservation)).reserved += 7;
        },
        "a dispatch of an unknown order" => MovementWithoutLine: |r| {
            movement(r, is(MovementKind::Dispatch)).cause.order = Some(OrderId(STRANGER));
        },
        "a reservation of nobody" => MovementWithoutLine: |r| {
            movement(r, is(MovementKind::Reservation)).cause.order = None;
        },
        "a reservation under the name of something else" => MovementWithoutLine: |r| {
            let movement = movement(r, is(MovementKind::Reservation));
            movement.operation = OperationId { source: STRANGER, ..movement.operation };
        },
        "an order moved to another branch" => MovementWithoutLine: |r| {
            order(r, any).branch = BranchId(STRANGER);
        },
    }
}

fn answers_with_order(operation: &Operation) -> bool {
    matches!(operation.reply, Reply::Document(Document::Order(_)))
}

fn keys_and_numbers() -> Vec<Corruption> {
    corruptions! {
        "two answers under one key" => KeyRepeated: |r| {
            repeat_first(r, |record| matches!(record, Record::Operation(_)));
        },
        "two keys that made one order" => OrderRepeated: |r| {
            let mut twin = operation(r, answers_with_order).clone();
            twin.key.key = "~later".to_owned();
            r.push(Record::Operation(twin));
        },
        "an answer whose order is gone" => AnswerWithoutRecord: |r| {
            drop_first(r, |record| matches!(record, Record::Document(Document::Order(_))));
        },
        "an answer from a later version" => AnswerWithoutRecord: |r| {
            let operation = operation(r, answers_with_order);
            if let Reply::Document(Document::Order(order)) = &mut operation.reply {
                Arc::make_mut(order).stamp.version = 99;
            }
        },
        "an answer whose movements are gone" => AnswerWithoutRecord: |r| {
            let operation = operation(r, |o| matches!(o.reply, Reply::Stock(_)));
            if let Reply::Stock(stock) = &mut operation.reply {
                Arc::make_mut(stock).levels[0].version = 99;
            }
        },
        "a number given twice" => NumberRepeated: |r| {
            let mut last = None;
            for record in r {
                if let Record::Document(Document::Order(order)) = record {
                    let number = last.get_or_insert_with(|| order.number.clone());
                    Arc::make_mut(order).number = number.clone();
                }
            }
        },
        "a number skipped" => NumberGap: |r| {
            order(r, |order| order.number.sequence == 1).number.sequence = 40;
        },
        "a number never filled" => NumberGap: |r| order(r, any).number.sequence = 0,
        "a counter ahead" => CounterDiffers: |r| counter(r, any).last += 1,
        "a counter set back" => CounterDiffers: |r| counter(r, any).last = 0,
        "a counter deleted" => CounterDiffers: |r| {
            drop_first(r, |record| matches!(record, Record::Counter(_)));
        },
        "a series of another year" => CounterDiffers: |r| {
            order(r, any).number.series.year = 2001;
        },
    }
}

fn is_event_of_order(record: &Record) -> bool {
    matches!(record, Record::Event(event) if event.data.get("to").is_some())
}

fn histories() -> Vec<Corruption> {
    corruptions! {
        "the first event deleted" => EventGap: |r| {
            let changed = event(r, |e| e.sequence == 2).subject;
            drop_first(r, |record| matches!(record, Record::Event(e) if e.subject == changed));
        },
        "an event deleted in the middle" => EventGap: |r| {
            drop_first(r, |record| matches!(record, Record::Event(e) if e.sequence == 2));
        },
        "an event twice" => EventGap: |r| {
            repeat_first(r, |record| matches!(record, Record::Event(_)));
        },
        "the only event deleted" => EventCount: |r| {
            drop_first(r, |record| matches!(record, Record::Event(_)));
        },
        "a version set by hand" => EventCount: |r| order(r, any).stamp.version += 1,
        "a document deleted" => EventWithoutDocument: |r| {
            drop_first(r, |record| matches!(record, Record::Document(Document::Order(_))));
        },
        "a state set by hand" => EventHistory: |r| {
            order(r, of(Status::Pending)).status = Status::Confirmed;
        },
        "an event that tells of another state" => EventHistory: |r| {
            event(r, |e| e.data.get("to").is_some()).data["to"] = "delivered".into();
        },
        "an event that begins elsewhere" => EventHistory: |r| {
            event(r, |e| e.sequence == 2).data["from"] = "preparing".into();
        },
        "a creation without its name" => EventHistory: |r| {
            event(r, |e| e.data.get("to").is_some()).name = "abasto.order.changed".to_owned();
        },
        "events of an order without states" => EventHistory: |r| {
            let index = position(r, is_event_of_order);
            if let Record::Event(event) = &mut r[index] {
                event.data = serde_json::json!({});
            }
        },
        "a document twice" => RecordRepeated: |r| {
            repeat_first(r, |record| matches!(record, Record::Document(Document::Product(_))));
        },
        "a document late" => RecordRepeated: |r| {
            let first = r.remove(1);
            r.push(first);
        },
    }
}

fn amounts() -> Vec<Corruption> {
    corruptions! {
        "a unit price" => LineAmount: |r| order(r, any).lines[0].unit_price = amount(1),
        "a subtotal" => LineAmount: |r| order(r, any).lines[0].subtotal = amount(1),
        "a line total" => LineAmount: |r| order(r, any).lines[0].total = amount(1),
        "a discount that the total does not show" => LineAmount: |r| {
            order(r, any).lines[0].discount = amount(1);
        },
        "more tax than price" => LineAmount: |r| {
            let line = &mut order(r, any).lines[0];
            line.tax = line.total.plus(amount(1)).unwrap();
        },
        "an order subtotal" => TotalAmount: |r| order(r, any).totals.subtotal = amount(1),
        "an order discount" => TotalAmount: |r| order(r, any).totals.discount = amount(1),
        "an order tax" => TotalAmount: |r| order(r, any).totals.tax = amount(1),
        "a fee that nobody pays" => TotalAmount: |r| order(r, any).totals.delivery_fee = amount(1),
        "an order total" => TotalAmount: |r| order(r, any).totals.total = amount(1),
        "a line deleted" => TotalAmount: |r| drop(order(r, |o| o.lines.len() > 1).lines.pop()),
    }
}

fn references() -> Vec<Corruption> {
    corruptions! {
        "an order of another business" => ForeignRecord: |r| {
            order(r, any).business = BusinessId(STRANGER);
        },
        "a level of another business" => ForeignRecord: |r| {
            level(r, any).business = BusinessId(STRANGER);
        },
        "a movement of another business" => ForeignRecord: |r| {
            movement(r, any).business = BusinessId(STRANGER);
        },
        "an event of another business" => ForeignRecord: |r| {
            event(r, any).business = BusinessId(STRANGER);
        },
        "a key of another business" => ForeignRecord: |r| {
            operation(r, any).business = BusinessId(STRANGER);
        },
        "an unknown customer" => ReferenceMissing: |r| {
            order(r, |o| o.customer.id.is_some()).customer.id = Some(CustomerId(STRANGER));
        },
        "an unknown courier" => ReferenceMissing: |r| {
            let order = order(r, |o| o.fulfilment.courier.is_some());
            order.fulfilment.courier = Some(MemberId(STRANGER));
        },
        "an unknown product of a line" => ReferenceMissing: |r| {
            order(r, any).lines[0].product = ProductId(STRANGER);
        },
        "an unknown branch" => ReferenceMissing: |r| order(r, any).branch = BranchId(STRANGER),
        "a level of an unknown product" => ReferenceMissing: |r| {
            level(r, any).place.product = ProductId(STRANGER);
        },
        "the branch of a member deleted" => ReferenceMissing: |r| {
            drop_first(r, |record| matches!(record, Record::Document(Document::Branch(_))));
        },
        "the customer of a key deleted" => ReferenceMissing: |r| {
            drop_first(r, |record| matches!(record, Record::Document(Document::Customer(_))));
        },
        "the business deleted" => ReferenceMissing: |r| drop(r.remove(0)),
    }
}
