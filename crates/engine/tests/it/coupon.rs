//! Coupons and returns under races: never more than the bound, nothing lost.

use std::sync::Arc;

use abasto_domain::coupon::{CouponCode, CouponRefusal, Discount, Percent};
use abasto_domain::order_return::{Fate, ReturnRejection, ReturnedItem};
use abasto_domain::quantity::Quantity;
use abasto_domain::time::Timestamp;
use abasto_engine::Error;
use abasto_engine::coupon::NewCoupon;
use abasto_engine::order_action::OrderStep;
use abasto_engine::order_return::TakeBack;
use abasto_sim::backing::Backing;
use tokio::task::JoinSet;

use crate::selling::{HOLD_MS, UNPAID_MS};
use crate::world::World;

on_every_store! {
    one_redemption_goes_to_one_of_twenty_buyers,
    a_customer_uses_a_coupon_once_from_any_device,
    a_cancelled_order_gives_its_coupon_back,
    two_of_two_come_back_once,
}

fn code() -> CouponCode {
    CouponCode::parse("PAN-10").unwrap()
}

async fn coupon(world: &World, all: Option<i64>, each: Option<i64>) {
    let command = NewCoupon {
        code: code(),
        discount: Discount::Percent(Percent::parse("10").unwrap()),
        products: None,
        min_subtotal: None,
        starts_at: Timestamp::from_millis(0),
        ends_at: Timestamp::from_millis(i64::MAX),
        max_redemptions: all,
        max_per_customer: each,
        active: true,
    };
    world
        .engine
        .create_coupon(&world.owner, command)
        .await
        .unwrap();
}

async fn one_redemption_goes_to_one_of_twenty_buyers(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 100).await.id;
    coupon(&world, Some(1), None).await;
    let mut buyers = JoinSet::new();
    for buyer in 0..20 {
        let world = Arc::clone(&world);
        buyers.spawn(async move {
            let key = format!("buyer-{buyer}");
            let mut order = world.order(&[(product, 1)]);
            order.coupons = vec![code()];
            world.engine.place_order(&world.owner, &key, order).await
        });
    }
    let outcomes = buyers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let exhausted = CouponRefusal::Exhausted;
        assert!(
            matches!(refused, Error::CouponRefused(_, why) if *why == exhausted),
            "{refused:?}"
        );
    }
    assert_eq!(world.units(product).await, (99, 1));
    world.audit().await;
}

async fn a_customer_uses_a_coupon_once_from_any_device(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 100).await.id;
    coupon(&world, None, Some(1)).await;
    let (_, ana) = world.customer("Ana").await;
    let mut command = world.checkout_of(&[(product, 1)]);
    command.coupons = vec![code()];
    let phone = world
        .engine
        .open_checkout(&ana, "phone", command.clone())
        .await;
    let phone = phone.unwrap().value;
    assert_eq!(phone.totals.discount.minor(), 35_000);
    let laptop = world
        .engine
        .open_checkout(&ana, "laptop", command.clone())
        .await;
    let used = CouponRefusal::CustomerExhausted;
    assert!(matches!(laptop, Err(Error::CouponRefused(_, why)) if why == used));
    let guest = world
        .engine
        .open_checkout(&world.owner, "guest", command.clone())
        .await;
    let needed = CouponRefusal::CustomerNeeded;
    assert!(matches!(guest, Err(Error::CouponRefused(_, why)) if why == needed));
    // An order keeps the redemption, an expiry gives it back.
    let order = world
        .engine
        .order_checkout(&ana, "order", world.completion(&phone))
        .await;
    assert_eq!(order.unwrap().value.totals.discount.minor(), 35_000);
    world.later(HOLD_MS);
    let again = world
        .engine
        .open_checkout(&ana, "again", command.clone())
        .await;
    assert!(again.is_err());
    world.later(UNPAID_MS);
    world
        .engine
        .open_checkout(&ana, "again", command)
        .await
        .unwrap();
    world.audit().await;
}

async fn a_cancelled_order_gives_its_coupon_back(on: Backing) {
    let world = World::new(on).await;
    let product = world.stocked("PAN", 100).await.id;
    coupon(&world, Some(1), None).await;
    let mut command = world.order(&[(product, 1)]);
    command.coupons = vec![code()];
    let first = world
        .engine
        .place_order(&world.owner, "first", command.clone())
        .await;
    let first = first.unwrap().value;
    let refused = world
        .engine
        .place_order(&world.owner, "second", command.clone())
        .await;
    assert!(refused.is_err());
    let cancel = OrderStep::Cancel {
        reason: "test".into(),
        restock: None,
    };
    world.step("cancel", &first, cancel).await.unwrap();
    world
        .engine
        .place_order(&world.owner, "second", command)
        .await
        .unwrap();
    world.audit().await;
}

async fn two_of_two_come_back_once(on: Backing) {
    let world = Arc::new(World::new(on).await);
    let product = world.stocked("PAN", 5).await.id;
    let order = world.buy("buy", &[(product, 2)]).await.unwrap().value;
    for step in [OrderStep::Confirm, OrderStep::Prepare, OrderStep::Dispatch] {
        let key = format!("{step:?}");
        world.step(&key, &order, step).await.unwrap();
    }
    let mut asked = JoinSet::new();
    for number in 0..8 {
        let (world, order) = (Arc::clone(&world), order.id);
        asked.spawn(async move {
            let command = TakeBack {
                order,
                items: vec![ReturnedItem {
                    product,
                    quantity: Quantity::new(2).unwrap(),
                    fate: if number % 2 == 0 {
                        Fate::Restock
                    } else {
                        Fate::Discard
                    },
                }],
                reason: "stale".into(),
            };
            let key = format!("return-{number}");
            world.engine.take_back(&world.owner, &key, command).await
        });
    }
    let outcomes = asked.join_all().await;
    let taken: Vec<_> = outcomes.iter().flatten().collect();
    assert_eq!(taken.len(), 1);
    let restocked = taken[0].value.items[0].fate == Fate::Restock;
    for refused in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let nothing = matches!(
            refused,
            Error::NotReturnable(ReturnRejection::NothingLeft(_))
        );
        assert!(nothing, "{refused:?}");
    }
    let available = if restocked { 5 } else { 3 };
    assert_eq!(world.units(product).await, (available, 0));
    world.audit().await;
}
