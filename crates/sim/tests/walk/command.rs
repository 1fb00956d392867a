//! One step of the walk: a command by chance, and what became of it.

use std::fmt::Debug;
use std::sync::Arc;

use abasto_domain::id::{BusinessId, CheckoutId, OrderId, ProductId};
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
use abasto_engine::cart::EditCart;
use abasto_engine::checkout::OpenCheckout;
use abasto_engine::clock::Clock;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::order_checkout::OrderCheckout;
use abasto_engine::order_return::TakeBack;
use abasto_engine::payment::{RequestRefund, StartPayment};
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Done, Engine, Error};
use abasto_sim::dice::Dice;
use abasto_store::Store;

use crate::bakery::{Bakery, START};
use crate::shopping::Trolley;
use crate::side::{Outcome, Patience};

/// How far the clock moves at once: less than a hold (ten minutes) and an unpaid order (thirty).
const STRIDE_MS: i64 = 420_000;
/// Longer than a cart may lie idle.
const LEAP_MS: i64 = 40 * 86_400_000;
/// Things older than this many are left alone.
const RECENT: usize = 12;
/// Most of one batch of a worker.
const BATCH: u32 = 1_000;
/// More batches than can be due at once.
const BATCHES_MAX: usize = 1_000;

pub(crate) struct Walker {
    pub(crate) bakery: Bakery,
    pub(crate) engine: Engine,
    pub(crate) patience: Patience,
    pub(crate) dice: Dice,
    pub(crate) advanced_ms: i64,
    pub(crate) checkouts: Vec<CheckoutId>,
    orders: Vec<OrderId>,
    payments: Vec<Arc<Payment>>,
    messages: Vec<ProviderMessage>,
    pub(crate) trolleys: Vec<Trolley>,
    /// Edits on their way: which cart, and what.
    pub(crate) delayed: Vec<(usize, EditCart)>,
    /// Edits that were sent.
    pub(crate) sent: Vec<(usize, EditCart)>,
}

/// What was told of a command; what it gave goes to `keep`.
pub(crate) fn told<T: Debug>(
    what: &str,
    (answer, was_unknown): (Result<T, Error>, bool),
    keep: impl FnOnce(T),
) -> Outcome {
    let text = format!("{what} {answer:?}");
    if let Ok(value) = answer {
        keep(value);
    }
    Outcome {
        answer: text,
        first: String::new(),
        was_unknown,
    }
}

/// The same of a command under a key.
pub(crate) fn told_done<T: Debug>(
    what: &str,
    (answer, was_unknown): (Result<Done<T>, Error>, bool),
    keep: impl FnOnce(T),
) -> Outcome {
    let replayed = answer.as_ref().map(|done| done.replayed).ok();
    let answer = answer.map(|done| done.value);
    Outcome {
        first: format!("{replayed:?}"),
        ..told(what, (answer, was_unknown), keep)
    }
}

fn plain(what: &str) -> Outcome {
    told(what, (Ok(()), false), |()| {})
}

/// The name of an outcome, without what it is about.
pub(crate) fn name_of(outcome: &Outcome) -> String {
    let mut words = outcome.answer.split(|c: char| !c.is_alphanumeric());
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (what, result, more) = (word(), word(), word());
    if result == "Ok" {
        format!("{what} done")
    } else {
        format!("{what} {more}")
    }
}

impl Walker {
    pub(crate) fn new(bakery: Bakery, patience: Patience, seed: u64) -> Self {
        Self {
            engine: bakery.engine.clone(),
            bakery,
            patience,
            dice: Dice::new(seed),
            advanced_ms: 0,
            checkouts: Vec::new(),
            orders: Vec::new(),
            payments: Vec::new(),
            messages: Vec::new(),
            trolleys: Vec::new(),
            delayed: Vec::new(),
            sent: Vec::new(),
        }
    }

    pub(crate) fn business(&self) -> BusinessId {
        self.bakery.owner.business()
    }

    /// Goes on over another store with the same content.
    pub(crate) fn work_on(&mut self, store: Arc<dyn Store>) {
        let clock = Clock::standing(START);
        clock.advance(self.advanced_ms);
        self.engine = Engine::new(store).unwrap().with_clock(clock);
    }

    /// Does one thing, a moment after the one before.
    pub(crate) async fn step(&mut self, number: u64) -> Outcome {
        self.move_clock(1);
        let key = if self.dice.chance(50) {
            // A key that was used a little earlier, by whatever.
            format!("k{}", number.saturating_sub(self.dice.roll(20)))
        } else {
            format!("k{number}")
        };
        match self.dice.roll(200) {
            0..24 => self.open(&key).await,
            24..44 => self.complete(&key).await,
            44..50 => self.abandon(&key).await,
            50..58 => self.direct(&key).await,
            58..76 => self.pay(&key).await,
            76..100 => self.tell(number).await,
            100..108 => self.call().await,
            108..122 => self.act(&key).await,
            122..128 => self.take_back(&key).await,
            128..133 => self.refund(&key).await,
            133..137 => self.receive(&key).await,
            137..140 => self.advance(),
            140..142 => self.expire().await,
            142..146 => self.new_cart().await,
            146..182 => self.edit(&key, number).await,
            182..190 => self.check_out(&key).await,
            190..193 => self.merge().await,
            193..198 => self.look().await,
            _ => self.clean_up().await,
        }
    }

    /// Lets everything that waits come to its end.
    pub(crate) async fn settle(&mut self) {
        for _ in 0..6 {
            self.advance();
            while self.engine.expire_due().await.unwrap() > 0 {}
            while self.engine.retry_parked_events().await.unwrap() > 0 {}
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

    pub(crate) fn recent<T: Copy>(dice: &mut Dice, all: &[T]) -> Option<T> {
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

    pub(crate) fn product(&mut self) -> ProductId {
        *self.dice.pick(&self.bakery.products).unwrap()
    }

    async fn open(&mut self, key: &str) -> Outcome {
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
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.open_checkout(owner, key, command.clone());
        let done = self.patience.insist(ask).await;
        told_done("open", done, |it| self.checkouts.push(it.id))
    }

    async fn complete(&mut self, key: &str) -> Outcome {
        let Some(checkout) = Self::recent(&mut self.dice, &self.checkouts) else {
            return plain("nothing");
        };
        let command = OrderCheckout {
            checkout,
            customer: BuyerChoice::Unnamed,
            note: None,
            expected_total: None,
        };
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.order_checkout(owner, key, command.clone());
        let done = self.patience.insist(ask).await;
        told_done("complete", done, |it| self.orders.push(it.id))
    }

    async fn abandon(&mut self, key: &str) -> Outcome {
        let Some(checkout) = Self::recent(&mut self.dice, &self.checkouts) else {
            return plain("nothing");
        };
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.abandon_checkout(owner, key, checkout);
        told_done("abandon", self.patience.insist(ask).await, |_| {})
    }

    async fn direct(&mut self, key: &str) -> Outcome {
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
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.place_order(owner, key, command.clone());
        let done = self.patience.insist(ask).await;
        told_done("order", done, |it| self.orders.push(it.id))
    }

    async fn pay(&mut self, key: &str) -> Outcome {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return plain("nothing");
        };
        let command = StartPayment {
            order,
            provider: Provider::Sandbox,
            return_url: None,
        };
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.start_payment(owner, key, command.clone());
        let done = self.patience.insist(ask).await;
        told_done("pay", done, |it| self.payments.push(it))
    }

    /// A message: a new one, or one that was sent before.
    async fn tell(&mut self, number: u64) -> Outcome {
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
        let strange = self.dice.chance(30);
        let Some(message) = old.filter(|_| again).or_else(|| {
            let payment = payment?;
            let amount = payment.amount.minor() + i64::from(wrong);
            Some(ProviderMessage {
                provider: payment.provider,
                event_id: format!("evt-{number}"),
                provider_ref: if strange {
                    format!("strange-{number}")
                } else {
                    payment.provider_ref.clone()?
                },
                news: News {
                    kind,
                    amount: Amount::from_minor(amount).ok()?,
                    currency: payment.currency,
                    refund: None,
                    occurred_at: Timestamp::from_millis(1),
                },
            })
        }) else {
            return plain("nothing");
        };
        self.messages.push(message.clone());
        let (engine, business) = (&self.engine, self.business());
        let ask = || engine.receive_payment_event(business, message.clone());
        let (fate, was_unknown) = self.patience.insist(ask).await;
        // A repetition is thanked for, whatever the first one came to.
        let first = format!("{fate:?}");
        Outcome {
            first,
            ..told("tell", (fate.map(|_| ()), was_unknown), |()| {})
        }
    }

    async fn call(&mut self) -> Outcome {
        // A claim whose answer is lost is nobody's until its lease is over.
        let claim = self.engine.claim_calls(BATCH);
        let calls = match self.patience.once(claim).await {
            Ok(calls) => calls,
            Err(error) => return told("claim", (Err::<(), _>(error), false), |()| {}),
        };
        let mut outcome = told("call", (Ok(calls.clone()), false), |_| {});
        for call in calls {
            // Never an answer that is asked again: when that happens is left to chance.
            let roll = self.dice.roll(10);
            let standing = match (call.kind, roll) {
                (CallKind::Start | CallKind::Cancel, 0) => Standing::Captured,
                (CallKind::Refund(_), 0) => Standing::Refunded,
                (_, 1) | (CallKind::Cancel, _) => Standing::Failed("declined".into()),
                _ => Standing::Pending,
            };
            let (engine, answer) = (&self.engine, answer(standing));
            let ask = || engine.answer_call(&call, &answer);
            let (answered, _) = self.patience.insist(ask).await;
            if answered.is_err() {
                outcome = told("answer", (answered, false), |()| {});
            }
        }
        outcome
    }

    async fn act(&mut self, key: &str) -> Outcome {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return plain("nothing");
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
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.step_order(owner, key, command.clone());
        told_done("act", self.patience.insist(ask).await, |_| {})
    }

    async fn take_back(&mut self, key: &str) -> Outcome {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return plain("nothing");
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
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.take_back(owner, key, command.clone());
        told_done("return", self.patience.insist(ask).await, |_| {})
    }

    async fn refund(&mut self, key: &str) -> Outcome {
        let Some(order) = Self::recent(&mut self.dice, &self.orders) else {
            return plain("nothing");
        };
        let amount = Amount::from_minor(self.dice.between(1, 200_000)).unwrap();
        let command = RequestRefund { order, amount };
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.request_refund(owner, key, command);
        told_done("refund", self.patience.insist(ask).await, |_| {})
    }

    async fn receive(&mut self, key: &str) -> Outcome {
        let command = MoveStock::Adjust {
            branch: self.bakery.branch,
            items: vec![Adjustment {
                product: self.product(),
                delta: self.dice.between(1, 10),
                reason: AdjustmentReason::Receipt,
                reference: None,
            }],
        };
        let (engine, owner) = (&self.engine, &self.bakery.owner);
        let ask = || engine.move_stock(owner, key, command.clone());
        told_done("receive", self.patience.insist(ask).await, |_| {})
    }

    fn advance(&mut self) -> Outcome {
        let leaps = self.dice.chance(60);
        self.move_clock(if leaps { LEAP_MS } else { STRIDE_MS });
        plain("advance")
    }

    fn move_clock(&mut self, by_ms: i64) {
        self.advanced_ms += by_ms;
        self.engine.clock().advance(by_ms);
    }

    /// The workers of one moment: what is over ends, what waits is looked at again.
    pub(crate) async fn expire(&mut self) -> Outcome {
        let engine = &self.engine;
        for _ in 0..BATCHES_MAX {
            let (ended, _) = self.patience.insist(|| engine.expire_due()).await;
            let (looked, _) = self.patience.insist(|| engine.retry_parked_events()).await;
            match (ended, looked) {
                (Ok(0), Ok(0)) => return plain("expire"),
                (Ok(_), Ok(_)) => {}
                (Err(error), _) | (_, Err(error)) => {
                    return told("expire", (Err::<(), _>(error), false), |()| {});
                }
            }
        }
        panic!("more is due than there can be");
    }
}

pub(crate) const fn method(online: bool) -> PaymentMethod {
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
