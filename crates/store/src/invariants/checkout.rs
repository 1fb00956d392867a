//! Checkouts, payments and contended numbers: holds, money given back, redemptions.
//!
//! Keeps one small entry per completed checkout, order, payment and counted number.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::checkout::{Checkout, CheckoutStatus};
use abasto_domain::id::{CheckoutId, OrderId};
use abasto_domain::money::Amount;
use abasto_domain::order_state::Status;
use abasto_domain::payment::Payment;
use abasto_domain::stock::Place;

use super::report::{Code, Location, Report};
use crate::record::{Document, DocumentKey, Kind};
use crate::tally::{Tally, TallyKey, redemptions};

/// What the audit knows of checkouts and payments.
#[derive(Debug, Default)]
pub(super) struct Checkouts {
    held: BTreeMap<Place, i64>,
    /// What each number must be.
    counted: BTreeMap<TallyKey, i64>,
    stored: BTreeMap<TallyKey, i64>,
    completed: BTreeMap<CheckoutId, Option<OrderId>>,
    /// The order of each checkout that some order names.
    ordered: BTreeMap<CheckoutId, OrderId>,
    cancelled: BTreeSet<OrderId>,
    /// Money of an order that nobody has asked back.
    kept: BTreeMap<OrderId, i64>,
}

impl Checkouts {
    pub(super) fn take(&mut self, document: &Document, report: &mut Report) {
        match document {
            Document::Order(order) => {
                self.count(redemptions(&order.coupons, order.customer.id));
                if order.status == Status::Cancelled {
                    self.cancelled.insert(order.id);
                }
                let Some(checkout) = order.checkout else {
                    return;
                };
                let twin = self.ordered.insert(checkout, order.id);
                report.check(Code::CheckoutOrder, twin.is_none(), || {
                    let location = Location::order(order.id, format!("checkout {checkout}"));
                    (location, "one order".to_owned(), "another one".to_owned())
                });
            }
            Document::Checkout(checkout) => self.checkout(checkout),
            Document::Payment(payment) => self.payment(payment, report),
            _ => {}
        }
    }

    fn checkout(&mut self, checkout: &Checkout) {
        match checkout.status {
            CheckoutStatus::Open => {
                for line in &checkout.lines {
                    let place = Place {
                        branch: checkout.branch,
                        product: line.product,
                    };
                    let units: &mut i64 = self.held.entry(place).or_default();
                    *units = units.saturating_add(line.quantity.units());
                }
                self.count([TallyKey::open_checkouts(checkout.holder)]);
                self.count(redemptions(&checkout.coupons, checkout.customer));
            }
            CheckoutStatus::Completed => {
                self.completed.insert(checkout.id, checkout.order);
            }
            CheckoutStatus::Expired | CheckoutStatus::Abandoned => {}
        }
    }

    fn payment(&mut self, payment: &Payment, report: &mut Report) {
        let refunds = payment.refunds.iter();
        let open = refunds.filter(|refund| !refund.state.allowed().is_empty());
        let open = Amount::sum(open.map(|refund| refund.amount));
        let back = open.and_then(|open| open.plus(payment.refunded()));
        let back = back.map_or(i64::MAX, Amount::minor);
        let captured = payment.captured().minor();
        report.check(Code::RefundExceeds, back <= captured, || {
            let key = DocumentKey::new(Kind::Payment, payment.id);
            let expected = format!("at most {captured} minor units back");
            let location = Location::document(key, "refunds");
            (location, expected, format!("{back} minor units"))
        });
        let kept: &mut i64 = self.kept.entry(payment.order).or_default();
        *kept = kept.saturating_add(captured.saturating_sub(back));
    }

    fn count(&mut self, keys: impl IntoIterator<Item = TallyKey>) {
        for key in keys {
            *self.counted.entry(key).or_default() += 1;
        }
    }

    pub(super) fn tally(&mut self, tally: &Tally) {
        self.stored.insert(tally.key, tally.value);
    }

    /// Adds the units that open checkouts hold.
    pub(super) fn hold(&self, held: &mut BTreeMap<Place, i64>) {
        for (place, units) in &self.held {
            let sum: &mut i64 = held.entry(*place).or_default();
            *sum = sum.saturating_add(*units);
        }
    }

    pub(super) fn finish(&self, report: &mut Report) {
        for (checkout, order) in &self.completed {
            let named = self.ordered.get(checkout);
            let matches = order.is_some() && named == order.as_ref();
            report.check(Code::CheckoutOrder, matches, || {
                let location = Location::named(format!("completed checkout {checkout}"));
                (location, words(order.as_ref()), words(named))
            });
        }
        for (checkout, order) in &self.ordered {
            let completed = self.completed.contains_key(checkout);
            report.check(Code::CheckoutOrder, completed, || {
                let location = Location::order(*order, format!("checkout {checkout}"));
                let expected = "a completed checkout".to_owned();
                (location, expected, "another state, or none".to_owned())
            });
        }
        for order in &self.cancelled {
            let kept = self.kept.get(order).copied().unwrap_or(0);
            report.check(Code::RefundMissing, kept == 0, || {
                let location = Location::order(*order, "money of a cancelled order");
                let found = format!("{kept} minor units that nobody asked back");
                (location, "all of it on its way back".to_owned(), found)
            });
        }
        self.check_tallies(report);
    }

    fn check_tallies(&self, report: &mut Report) {
        let keys: BTreeSet<&TallyKey> = self.counted.keys().chain(self.stored.keys()).collect();
        let value =
            |of: &BTreeMap<TallyKey, i64>, key: &TallyKey| of.get(key).copied().unwrap_or(0);
        let wrong = keys
            .into_iter()
            .find(|key| value(&self.counted, key) != value(&self.stored, key));
        report.check(Code::TallyDiffers, wrong.is_none(), || {
            let key = wrong.copied();
            let location = Location::named(format!("contended number {key:?}"));
            let words = |of| key.map_or_else(String::new, |key| value(of, &key).to_string());
            (location, words(&self.counted), words(&self.stored))
        });
    }
}

fn words(order: Option<&OrderId>) -> String {
    order.map_or_else(|| "no order".to_owned(), |order| format!("order {order}"))
}
