//! Documents: where they belong and what they refer to.
//!
//! Owns what the rest of an audit knows of each document: its version, and the state of an order.
//! Keeps one small entry per document.

use std::collections::BTreeMap;

use abasto_domain::id::{BranchId, BusinessId, RawId};
use abasto_domain::order_state::Status;

use super::report::{Code, Location, Report};
use crate::record::{Document, DocumentKey, Kind};

/// What is remembered of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) version: i64,
    /// How far an order has come.
    pub(super) status: Option<Status>,
    /// Whether events of it were seen.
    pub(super) has_events: bool,
    /// Whether a key answered with its creation.
    pub(super) has_key: bool,
}

/// The documents of the business.
#[derive(Debug, Default)]
pub(super) struct Documents {
    known: BTreeMap<DocumentKey, Known>,
    /// References to documents that come later in the walk: who, what.
    open: Vec<(DocumentKey, DocumentKey)>,
}

impl Documents {
    pub(super) fn take(&mut self, business: BusinessId, document: &Document, report: &mut Report) {
        let key = document.key();
        belongs(business, document.business(), report, || {
            Location::document(key, "owner")
        });
        for target in references(document) {
            if self.known.contains_key(&target) || target == key {
                report.check(Code::ReferenceMissing, true, Default::default);
            } else {
                self.open.push((key, target));
            }
        }
        let status = match document {
            Document::Order(order) => Some(order.status),
            _ => None,
        };
        let known = Known {
            version: document.version(),
            status,
            has_events: false,
            has_key: false,
        };
        self.known.insert(key, known);
    }

    pub(super) fn get_mut(&mut self, key: DocumentKey) -> Option<&mut Known> {
        self.known.get_mut(&key)
    }

    /// Checks a reference from something that comes after all documents.
    pub(super) fn refer(
        &self,
        target: DocumentKey,
        report: &mut Report,
        location: impl FnOnce() -> Location,
    ) {
        let known = self.known.contains_key(&target);
        report.check(Code::ReferenceMissing, known, || {
            (location(), naming(target), "nothing".to_owned())
        });
    }

    pub(super) fn finish(&self, report: &mut Report) {
        for (from, target) in &self.open {
            self.refer(*target, report, || Location::document(*from, "reference"));
        }
        for (key, known) in &self.known {
            report.check(Code::EventCount, known.has_events, || {
                let expected = format!("{} events", known.version);
                let location = Location::document(*key, "history");
                (location, expected, "none".to_owned())
            });
        }
    }
}

fn naming(key: DocumentKey) -> String {
    format!("{} {}", key.kind.name(), key.id)
}

/// Checks that a record carries the tenant under which it was found.
pub(super) fn belongs(
    business: BusinessId,
    owner: BusinessId,
    report: &mut Report,
    location: impl FnOnce() -> Location,
) {
    report.check(Code::ForeignRecord, owner == business, || {
        (location(), business.to_string(), owner.to_string())
    });
}

/// What a document refers to within its business.
fn references(document: &Document) -> Vec<DocumentKey> {
    let business = DocumentKey::new(Kind::Business, document.business());
    let mut found = vec![business];
    let mut one = |kind, id: Option<RawId>| {
        found.extend(id.map(|id| DocumentKey::new(kind, id)));
    };
    let mut branches: &[BranchId] = &[];
    match document {
        Document::Business(_)
        | Document::Branch(_)
        | Document::Customer(_)
        | Document::PaymentEvent(_) => {}
        Document::Member(member) => {
            one(Kind::Customer, member.customer.map(RawId::from));
            branches = member.branches.as_deref().unwrap_or_default();
        }
        Document::ApiKey(key) => {
            one(Kind::Customer, key.customer.map(RawId::from));
            branches = key.branches.as_deref().unwrap_or_default();
        }
        Document::Product(product) => {
            branches = product.branches.as_deref().unwrap_or_default();
        }
        Document::Cart(cart) => {
            one(Kind::Branch, Some(cart.branch.0));
            one(Kind::Customer, cart.customer.map(RawId::from));
            one(Kind::Cart, cart.successor.map(RawId::from));
            for source in &cart.inherits {
                one(Kind::Cart, Some(source.0));
            }
        }
        Document::Order(order) => {
            one(Kind::Branch, Some(order.branch.0));
            one(Kind::Customer, order.customer.id.map(RawId::from));
            one(Kind::Member, order.fulfilment.courier.map(RawId::from));
            one(Kind::Checkout, order.checkout.map(RawId::from));
            for coupon in &order.coupons {
                one(Kind::Coupon, Some(coupon.coupon.0));
            }
            for line in &order.lines {
                one(Kind::Product, Some(line.product.0));
            }
        }
        Document::Checkout(checkout) => {
            one(Kind::Branch, Some(checkout.branch.0));
            one(Kind::Customer, checkout.customer.map(RawId::from));
            one(Kind::Order, checkout.order.map(RawId::from));
            for coupon in &checkout.coupons {
                one(Kind::Coupon, Some(coupon.coupon.0));
            }
            for line in &checkout.lines {
                one(Kind::Product, Some(line.product.0));
            }
        }
        Document::Coupon(coupon) => {
            for product in coupon.products.iter().flatten() {
                one(Kind::Product, Some(product.0));
            }
        }
        Document::Payment(payment) => one(Kind::Order, Some(payment.order.0)),
        Document::OrderReturn(record) => one(Kind::Order, Some(record.order.0)),
    }
    let branches = branches.iter();
    found.extend(branches.map(|branch| DocumentKey::new(Kind::Branch, *branch)));
    found
}
