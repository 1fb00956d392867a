//! Corruptions of checkouts, payments and contended numbers.

use std::sync::Arc;

use abasto_domain::currency::Currency;
use abasto_domain::id::{CheckoutId, PaymentId, RawId, RefundId};
use abasto_domain::money::Amount;
use abasto_domain::order::Order;
use abasto_domain::order_state::Status;
use abasto_domain::payment::{Payment, PaymentState, Provider, Refund, RefundReason, RefundState};
use abasto_domain::payment_call::CallState;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::invariants::Code;
use abasto_store::record::{Document, Record};
use abasto_store::tally::{Tally, TallyKey};

use crate::corruption::Corruption;
use crate::history::position;

const NEW: RawId = RawId([0xdd; 12]);

pub(crate) fn corruptions() -> Vec<Corruption> {
    vec![
        Corruption {
            what: "an order of a checkout that was never completed",
            code: Code::CheckoutOrder,
            corrupt: |records| {
                let order = records.iter_mut().find_map(|record| match record {
                    Record::Document(Document::Order(order)) => Some(Arc::make_mut(order)),
                    _ => None,
                });
                order.unwrap().checkout = Some(CheckoutId(NEW));
            },
        },
        Corruption {
            what: "money of a cancelled order that nobody asked back",
            code: Code::RefundMissing,
            corrupt: |records| {
                let mut paid = attempt(&cancelled(records));
                paid.state = PaymentState::Captured;
                insert(records, paid);
            },
        },
        Corruption {
            what: "money given back that was never captured",
            code: Code::RefundExceeds,
            corrupt: |records| {
                let mut unpaid = attempt(&cancelled(records));
                unpaid.refunds.push(Refund {
                    id: RefundId(NEW),
                    amount: unpaid.amount,
                    state: RefundState::Succeeded,
                    reason: RefundReason::Asked,
                    requested_at: Timestamp::from_millis(1),
                });
                insert(records, unpaid);
            },
        },
        Corruption {
            what: "a redemption that nobody made",
            code: Code::TallyDiffers,
            corrupt: |records| {
                let tally = Tally {
                    key: TallyKey::open_checkouts(NEW),
                    value: 1,
                };
                let index = position(records, |record| matches!(record, Record::Operation(_)));
                records.insert(index, Record::Tally(tally));
            },
        },
    ]
}

fn cancelled(records: &[Record]) -> Arc<Order> {
    let found = records.iter().find_map(|record| match record {
        Record::Document(Document::Order(order)) if order.status == Status::Cancelled => {
            Some(Arc::clone(order))
        }
        _ => None,
    });
    found.unwrap()
}

fn attempt(order: &Order) -> Payment {
    Payment {
        business: order.business,
        id: PaymentId(NEW),
        order: order.id,
        provider: Provider::Sandbox,
        provider_ref: None,
        amount: Amount::from_minor(100).unwrap(),
        currency: Currency::parse("COP").unwrap(),
        state: PaymentState::Created,
        failure: None,
        given_up_at: None,
        refunds: Vec::new(),
        redirect_url: None,
        return_url: None,
        call: CallState::default(),
        stamp: Stamp::first(Timestamp::from_millis(1)),
    }
}

fn insert(records: &mut Vec<Record>, payment: Payment) {
    let index = position(records, |record| !matches!(record, Record::Document(_)));
    records.insert(index, Record::Document(payment.into()));
}
