//! One step of the walk: a command by chance, and the name of what became of it.

use std::sync::Arc;

use abasto_domain::id::{CheckoutId, OrderId, ProductId};
use abasto_domain::money::Amount;
use abasto_domain::order::{FulfilmentKind, PaymentMethod};
use abasto_domain::order_return::{Fate, ReturnedItem};
use abasto_domain::payment::{Payment, Provider};
use abasto_domain::payment_call::{Answer, CallKind, Standing};
use abasto_domain::payment_event::{News, NewsKind, ProviderMessage};
use abasto_domain::pricing::Item;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::AdjustmentReason;
use abasto_domain::time::Timestamp;
use abasto_engine::checkout::OpenCheckout;
use abasto_engine::clock::Clock;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::order_checkout::OrderCheckout;
use abasto_engine::order_return::TakeBack;
use abasto_engine::payment::{RequestRefund, StartPayment};
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Engine, Error};
use abasto_sim::dice::Dice;
use abasto_store::Store;

use crate::bakery::{Bakery, START};

/// How far the clock moves at once: less than a hold (ten minutes) and an unpaid order (thirty).
const STRIDE_MS: i64 = 420_000;
/// Things older than this many are left alone.
const RECENT: usize = 12;

pub(crate) struct Walker<'a> {
    bakery: &'a Bakery,
    engine: Engine,
    dice: Dice,
    advanced_ms: i64,
    checkouts: Vec<CheckoutId>,
    orders: Vec<OrderId>,
    payments: Vec<Arc<Payment>>,
    messages: Vec<ProviderMessage>,
}

/// The name of an outcome: of a success, or of the refusal.
fn named<T>(what: &str, outcome: Result<T, Error>, told: impl FnOnce(T)) -> String {
    match outcome {
        Ok(value) => {
            told(value);
            format!("{what} done")
        }
        Err(error) => {
            let text = format!("{error:?}");
            let name = text.split(|c: char| !c.is_alphanumeric()).next();
            format!("{what} {}", name.unwrap_or_default())
        }
    }
}

impl<'a> Walker<'a> {
    pub(crate) fn new(bakery: &'a Bakery, seed: u64) -> Self {
        Self {
            bakery,
            engine: bakery.engine.clone(),
            dice: Dice::new(seed),
            advanced_ms: 0,
            checkouts: Vec::new(),
            orders: Vec::new(),
            payments: Vec::new(),
            messages: Vec::new(),
        }
    }

    /// Goes on over another store with the same content.
    pub(crate) fn work_on(&mut self, store: Arc<dyn Store>) {
        let clock = Clock::standing(START);
        clock.advance(self.advanced_ms);
        self.engine = Engine::new(store).unwrap().with_clock(clock);
    }

    /// Does one thing, a moment after the one before.
    pub(crate) async fn step(&mut self, number: u64) -> String {
        self.move_clock(1);
        let key = if self.dice.chance(50) {
            // A key that was used a little earlier, by whatever.
            format!("k{}", number.saturating_sub(self.dice.roll(20)))
        } else {
            format!("k{number}")
        };
        match self.dice.roll(100) {
            0..20 => self.open(&key).await,
            20..36 => self.complete(&key).await,
            36..40 => self.abandon(&key).await,
            40..46 => self.direct(&key).await,
            46..58 => self.pay(&key).await,
            58..74 => self.tell(number).await,
            74..79 => self.call().await,
            79..88 => self.act(&key).await,
            88..92 => self.take_back(&key).await,
            92..95 => self.refund(&key).await,
            95..97 => self.receive(&key).await,
            97..99 => self.advance(),
            _ => self.expire().await,
        }
    }

    /// Lets everything that waits come to its end.
    pub(crate) async fn settle(&mut self) {
        for _ in 0..6 {
            self.advance();
            while self.engine.expire_due().await.unwrap() > 0 {}
            for call in self.engine.claim_calls(1_000).await.unwrap() {
                let standing = match call.kind {
                    CallKind::Cancel => Standing::Failed("cancelled".into()),
                    CallKind::Start | CallKind::Refund(_) => Standing::Pending,
                };
                self.engine
                    .answer_call(&call, &answer(standing))
                    .await
                    .unwrap();
            }
        }
    }

    fn recent<T: Copy>(dice: &mut Dice, all: &[T]) -> Option<T> {
        let from = all.len().saturating_sub(RECENT);
        dice.pick(&all[from..]).copied()
    }

    fn items(&mut self) -> Vec<Item> {
        let lines = 1 + self.dice.roll(3);
        let items = (0..lines).map(|_| Item {
            product: self.product(),
            quantity: Quantity::new(self.dice.between(1, 3)).unwrap(),
        });
        items.collect()
    }

    fn product(&mut self) -> ProductId {
        *self.dice.pick(&self.bakery.products).unwrap()
    }

    async fn open(&mut self, key: &str) -> String {
        let known = self.dice.chance(500);
        let customer = self.dice.pick(&self.bakery.customers).copied();
        let uses = self.dice.chance(250);
        let coupon = self.dice.pick(&self.bakery.coupons).cloned();
        let online = self.dice.chance(800);
        let command = OpenCheckout {
            cart: None,
            branch: self.bakery.branch,
            items: self.items(),
            customer: customer.filter(|_| known),
            coupons: coupon.filter(|_| uses).into_iter().collect(),
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: method(online),
        };
        let owner = &self.bakery.owner;
        let done = self.engine.open_checkout(owner, key, command).await;
        named("open", done, |done| self.checkouts.push(done.value.id))
    }

    async fn complete(&mut self, key: &str) -> String {
        let Some(checkout) = Self::recent(&mut self.dice, &self.checkouts) else {
            return "nothing".into();
        };
        let command = OrderCheckout {
            checkout,
            customer: BuyerChoice::Unnamed,
            note: None,
            expected_total: None,
        };
        let owner = &self.bakery.owner;
        let done = self.engine.order_checkout(owner, key, command).await;
        named("complete", done, |done| self.orders.push(done.value.id))
    }

    async fn abandon(&mut self, key: &str) -> String {
        let Some(checkout) = Self::recent(&mut self.dice, &self.checkouts) else {
            return "nothing".into();
        };
        let owner = &self.bakery.owner;
        let done = self.engine.abandon_checkout(owner, key, checkout).await;
        named("abandon", done, |_| {})
    }

    async fn direct(&mut self, key: &str) -> String {
        let online = self.dice.chance(500);
        let command = PlaceOrder {
            branch: self.bakery.branch,
            items: self.items(),
            customer: BuyerChoice::Unnamed,
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: method(online),
            coupons: Vec::new(),
            delivery_fee: None,
            note: None,
            expected_total: None,
        };
        let owner = &self.bakery.owner;
        let done = self.engine.place_order(owner, key, command).await;
        named("order", done, |done| self.orders.push(done.value.id))
    }

    async fn pay(&mut self, key: &str) -> String {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return "nothing".into();
        };
        let command = StartPayment {
            order,
            provider: Provider::Sandbox,
            return_url: None,
        };
        let owner = &self.bakery.owner;
        let done = self.engine.start_payment(owner, key, command).await;
        named("pay", done, |done| self.payments.push(done.value))
    }

    /// A message: a new one, or one that was sent before.
    async fn tell(&mut self, number: u64) -> String {
        let again = self.dice.chance(250);
        let old = self.dice.pick(&self.messages).cloned();
        let from = self.payments.len().saturating_sub(RECENT);
        let payment = self.dice.pick(&self.payments[from..]).cloned();
        let kinds = [
            NewsKind::Captured,
            NewsKind::Captured,
            NewsKind::Failed,
            NewsKind::Authorized,
            NewsKind::RefundSucceeded,
            NewsKind::RefundFailed,
        ];
        let kind = *self.dice.pick(&kinds).unwrap();
        let wrong = self.dice.chance(30);
        let Some(message) = old.filter(|_| again).or_else(|| {
            let payment = payment?;
            let amount = payment.amount.minor() + i64::from(wrong);
            Some(ProviderMessage {
                provider: payment.provider,
                event_id: format!("evt-{number}"),
                provider_ref: payment.provider_ref.clone()?,
                news: News {
                    kind,
                    amount: Amount::from_minor(amount).ok()?,
                    currency: payment.currency,
                    refund: None,
                    occurred_at: Timestamp::from_millis(1),
                },
            })
        }) else {
            return "nothing".into();
        };
        self.messages.push(message.clone());
        let business = self.bakery.owner.business();
        let fate = self.engine.receive_payment_event(business, message).await;
        match fate {
            Ok(fate) => format!("tell {fate:?}"),
            Err(error) => named("tell", Err::<(), _>(error), |()| {}),
        }
    }

    async fn call(&mut self) -> String {
        let calls = match self.engine.claim_calls(1_000).await {
            Ok(calls) => calls,
            Err(error) => return named("claim", Err::<(), _>(error), |()| {}),
        };
        let mut outcome = format!("calls {}", calls.len().min(3));
        for call in calls {
            // Never an answer that is asked again: when that happens is left to chance.
            let roll = self.dice.roll(10);
            let standing = match (call.kind, roll) {
                (CallKind::Start | CallKind::Cancel, 0) => Standing::Captured,
                (CallKind::Refund(_), 0) => Standing::Refunded,
                (_, 1) | (CallKind::Cancel, _) => Standing::Failed("declined".into()),
                _ => Standing::Pending,
            };
            let answered = self.engine.answer_call(&call, &answer(standing)).await;
            if let Err(error) = answered {
                outcome = named("answer", Err::<(), _>(error), |()| {});
            }
        }
        outcome
    }

    async fn act(&mut self, key: &str) -> String {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return "nothing".into();
        };
        let step = match self.dice.roll(6) {
            0 | 1 => OrderStep::Confirm,
            2 => OrderStep::Prepare,
            3 => OrderStep::Dispatch,
            4 => OrderStep::Deliver,
            _ => OrderStep::Cancel {
                reason: "walk".into(),
                restock: Some(self.dice.chance(700)),
            },
        };
        let command = StepOrder {
            order,
            step,
            expected_version: None,
        };
        let owner = &self.bakery.owner;
        named(
            "act",
            self.engine.step_order(owner, key, command).await,
            |_| {},
        )
    }

    async fn take_back(&mut self, key: &str) -> String {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return "nothing".into();
        };
        let fate = if self.dice.chance(500) {
            Fate::Restock
        } else {
            Fate::Discard
        };
        let command = TakeBack {
            order,
            items: vec![ReturnedItem {
                product: self.product(),
                quantity: Quantity::new(1).unwrap(),
                fate,
            }],
            reason: "walk".into(),
        };
        let owner = &self.bakery.owner;
        named(
            "return",
            self.engine.take_back(owner, key, command).await,
            |_| {},
        )
    }

    async fn refund(&mut self, key: &str) -> String {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return "nothing".into();
        };
        let amount = Amount::from_minor(self.dice.between(1, 200_000)).unwrap();
        let command = RequestRefund { order, amount };
        let owner = &self.bakery.owner;
        let done = self.engine.request_refund(owner, key, command).await;
        named("refund", done, |_| {})
    }

    async fn receive(&mut self, key: &str) -> String {
        let command = MoveStock::Adjust {
            branch: self.bakery.branch,
            items: vec![Adjustment {
                product: self.product(),
                delta: self.dice.between(1, 10),
                reason: AdjustmentReason::Receipt,
                reference: None,
            }],
        };
        let owner = &self.bakery.owner;
        named(
            "receive",
            self.engine.move_stock(owner, key, command).await,
            |_| {},
        )
    }

    fn advance(&mut self) -> String {
        self.move_clock(STRIDE_MS);
        "advance".into()
    }

    fn move_clock(&mut self, by_ms: i64) {
        self.advanced_ms += by_ms;
        self.engine.clock().advance(by_ms);
    }

    async fn expire(&mut self) -> String {
        match self.engine.expire_due().await {
            Ok(ended) => format!("expire {}", ended.min(3)),
            Err(error) => named("expire", Err::<(), _>(error), |()| {}),
        }
    }
}

const fn method(online: bool) -> PaymentMethod {
    if online {
        PaymentMethod::Online
    } else {
        PaymentMethod::OnDelivery
    }
}

const fn answer(standing: Standing) -> Answer {
    Answer {
        provider_ref: None,
        redirect_url: None,
        standing,
    }
}
