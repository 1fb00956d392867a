//! Contended numbers, holders of claims, and what is due: the parts that selling stands on.

use abasto_domain::coupon::{Coupon, CouponCode, Discount, Percent};
use abasto_domain::id::{CouponId, PaymentEventId, RawId};
use abasto_domain::payment::Provider;
use abasto_domain::payment_event::{EventFate, News, NewsKind, PaymentEvent, ProviderMessage};
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;

use super::tenant::{Tenant, amount, valid};
use super::world::{World, answer, committed};
use crate::query::Query;
use crate::record::{Claim, Document, DocumentKey, Kind, Record, Unique};
use crate::tally::{TallyChange, TallyKey};
use crate::unit::UnitOfWork;
use crate::verdict::{Rejection, Verdict};

fn coupon(tenant: &Tenant, code: &str) -> Coupon {
    Coupon {
        business: tenant.business(),
        id: CouponId(tenant.world.id()),
        code: valid(CouponCode::parse(code)),
        discount: Discount::Percent(valid(Percent::parse("12.5"))),
        products: None,
        min_subtotal: Some(amount(100)),
        starts_at: Timestamp::from_millis(1),
        ends_at: Timestamp::from_millis(2),
        max_redemptions: Some(7),
        max_per_customer: None,
        active: true,
        stamp: Stamp::first(tenant.world.now()),
    }
}

/// A parked message that is due at a time.
fn parked(tenant: &Tenant, event_id: &str, due_ms: i64) -> PaymentEvent {
    let message = ProviderMessage {
        provider: Provider::Sandbox,
        event_id: event_id.to_owned(),
        provider_ref: "unknown".to_owned(),
        news: News {
            kind: NewsKind::Captured,
            amount: amount(5),
            currency: tenant.record.currency,
            refund: None,
            occurred_at: Timestamp::from_millis(3),
        },
    };
    let id = PaymentEventId(tenant.world.id());
    let event = PaymentEvent::receive(tenant.business(), id, message, tenant.world.now());
    PaymentEvent {
        due_at: Some(Timestamp::from_millis(due_ms)),
        ..event
    }
}

fn counting(tenant: &Tenant, key: TallyKey, delta: i64, most: Option<i64>) -> UnitOfWork {
    UnitOfWork {
        tallies: vec![TallyChange { key, delta, most }],
        ..tenant.unit()
    }
}

/// Of many who want to grow a number at once, as many succeed as its ceiling says; it never falls
/// below zero, and a lowered ceiling is in nobody's way who gives back.
pub async fn a_contended_number_keeps_its_bounds(world: World) {
    let tenant = world.tenant().await;
    let key = TallyKey::open_checkouts(RawId([7; 12]));
    let wanted = (0..20).map(|_| counting(&tenant, key, 1, Some(7)));
    let verdicts = world.commit_all(wanted.collect()).await;
    let bound = Verdict::Rejected(Rejection::Bound(key));
    let refused = verdicts.iter().filter(|verdict| **verdict == bound).count();
    assert_eq!(refused, 13, "{verdicts:?}");
    let stored = |records: &[Record]| {
        let tallies = records.iter().filter_map(|record| match record {
            Record::Tally(tally) => Some((tally.key, tally.value)),
            _ => None,
        });
        tallies.collect::<Vec<_>>()
    };
    assert_eq!(stored(&world.walk(tenant.business()).await), [(key, 7)]);
    for _ in 0..7 {
        committed(world.commit(counting(&tenant, key, -1, Some(2))).await);
    }
    assert_eq!(world.commit(counting(&tenant, key, -1, None)).await, bound);
    assert_eq!(stored(&world.walk(tenant.business()).await), [(key, 0)]);
}

/// A unit whose number is at its bound leaves nothing else behind.
pub async fn a_bound_number_refuses_the_whole_unit(world: World) {
    let tenant = world.tenant().await;
    let key = TallyKey::open_checkouts(RawId([8; 12]));
    let made = coupon(&tenant, "WHOLE");
    let id = made.id;
    let mut unit = tenant.unit_of([tenant.creation(made)]);
    unit.tallies = counting(&tenant, key, 1, Some(0)).tallies;
    let bound = Verdict::Rejected(Rejection::Bound(key));
    assert_eq!(world.commit(unit).await, bound);
    let key = DocumentKey::new(Kind::Coupon, id);
    assert_eq!(world.document(tenant.business(), key).await, None);
}

/// The holder of each claim is found, in its own business only.
pub async fn claims_lead_to_their_holders(world: World) {
    let (tenant, stranger) = (world.tenant().await, world.tenant().await);
    let ours = coupon(&tenant, "PAN-10");
    let (id, event) = (ours.id.0, parked(&tenant, "evt_1", 9));
    let event_id = event.id.0;
    tenant.save(ours).await;
    tenant.save(event).await;
    let claim = |rule, value: &str| Claim {
        rule,
        value: value.to_owned(),
    };
    let claims = [
        claim(Unique::CouponCode, "PAN-10"),
        claim(Unique::CouponCode, "PAN-11"),
        claim(Unique::ProviderEvent, "sandbox:evt_1"),
        claim(Unique::ProviderReference, "sandbox:evt_1"),
        claim(Unique::OrderOfCheckout, "0123456789abcdef01234567"),
        claim(Unique::OpenCheckout, "0123456789abcdef01234567"),
    ];
    let found = answer(world.store().holders(tenant.business(), &claims).await);
    assert_eq!(found, [Some(id), None, Some(event_id), None, None, None]);
    let found = answer(world.store().holders(stranger.business(), &claims).await);
    assert_eq!(found, [None; 6]);
    let twin = coupon(&tenant, "PAN-10");
    let verdict = world.commit(tenant.unit_of([tenant.creation(twin)])).await;
    let taken = Rejection::Taken(claim(Unique::CouponCode, "PAN-10"));
    assert_eq!(verdict, Verdict::Rejected(taken));
}

/// What is due comes back longest due first, of one business or of all, and no more of it once it
/// is not due any more.
pub async fn what_is_due_is_found_in_order(world: World) {
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let mut made = Vec::new();
    for (owner, name, due_ms) in [
        (&tenant, "c", 3_000),
        (&tenant, "a", 1_000),
        (&other, "b", 2_000),
        (&tenant, "d", 4_000),
    ] {
        let saved = owner.save(parked(owner, name, due_ms)).await;
        made.push(saved);
    }
    let due = async |business, at_ms, limit| {
        let at = Timestamp::from_millis(at_ms);
        let kind = Kind::PaymentEvent;
        answer(world.store().due(business, kind, at, limit).await)
    };
    let [c, a, b, d] = made.as_slice() else {
        panic!("four were made");
    };
    let three = [a.clone(), b.clone(), c.clone()];
    assert_eq!(due(None, 3_000, 10).await, three);
    assert_eq!(due(None, 2_999, 10).await, three[..2]);
    assert_eq!(due(None, 9_000, 1).await, three[..1]);
    let own = [a.clone(), c.clone(), d.clone()];
    assert_eq!(due(Some(tenant.business()), 9_000, 10).await, own);
    let Document::PaymentEvent(first) = a else {
        panic!("a message was made");
    };
    let settled = PaymentEvent {
        due_at: None,
        fate: EventFate::Applied,
        stamp: tenant.next(first.stamp),
        ..PaymentEvent::clone(first)
    };
    tenant.update(a.clone(), settled).await;
    assert_eq!(due(None, 2_000, 10).await, std::slice::from_ref(b));
}

/// Coupons are listed newest first, and come back as they were written.
pub async fn coupons_are_listed_newest_first(world: World) {
    let tenant = world.tenant().await;
    let mut saved = Vec::new();
    for code in ["ONE-1", "TWO-2", "TRE-3"] {
        let made = tenant.save(coupon(&tenant, code)).await;
        saved.insert(0, Record::Document(made));
    }
    assert_eq!(
        world.list(tenant.business(), &Query::Coupons, 2).await,
        saved
    );
}
