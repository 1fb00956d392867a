//! After an outcome that nobody knew, an instance shows what is stored, not what it remembers.

use std::sync::Arc;

use abasto_domain::business::CartMode;
use abasto_domain::id::CartId;
use abasto_domain::order::{FulfilmentKind, PaymentMethod};
use abasto_engine::cart::{CartCaller, EditCart, EditOperation, EditStep, NewCart};
use abasto_engine::checkout_cart::CheckOutCart;
use abasto_engine::order::BuyerChoice;
use abasto_engine::order_checkout::OrderCheckout;
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Engine, Error};
use abasto_sim::faulty::{CommitFault, FaultyStore, Plan};

use crate::world::{Backing, World};

/// More commits than the course below makes.
const COMMITS: u64 = 9;
const TRIES_MAX: u32 = 5;

struct Course {
    world: World,
    caller: CartCaller,
    faulty: Arc<FaultyStore>,
    engine: Engine,
    product: abasto_domain::id::ProductId,
}

impl Course {
    async fn new(faults: &[CommitFault], at: u64) -> Self {
        let world = World::new(Backing::Sqlite).await;
        let product = world.product("X", 350_000).await.id;
        let receipt = MoveStock::Adjust {
            branch: world.bogota.id,
            items: vec![Adjustment {
                product,
                delta: 50,
                reason: abasto_domain::stock::AdjustmentReason::Receipt,
                reference: None,
            }],
        };
        let received = world.engine.move_stock(&world.owner, "stock", receipt);
        received.await.unwrap();
        let faulty = FaultyStore::new(
            Arc::clone(&world.store),
            Plan::script((at..).zip(faults.iter().copied())),
        );
        let faulty = Arc::new(faulty);
        Self {
            caller: CartCaller {
                context: world.owner.clone(),
                guest_secret: None,
            },
            engine: Engine::new(Arc::clone(&faulty) as Arc<dyn abasto_store::Store>).unwrap(),
            world,
            faulty,
            product,
        }
    }

    async fn insist<T, F>(&self, ask: impl Fn() -> F) -> T
    where
        F: Future<Output = Result<T, Error>>,
    {
        for _ in 0..TRIES_MAX {
            match ask().await {
                Err(Error::OutcomeUnknown) => {}
                answer => {
                    self.faulty.quiet().await;
                    return answer.unwrap();
                }
            }
        }
        panic!("no answer");
    }

    /// A cart with three units that this instance has seen.
    async fn cart(&self, mode: CartMode) -> CartId {
        let command = NewCart {
            branch: self.world.bogota.id,
            customer: None,
            mode: Some(mode),
            currency_hint: None,
        };
        let engine = &self.world.engine;
        let opened = engine.create_cart(&self.caller, command).await.unwrap();
        let id = opened.view.id;
        let edit = self.add(3, None);
        engine.edit_cart(&self.caller, id, edit).await.unwrap();
        self.engine.cart(&self.caller, id, None).await.unwrap();
        id
    }

    fn add(&self, quantity: u32, key: Option<&str>) -> EditCart {
        EditCart {
            key: key.map(str::to_owned),
            steps: vec![EditStep {
                operation: EditOperation::AddItem {
                    product_id: self.product,
                    options: Default::default(),
                    quantity,
                },
                tag: None,
            }],
            ..EditCart::default()
        }
    }

    async fn shows_what_is_stored(&self, cart: CartId, when: &str) -> u32 {
        let shown = self.engine.cart(&self.caller, cart, None).await.unwrap();
        let fresh = self.world.second_instance();
        let stored = fresh.cart(&self.caller, cart, None).await.unwrap();
        assert_eq!(shown, stored, "{when}");
        shown.lines.iter().map(|line| line.quantity).sum()
    }
}

#[tokio::test]
async fn an_instance_shows_what_is_stored_whatever_became_of_a_commit() {
    // The last: it comes after its repetition was decided, and before that is committed.
    let faults: [&[CommitFault]; 4] = [
        &[CommitFault::ReplyLost],
        &[CommitFault::RequestLost],
        &[CommitFault::Late],
        &[CommitFault::Late, CommitFault::Slow],
    ];
    for mode in [CartMode::Crdt, CartMode::Occ, CartMode::Events] {
        for fault in faults {
            for at in 0..COMMITS {
                let when = format!("{mode:?}, {fault:?} of commit {at}");
                let course = Course::new(fault, at).await;
                let (cart, from) = (course.cart(mode).await, course.cart(mode).await);
                let (engine, caller) = (&course.engine, &course.caller);
                course
                    .insist(|| engine.merge_carts(caller, cart, from))
                    .await;
                assert_eq!(course.shows_what_is_stored(cart, &when).await, 6);
                let edit = course.add(1, Some("edit"));
                course
                    .insist(|| engine.edit_cart(caller, cart, edit.clone()))
                    .await;
                assert_eq!(course.shows_what_is_stored(cart, &when).await, 7);
                let checkout = CheckOutCart {
                    cart,
                    branch: None,
                    fulfilment: FulfilmentKind::Pickup,
                    address: None,
                    payment_method: PaymentMethod::OnDelivery,
                };
                let checkout = course
                    .insist(|| engine.check_out_cart(caller, "checkout", checkout.clone()))
                    .await;
                let order = OrderCheckout {
                    checkout: checkout.value.id,
                    customer: BuyerChoice::Unnamed,
                    note: None,
                    expected_total: None,
                };
                let owner = &course.world.owner;
                course
                    .insist(|| engine.order_checkout(owner, "order", order.clone()))
                    .await;
                course.shows_what_is_stored(cart, &when).await;
            }
        }
    }
}
