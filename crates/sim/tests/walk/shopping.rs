//! What is done to carts: edits of several devices, doubled, late and in another order, in all
//! three modes; merging, buying, looking, cleaning up.

use abasto_domain::business::CartMode;
use abasto_domain::id::CartId;
use abasto_domain::order::FulfilmentKind;
use abasto_engine::Error;
use abasto_engine::cart::{
    CartCaller, CartRefusal, CartView, EditCart, EditOperation, EditStep, FieldName, NewCart,
};
use abasto_engine::checkout_cart::CheckOutCart;

use crate::bakery::START;
use crate::command::{Walker, method, told, told_done};
use crate::side::Outcome;

/// Carts older than this many are left alone.
const RECENT: usize = 8;
/// Devices of one cart.
const DEVICES: usize = 3;
/// Edits of one cart; then it rests, so that no line grows as busy as to be rewritten.
const EDITS_MAX: u32 = 40;
/// Lines, as they are and as they were, that edits are about.
const LINES_MAX: usize = 12;
/// Edits that may be sent again.
const SENT_MAX: usize = 40;
const BATCH: u32 = 100;
const BATCHES_MAX: usize = 1_000;

/// A cart, and what a shopper remembers of it.
pub(crate) struct Trolley {
    id: CartId,
    caller: CartCaller,
    mode: CartMode,
    /// Names that devices leased, each with the next number.
    devices: Vec<(String, u64)>,
    /// Lines with their tags, the latest first.
    lines: Vec<(String, String)>,
    version: Option<i64>,
    edits: u32,
}

impl Trolley {
    fn see(&mut self, view: &CartView) {
        let seen = view
            .lines
            .iter()
            .map(|it| (it.line.clone(), it.tag.clone()));
        self.lines.splice(0..0, seen);
        self.lines.truncate(LINES_MAX);
        self.version = view.version;
    }
}

impl Walker {
    fn index(&mut self, of: usize) -> usize {
        let rolled = self.dice.roll(u64::try_from(of).unwrap());
        usize::try_from(rolled).unwrap()
    }

    fn a_trolley(&mut self) -> Option<usize> {
        let from = self.trolleys.len().saturating_sub(RECENT);
        let all: Vec<usize> = (from..self.trolleys.len()).collect();
        self.dice.pick(&all).copied()
    }

    fn remember(&mut self, id: CartId, mode: CartMode, caller: CartCaller) {
        if self
            .trolleys
            .iter()
            .rev()
            .take(RECENT)
            .any(|it| it.id == id)
        {
            return;
        }
        self.trolleys.push(Trolley {
            id,
            caller,
            mode,
            devices: Vec::new(),
            lines: Vec::new(),
            version: None,
            edits: 0,
        });
    }

    pub(crate) async fn new_cart(&mut self) -> Outcome {
        let modes = [CartMode::Crdt, CartMode::Occ, CartMode::Events];
        let mode = *self.dice.pick(&modes).unwrap();
        let shopper = self.dice.pick(&self.bakery.shoppers).cloned();
        let shopper = shopper.filter(|_| self.dice.chance(600));
        let is_guest = shopper.is_none();
        let caller = CartCaller {
            context: shopper.unwrap_or_else(|| self.bakery.owner.clone()),
            guest_secret: None,
        };
        let command = NewCart {
            branch: self.bakery.branch,
            customer: None,
            mode: Some(mode),
            currency_hint: None,
        };
        let engine = &self.engine;
        let ask = || engine.create_cart(&caller, command.clone());
        let (opened, was_unknown) = if is_guest {
            (self.patience.once(ask()).await, false)
        } else {
            self.patience.insist(ask).await
        };
        let existed = opened.as_ref().map(|opened| opened.existed).ok();
        let view = opened.map(|opened| opened.view);
        if let Ok(view) = &view {
            self.remember(view.id, view.mode, caller);
        }
        Outcome {
            first: format!("{existed:?}"),
            ..told("cart", (view, was_unknown), |_| {})
        }
    }

    /// Sends an edit: one of before, one that was on its way, or a new one, which may stay on its
    /// way for a while.
    pub(crate) async fn edit(&mut self, key: &str, number: u64) -> Outcome {
        if self.dice.chance(150) {
            let again = self.dice.pick(&self.sent).cloned();
            if let Some((cart, command)) = again {
                return self.send("again", cart, command).await;
            }
        }
        if self.dice.chance(250) && !self.delayed.is_empty() {
            let late = self.index(self.delayed.len());
            let (cart, command) = self.delayed.swap_remove(late);
            return self.send("late", cart, command).await;
        }
        let Some(cart) = self.a_trolley() else {
            return self.new_cart().await;
        };
        let mut command = EditCart {
            steps: self.steps(cart),
            ..EditCart::default()
        };
        let trolley = &self.trolleys[cart];
        if trolley.edits >= EDITS_MAX {
            return self.look().await;
        }
        if trolley.mode == CartMode::Occ {
            let seen = trolley.version;
            let old = self.dice.chance(300);
            let seen = seen.map(|version| version - i64::from(old));
            command.if_match = seen.filter(|_| self.dice.chance(300));
        }
        match self.dice.roll(10) {
            0..2 => {}
            2..5 => command.key = Some(key.to_owned()),
            _ => {
                if let Err(outcome) = self.number(cart, &mut command, number).await {
                    return outcome;
                }
                if self.dice.chance(250) {
                    self.delayed.push((cart, command));
                    return told("delayed", (Ok(()), false), |()| {});
                }
            }
        }
        self.send("edit", cart, command).await
    }

    /// Lets one of the devices number the operations; it may lease its name first.
    async fn number(
        &mut self,
        cart: usize,
        command: &mut EditCart,
        number: u64,
    ) -> Result<(), Outcome> {
        let device = self.index(DEVICES);
        // A device's clock is up to a minute behind, and never shows a time twice.
        let behind_ms = self.dice.roll(60_000);
        let by_device = self.dice.chance(500);
        let trolley = &mut self.trolleys[cart];
        if device >= trolley.devices.len() {
            let lease = self.engine.lease_device(&trolley.caller, trolley.id);
            match self.patience.once(lease).await {
                Ok(lease) => trolley.devices.push((lease.device, lease.next_sequence)),
                Err(error) => return Err(self.ended("lease", cart, Err(error), false)),
            }
        }
        let last = trolley.devices.len() - 1;
        let (name, next) = &mut trolley.devices[device.min(last)];
        command.device = Some((name.clone(), *next));
        *next += u64::try_from(command.steps.len()).unwrap();
        let now_ms = (START.as_millis() + self.advanced_ms).unsigned_abs();
        let hlc = ((now_ms - behind_ms) << 16) | 0x8000 | (number & 0x7fff);
        command.hlc = by_device.then_some(hlc);
        Ok(())
    }

    async fn send(&mut self, what: &str, cart: usize, command: EditCart) -> Outcome {
        if self.sent.len() >= SENT_MAX {
            self.sent.remove(0);
        }
        self.sent.push((cart, command.clone()));
        let trolley = &mut self.trolleys[cart];
        trolley.edits += 1;
        let (engine, caller, id) = (&self.engine, &trolley.caller, trolley.id);
        let ask = || engine.edit_cart(caller, id, command.clone());
        let (edited, was_unknown) = if command.device.is_none() && command.key.is_none() {
            // Without a name a repetition would be another edit.
            (self.patience.once(ask()).await, false)
        } else {
            self.patience.insist(ask).await
        };
        let replayed = edited.as_ref().map(|edited| edited.replayed).ok();
        let outcome = self.ended(what, cart, edited.map(|edited| edited.view), was_unknown);
        Outcome {
            first: format!("{replayed:?}"),
            ..outcome
        }
    }

    /// Remembers what was seen; who finds a cart ended goes on with its successor.
    fn ended(
        &mut self,
        what: &str,
        cart: usize,
        seen: Result<CartView, Error>,
        was_unknown: bool,
    ) -> Outcome {
        let trolley = &mut self.trolleys[cart];
        let (mode, caller) = (trolley.mode, trolley.caller.clone());
        match &seen {
            Ok(view) => trolley.see(view),
            Err(Error::Cart(CartRefusal::Ended {
                successor: Some(next),
                ..
            })) => self.remember(*next, mode, caller),
            Err(_) => {}
        }
        told(what, (seen, was_unknown), |_| {})
    }

    fn steps(&mut self, cart: usize) -> Vec<EditStep> {
        let count = 1 + self.dice.roll(3);
        (0..count).map(|_| self.one_step(cart)).collect()
    }

    fn one_step(&mut self, cart: usize) -> EditStep {
        let seen = self.dice.pick(&self.trolleys[cart].lines).cloned();
        let product_id = self.product();
        let units = u32::try_from(self.dice.between(1, 4)).unwrap();
        let with_tag = self.dice.chance(600);
        let text = format!("v{}", self.dice.roll(5));
        let fields = [FieldName::Note, FieldName::Phone];
        let field = *self.dice.pick(&fields).unwrap();
        let code = self.dice.pick(&self.bakery.coupons).unwrap().to_string();
        let roll = self.dice.roll(20);
        let untagged = |operation| EditStep {
            operation,
            tag: None,
        };
        let Some((line, tag)) = seen.filter(|_| roll >= 8) else {
            let sliced = [("cut".to_owned(), text)].into_iter();
            return untagged(EditOperation::AddItem {
                product_id,
                options: sliced.filter(|_| roll == 0).collect(),
                quantity: units,
            });
        };
        let operation = match roll {
            8..11 => EditOperation::SetQuantity {
                line,
                quantity: units - 1,
            },
            11..13 => EditOperation::Increment { line, by: units },
            13..15 => EditOperation::Decrement { line, by: units },
            15 => EditOperation::RemoveItem { line },
            16 => EditOperation::SetAttribute {
                line,
                name: "gift".into(),
                value: text,
            },
            17 => return untagged(EditOperation::SetField { field, value: text }),
            18 => return untagged(EditOperation::ApplyCoupon { code }),
            _ if units == 1 => return untagged(EditOperation::Clear),
            _ => return untagged(EditOperation::RemoveCoupon { code }),
        };
        EditStep {
            operation,
            tag: Some(tag).filter(|_| with_tag),
        }
    }

    pub(crate) async fn look(&mut self) -> Outcome {
        let Some(cart) = self.a_trolley() else {
            return told("nothing", (Ok(()), false), |()| {});
        };
        let trolley = &self.trolleys[cart];
        let (engine, caller, id) = (&self.engine, &trolley.caller, trolley.id);
        let ask = || engine.cart(caller, id, None);
        let (view, _) = self.patience.insist(ask).await;
        self.ended("look", cart, view, false)
    }

    pub(crate) async fn check_out(&mut self, key: &str) -> Outcome {
        let online = self.dice.chance(800);
        let Some(cart) = self.a_trolley() else {
            return told("nothing", (Ok(()), false), |()| {});
        };
        let trolley = &self.trolleys[cart];
        let command = CheckOutCart {
            cart: trolley.id,
            branch: None,
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: method(online),
        };
        let (engine, caller) = (&self.engine, &trolley.caller);
        let ask = || engine.check_out_cart(caller, key, command.clone());
        let done = self.patience.insist(ask).await;
        told_done("buy", done, |it| self.checkouts.push(it.id))
    }

    pub(crate) async fn merge(&mut self) -> Outcome {
        let (Some(into), Some(from)) = (self.a_trolley(), self.a_trolley()) else {
            return told("nothing", (Ok(()), false), |()| {});
        };
        let caller = CartCaller {
            context: self.bakery.owner.clone(),
            guest_secret: None,
        };
        let (engine, target, source) =
            (&self.engine, self.trolleys[into].id, self.trolleys[from].id);
        let ask = || engine.merge_carts(&caller, target, source);
        let (view, was_unknown) = self.patience.insist(ask).await;
        self.ended("merge", into, view, was_unknown)
    }

    pub(crate) async fn clean_up(&mut self) -> Outcome {
        let engine = &self.engine;
        for _ in 0..BATCHES_MAX {
            let (done, _) = self.patience.insist(|| engine.clean_up_carts(BATCH)).await;
            match done {
                Ok(done) if done.looked_at == 0 => {
                    return told("clean", (Ok(()), false), |()| {});
                }
                Ok(_) => {}
                Err(error) => return told("clean", (Err::<(), _>(error), false), |()| {}),
            }
        }
        panic!("more carts are due than there can be");
    }
}
