//! Carts: the scenarios on all three modes, on the model store and on SQLite; devices, merging,
//! sealing, clean-up. Where mode `occ` rightly answers otherwise the test says so.

use std::sync::Arc;

use abasto_domain::access::Role;
use abasto_domain::business::CartMode;
use abasto_domain::id::{CartId, CustomerId, ProductId};
use abasto_engine::cart::{
    CartCaller, CartRefusal, CartView, EditCart, EditOperation, EditStep, Lease, LineFlag, NewCart,
    OpenedCart,
};
use abasto_engine::checkout_cart::CheckOutCart;
use abasto_engine::customer::NewCustomer;
use abasto_engine::product::ChangeProduct;
use abasto_engine::{Context, Error};

use crate::world::{Backing, World};

/// Every mode on every store.
const SETTINGS: [(Backing, CartMode); 6] = [
    (Backing::Model, CartMode::Crdt),
    (Backing::Model, CartMode::Occ),
    (Backing::Model, CartMode::Events),
    (Backing::Sqlite, CartMode::Crdt),
    (Backing::Sqlite, CartMode::Occ),
    (Backing::Sqlite, CartMode::Events),
];

/// A cart of a test, with the names of two products.
struct Shop {
    world: World,
    caller: CartCaller,
    x: ProductId,
    y: ProductId,
    cart: CartId,
    mode: CartMode,
}

fn caller(context: &Context) -> CartCaller {
    CartCaller {
        context: context.clone(),
        guest_secret: None,
    }
}

fn step(operation: EditOperation) -> EditStep {
    EditStep {
        operation,
        tag: None,
    }
}

fn add(product: ProductId, quantity: u32) -> EditStep {
    step(EditOperation::AddItem {
        product_id: product,
        options: Default::default(),
        quantity,
    })
}

fn edit(steps: impl IntoIterator<Item = EditStep>) -> EditCart {
    EditCart {
        steps: steps.into_iter().collect(),
        ..EditCart::default()
    }
}

fn named(device: &Lease, sequence: u64, steps: impl IntoIterator<Item = EditStep>) -> EditCart {
    EditCart {
        device: Some((device.device.clone(), sequence)),
        ..edit(steps)
    }
}

/// Units by product.
fn units(view: &CartView) -> Vec<(ProductId, u32)> {
    let lines = view.lines.iter();
    lines.map(|line| (line.product, line.quantity)).collect()
}

async fn open(world: &World, caller: &CartCaller, mode: CartMode) -> OpenedCart {
    let command = NewCart {
        branch: world.bogota.id,
        customer: None,
        mode: Some(mode),
        currency_hint: None,
    };
    world.engine.create_cart(caller, command).await.unwrap()
}

impl Shop {
    async fn new(on: Backing, mode: CartMode) -> Self {
        let world = World::new(on).await;
        let x = world.product("X", 350_000).await.id;
        let y = world.product("Y", 200_000).await.id;
        let caller = caller(&world.owner);
        let opened = open(&world, &caller, mode).await;
        Self {
            cart: opened.view.id,
            world,
            caller,
            x,
            y,
            mode,
        }
    }

    async fn try_edit(&self, command: EditCart) -> Result<CartView, Error> {
        let engine = &self.world.engine;
        let edited = engine.edit_cart(&self.caller, self.cart, command).await;
        edited.map(|edited| edited.view)
    }

    async fn edit(&self, steps: impl IntoIterator<Item = EditStep>) -> CartView {
        self.try_edit(edit(steps)).await.unwrap()
    }

    async fn view(&self) -> CartView {
        let engine = &self.world.engine;
        engine.cart(&self.caller, self.cart, None).await.unwrap()
    }

    async fn lease(&self) -> Lease {
        let engine = &self.world.engine;
        engine.lease_device(&self.caller, self.cart).await.unwrap()
    }

    fn line(&self, product: ProductId) -> String {
        product.to_string()
    }

    /// The tag of a product's line.
    fn tag(view: &CartView, product: ProductId) -> Option<String> {
        let mut lines = view.lines.iter();
        lines
            .find(|line| line.product == product)
            .map(|line| line.tag.clone())
    }
}

#[tokio::test]
async fn scenario_1_different_products_both_stay() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let (a, b) = (shop.lease().await, shop.lease().await);
        shop.try_edit(named(&a, 1, [add(shop.x, 1)])).await.unwrap();
        shop.try_edit(named(&b, 1, [add(shop.y, 1)])).await.unwrap();
        assert_eq!(units(&shop.view().await), [(shop.x, 1), (shop.y, 1)]);
    }
}

#[tokio::test]
async fn scenario_2_the_same_product_adds_up_and_a_removal_takes_what_it_saw() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let (a, b) = (shop.lease().await, shop.lease().await);
        let seen = shop.try_edit(named(&a, 1, [add(shop.x, 1)])).await.unwrap();
        let both = shop.try_edit(named(&b, 1, [add(shop.x, 1)])).await.unwrap();
        assert_eq!(units(&both), [(shop.x, 2)]);
        // a removes what it had seen: its own unit.
        let remove = EditStep {
            tag: Shop::tag(&seen, shop.x),
            ..step(EditOperation::RemoveItem {
                line: shop.line(shop.x),
            })
        };
        let left = shop.try_edit(named(&a, 2, [remove])).await.unwrap();
        assert_eq!(units(&left), [(shop.x, 1)], "{mode:?}");
    }
}

#[tokio::test]
async fn scenario_4_a_stale_tabs_operation_is_a_wish() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        shop.edit([add(shop.x, 1)]).await;
        shop.edit([step(EditOperation::RemoveItem {
            line: shop.line(shop.x),
        })])
        .await;
        assert_eq!(units(&shop.edit([add(shop.x, 2)]).await), [(shop.x, 2)]);
    }
}

#[tokio::test]
async fn scenario_5_and_6_sets_that_did_not_see_each_other_and_one_that_did() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let (a, b) = (shop.lease().await, shop.lease().await);
        let base = shop.edit([add(shop.x, 5)]).await;
        let set = |quantity, tag: Option<String>| EditStep {
            tag,
            ..step(EditOperation::SetQuantity {
                line: shop.line(shop.x),
                quantity,
            })
        };
        let now_ms = u64::try_from(base.updated_at.as_millis()).unwrap();
        let later = |ms: u64| Some((now_ms + ms) << 16);
        let tag = Shop::tag(&base, shop.x);
        let by_a = EditCart {
            hlc: later(30_000),
            ..named(&a, 1, [set(7, tag.clone())])
        };
        shop.try_edit(by_a).await.unwrap();
        let by_b = EditCart {
            hlc: later(20_000),
            ..named(&b, 1, [set(3, tag)])
        };
        let view = shop.try_edit(by_b).await.unwrap();
        // a's clock is ahead, so it wins against b, who had not seen it.
        assert_eq!(units(&view), [(shop.x, 7)], "{mode:?}");
        assert!(view.lines[0].flags.contains(&LineFlag::Conflicted));
        // b sees it now and sets 3 with a smaller stamp: the clock has nothing to say.
        let tag = Shop::tag(&view, shop.x);
        let by_b = EditCart {
            hlc: later(0),
            ..named(&b, 2, [set(3, tag)])
        };
        let view = shop.try_edit(by_b).await.unwrap();
        assert_eq!(units(&view), [(shop.x, 3)], "{mode:?}");
        assert!(view.lines[0].flags.is_empty());
    }
}

#[tokio::test]
async fn scenario_7_steps_land_on_a_set_that_did_not_see_them() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let devices = [shop.lease().await, shop.lease().await, shop.lease().await];
        let base = shop.edit([add(shop.x, 5)]).await;
        let tag = Shop::tag(&base, shop.x);
        let line = || shop.line(shop.x);
        let operations = [
            EditOperation::Increment {
                line: line(),
                by: 1,
            },
            EditOperation::SetQuantity {
                line: line(),
                quantity: 2,
            },
            EditOperation::Increment {
                line: line(),
                by: 1,
            },
        ];
        for (device, operation) in devices.iter().zip(operations) {
            let step = EditStep {
                tag: tag.clone(),
                operation,
            };
            shop.try_edit(named(device, 1, [step])).await.unwrap();
        }
        assert_eq!(units(&shop.view().await), [(shop.x, 4)], "{mode:?}");
    }
}

#[tokio::test]
async fn scenario_8_many_operations_of_one_patch_are_one() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let view = shop
            .edit([
                add(shop.x, 1),
                add(shop.y, 2),
                step(EditOperation::RemoveItem {
                    line: shop.line(shop.x),
                }),
                step(EditOperation::SetQuantity {
                    line: shop.line(shop.y),
                    quantity: 4,
                }),
                step(EditOperation::Increment {
                    line: shop.line(shop.y),
                    by: 1,
                }),
            ])
            .await;
        assert_eq!(units(&view), [(shop.y, 5)]);
        // One that fails takes the others with it.
        let refused = edit([
            add(shop.x, 1),
            step(EditOperation::Increment {
                line: "0123456789abcdef01234567".into(),
                by: 1,
            }),
        ]);
        let refused = shop.try_edit(refused).await;
        assert!(
            matches!(refused, Err(Error::Cart(CartRefusal::NoSuchLine(1)))),
            "{refused:?}"
        );
        assert_eq!(units(&shop.view().await), [(shop.y, 5)]);
    }
}

#[tokio::test]
async fn scenario_10_numbers_that_come_out_of_order_all_count() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let device = shop.lease().await;
        for sequence in [5, 1, 3, 2, 4] {
            let command = named(&device, sequence, [add(shop.x, 1)]);
            shop.try_edit(command).await.unwrap();
        }
        assert_eq!(units(&shop.view().await), [(shop.x, 5)]);
        let far = shop.try_edit(named(&device, 500, [add(shop.x, 1)])).await;
        assert!(
            matches!(far, Err(Error::Cart(CartRefusal::Limit(_)))),
            "{far:?}"
        );
    }
}

#[tokio::test]
async fn scenario_11_a_repeated_operation_counts_once_on_any_instance() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let device = shop.lease().await;
        let command = named(&device, 1, [add(shop.x, 1), add(shop.y, 1)]);
        shop.try_edit(command.clone()).await.unwrap();
        let other = shop.world.second_instance();
        let again = other
            .edit_cart(&shop.caller, shop.cart, command)
            .await
            .unwrap();
        assert!(again.replayed);
        assert_eq!(units(&again.view), [(shop.x, 1), (shop.y, 1)]);
        // A patch that is partly done does the rest.
        let longer = named(&device, 2, [add(shop.y, 1), add(shop.x, 3)]);
        assert_eq!(
            units(&shop.try_edit(longer).await.unwrap()),
            [(shop.x, 4), (shop.y, 1)]
        );
    }
}

#[tokio::test]
async fn scenario_12_a_number_used_for_something_else_is_noticed_also_after_a_fold() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let device = shop.lease().await;
        for sequence in 1..=40 {
            let command = named(&device, sequence, [add(shop.x, 1)]);
            shop.try_edit(command).await.unwrap();
        }
        for sequence in [1, 20, 40] {
            let other = shop.world.second_instance();
            let command = named(&device, sequence, [add(shop.y, 1)]);
            let reused = other.edit_cart(&shop.caller, shop.cart, command).await;
            let Err(Error::Cart(CartRefusal::DotReused { sequence: told })) = reused else {
                panic!("{mode:?} {sequence}: {reused:?}");
            };
            assert_eq!(told, sequence);
        }
        let fresh = shop.lease().await;
        shop.try_edit(named(&fresh, 1, [add(shop.y, 1)]))
            .await
            .unwrap();
        assert_eq!(units(&shop.view().await), [(shop.x, 40), (shop.y, 1)]);
    }
}

#[tokio::test]
async fn scenario_14_more_than_an_order_may_have_is_shown_cut_and_steps_count_from_what_shows() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let product = shop
            .world
            .engine
            .product(&shop.world.owner, shop.x)
            .await
            .unwrap();
        let change = ChangeProduct {
            max_per_order: Some(Some(abasto_domain::quantity::Quantity::new(10).unwrap())),
            ..ChangeProduct::default()
        };
        let version = product.stamp.version;
        let engine = &shop.world.engine;
        let context = &shop.world.owner;
        engine
            .change_product(context, shop.x, version, change)
            .await
            .unwrap();
        for _ in 0..3 {
            shop.edit([add(shop.x, 4)]).await;
        }
        let view = shop.view().await;
        assert_eq!(units(&view), [(shop.x, 10)]);
        assert!(view.lines[0].flags.contains(&LineFlag::Clamped));
        assert!(!view.problems.is_empty());
        let view = shop
            .edit([step(EditOperation::Decrement {
                line: shop.line(shop.x),
                by: 1,
            })])
            .await;
        assert_eq!(units(&view), [(shop.x, 9)]);
        assert!(view.lines[0].flags.is_empty());
    }
}

#[tokio::test]
async fn coupons_fields_and_attributes_live_in_all_modes() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let view = shop
            .edit([
                add(shop.x, 1),
                step(EditOperation::ApplyCoupon {
                    code: "spring".into(),
                }),
                step(EditOperation::SetAttribute {
                    line: shop.line(shop.x),
                    name: "gift".into(),
                    value: "for Ana".into(),
                }),
                step(EditOperation::SetField {
                    field: abasto_engine::cart::FieldName::Note,
                    value: "ring twice".into(),
                }),
            ])
            .await;
        assert_eq!(view.coupons[0].code, "SPRING");
        assert_eq!(view.coupons[0].reason.as_deref(), Some("unknown-coupon"));
        assert_eq!(view.lines[0].attributes["gift"], "for Ana");
        assert_eq!(view.fields["note"], "ring twice");
        let view = shop
            .edit([
                step(EditOperation::RemoveCoupon {
                    code: "SPRING".into(),
                }),
                step(EditOperation::Clear),
            ])
            .await;
        assert!(view.coupons.is_empty() && view.lines.is_empty());
        assert_eq!(view.fields["note"], "ring twice");
    }
}

#[tokio::test]
async fn an_untagged_removal_takes_what_is_there_and_a_tagged_one_what_was_seen() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let seen = shop.edit([add(shop.x, 1)]).await;
        shop.edit([add(shop.x, 2)]).await;
        let remove = step(EditOperation::RemoveItem {
            line: shop.line(shop.x),
        });
        let tagged = EditStep {
            tag: Shop::tag(&seen, shop.x),
            ..remove.clone()
        };
        assert_eq!(units(&shop.edit([tagged]).await), [(shop.x, 2)], "{mode:?}");
        assert!(units(&shop.edit([remove]).await).is_empty(), "{mode:?}");
    }
}

#[tokio::test]
async fn tags_and_devices_of_another_cart_are_refused() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let other = open(&shop.world, &shop.caller, mode).await.view.id;
        let engine = &shop.world.engine;
        let seen = engine
            .edit_cart(&shop.caller, other, edit([add(shop.x, 1)]))
            .await
            .unwrap();
        shop.edit([add(shop.x, 1)]).await;
        let stolen = EditStep {
            tag: Shop::tag(&seen.view, shop.x),
            ..step(EditOperation::RemoveItem {
                line: shop.line(shop.x),
            })
        };
        let refused = shop.try_edit(edit([stolen])).await;
        assert!(
            matches!(refused, Err(Error::Cart(CartRefusal::BadTag(0)))),
            "{refused:?}"
        );
        let lease = engine.lease_device(&shop.caller, other).await.unwrap();
        let refused = shop.try_edit(named(&lease, 1, [add(shop.x, 1)])).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
        // A clock a day ahead is told so.
        let far = EditCart {
            hlc: Some(u64::MAX),
            ..edit([add(shop.x, 1)])
        };
        let refused = shop.try_edit(far).await;
        assert!(
            matches!(refused, Err(Error::Cart(CartRefusal::ClockSkew { .. }))),
            "{refused:?}"
        );
        assert_eq!(units(&shop.view().await), [(shop.x, 1)]);
    }
}

#[tokio::test]
async fn a_key_answers_again_and_refuses_other_content() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let keyed = |units| EditCart {
            key: Some("k".into()),
            ..edit([add(shop.x, units)])
        };
        let engine = &shop.world.engine;
        let first = engine
            .edit_cart(&shop.caller, shop.cart, keyed(1))
            .await
            .unwrap();
        shop.edit([add(shop.y, 1)]).await;
        let again = engine
            .edit_cart(&shop.caller, shop.cart, keyed(1))
            .await
            .unwrap();
        assert!(again.replayed);
        assert_eq!(again.view, first.view, "{mode:?}");
        let other = shop.try_edit(keyed(2)).await;
        assert!(matches!(other, Err(Error::KeyReused)), "{other:?}");
        assert_eq!(units(&shop.view().await), [(shop.x, 1), (shop.y, 1)]);
    }
}

#[tokio::test]
async fn occ_has_versions_and_the_others_have_none() {
    let shop = Shop::new(Backing::Model, CartMode::Occ).await;
    assert_eq!(shop.view().await.version, Some(1));
    let stale = EditCart {
        if_match: Some(1),
        ..edit([add(shop.x, 1)])
    };
    assert_eq!(shop.try_edit(stale.clone()).await.unwrap().version, Some(2));
    let Err(Error::Cart(CartRefusal::Stale(current))) = shop.try_edit(stale).await else {
        panic!("a stale version was taken");
    };
    assert_eq!(
        (current.version, units(&current)),
        (Some(2), vec![(shop.x, 1)])
    );
    for mode in [CartMode::Crdt, CartMode::Events] {
        let shop = Shop::new(Backing::Model, mode).await;
        assert_eq!(shop.view().await.version, None);
        // A version means nothing to a cart that merges.
        let seen = EditCart {
            if_match: Some(7),
            ..edit([add(shop.x, 1)])
        };
        shop.try_edit(seen).await.unwrap();
    }
}

/// Every acknowledged operation is in the result. In mode `occ` some are refused, and told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_devices_at_once_lose_nothing_that_was_acknowledged() {
    /// Of each device.
    const OPERATIONS: u64 = 12;
    for (on, mode) in SETTINGS {
        let shop = Arc::new(Shop::new(on, mode).await);
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let shop = Arc::clone(&shop);
                tokio::spawn(async move {
                    let device = shop.lease().await;
                    let (mut done, mut sequence) = (0_u32, 1);
                    while sequence <= OPERATIONS {
                        let command = named(&device, sequence, [add(shop.x, 1)]);
                        // Doubled: the second is a repetition, whoever comes first.
                        let (first, second) =
                            tokio::join!(shop.try_edit(command.clone()), shop.try_edit(command));
                        match first.or(second) {
                            Ok(_) => (done, sequence) = (done + 1, sequence + 1),
                            Err(Error::Cart(CartRefusal::Contention)) => {
                                assert_eq!(shop.mode, CartMode::Occ);
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    done
                })
            })
            .collect();
        let mut acknowledged = 0;
        for task in tasks {
            acknowledged += task.await.unwrap();
        }
        assert_eq!(acknowledged, 16 * u32::try_from(OPERATIONS).unwrap());
        // The default cap shows them all.
        assert_eq!(
            units(&shop.view().await),
            [(shop.x, acknowledged)],
            "{mode:?}"
        );
        // What was read anew from the store is the same.
        let other = shop.world.second_instance();
        let again = other.cart(&shop.caller, shop.cart, None).await.unwrap();
        assert_eq!(again.ctx, shop.view().await.ctx);
    }
}

#[tokio::test]
async fn folding_keeps_a_cart_small_and_changes_nothing() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        for _ in 0..70 {
            shop.edit([add(shop.x, 1)]).await;
            shop.edit([add(shop.y, 1)]).await;
            let line = shop.line(shop.y);
            shop.edit([step(EditOperation::RemoveItem { line })]).await;
        }
        assert_eq!(units(&shop.view().await), [(shop.x, 70)]);
        let (business, store) = (shop.world.business(), &shop.world.store);
        // The last fold may still be under way.
        for _ in 0..1_000 {
            let content = store.cart_content(business, shop.cart).await.unwrap();
            let bytes = content.state.map_or(usize::MAX, |state| state.state.len());
            if content.tail.len() < 30 && bytes < 4_096 {
                break;
            }
            tokio::task::yield_now().await;
        }
        let content = store.cart_content(business, shop.cart).await.unwrap();
        assert!(content.tail.len() < 30, "{mode:?}: {}", content.tail.len());
        assert!(content.state.unwrap().state.len() < 4_096, "{mode:?}");
    }
}

#[tokio::test]
async fn a_history_replays_to_the_cart() {
    let shop = Shop::new(Backing::Model, CartMode::Events).await;
    for _ in 0..50 {
        shop.edit([add(shop.x, 2), add(shop.y, 1)]).await;
        let line = shop.line(shop.x);
        shop.edit([step(EditOperation::Decrement { line, by: 1 })])
            .await;
    }
    let engine = &shop.world.engine;
    let mut page = abasto_store::query::Page {
        after: None,
        limit: 40,
    };
    let mut content = abasto_cart::Cart::new();
    let mut entries = 0;
    loop {
        let rows = engine
            .cart_log(&shop.caller, shop.cart, page)
            .await
            .unwrap();
        let Some(last) = rows.last() else { break };
        page.after = Some(abasto_store::query::Position {
            order: last.at.as_millis(),
            id: last.id,
        });
        for row in &rows {
            content.join(&abasto_cart::Cart::decode(&row.delta).unwrap());
            entries += usize::from(row.dot.is_some());
        }
    }
    assert_eq!(entries, 150);
    let view = content.view(&abasto_cart::default_cap);
    let replayed: Vec<u32> = view.lines.iter().map(|line| line.quantity.get()).collect();
    let shown = shop.view().await;
    assert_eq!(
        replayed,
        shown
            .lines
            .iter()
            .map(|line| line.quantity)
            .collect::<Vec<_>>()
    );
    // The other modes keep no history.
    let other = Shop::new(Backing::Model, CartMode::Crdt).await;
    let page = abasto_store::query::Page {
        after: None,
        limit: 40,
    };
    let none = other
        .world
        .engine
        .cart_log(&other.caller, other.cart, page)
        .await;
    assert!(matches!(none, Err(Error::NotFound)));
}

async fn customer(world: &World) -> (CustomerId, CartCaller) {
    let command = NewCustomer {
        name: "Ana".into(),
        phone: None,
        email: None,
        email_verified_at: None,
    };
    let customer = world
        .engine
        .create_customer(&world.owner, command)
        .await
        .unwrap();
    let mut context = world.role(Role::Customer);
    context.principal.customer = Some(customer.id);
    (customer.id, caller(&context))
}

#[tokio::test]
async fn a_customer_has_one_active_cart_per_branch() {
    let shop = Shop::new(Backing::Model, CartMode::Crdt).await;
    let (id, ana) = customer(&shop.world).await;
    let first = open(&shop.world, &ana, CartMode::Crdt).await;
    assert_eq!(first.view.customer, Some(id));
    assert!(!first.existed && first.guest_secret.is_none());
    let second = open(&shop.world, &ana, CartMode::Occ).await;
    assert!(second.existed);
    assert_eq!(second.view.id, first.view.id);
    // Twenty at once are one as well.
    let (_, eva) = customer(&shop.world).await;
    let opened = futures_all((0..20).map(|_| open(&shop.world, &eva, CartMode::Crdt))).await;
    let ids: std::collections::BTreeSet<CartId> =
        opened.iter().map(|opened| opened.view.id).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(opened.iter().filter(|opened| !opened.existed).count(), 1);
    // Nobody sees another's.
    let peek = shop.world.engine.cart(&eva, first.view.id, None).await;
    assert!(matches!(peek, Err(Error::NotFound)));
}

async fn futures_all<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all = Vec::new();
    for future in futures {
        all.push(future.await);
    }
    all
}

#[tokio::test]
async fn a_guests_cart_goes_into_the_owners_and_its_secret_ends() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let engine = &shop.world.engine;
        let (_, mut ana) = customer(&shop.world).await;
        let own = open(&shop.world, &ana, mode).await.view.id;
        engine
            .edit_cart(&ana, own, edit([add(shop.x, 2)]))
            .await
            .unwrap();
        let guest = open(&shop.world, &shop.caller, mode).await;
        let (guest, secret) = (guest.view.id, guest.guest_secret.unwrap());
        let device = engine.lease_device(&shop.caller, guest).await.unwrap();
        let one = named(&device, 1, [add(shop.x, 1)]);
        engine
            .edit_cart(&shop.caller, guest, one.clone())
            .await
            .unwrap();
        // Without the secret the guest's cart is not there.
        let refused = engine.merge_carts(&ana, own, guest).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
        ana.guest_secret = Some(secret);
        engine.cart(&ana, guest, None).await.unwrap();
        for _ in 0..2 {
            let merged = engine.merge_carts(&ana, own, guest).await.unwrap();
            assert_eq!(units(&merged), [(shop.x, 3)], "{mode:?}");
        }
        // The secret opens nothing any more.
        let peek = engine.cart(&ana, guest, None).await;
        assert!(matches!(peek, Err(Error::NotFound)), "{peek:?}");
        let old = engine.cart(&shop.caller, guest, None).await.unwrap();
        assert_eq!(old.successor, Some(own));
        // What was acknowledged is acknowledged again; what is new goes to the successor.
        engine.edit_cart(&shop.caller, guest, one).await.unwrap();
        let late = named(&device, 2, [add(shop.x, 1)]);
        let late = engine.edit_cart(&shop.caller, guest, late).await;
        assert!(
            matches!(late, Err(Error::Cart(CartRefusal::Ended { successor: Some(id), .. })) if id == own),
            "{late:?}"
        );
        // A second instance reads the same.
        let view = shop
            .world
            .second_instance()
            .cart(&ana, own, None)
            .await
            .unwrap();
        assert_eq!(units(&view), [(shop.x, 3)], "{mode:?}");
    }
}

#[tokio::test]
async fn prices_and_products_of_now_are_shown_and_flagged() {
    let shop = Shop::new(Backing::Model, CartMode::Crdt).await;
    let engine = &shop.world.engine;
    let view = shop.edit([add(shop.x, 2), add(shop.y, 1)]).await;
    assert_eq!(view.estimate.total.minor(), 900_000);
    assert!(view.lines.iter().all(|line| line.flags.is_empty()));
    let owner = &shop.world.owner;
    let product = engine.product(owner, shop.x).await.unwrap();
    let change = ChangeProduct {
        sale_price: Some(abasto_domain::money::Amount::from_minor(100_000).unwrap()),
        ..ChangeProduct::default()
    };
    let version = product.stamp.version;
    engine
        .change_product(owner, shop.x, version, change)
        .await
        .unwrap();
    let product = engine.product(owner, shop.y).await.unwrap();
    let change = ChangeProduct {
        active: Some(false),
        ..ChangeProduct::default()
    };
    let version = product.stamp.version;
    engine
        .change_product(owner, shop.y, version, change)
        .await
        .unwrap();
    let view = shop.view().await;
    assert_eq!(view.lines[0].flags, [LineFlag::PriceChanged]);
    assert_eq!(view.lines[1].flags, [LineFlag::Unavailable]);
    assert_eq!(view.estimate.total.minor(), 200_000);
    // Putting more in at the new price is agreeing to it.
    let view = shop.edit([add(shop.x, 1)]).await;
    assert!(view.lines[0].flags.is_empty());
    // A product of nobody's is not found.
    let ghost = ProductId::parse("0123456789abcdef01234567").unwrap();
    assert!(matches!(
        shop.try_edit(edit([add(ghost, 1)])).await,
        Err(Error::NotFound)
    ));
}

#[tokio::test]
async fn what_a_reader_saw_elsewhere_is_waited_for_a_moment() {
    let shop = Shop::new(Backing::Model, CartMode::Crdt).await;
    let view = shop.edit([add(shop.x, 1)]).await;
    let other = shop.world.second_instance();
    let seen = other
        .cart(&shop.caller, shop.cart, Some(&view.ctx))
        .await
        .unwrap();
    assert!(!seen.stale);
    // Of another cart nothing comes, and the answer says so.
    let second = open(&shop.world, &shop.caller, CartMode::Crdt)
        .await
        .view
        .id;
    let seen = other
        .cart(&shop.caller, second, Some(&view.ctx))
        .await
        .unwrap();
    assert!(seen.stale);
    let wrong = other.cart(&shop.caller, second, Some("nonsense")).await;
    assert!(matches!(wrong, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn idle_carts_close_and_edited_ones_stay() {
    const DAY_MS: i64 = 86_400_000;
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        let engine = &shop.world.engine;
        let idle = open(&shop.world, &shop.caller, mode).await.view.id;
        engine
            .edit_cart(&shop.caller, idle, edit([add(shop.x, 1)]))
            .await
            .unwrap();
        engine.clock().advance(60 * DAY_MS);
        shop.edit([add(shop.x, 1)]).await;
        engine.clock().advance(40 * DAY_MS);
        let done = engine.clean_up_carts(100).await.unwrap();
        assert_eq!((done.looked_at, done.closed), (2, 1), "{mode:?}");
        assert_eq!(engine.clean_up_carts(100).await.unwrap().looked_at, 0);
        shop.edit([add(shop.x, 1)]).await;
        let late = engine
            .edit_cart(&shop.caller, idle, edit([add(shop.x, 1)]))
            .await;
        assert!(
            matches!(late, Err(Error::Cart(CartRefusal::Ended { .. }))),
            "{late:?}"
        );
        // Its content is kept for a year, then forgotten.
        assert_eq!(
            units(&engine.cart(&shop.caller, idle, None).await.unwrap()).len(),
            1
        );
        engine.clock().advance(366 * DAY_MS);
        let done = engine.clean_up_carts(100).await.unwrap();
        assert_eq!(done.forgotten, 1, "{mode:?}");
        assert!(
            engine
                .cart(&shop.caller, idle, None)
                .await
                .unwrap()
                .lines
                .is_empty()
        );
    }
}

async fn stocked(shop: &Shop) {
    use abasto_engine::stock::{Adjustment, MoveStock};
    let items = [shop.x, shop.y].map(|product| Adjustment {
        product,
        delta: 100,
        reason: abasto_domain::stock::AdjustmentReason::Receipt,
        reference: None,
    });
    let command = MoveStock::Adjust {
        branch: shop.world.bogota.id,
        items: items.to_vec(),
    };
    let engine = &shop.world.engine;
    engine
        .move_stock(&shop.world.owner, "receipt", command)
        .await
        .unwrap();
}

fn check_out(cart: CartId) -> CheckOutCart {
    CheckOutCart {
        cart,
        branch: None,
        fulfilment: abasto_domain::order::FulfilmentKind::Pickup,
        address: None,
        payment_method: abasto_domain::order::PaymentMethod::OnDelivery,
    }
}

#[tokio::test]
async fn scenario_13_an_order_takes_what_its_checkout_saw_and_the_rest_goes_on() {
    for (on, mode) in SETTINGS {
        let shop = Shop::new(on, mode).await;
        stocked(&shop).await;
        let engine = &shop.world.engine;
        let device = shop.lease().await;
        shop.try_edit(named(&device, 1, [add(shop.x, 2)]))
            .await
            .unwrap();
        let open = engine
            .check_out_cart(&shop.caller, "out", check_out(shop.cart))
            .await
            .unwrap();
        // Beside it two edits that the checkout did not see.
        shop.edit([add(shop.y, 1)]).await;
        shop.try_edit(named(&device, 2, [add(shop.x, 1)]))
            .await
            .unwrap();
        let again = engine
            .check_out_cart(&shop.caller, "out", check_out(shop.cart))
            .await
            .unwrap();
        assert!(again.replayed);
        assert_eq!(again.value.id, open.value.id);
        let order = abasto_engine::order_checkout::OrderCheckout {
            checkout: open.value.id,
            customer: abasto_engine::order::BuyerChoice::Unnamed,
            note: None,
            expected_total: None,
        };
        let owner = &shop.world.owner;
        let placed = engine
            .order_checkout(owner, "order", order.clone())
            .await
            .unwrap();
        let lines: Vec<_> = placed.value.lines.iter().collect();
        assert_eq!(
            (lines.len(), lines[0].product, lines[0].quantity.units()),
            (1, shop.x, 2)
        );
        let replayed = engine.order_checkout(owner, "order", order).await.unwrap();
        assert!(replayed.replayed);
        let sealed = shop.view().await;
        assert_eq!(sealed.status, abasto_domain::cart::CartStatus::Sealed);
        let successor = sealed.successor.unwrap();
        let view = engine.cart(&shop.caller, successor, None).await.unwrap();
        assert_eq!(units(&view), [(shop.x, 1), (shop.y, 1)], "{mode:?}");
        // What was acknowledged before is acknowledged again, what is new is told where to go.
        shop.try_edit(named(&device, 2, [add(shop.x, 1)]))
            .await
            .unwrap();
        let late = shop.try_edit(named(&device, 3, [add(shop.x, 1)])).await;
        assert!(
            matches!(late, Err(Error::Cart(CartRefusal::Ended { successor: Some(id), .. })) if id == successor),
            "{late:?}"
        );
        // The successor is a cart like any other.
        let view = engine
            .edit_cart(&shop.caller, successor, edit([add(shop.y, 4)]))
            .await
            .unwrap()
            .view;
        assert_eq!(units(&view), [(shop.x, 1), (shop.y, 5)], "{mode:?}");
        let other = shop.world.second_instance();
        let view = other.cart(&shop.caller, successor, None).await.unwrap();
        assert_eq!(units(&view), [(shop.x, 1), (shop.y, 5)], "{mode:?}");
        let report =
            abasto_store::invariants::audit(&*shop.world.store, shop.world.business()).await;
        let report = report.unwrap();
        assert!(report.is_clean(), "{report}");
    }
}

#[tokio::test]
async fn the_same_cart_again_renews_its_checkout() {
    let shop = Shop::new(Backing::Sqlite, CartMode::Crdt).await;
    stocked(&shop).await;
    let engine = &shop.world.engine;
    let empty = engine
        .check_out_cart(&shop.caller, "a", check_out(shop.cart))
        .await;
    assert!(matches!(empty, Err(Error::Invalid(_))), "{empty:?}");
    shop.edit([add(shop.x, 100)]).await;
    let first = engine
        .check_out_cart(&shop.caller, "b", check_out(shop.cart))
        .await
        .unwrap();
    // Its own units are not counted against it.
    shop.edit([step(EditOperation::SetQuantity {
        line: shop.line(shop.x),
        quantity: 99,
    })])
    .await;
    let second = engine
        .check_out_cart(&shop.caller, "c", check_out(shop.cart))
        .await
        .unwrap();
    assert_eq!(second.value.id, first.value.id);
    assert_eq!(second.value.lines[0].quantity.units(), 99);
    // Not after its time: then it ends and a new one opens.
    engine.clock().advance(11 * 60_000);
    let third = engine
        .check_out_cart(&shop.caller, "d", check_out(shop.cart))
        .await
        .unwrap();
    assert_ne!(third.value.id, first.value.id);
    let report = abasto_store::invariants::audit(&*shop.world.store, shop.world.business()).await;
    let report = report.unwrap();
    assert!(report.is_clean(), "{report}");
}
