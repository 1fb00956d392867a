//! Payments: news in any order, refunds within what was captured, calls told apart by a fence.

use abasto_domain::id::RefundId;
use abasto_domain::limits::REFUNDS_PER_PAYMENT_MAX;
use abasto_domain::money::Amount;
use abasto_domain::payment::{Mismatch, Payment, PaymentState, RefundReason, RefundState};
use abasto_domain::payment_call::{
    Answer, CALL_LEASE_MS, CALL_TRIES_MAX, CallKind, ProviderCall, Standing, next_try,
};
use abasto_domain::payment_event::{News, NewsKind};
use proptest::prelude::*;

use crate::sample::{NOW, amount, cop, payment, raw};

fn news(kind: NewsKind, minor: i64) -> News {
    News {
        kind,
        amount: amount(minor),
        currency: cop(),
        refund: None,
        occurred_at: NOW,
    }
}

fn hear(payment: &Payment, kind: NewsKind, minor: i64) -> Payment {
    let heard = payment.hear(&news(kind, minor), NOW).unwrap();
    heard.unwrap_or_else(|| payment.clone())
}

fn captured() -> Payment {
    hear(&payment(), NewsKind::Captured, 2_000)
}

fn refund(payment: &Payment, id: u8, minor: i64) -> Option<Payment> {
    payment.request_refund(RefundId(raw(id)), amount(minor), RefundReason::Asked, NOW)
}

#[test]
fn news_of_another_amount_or_currency_changes_nothing() {
    let payment = payment();
    let other = news(NewsKind::Captured, 1_999);
    assert_eq!(payment.hear(&other, NOW), Err(Mismatch::Amount));
    let mut foreign = news(NewsKind::Captured, 2_000);
    foreign.currency = abasto_domain::currency::Currency::parse("EUR").unwrap();
    assert_eq!(payment.hear(&foreign, NOW), Err(Mismatch::Currency));
    let unknown = news(NewsKind::RefundSucceeded, 2_000);
    assert_eq!(captured().hear(&unknown, NOW), Err(Mismatch::Refund));
}

proptest! {
    #[test]
    fn the_state_only_moves_forward_and_a_capture_always_wins(
        order in prop::collection::vec(
            prop::sample::select(vec![NewsKind::Captured, NewsKind::Failed, NewsKind::Authorized]),
            1..8,
        )
    ) {
        let mut now = payment();
        for kind in &order {
            let before = now.state;
            now = hear(&now, *kind, 2_000);
            prop_assert!(now.state >= before);
        }
        let end = if order.contains(&NewsKind::Captured) {
            PaymentState::Captured
        } else if order.contains(&NewsKind::Failed) {
            PaymentState::Failed
        } else {
            PaymentState::Pending
        };
        prop_assert_eq!(now.state, end);
    }

    #[test]
    fn refunds_never_exceed_what_was_captured(
        amounts in prop::collection::vec(1i64..1_500, 1..8),
        outcomes in prop::collection::vec(any::<bool>(), 8),
    ) {
        let mut now = captured();
        for (minor, succeeds) in amounts.into_iter().zip(outcomes) {
            let id = u8::try_from(50 + now.refunds.len()).unwrap();
            if let Some(next) = refund(&now, id, minor) {
                now = next;
            }
            if let Some(open) = now.refunds.iter().find(|it| !it.state.allowed().is_empty()) {
                let kind = if succeeds { NewsKind::RefundSucceeded } else { NewsKind::RefundFailed };
                let minor = open.amount.minor();
                now = hear(&now, kind, minor);
            }
            let left = now.refundable().plus(now.refunded()).unwrap();
            prop_assert!(left <= now.captured());
            prop_assert!(now.refunded() <= now.captured());
        }
    }
}

#[test]
fn two_parts_that_exceed_together_are_not_both_given() {
    let once = refund(&captured(), 50, 1_500).unwrap();
    assert_eq!(once.status(), "refund_pending");
    assert!(refund(&once, 51, 501).is_none());
    assert!(refund(&once, 51, 500).is_some());
    assert!(refund(&payment(), 50, 1).is_none(), "nothing was captured");
    let back = hear(&once, NewsKind::RefundSucceeded, 1_500);
    assert_eq!(back.status(), "captured");
    let rest = hear(
        &refund(&back, 51, 500).unwrap(),
        NewsKind::RefundSucceeded,
        500,
    );
    assert_eq!(
        (rest.status(), rest.refundable()),
        ("refunded", Amount::ZERO)
    );
    let again = rest.hear(&news(NewsKind::RefundSucceeded, 500), NOW);
    assert_eq!(again, Ok(None), "told twice");
}

#[test]
fn people_ask_for_so_many_refunds_and_what_is_owed_is_asked_for_even_then() {
    let mut payment = captured();
    for _ in 0..REFUNDS_PER_PAYMENT_MAX {
        payment = refund(&payment, 50, 1).unwrap();
    }
    assert!(refund(&payment, 51, 1).is_none());
    let owed = payment.refundable();
    let owed = payment.request_refund(RefundId(raw(52)), owed, RefundReason::Cancelled, NOW);
    assert_eq!(owed.unwrap().refundable(), Amount::ZERO);
}

fn answer(standing: Standing) -> Answer {
    Answer {
        provider_ref: Some("pi_1".into()),
        redirect_url: Some("https://pay.example/1".into()),
        standing,
    }
}

fn claim(payment: &Payment) -> (Payment, ProviderCall) {
    payment.claim_call(NOW).unwrap()
}

#[test]
fn a_call_is_made_by_one_at_a_time() {
    let (claimed, call) = claim(&payment());
    assert_eq!(call.kind, CallKind::Start);
    assert!(
        claimed
            .claim_call(NOW.plus_millis(CALL_LEASE_MS - 1))
            .is_none()
    );
    let (second, later) = claimed.claim_call(NOW.plus_millis(CALL_LEASE_MS)).unwrap();
    let pending = answer(Standing::Pending);
    assert!(
        second.answered(&call, &pending, NOW, 0).is_none(),
        "the first came too late"
    );
    let done = second.answered(&later, &pending, NOW, 0).unwrap();
    assert_eq!(
        (done.state, done.call.due_at),
        (PaymentState::Pending, None)
    );
    assert_eq!(done.provider_ref.as_deref(), Some("pi_1"));
    assert!(
        done.answered(&later, &pending, NOW, 0).is_none(),
        "answered twice"
    );
}

#[test]
fn an_unclear_answer_is_asked_again_until_it_is_given_up() {
    let mut now = payment();
    for tries in 1..=CALL_TRIES_MAX {
        let at = now.call.due_at.unwrap();
        let (claimed, call) = now.claim_call(at).unwrap();
        assert_eq!((claimed.call.tries, call.kind), (tries, CallKind::Start));
        let unclear = answer(Standing::Unclear("timeout".into()));
        now = claimed.answered(&call, &unclear, at, 1_000_000).unwrap();
        assert_eq!(now.state, PaymentState::Created);
    }
    assert!(now.is_call_dead());
    assert_eq!(
        hear(&now, NewsKind::Captured, 2_000).state,
        PaymentState::Captured
    );
}

#[test]
fn pauses_double_from_a_second_to_an_hour() {
    let full = |tries| next_try(tries, NOW, 1_000_000).map(|at| at.as_millis() - NOW.as_millis());
    assert_eq!(full(0), Some(1_000));
    assert_eq!(full(3), Some(8_000));
    assert_eq!(full(CALL_TRIES_MAX - 1), Some(2_048_000));
    assert_eq!(full(CALL_TRIES_MAX), None);
    assert_eq!(
        next_try(5, NOW, 0),
        Some(NOW),
        "full jitter begins at nothing"
    );
}

#[test]
fn an_attempt_that_the_provider_may_know_is_cancelled_there_before_another_begins() {
    let untried = payment().give_up(NOW).unwrap();
    assert_eq!(
        (untried.state, untried.wanted_call()),
        (PaymentState::Failed, None)
    );
    let (claimed, call) = claim(&payment());
    let given_up = claimed.give_up(NOW).unwrap();
    assert_eq!(
        given_up.wanted_call(),
        Some(CallKind::Start),
        "what is begun is found out"
    );
    let known = given_up
        .answered(&call, &answer(Standing::Pending), NOW, 0)
        .unwrap();
    let (claimed, cancel) = known.claim_call(NOW).unwrap();
    assert_eq!(cancel.kind, CallKind::Cancel);
    let was_paid = claimed
        .answered(&cancel, &answer(Standing::Captured), NOW, 0)
        .unwrap();
    assert_eq!(was_paid.state, PaymentState::Captured);
    let failed = Standing::Failed("cancelled".into());
    let ended = claimed.answered(&cancel, &answer(failed), NOW, 0).unwrap();
    assert_eq!(
        (ended.state, ended.wanted_call()),
        (PaymentState::Failed, None)
    );
}

#[test]
fn refunds_are_sent_one_after_the_other() {
    let two = refund(&refund(&captured(), 50, 500).unwrap(), 51, 500).unwrap();
    let (claimed, call) = claim(&two);
    assert_eq!(
        (call.kind, call.amount),
        (CallKind::Refund(RefundId(raw(50))), amount(500))
    );
    let sent = claimed
        .answered(&call, &answer(Standing::Pending), NOW, 0)
        .unwrap();
    assert_eq!(sent.refunds[0].state, RefundState::Sent);
    let (_, next) = sent.claim_call(NOW).unwrap();
    assert_eq!(next.kind, CallKind::Refund(RefundId(raw(51))));
}
