//! Records of checkouts, coupons, payments and returns for the fixtures, every field set at least
//! once.

use abasto_domain::checkout::{Checkout, CheckoutStatus};
use abasto_domain::coupon::{AppliedCoupon, Coupon, CouponCode, Discount, Percent, Redemption};
use abasto_domain::id::{
    CartId, CheckoutId, CouponId, OrderId, PaymentEventId, PaymentId, RawId, RefundId, ReturnId,
};
use abasto_domain::money::Amount;
use abasto_domain::order::{Fulfilment, FulfilmentKind, PaymentMethod};
use abasto_domain::order_return::{Fate, OrderReturn, ReturnedItem};
use abasto_domain::payment::{Payment, PaymentState, Provider, Refund, RefundReason, RefundState};
use abasto_domain::payment_call::CallState;
use abasto_domain::payment_event::{EventFate, News, NewsKind, PaymentEvent, ProviderMessage};
use abasto_domain::pricing::{Totals, price_line};
use abasto_domain::quantity::Quantity;
use abasto_domain::time::Timestamp;
use abasto_store::tally::{TallyChange, TallyKey};
use abasto_store::unit::{Answer, UnitOfWork};

use super::world::{START, World, stamp};

const fn raw(number: u8) -> RawId {
    RawId([number; 12])
}

fn amount(minor: i64) -> Amount {
    Amount::from_minor(minor).unwrap()
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(START + ms)
}

fn coupon(world: &World) -> Coupon {
    Coupon {
        business: world.id(),
        id: CouponId(raw(0x50)),
        code: CouponCode::parse("PAN-10").unwrap(),
        discount: Discount::Percent(Percent::parse("12.5").unwrap()),
        products: Some(vec![world.products[0].id]),
        min_subtotal: Some(amount(100)),
        starts_at: at(1),
        ends_at: at(2),
        max_redemptions: Some(3),
        max_per_customer: Some(1),
        active: true,
        stamp: stamp(),
    }
}

fn checkout(world: &World) -> Checkout {
    let line = price_line(&world.products[0], Quantity::new(2).unwrap()).unwrap();
    Checkout {
        business: world.id(),
        id: CheckoutId(raw(0x51)),
        branch: world.branches[0].id,
        seal: Some(vec![1, 2]),
        status: CheckoutStatus::Open,
        customer: None,
        holder: raw(0x52),
        totals: Totals {
            subtotal: line.subtotal,
            discount: Amount::ZERO,
            tax: line.tax,
            delivery_fee: Amount::ZERO,
            total: line.total,
        },
        lines: vec![line],
        coupons: vec![AppliedCoupon {
            coupon: CouponId(raw(0x50)),
            code: CouponCode::parse("PAN-10").unwrap(),
            discount: amount(5),
            redemption: Redemption::Counted,
        }],
        currency: world.business.currency,
        fulfilment: Fulfilment {
            kind: FulfilmentKind::Pickup,
            address: None,
            courier: None,
        },
        payment_method: PaymentMethod::Online,
        hold: raw(0x53),
        hold_expires_at: at(600_000),
        cart: Some(CartId(raw(0x54))),
        order: None,
        stamp: stamp(),
    }
}

fn payment(world: &World) -> Payment {
    Payment {
        business: world.id(),
        id: PaymentId(raw(0x55)),
        order: OrderId(raw(0x56)),
        provider: Provider::Sandbox,
        provider_ref: Some("sandbox_1".to_owned()),
        amount: amount(900),
        currency: world.business.currency,
        state: PaymentState::Captured,
        failure: Some("declined".to_owned()),
        given_up_at: Some(at(3)),
        refunds: vec![Refund {
            id: RefundId(raw(0x57)),
            amount: amount(400),
            state: RefundState::Requested,
            reason: RefundReason::Asked,
            requested_at: at(4),
        }],
        redirect_url: Some("https://pay.example/1".to_owned()),
        return_url: Some("https://shop.example/back".to_owned()),
        call: CallState {
            due_at: Some(at(5)),
            tries: 2,
            fence: 3,
        },
        stamp: stamp(),
    }
}

fn message(world: &World) -> PaymentEvent {
    PaymentEvent {
        business: world.id(),
        id: PaymentEventId(raw(0x58)),
        message: ProviderMessage {
            provider: Provider::Sandbox,
            event_id: "evt_1".to_owned(),
            provider_ref: "sandbox_2".to_owned(),
            news: News {
                kind: NewsKind::RefundSucceeded,
                amount: amount(400),
                currency: world.business.currency,
                refund: Some(RefundId(raw(0x57))),
                occurred_at: at(6),
            },
        },
        fate: EventFate::Parked,
        due_at: Some(at(7)),
        tries: 1,
        stamp: stamp(),
    }
}

fn returned(world: &World) -> OrderReturn {
    OrderReturn {
        business: world.id(),
        id: ReturnId(raw(0x59)),
        order: OrderId(raw(0x56)),
        branch: world.branches[0].id,
        items: vec![ReturnedItem {
            product: world.products[0].id,
            quantity: Quantity::new(1).unwrap(),
            fate: Fate::Discard,
        }],
        reason: "stale".to_owned(),
        stamp: stamp(),
    }
}

/// One of each.
pub(super) fn sale(world: &World) -> UnitOfWork {
    UnitOfWork {
        puts: vec![
            world.put(None, coupon(world)),
            world.put(None, checkout(world)),
            world.put(None, payment(world)),
            world.put(None, message(world)),
            world.put(None, returned(world)),
        ],
        tallies: vec![TallyChange {
            key: TallyKey::open_checkouts(raw(0x52)),
            delta: 1,
            most: Some(5),
        }],
        answer: Answer::Put(0),
        ..world.unit(None)
    }
}
