//! Payments: money without order and order without money do not exist.

use std::sync::Arc;

use abasto_domain::id::RawId;
use abasto_domain::money::Amount;
use abasto_domain::order_state::{PaymentStatus, Status};
use abasto_domain::payment::{Payment, PaymentState, Provider};
use abasto_domain::payment_call::{Answer, CALL_LEASE_MS, CallKind, Standing};
use abasto_domain::payment_event::{EventFate, NewsKind};
use abasto_engine::Error;
use abasto_engine::order_action::OrderStep;
use abasto_engine::payment::StartPayment;
use abasto_sim::backing::Backing;
use tokio::task::JoinSet;

use crate::selling::{UNPAID_MS, message};
use crate::world::World;

on_every_store! {
    a_capture_told_many_times_at_once_pays_once,
    news_in_reverse_order_end_the_same,
    a_wrong_amount_or_business_pays_nothing,
    a_message_that_comes_before_its_attempt_waits_for_it,
    a_parked_message_pays_once_its_attempt_has_a_name,
    paid_too_late_takes_units_that_are_left,
    the_last_unit_goes_to_the_late_payer_or_to_the_next_buyer,
    paid_too_late_and_nothing_left_the_money_goes_back,
    expiry_and_capture_at_once_end_in_one_of_two_ways,
    a_failed_attempt_keeps_the_hold_and_another_one_pays,
    two_refunds_that_exceed_together_are_not_both_made,
    cancelled_but_paid_is_given_back_and_does_not_come_back,
    a_call_is_claimed_by_one_instance_and_survives_its_death,
    an_answer_that_says_captured_pays_like_a_message,
    an_attempt_of_an_order_that_ended_is_never_begun,
}

fn cancel() -> OrderStep {
    OrderStep::Cancel {
        reason: "changed my mind".into(),
        restock: None,
    }
}

fn answer(standing: Standing) -> Answer {
    Answer {
        provider_ref: None,
        redirect_url: None,
        standing,
    }
}

async fn a_capture_told_many_times_at_once_pays_once(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 2).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    let mut told = JoinSet::new();
    for copy in 0..10 {
        let (world, payment) = (Arc::clone(&world), Arc::clone(&payment));
        // Five times the same message, and five messages of the same fact.
        let id = if copy < 5 {
            "evt".into()
        } else {
            format!("evt-{copy}")
        };
        told.spawn(async move {
            let kind = NewsKind::Captured;
            world.tell(&id, &payment, kind, payment.amount).await
        });
    }
    for fate in told.join_all().await {
        assert_eq!(fate.unwrap(), EventFate::Applied);
    }
    let paid = world.order_now(order.id).await;
    assert_eq!(
        (paid.status, paid.payment_status),
        (Status::Pending, PaymentStatus::Paid)
    );
    assert_eq!(paid.reservation_expires_at, None);
    world.later(UNPAID_MS);
    assert_eq!(world.engine.expire_due().await.unwrap(), 0);
    assert_eq!(world.units(product).await, (3, 2));
    world.audit().await;
}

async fn news_in_reverse_order_end_the_same(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    for (id, kind) in [
        ("3", NewsKind::Captured),
        ("2", NewsKind::Failed),
        ("1", NewsKind::Authorized),
    ] {
        world
            .tell(id, &payment, kind, payment.amount)
            .await
            .unwrap();
    }
    let paid = world.order_now(order.id).await;
    assert_eq!(paid.payment_status, PaymentStatus::Paid);
    assert_eq!(world.attempts_now(order.id).await[0].status(), "captured");
    world.audit().await;
}

async fn a_wrong_amount_or_business_pays_nothing(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    let less = Amount::from_minor(payment.amount.minor() - 1).unwrap();
    let fate = world.tell("less", &payment, NewsKind::Captured, less).await;
    assert_eq!(fate.unwrap(), EventFate::Mismatched);
    let other = World::on(Arc::clone(&world.store)).await;
    let news = message("other", &payment, NewsKind::Captured, payment.amount);
    let fate = other.tell_raw(other.business(), news).await.unwrap();
    assert_eq!(
        fate,
        EventFate::Parked,
        "another business knows no such attempt"
    );
    let nobody = abasto_domain::id::BusinessId(RawId([1; 12]));
    let news = message("nobody", &payment, NewsKind::Captured, payment.amount);
    assert!(matches!(
        world.tell_raw(nobody, news).await,
        Err(Error::NotFound)
    ));
    let waiting = world.order_now(order.id).await;
    assert_eq!(waiting.status, Status::PendingPayment);
    world.audit().await;
    other.audit().await;
}

async fn a_message_that_comes_before_its_attempt_waits_for_it(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    let mut early = message("early", &payment, NewsKind::Captured, payment.amount);
    early.provider_ref = "not-known-yet".into();
    let fate = world.tell_raw(world.business(), early).await.unwrap();
    assert_eq!(fate, EventFate::Parked);
    let mut tries = 0;
    loop {
        world.later(3_600_000);
        match world.engine.retry_parked_events().await.unwrap() {
            0 => break,
            _ => tries += 1,
        }
    }
    assert_eq!(tries, 12, "it is given up in the end");
    world.audit().await;
}

async fn a_parked_message_pays_once_its_attempt_has_a_name(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    // A provider that names its payments itself, when it is called.
    let command = StartPayment {
        order: order.id,
        provider: Provider::Stripe,
        return_url: None,
    };
    let engine = world.second_instance().with_providers(&Provider::ALL);
    let started = engine.start_payment(&world.owner, "pay", command);
    let payment = started.await.unwrap().value;
    assert_eq!(payment.provider_ref, None);
    let named = Payment {
        provider_ref: Some("named-later".into()),
        ..Payment::clone(&payment)
    };
    let early = message("early", &named, NewsKind::Captured, payment.amount);
    let fate = world.tell_raw(world.business(), early.clone()).await;
    assert_eq!(fate.unwrap(), EventFate::Parked);
    // Twice changes nothing.
    world.tell_raw(world.business(), early).await.unwrap();
    assert_eq!(
        world.order_now(order.id).await.status,
        Status::PendingPayment
    );
    let calls = world.engine.claim_calls(10).await.unwrap();
    let named = Answer {
        provider_ref: Some("named-later".into()),
        ..answer(Standing::Pending)
    };
    world.engine.answer_call(&calls[0], &named).await.unwrap();
    world.later(UNPAID_MS / 2);
    world.engine.retry_parked_events().await.unwrap();
    let paid = world.order_now(order.id).await;
    assert_eq!(
        (paid.status, paid.payment_status),
        (Status::Pending, PaymentStatus::Paid)
    );
    assert_eq!(world.engine.retry_parked_events().await.unwrap(), 0);
    world.audit().await;
}

async fn the_last_unit_goes_to_the_late_payer_or_to_the_next_buyer(on: Backing) {
    let world = Arc::new(World::new(on).await);
    for round in 0..10 {
        let key = format!("round-{round}");
        let product = world.stocked(&key, 1).await.id;
        let order = world.unpaid(&key, product, 1).await;
        let payment = world.pay(&format!("{key}-pay"), order.id).await.unwrap();
        world.later(UNPAID_MS);
        let telling = {
            let (world, key) = (Arc::clone(&world), key.clone());
            tokio::spawn(async move {
                let kind = NewsKind::Captured;
                world.tell(&key, &payment, kind, payment.amount).await
            })
        };
        let buying = {
            let world = Arc::clone(&world);
            let key = format!("{key}-next");
            tokio::spawn(async move { world.buy(&key, &[(product, 1)]).await })
        };
        telling.await.unwrap().unwrap();
        let bought = buying.await.unwrap();
        let late = world.order_now(order.id).await;
        match bought {
            Ok(_) => assert_ne!(late.status, Status::Pending, "one unit, two orders"),
            Err(Error::InsufficientStock(_)) => assert_eq!(
                (late.status, late.payment_status),
                (Status::Pending, PaymentStatus::Paid)
            ),
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(world.units(product).await, (0, 1));
    }
    world.audit().await;
}

async fn paid_too_late_takes_units_that_are_left(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 2).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    world.later(UNPAID_MS);
    assert_eq!(world.engine.expire_due().await.unwrap(), 1);
    assert_eq!(world.units(product).await, (2, 0));
    let kind = NewsKind::Captured;
    world
        .tell("late", &payment, kind, payment.amount)
        .await
        .unwrap();
    let paid = world.order_now(order.id).await;
    assert_eq!(
        (paid.status, paid.payment_status),
        (Status::Pending, PaymentStatus::Paid)
    );
    assert_eq!(world.units(product).await, (1, 1));
    for step in [OrderStep::Confirm, OrderStep::Prepare, OrderStep::Dispatch] {
        let key = format!("{step:?}");
        world.step(&key, &paid, step).await.unwrap();
    }
    assert_eq!(world.units(product).await, (1, 0));
    world.audit().await;
}

async fn paid_too_late_and_nothing_left_the_money_goes_back(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("ONE", 1).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    world.later(UNPAID_MS);
    world.hold("b", &[(product, 1)]).await.unwrap();
    let kind = NewsKind::Captured;
    world
        .tell("late", &payment, kind, payment.amount)
        .await
        .unwrap();
    let now = world.order_now(order.id).await;
    assert_eq!(now.status, Status::Cancelled);
    assert_eq!(now.payment_status, PaymentStatus::PaidUnfulfillable);
    assert_eq!(world.units(product).await, (0, 1));
    let calls = world.engine.claim_calls(10).await.unwrap();
    assert!(matches!(calls[0].kind, CallKind::Refund(_)), "{calls:?}");
    assert_eq!(calls[0].amount, payment.amount);
    world
        .engine
        .answer_call(&calls[0], &answer(Standing::Pending))
        .await
        .unwrap();
    assert_eq!(
        world.attempts_now(order.id).await[0].status(),
        "refund_pending"
    );
    let back = NewsKind::RefundSucceeded;
    world
        .tell("back", &payment, back, payment.amount)
        .await
        .unwrap();
    assert_eq!(world.attempts_now(order.id).await[0].status(), "refunded");
    let now = world.order_now(order.id).await;
    assert_eq!(now.payment_status, PaymentStatus::Refunded);
    world.audit().await;
}

async fn expiry_and_capture_at_once_end_in_one_of_two_ways(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 100).await.id;
    for round in 0..30 {
        let key = format!("round-{round}");
        let order = world.unpaid(&key, product, 1).await;
        let payment = world.pay(&format!("{key}-pay"), order.id).await.unwrap();
        let second = world.second_instance();
        second.clock().advance(UNPAID_MS * 100);
        let sweeping = tokio::spawn(async move { second.expire_due().await });
        let telling = {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let kind = NewsKind::Captured;
                world.tell(&key, &payment, kind, payment.amount).await
            })
        };
        sweeping.await.unwrap().unwrap();
        telling.await.unwrap().unwrap();
        // Paid in time, or paid late with the units still there: never money without order.
        let now = world.order_now(order.id).await;
        assert_eq!(
            (now.status, now.payment_status),
            (Status::Pending, PaymentStatus::Paid)
        );
    }
    world.audit().await;
}

async fn a_failed_attempt_keeps_the_hold_and_another_one_pays(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("ONE", 1).await.id;
    let order = world.unpaid("a", product, 1).await;
    let first = world.pay("first", order.id).await.unwrap();
    world
        .tell("no", &first, NewsKind::Failed, first.amount)
        .await
        .unwrap();
    let now = world.order_now(order.id).await;
    assert_eq!(now.payment_status, PaymentStatus::Failed);
    assert_eq!(world.units(product).await, (0, 1));
    let second = world.pay("second", order.id).await.unwrap();
    world
        .tell("yes", &second, NewsKind::Captured, second.amount)
        .await
        .unwrap();
    assert_eq!(
        world.order_now(order.id).await.payment_status,
        PaymentStatus::Paid
    );
    // The first attempt was captured after all: that money goes back by itself.
    world
        .tell("oh", &first, NewsKind::Captured, first.amount)
        .await
        .unwrap();
    let paid = world.order_now(order.id).await;
    assert_eq!(
        (paid.status, paid.payment_status),
        (Status::Pending, PaymentStatus::Paid)
    );
    let attempts = world.attempts_now(order.id).await;
    let of_first = attempts.iter().find(|it| it.id == first.id).unwrap();
    assert_eq!(of_first.status(), "refund_pending");
    let third = world.pay("third", order.id).await;
    assert!(matches!(third, Err(Error::NotPayable(_))));
    world.audit().await;
}

async fn two_refunds_that_exceed_together_are_not_both_made(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    assert!(matches!(
        world.refund("too-early", order.id, 1).await,
        Err(Error::RefundExceeds { .. })
    ));
    world
        .tell("yes", &payment, NewsKind::Captured, payment.amount)
        .await
        .unwrap();
    let mut asked = JoinSet::new();
    for number in 0..10 {
        let world = Arc::clone(&world);
        let id = order.id;
        asked.spawn(async move { world.refund(&format!("r{number}"), id, 200_000).await });
    }
    let given = asked
        .join_all()
        .await
        .into_iter()
        .filter(Result::is_ok)
        .count();
    assert_eq!(given, 1, "350000 minor units were captured");
    world.step("cancel", &order, cancel()).await.unwrap();
    let attempt = &world.attempts_now(order.id).await[0];
    let amounts: Vec<i64> = attempt.refunds.iter().map(|it| it.amount.minor()).collect();
    assert_eq!(
        amounts,
        [200_000, 150_000],
        "a cancellation gives back the rest"
    );
    world.audit().await;
}

async fn cancelled_but_paid_is_given_back_and_does_not_come_back(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    world.step("cancel", &order, cancel()).await.unwrap();
    world
        .tell("late", &payment, NewsKind::Captured, payment.amount)
        .await
        .unwrap();
    let now = world.order_now(order.id).await;
    assert_eq!(now.status, Status::Cancelled);
    assert_eq!(
        world.attempts_now(order.id).await[0].status(),
        "refund_pending"
    );
    assert_eq!(world.units(product).await, (5, 0));
    world.audit().await;
}

async fn a_call_is_claimed_by_one_instance_and_survives_its_death(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    world.pay("pay", order.id).await.unwrap();
    let first = world.engine.claim_calls(10).await.unwrap();
    assert_eq!(first.len(), 1);
    let second = world.second_instance();
    assert!(second.claim_calls(10).await.unwrap().is_empty());
    // The first instance dies. Its lease ends, another makes the same call with the same key.
    second.clock().advance(CALL_LEASE_MS + 1_000);
    let again = second.claim_calls(10).await.unwrap();
    assert_eq!(again[0].payment, first[0].payment);
    assert!(again[0].fence > first[0].fence);
    second
        .answer_call(&again[0], &answer(Standing::Pending))
        .await
        .unwrap();
    // The dead one wakes up: its answer changes nothing.
    let failed = answer(Standing::Failed("late".into()));
    world.engine.answer_call(&first[0], &failed).await.unwrap();
    let attempt = &world.attempts_now(order.id).await[0];
    assert_eq!(attempt.state, PaymentState::Pending);
    world.audit().await;
}

async fn an_answer_that_says_captured_pays_like_a_message(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    let payment = world.pay("pay", order.id).await.unwrap();
    let calls = world.engine.claim_calls(10).await.unwrap();
    world
        .engine
        .answer_call(&calls[0], &answer(Standing::Captured))
        .await
        .unwrap();
    assert_eq!(
        world.order_now(order.id).await.payment_status,
        PaymentStatus::Paid
    );
    let fate = world
        .tell("same", &payment, NewsKind::Captured, payment.amount)
        .await;
    assert_eq!(fate.unwrap(), EventFate::Applied);
    world.audit().await;
}

async fn an_attempt_of_an_order_that_ended_is_never_begun(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 5).await.id;
    let order = world.unpaid("a", product, 1).await;
    world.pay("pay", order.id).await.unwrap();
    world.later(UNPAID_MS);
    world.engine.expire_due().await.unwrap();
    assert!(world.engine.claim_calls(10).await.unwrap().is_empty());
    let attempt = &world.attempts_now(order.id).await[0];
    assert_eq!(attempt.state, PaymentState::Failed);
    world.audit().await;
}
