//! What must always hold, checked over everything that a business has stored.
//!
//! Owns the one statement of the rules: the conformance suite, the simulator, the tests after
//! every fault, `abasto reconcile` and reconciliations over HTTP all run this audit. It reads a
//! walk in its documented order and keeps one small entry per document, order line and level.
//! Must not know a store, and must not repair anything.

mod checkout;
mod document;
mod history;
mod order;
mod report;
mod run;
mod stock;

use abasto_domain::id::{BusinessId, CartId};

use self::checkout::Checkouts;
use self::document::{Documents, belongs};
use self::history::History;
use self::order::Orders;
use self::stock::Stock;
use crate::record::{Document, DocumentKey, Kind, Record, RecordKey};
use crate::verdict::{Operation, Reply};
use crate::{Store, StoreError};

pub use self::report::{Code, DIFFERENCES_MAX, Difference, Invariant, Location, Report};

/// An audit of one business, fed with the records of a walk.
#[derive(Debug)]
pub struct Audit {
    business: BusinessId,
    report: Report,
    last: Option<RecordKey>,
    documents: Documents,
    orders: Orders,
    checkouts: Checkouts,
    stock: Stock,
    history: History,
}

/// Walks a business and audits it.
pub async fn audit(store: &dyn Store, business: BusinessId) -> Result<Report, StoreError> {
    let mut audit = Audit::new(business);
    store
        .walk(business, &mut |record| {
            audit.take(&record);
            Ok(())
        })
        .await?;
    Ok(audit.finish())
}

impl Audit {
    /// Begins an audit.
    pub fn new(business: BusinessId) -> Self {
        Self {
            business,
            report: Report::new(business),
            last: None,
            documents: Documents::default(),
            orders: Orders::default(),
            checkouts: Checkouts::default(),
            stock: Stock::default(),
            history: History::default(),
        }
    }

    /// Takes the next record of the walk.
    pub fn take(&mut self, record: &Record) {
        let report = &mut self.report;
        report.records += 1;
        let key = record.key();
        self.check_order(record, key);
        let (business, report) = (self.business, &mut self.report);
        match record {
            Record::Document(document) => {
                self.documents.take(business, document, report);
                if let Document::Order(order) = document {
                    self.orders.take(order, report);
                }
                self.checkouts.take(document, report);
            }
            Record::Level(level) => {
                let place = level.place;
                belongs(business, level.business, report, || {
                    Location::level(place, "owner")
                });
                let targets = [
                    DocumentKey::new(Kind::Branch, place.branch),
                    DocumentKey::new(Kind::Product, place.product),
                ];
                for target in targets {
                    let location = || Location::level(place, "reference");
                    self.documents.refer(target, report, location);
                }
                self.stock.level(level, report);
            }
            Record::Movement(movement) => {
                belongs(business, movement.business, report, || {
                    Location::level(movement.place, "owner of a movement")
                });
                self.stock.movement(movement, report);
                self.orders.note(movement, report);
            }
            Record::Event(event) => {
                belongs(business, event.business, report, || {
                    Location::document(event.subject, "owner of an event")
                });
                self.history.take(event, &mut self.documents, report);
            }
            Record::Counter(counter) => self.orders.count(counter, report),
            Record::Tally(tally) => self.checkouts.tally(tally),
            Record::Operation(operation) => self.operation(operation),
            Record::CartState(state) => self.of_cart(state.business, state.cart),
            Record::CartAppend(append) => self.of_cart(append.business, append.dot.cart),
            Record::CartLog(entry) => self.of_cart(entry.business, entry.cart),
        }
    }

    /// Ends the audit.
    pub fn finish(mut self) -> Report {
        let report = &mut self.report;
        self.history.close(&mut self.documents, report);
        self.documents.finish(report);
        let mut held = self.orders.held();
        self.checkouts.hold(&mut held);
        self.checkouts.finish(report);
        self.stock.finish(&held, report);
        self.orders.finish(report);
        self.report
    }

    /// The content of a cart belongs to a cart of the business.
    fn of_cart(&mut self, owner: BusinessId, cart: CartId) {
        let (documents, report) = (&self.documents, &mut self.report);
        let key = DocumentKey::new(Kind::Cart, cart);
        let location = || Location::document(key, "content");
        belongs(self.business, owner, report, location);
        documents.refer(key, report, location);
    }

    /// A walk never goes back and never gives a record twice.
    fn check_order(&mut self, record: &Record, key: RecordKey) {
        let goes_on = self.last.as_ref().is_none_or(|last| *last < key);
        let code = match record {
            Record::Document(_)
            | Record::Level(_)
            | Record::Counter(_)
            | Record::Tally(_)
            | Record::CartState(_)
            | Record::CartAppend(_)
            | Record::CartLog(_) => Code::RecordRepeated,
            Record::Movement(_) => Code::MovementGap,
            Record::Event(_) => Code::EventGap,
            Record::Operation(_) => Code::KeyRepeated,
        };
        self.report.check(code, goes_on, || {
            let location = Location::named(format!("{key:?}"));
            (
                location,
                "each record once and in order".to_owned(),
                "it again, or late".to_owned(),
            )
        });
        self.last = Some(key);
    }

    fn operation(&mut self, operation: &Operation) {
        let report = &mut self.report;
        let location = || Location::named(format!("key {}", operation.key.key));
        belongs(self.business, operation.business, report, location);
        match &operation.reply {
            Reply::View(_) => {}
            Reply::Document(document) => {
                let (key, version) = (document.key(), document.version());
                let known = self.documents.get_mut(key);
                let stored = known.as_ref().map_or(0, |known| known.version);
                report.check(Code::AnswerWithoutRecord, version <= stored, || {
                    let expected = format!("{} {} at version {version}", key.kind.name(), key.id);
                    (location(), expected, format!("version {stored}"))
                });
                let Some(known) = known.filter(|_| version == 1 && key.kind == Kind::Order) else {
                    return;
                };
                report.check(Code::OrderRepeated, !known.has_key, || {
                    let location = Location {
                        subject: location().subject,
                        ..Location::document(key, "")
                    };
                    (
                        location,
                        "one key that made the order".to_owned(),
                        "another".to_owned(),
                    )
                });
                known.has_key = true;
            }
            Reply::Stock(stock) => {
                for level in &stock.levels {
                    let stored = self.stock.version(level.place).unwrap_or(0);
                    report.check(Code::AnswerWithoutRecord, level.version <= stored, || {
                        let location = Location {
                            subject: location().subject,
                            ..Location::level(level.place, "")
                        };
                        let expected = format!("the level at version {}", level.version);
                        (location, expected, format!("version {stored}"))
                    });
                }
            }
        }
    }
}
