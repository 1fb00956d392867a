//! A client: a day of commands, each sent again under its key until there is an answer.

use std::sync::{Arc, Mutex};

use abasto_domain::id::{BranchId, ProductId};
use abasto_domain::order::{FulfilmentKind, Order, PaymentMethod};
use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::AdjustmentReason;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::product::ChangeProduct;
use abasto_engine::stock::{Adjustment, Counted, MoveStock};
use abasto_engine::{Context, Engine, Error};
use abasto_sim::dice::Dice;
use abasto_store::record::Document;
use abasto_store::verdict::Reply;

use crate::shop::Shop;

/// Commands of one client.
const COMMANDS: u64 = 25;
/// How often a command is sent before the test gives up.
const TRIES_MAX: u32 = 500;

/// What a client was told at last.
pub(crate) struct Told {
    pub(crate) key: String,
    /// The answer; nothing when it was refused.
    pub(crate) reply: Option<Reply>,
    /// Whether one of the tries ended without an answer.
    pub(crate) once_unknown: bool,
}

pub(crate) struct Client {
    number: u64,
    dice: Dice,
    engine: Engine,
    owner: Context,
    branches: Vec<BranchId>,
    products: Vec<ProductId>,
    orders: Arc<Mutex<Vec<Arc<Order>>>>,
    told: Vec<Told>,
}

/// What a client wants.
enum Wish {
    Place(PlaceOrder),
    Step(StepOrder),
    Move(MoveStock),
}

impl Client {
    pub(crate) fn new(number: u64, seed: u64, engine: Engine, shop: &Shop) -> Self {
        Self {
            number,
            dice: Dice::new(seed * 1_000 + number),
            engine,
            owner: shop.owner.clone(),
            branches: shop.branches.clone(),
            products: shop.products.clone(),
            orders: Arc::clone(&shop.orders),
            told: Vec::new(),
        }
    }

    pub(crate) async fn day(mut self) -> Vec<Told> {
        for command in 0..COMMANDS {
            let key = format!("client-{}-{command}", self.number);
            if self.dice.chance(80) {
                self.change_price().await;
            } else {
                let wish = self.wish().await;
                self.insist(key, wish).await;
            }
        }
        self.told
    }

    async fn wish(&mut self) -> Wish {
        let known = self.orders.lock().unwrap().clone();
        match (self.dice.roll(10), self.dice.pick(&known).cloned()) {
            (0..4, _) | (4..7, None) => Wish::Place(self.basket()),
            (4..7, Some(order)) => Wish::Step(self.step(&order)),
            (7, _) => Wish::Move(self.transfer()),
            (8, _) => Wish::Move(self.count().await),
            _ => Wish::Move(self.adjustment()),
        }
    }

    fn branch(&mut self) -> BranchId {
        *self.dice.pick(&self.branches).unwrap()
    }

    fn product(&mut self) -> ProductId {
        *self.dice.pick(&self.products).unwrap()
    }

    fn item(&mut self) -> Item {
        Item {
            product: self.product(),
            quantity: Quantity::new(self.dice.between(1, 3)).unwrap(),
        }
    }

    fn basket(&mut self) -> PlaceOrder {
        PlaceOrder {
            branch: self.branch(),
            items: (0..=self.dice.roll(3)).map(|_| self.item()).collect(),
            customer: BuyerChoice::Unnamed,
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: PaymentMethod::OnDelivery,
            coupons: Vec::new(),
            delivery_fee: None,
            note: None,
            expected_total: None,
        }
    }

    fn step(&mut self, order: &Order) -> StepOrder {
        let cancel = |restock| OrderStep::Cancel {
            reason: "storm".into(),
            restock: Some(restock),
        };
        let steps = [
            OrderStep::Confirm,
            OrderStep::Prepare,
            OrderStep::Dispatch,
            OrderStep::Deliver,
            cancel(true),
            cancel(false),
        ];
        StepOrder {
            order: order.id,
            step: self.dice.pick(&steps).unwrap().clone(),
            expected_version: None,
        }
    }

    fn transfer(&mut self) -> MoveStock {
        let from = self.branch();
        let to = self.branches.iter().find(|branch| **branch != from);
        MoveStock::Transfer {
            from,
            to: *to.unwrap(),
            items: vec![self.item()],
        }
    }

    fn adjustment(&mut self) -> MoveStock {
        let delta = if self.dice.chance(500) { 4 } else { -2 };
        MoveStock::Adjust {
            branch: self.branch(),
            items: vec![Adjustment {
                product: self.product(),
                delta,
                reason: AdjustmentReason::Correction,
                reference: None,
            }],
        }
    }

    /// A count of what was seen a moment ago, perhaps long ago.
    async fn count(&mut self) -> MoveStock {
        let (branch, product) = (self.branch(), self.product());
        let levels = self.engine.levels_of(&self.owner, branch, &[product]).await;
        let level = levels
            .ok()
            .and_then(|levels| levels.first().map(|view| view.level));
        let expected_version = level.map_or(1, |level| level.version);
        let counted = level.map_or(5, |level| level.on_hand()) + self.dice.between(-1, 1);
        let items = vec![Counted {
            product,
            counted: counted.max(0),
            expected_version,
        }];
        MoveStock::Count { branch, items }
    }

    async fn change_price(&mut self) {
        let product = self.product();
        let Ok(present) = self.engine.product(&self.owner, product).await else {
            return;
        };
        let change = ChangeProduct {
            sale_price: present.sale_price.plus(present.sale_price).ok(),
            active: Some(self.dice.chance(900)),
            ..ChangeProduct::default()
        };
        let version = present.stamp.version;
        // Whether it came through does not matter here: orders must be right either way.
        let _ = self
            .engine
            .change_product(&self.owner, product, version, change)
            .await;
    }

    async fn insist(&mut self, key: String, wish: Wish) {
        let mut once_unknown = false;
        for _ in 0..TRIES_MAX {
            let reply = match self.send(&key, &wish).await {
                Ok(reply) => Some(reply),
                Err(Error::Internal(why)) => panic!("{key}: {why:?}"),
                Err(Error::OutcomeUnknown) => {
                    once_unknown = true;
                    continue;
                }
                Err(Error::Overloaded | Error::Unavailable(_) | Error::Contended) => continue,
                Err(_) => None,
            };
            if let Some(Reply::Document(Document::Order(order))) = &reply {
                self.orders.lock().unwrap().push(Arc::clone(order));
            }
            self.told.push(Told {
                key,
                reply,
                once_unknown,
            });
            return;
        }
        panic!("{key}: no answer");
    }

    async fn send(&self, key: &str, wish: &Wish) -> Result<Reply, Error> {
        let (engine, owner) = (&self.engine, &self.owner);
        let order = |order: Arc<Order>| Reply::Document(Document::Order(order));
        match wish {
            Wish::Place(command) => {
                let done = engine.place_order(owner, key, command.clone()).await?;
                Ok(order(done.value))
            }
            Wish::Step(command) => {
                let done = engine.step_order(owner, key, command.clone()).await?;
                Ok(order(done.value))
            }
            Wish::Move(command) => {
                let done = engine.move_stock(owner, key, command.clone()).await?;
                Ok(Reply::Stock(done.value))
            }
        }
    }
}
