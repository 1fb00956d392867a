//! Who may do what: keys, roles, branches, and what stays out of sight.

use std::sync::Arc;

use abasto_domain::access::Role;
use abasto_domain::credential::Grant;
use abasto_domain::order_state::Status;
use abasto_engine::customer::NewCustomer;
use abasto_engine::order::BuyerChoice;
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::{Context, Error};
use abasto_store::query::{OrderFilter, Page};

use crate::world::{World, receipt};

const PAGE: Page = Page {
    after: None,
    limit: 50,
};

#[tokio::test]
async fn a_key_works_until_it_is_revoked() {
    let world = World::on_model().await;
    let grant = Grant {
        role: Role::Manager,
        branches: None,
        customer: None,
    };
    let made = world
        .engine
        .create_key(&world.owner, "till".into(), grant)
        .await
        .unwrap();
    let principal = world
        .engine
        .authenticate_key(&made.text)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (principal.role, principal.business),
        (Role::Manager, world.business())
    );
    let mut wrong = made.text.clone();
    wrong.pop();
    assert_eq!(world.engine.authenticate_key(&wrong).await.unwrap(), None);
    for text in ["", "abasto_", "abasto_0_0", &made.text[7..], "Bearer x"] {
        assert_eq!(world.engine.authenticate_key(text).await.unwrap(), None);
    }
    world
        .engine
        .revoke_key(&world.owner, made.key.id)
        .await
        .unwrap();
    assert_eq!(
        world.engine.authenticate_key(&made.text).await.unwrap(),
        None
    );
}

#[tokio::test]
async fn staff_act_in_their_branches_only() {
    let world = World::on_model().await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 1)]).await.unwrap().value;
    let here = world.role(Role::Staff, Some(vec![world.bogota.id]));
    let away = world.role(Role::Staff, Some(vec![world.medellin.id]));
    assert!(world.engine.order(&here, order.id).await.is_ok());
    assert!(matches!(
        world.engine.order(&away, order.id).await,
        Err(Error::NotFound)
    ));
    let listed = async |context: &Context| {
        let orders = world
            .engine
            .orders(context, OrderFilter::default(), PAGE)
            .await;
        orders.unwrap().len()
    };
    assert_eq!((listed(&here).await, listed(&away).await), (1, 0));
    let step = || StepOrder {
        order: order.id,
        step: OrderStep::Confirm,
        expected_version: None,
    };
    let refused = world.engine.step_order(&away, "s1", step()).await;
    assert!(matches!(refused, Err(Error::NotFound)));
    world.engine.step_order(&here, "s2", step()).await.unwrap();
    let command = receipt(world.bogota.id, product, 1);
    let refused = world.engine.move_stock(&away, "m", command).await;
    assert!(matches!(refused, Err(Error::Forbidden)));
    let placed = world
        .engine
        .place_order(&away, "p", world.order(&[(product, 1)]))
        .await;
    assert!(matches!(placed, Err(Error::Forbidden)));
}

#[tokio::test]
async fn customers_buy_for_themselves_and_see_only_their_own() {
    let world = World::on_model().await;
    let product = world.stocked("A", 10).await.id;
    let new = |name: &str| NewCustomer {
        name: name.into(),
        phone: None,
        email: None,
        email_verified_at: None,
    };
    let ana = world
        .engine
        .create_customer(&world.owner, new("Ana"))
        .await
        .unwrap();
    let bea = world
        .engine
        .create_customer(&world.owner, new("Bea"))
        .await
        .unwrap();
    let shopper = |id| {
        let mut context = world.role(Role::Customer, None);
        context.principal.customer = Some(id);
        context
    };
    let (ana_here, bea_here) = (shopper(ana.id), shopper(bea.id));
    let order = world
        .engine
        .place_order(&ana_here, "k", world.order(&[(product, 1)]))
        .await;
    let order = order.unwrap().value;
    assert_eq!(
        (order.customer.id, order.customer.name.as_deref()),
        (Some(ana.id), Some("Ana"))
    );
    // The same key of another customer is another key.
    let theirs = world
        .engine
        .place_order(&bea_here, "k", world.order(&[(product, 1)]))
        .await;
    assert!(!theirs.unwrap().replayed);
    assert!(matches!(
        world.engine.order(&bea_here, order.id).await,
        Err(Error::NotFound)
    ));
    let mut for_other = world.order(&[(product, 1)]);
    for_other.customer = BuyerChoice::Known(bea.id);
    let refused = world
        .engine
        .place_order(&ana_here, "other", for_other)
        .await;
    assert!(matches!(refused, Err(Error::NotFound)));
    let step = |step| StepOrder {
        order: order.id,
        step,
        expected_version: None,
    };
    let refused = world
        .engine
        .step_order(&ana_here, "s", step(OrderStep::Confirm))
        .await;
    assert!(matches!(refused, Err(Error::Forbidden)));
    let cancel = OrderStep::Cancel {
        reason: "no".into(),
        restock: None,
    };
    let done = world
        .engine
        .step_order(&ana_here, "c", step(cancel))
        .await
        .unwrap();
    assert_eq!(done.value.status, Status::Cancelled);
}

/// Called lost, the units of an order can be sold to nobody: no buyer decides that.
#[tokio::test]
async fn only_those_who_work_orders_call_units_lost() {
    let world = World::on_model().await;
    let product = world.stocked("A", 5).await.id;
    let (_, shopper) = world.customer("Ana").await;
    let staff = world.role(Role::Staff, None);
    for (context, may) in [(shopper, false), (staff, true)] {
        let order = world.order(&[(product, 1)]);
        let key = format!("order-{may}");
        let order = world.engine.place_order(&context, &key, order).await;
        let lose = StepOrder {
            order: order.unwrap().value.id,
            step: OrderStep::Cancel {
                reason: "no".into(),
                restock: Some(false),
            },
            expected_version: None,
        };
        let key = format!("lose-{may}");
        match world.engine.step_order(&context, &key, lose).await {
            Ok(done) => assert_eq!((may, done.value.status), (true, Status::Cancelled)),
            Err(error) => assert!(!may && matches!(error, Error::Forbidden)),
        }
    }
}

#[tokio::test]
async fn couriers_see_and_move_only_what_is_assigned_to_them() {
    let world = World::on_model().await;
    let product = world.stocked("A", 10).await.id;
    let order = world.buy("k", &[(product, 1)]).await.unwrap().value;
    let new = abasto_engine::member::NewMember {
        user_id: "user-1".into(),
        grant: Grant {
            role: Role::Courier,
            branches: None,
            customer: None,
        },
        active: true,
    };
    let member = world.engine.create_member(&world.owner, new).await.unwrap();
    let principal = world
        .engine
        .authenticate_user("user-1", None)
        .await
        .unwrap()
        .unwrap();
    let courier = Context {
        principal,
        request: "test".into(),
    };
    assert!(matches!(
        world.engine.order(&courier, order.id).await,
        Err(Error::NotFound)
    ));
    for (key, step) in [
        ("1", OrderStep::Courier(member.id)),
        ("2", OrderStep::Confirm),
        ("3", OrderStep::Prepare),
    ] {
        world.step(key, &order, step).await.unwrap();
    }
    let step = |step| StepOrder {
        order: order.id,
        step,
        expected_version: None,
    };
    let refused = world
        .engine
        .step_order(&courier, "4", step(OrderStep::Prepare))
        .await;
    assert!(matches!(refused, Err(Error::Forbidden)));
    world
        .engine
        .step_order(&courier, "5", step(OrderStep::Dispatch))
        .await
        .unwrap();
    world
        .engine
        .step_order(&courier, "6", step(OrderStep::Deliver))
        .await
        .unwrap();
    let not_a_courier = OrderStep::Courier(abasto_domain::id::MemberId(order.id.0));
    let refused = world.step("7", &order, not_a_courier).await;
    assert!(matches!(refused, Err(Error::NotFound)));
}

#[tokio::test]
async fn a_new_member_gets_in_at_once_on_every_instance() {
    let world = World::on_model().await;
    let second = world.second_instance();
    for engine in [&world.engine, &second] {
        assert_eq!(engine.authenticate_user("new", None).await.unwrap(), None);
    }
    let new = abasto_engine::member::NewMember {
        user_id: "new".into(),
        grant: Grant {
            role: Role::Manager,
            branches: None,
            customer: None,
        },
        active: true,
    };
    world.engine.create_member(&world.owner, new).await.unwrap();
    for engine in [&world.engine, &second] {
        let found = engine.authenticate_user("new", None).await.unwrap();
        assert_eq!(found.unwrap().business, world.business());
    }
}

/// However two owners remove each other, one of them stays.
#[tokio::test]
async fn two_owners_who_revoke_each_other_at_once_do_not_both_succeed() {
    for _ in 0..20 {
        let world = World::on_model().await;
        let grant = Grant {
            role: Role::Owner,
            branches: None,
            customer: None,
        };
        let other = world.engine.create_key(&world.owner, "b".into(), grant);
        let other = other.await.unwrap().key.id;
        let keys = world.engine.keys(&world.owner, PAGE).await.unwrap();
        let first = keys.iter().find(|key| key.id != other).unwrap().id;
        let second = world.second_instance();
        let (a, b) = tokio::join!(
            world.engine.revoke_key(&world.owner, first),
            second.revoke_key(&world.owner, other),
        );
        let refused = |it: &Result<_, Error>| matches!(it, Err(Error::LastOwner));
        assert!(
            a.is_ok() && refused(&b) || b.is_ok() && refused(&a),
            "{a:?} {b:?}"
        );
    }
}

#[tokio::test]
async fn a_user_with_two_businesses_must_name_one() {
    let world = World::on_model().await;
    let other = World::on(Arc::clone(&world.store)).await;
    for one in [&world, &other] {
        let new = abasto_engine::member::NewMember {
            user_id: "both".into(),
            grant: Grant {
                role: Role::Manager,
                branches: None,
                customer: None,
            },
            active: true,
        };
        one.engine
            .create_member(&one.owner, new.clone())
            .await
            .unwrap();
        let twice = one.engine.create_member(&one.owner, new).await;
        assert!(matches!(twice, Err(Error::Taken(_))));
    }
    assert_eq!(
        world.engine.authenticate_user("both", None).await.unwrap(),
        None
    );
    let named = world
        .engine
        .authenticate_user("both", Some(other.business()))
        .await
        .unwrap();
    assert_eq!(
        named.map(|principal| principal.business),
        Some(other.business())
    );
}
