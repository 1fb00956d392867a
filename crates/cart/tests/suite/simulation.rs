//! Three places edit one cart; changes are lost, doubled, reordered and sent in parts.
//!
//! Every step is compared with the oracle. A [`Mistake`] can be switched on: it replaces the one
//! right step by a wrong one that others have shipped, and the comparison must notice.

use crate::oracle::{Edit, Known, Picture, Shown};
use crate::support::*;
use abasto_cart::{Cart, Dot, Entry, Hlc, LineKey, Observed, Operation, Rid, Stamp, Subject, Tag};
use std::collections::{BTreeMap, BTreeSet};

const CAP: u32 = 9;
const STEPS: usize = 24;

/// What goes wrong, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    /// A server joins a context that a client claims.
    ClientContextJoined,
    /// A part of a state travels under the context of the whole.
    PartUnderWholeContext,
    /// A restored device numbers on from its backup.
    DotUsedTwice,
    /// A lost cart is made again from what was shown of it.
    RebuiltFromView,
    /// Among equal stamps the value that arrived last counts.
    ArrivalDecides,
    /// A write does not remove what it saw, so that the clock decides.
    ClockDecides,
    /// Every removed dot is kept one by one.
    TombstonesKept,
    /// A step is sent as the quantity that it should lead to.
    TargetSent,
    /// A received state replaces the own one.
    BlindReplacement,
}

pub(crate) const MISTAKES: [Mistake; 9] = [
    Mistake::ClientContextJoined,
    Mistake::PartUnderWholeContext,
    Mistake::DotUsedTwice,
    Mistake::RebuiltFromView,
    Mistake::ArrivalDecides,
    Mistake::ClockDecides,
    Mistake::TombstonesKept,
    Mistake::TargetSent,
    Mistake::BlindReplacement,
];

#[derive(Clone)]
struct Place {
    cart: Cart,
    rid: Rid,
    seq: u64,
    known: Known,
    /// Dots in the order in which they became live here.
    arrivals: Vec<Dot>,
}

/// A change under way, and what the oracle says it tells.
#[derive(Clone)]
struct Message {
    cart: Cart,
    tells: Known,
}

/// A tag that a client still holds, and what the oracle says its holder knew.
struct Held {
    tag: Tag,
    knew: Known,
}

pub(crate) struct Simulation {
    rng: Rng,
    mistake: Mistake,
    places: Vec<Place>,
    sent: Vec<Message>,
    held: Vec<Held>,
}

/// A run in full; the error says what differed.
pub(crate) fn run(seed: u64, mistake: Mistake) -> Result<(), String> {
    let mut simulation = Simulation::new(seed, mistake);
    for step in 0..STEPS {
        simulation
            .step()
            .map_err(|wrong| format!("seed {seed}, step {step}: {wrong}"))?;
    }
    simulation
        .settle()
        .map_err(|wrong| format!("seed {seed}, at the end: {wrong}"))
}

impl Simulation {
    fn new(seed: u64, mistake: Mistake) -> Self {
        // Place 0 is the region that may collapse lines; the others are devices.
        let rids = [Rid::region(7), Rid::device(1), Rid::device(2)];
        let place = |rid| Place {
            cart: Cart::new(),
            rid,
            seq: 0,
            known: Known::default(),
            arrivals: Vec::new(),
        };
        Self {
            rng: Rng::new(seed),
            mistake,
            places: rids.map(place).into(),
            sent: Vec::new(),
            held: Vec::new(),
        }
    }

    fn step(&mut self) -> Result<(), String> {
        let at = self.rng.below(3);
        match self.rng.below(10) {
            0..=4 => self.edit(at),
            5..=6 => self.deliver(at),
            7 => self.send_part(at),
            8 => self.send_state(at),
            _ => self.hold_tag(at),
        }
        self.misstep(at);
        self.compare(at)
    }

    fn edit(&mut self, at: usize) {
        let edit = random_edit(&mut self.rng, at == 0);
        let hlc = Hlc::new(1 + self.rng.below(3) as u64, 0);
        let place = &self.places[at];
        let stamp = Stamp {
            dot: dot(place.rid, place.seq + 1),
            hlc,
        };
        let fitting = |held: &Held| {
            operation(edit).is_some_and(|operation| operation.subject() == held.tag.subject)
        };
        let held = self
            .held
            .iter()
            .find(|held| fitting(held))
            .filter(|_| self.rng.one_in(2));
        let knew = held.map_or(&place.known, |held| &held.knew);
        let expected = knew.effect(edit, stamp.dot, hlc, CAP.into());
        let made = self.make(at, edit, stamp, held.map(|held| &held.tag));
        assert_eq!(
            made.is_some(),
            expected.is_some(),
            "{edit:?} is refused by one of the two"
        );
        let (Some(cart), Some(effect)) = (made, expected) else {
            return;
        };
        let created = effect
            .created
            .map(|fact| (stamp.dot, fact))
            .into_iter()
            .collect();
        let message = Message {
            cart,
            tells: Known {
                created,
                removed: effect.removed,
            },
        };
        self.places[at].seq += 1;
        self.places[at].receive(&message);
        self.sent.push(message);
    }

    /// The change of the implementation under test, with its mistake if it has one here.
    fn make(&self, at: usize, edit: Edit, stamp: Stamp, tag: Option<&Tag>) -> Option<Cart> {
        let place = &self.places[at];
        let Some(mut operation) = operation(edit) else {
            let Edit::Collapse(of) = edit else {
                unreachable!("only collapse is no operation")
            };
            return place.cart.collapse(&product(of), stamp.dot);
        };
        let observed = place.cart.observe(&operation.subject(), &|_| units(CAP));
        let seen = tag.map_or(&observed, |tag| &tag.seen);
        let blind = Observed {
            dots: Vec::new(),
            attributes: Vec::new(),
            ..seen.clone()
        };
        match self.mistake {
            Mistake::ClockDecides if !is_removal(edit) => operation.delta(stamp, &blind).ok(),
            Mistake::TargetSent => {
                if let (Edit::Step(of, by), Some(shown)) = (edit, seen.quantity) {
                    let target = shown.get().saturating_add_signed(by);
                    operation = set(product(of).as_str(), target);
                }
                operation.delta(stamp, seen).ok()
            }
            _ => operation.delta(stamp, seen).ok(),
        }
    }

    fn deliver(&mut self, to: usize) {
        if !self.sent.is_empty() {
            let message = self.rng.pick(&self.sent).clone();
            self.places[to].receive(&message);
        }
    }

    /// Some entries, each under its own dot, and some removals.
    fn send_part(&mut self, from: usize) {
        let to = self.rng.below(3);
        let place = &self.places[from];
        let live = place.known.live();
        let rng = &mut self.rng;
        let part: BTreeSet<Dot> = live.keys().copied().filter(|_| rng.one_in(2)).collect();
        let removed: BTreeSet<Dot> = place
            .known
            .removed
            .iter()
            .copied()
            .filter(|_| rng.one_in(2))
            .collect();
        let whole = || {
            live.keys()
                .chain(&place.known.removed)
                .copied()
                .filter(|dot| !part.contains(dot))
        };
        let claimed: Vec<Dot> = match self.mistake {
            Mistake::PartUnderWholeContext => whole().collect(),
            _ => removed.iter().copied().collect(),
        };
        let entries = place
            .cart
            .entries()
            .iter()
            .filter(|(dot, _)| part.contains(dot))
            .cloned();
        let created = part
            .iter()
            .map(|dot| (*dot, place.known.created[dot].clone()))
            .collect();
        let message = Message {
            cart: Cart::delta(entries, claimed),
            tells: Known { created, removed },
        };
        self.places[to].receive(&message);
    }

    fn send_state(&mut self, from: usize) {
        let to = self.rng.below(3);
        let message = self.places[from].state();
        if self.mistake == Mistake::BlindReplacement {
            self.places[to].cart = Cart::new();
        }
        self.places[to].receive(&message);
    }

    fn hold_tag(&mut self, at: usize) {
        let subject = match self.rng.below(4) {
            0 => Subject::Lines,
            1 => Subject::Coupon(name(&code(self.rng.below(2) as u8))),
            _ => Subject::Line(product(self.rng.below(3) as u8)),
        };
        let place = &self.places[at];
        let tag = place.cart.tag(subject, &|_| units(CAP));
        let tag = Tag::decode(&tag.encode()).expect("a tag reads back");
        self.held.insert(
            0,
            Held {
                tag,
                knew: place.known.clone(),
            },
        );
    }

    /// Mistakes that are a step of their own.
    fn misstep(&mut self, at: usize) {
        let is_due = self.rng.one_in(6);
        let place = &mut self.places[at];
        match self.mistake {
            Mistake::ClientContextJoined if is_due => {
                let claimed = (1..4).map(|ahead| dot(place.rid, place.seq + ahead));
                place.cart.join(&Cart::delta([], claimed));
            }
            Mistake::DotUsedTwice if is_due => place.seq = place.seq.saturating_sub(1),
            Mistake::RebuiltFromView if is_due => {
                let shown = place.cart.view(&|_| units(CAP));
                place.cart = Cart::new();
                for line in shown.lines {
                    place.seq += 1;
                    let operation = Operation::AddItem {
                        line: line.line,
                        quantity: line.quantity,
                    };
                    let stamp = Stamp {
                        dot: dot(place.rid, place.seq),
                        hlc: Hlc::ZERO,
                    };
                    place
                        .cart
                        .apply(&operation, stamp, &|_| units(CAP))
                        .expect("an add is never refused");
                }
            }
            _ => {}
        }
    }

    fn compare(&self, at: usize) -> Result<(), String> {
        let place = &self.places[at];
        let shown = match self.mistake {
            Mistake::ArrivalDecides => place.picture_by_arrival(),
            _ => picture(&place.cart),
        };
        let expected = place.known.picture(CAP.into());
        equal("view", &shown, &expected)?;
        let live: Vec<Dot> = place.cart.entries().iter().map(|(dot, _)| *dot).collect();
        equal(
            "live dots",
            &live,
            &place.known.live().into_keys().collect(),
        )?;
        let heard = place
            .known
            .created
            .keys()
            .chain(&place.known.removed)
            .copied();
        equal(
            "context",
            place.cart.context(),
            &abasto_cart::Context::from_dots(heard),
        )?;
        self.compare_size(place)
    }

    /// The bound of the design: per author, per line and per live dot, nothing per removed one.
    fn compare_size(&self, place: &Place) -> Result<(), String> {
        let context = place.cart.context();
        let kept = if self.mistake == Mistake::TombstonesKept {
            9 * place.known.removed.len()
        } else {
            0
        };
        let live: usize = place
            .cart
            .entries()
            .iter()
            .map(|(_, entry)| 24 + 2 * lives(entry))
            .sum();
        let bound = 8 + 11 * 3 + 3 * context.cloud().len() + live;
        let bytes = place.cart.encode();
        if bytes.len() + kept > bound {
            return Err(format!(
                "{} bytes where {bound} are allowed",
                bytes.len() + kept
            ));
        }
        equal(
            "bytes read back",
            &Cart::decode(&bytes),
            &Ok(place.cart.clone()),
        )
    }

    /// In the end everything arrives everywhere, in another order at each place.
    fn settle(&mut self) -> Result<(), String> {
        let states: Vec<Message> = self.places.iter().map(Place::state).collect();
        for at in 0..3 {
            let mut rest: Vec<&Message> = self.sent.iter().chain(&states).collect();
            while !rest.is_empty() {
                let message = rest.swap_remove(self.rng.below(rest.len()));
                self.places[at].receive(message);
            }
            self.compare(at)?;
            equal("state of all", &self.places[at].cart, &self.places[0].cart)?;
            equal(
                "bytes of all",
                &self.places[at].cart.encode(),
                &self.places[0].cart.encode(),
            )?;
        }
        Ok(())
    }
}

impl Place {
    fn receive(&mut self, message: &Message) {
        self.cart.join(&message.cart);
        self.known.take(&message.tells);
        for (dot, _) in self.cart.entries() {
            if !self.arrivals.contains(dot) {
                self.arrivals.push(*dot);
            }
        }
    }

    fn state(&self) -> Message {
        Message {
            cart: self.cart.clone(),
            tells: self.known.clone(),
        }
    }

    fn picture_by_arrival(&self) -> Picture {
        let mut picture = picture(&self.cart);
        for (name, values) in &mut picture.fields {
            let arrived = |dot: &Dot| self.arrivals.iter().position(|known| known == dot);
            let siblings = self
                .cart
                .entries()
                .iter()
                .filter_map(|(dot, entry)| match entry {
                    Entry::Field {
                        name: n,
                        value,
                        hlc,
                    } if number(n.as_str()) == *name => {
                        Some((*hlc, arrived(dot), number(value.as_str())))
                    }
                    _ => None,
                });
            let mut siblings: Vec<_> = siblings.collect();
            siblings.sort_unstable_by(|a, b| b.cmp(a));
            *values = siblings.into_iter().map(|(_, _, value)| value).collect();
        }
        picture
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, is: &T, should: &T) -> Result<(), String> {
    if is == should {
        Ok(())
    } else {
        Err(format!("{what}: {is:?}, expected {should:?}"))
    }
}

fn lives(entry: &Entry) -> usize {
    entry
        .instances()
        .map_or(0, |instances| instances.as_slice().len())
}

fn random_edit(rng: &mut Rng, may_collapse: bool) -> Edit {
    let line = rng.below(3) as u8;
    let n = 1 + rng.below(5) as u32;
    let small = rng.below(2) as u8;
    let value = rng.below(100) as u8;
    match rng.below(if may_collapse { 15 } else { 14 }) {
        0..=2 => Edit::Add(line, n),
        3..=4 => Edit::Set(line, n - 1),
        5..=6 => Edit::Step(line, n.cast_signed()),
        7 => Edit::Step(line, -n.cast_signed()),
        8 => Edit::Remove(line),
        9 => Edit::Clear,
        10 => Edit::Note(line, small, value),
        11 => Edit::Coupon(small),
        12 => Edit::NoCoupon(small),
        13 => Edit::Field(small, value),
        _ => Edit::Collapse(line),
    }
}

fn is_removal(edit: Edit) -> bool {
    matches!(
        edit,
        Edit::Remove(_) | Edit::Clear | Edit::NoCoupon(_) | Edit::Set(_, 0)
    )
}

/// The edit in the vocabulary of the crate; `None` for a collapse, which is none.
fn operation(edit: Edit) -> Option<Operation> {
    let of = |line: u8| format!("p{line}");
    Some(match edit {
        Edit::Add(line, n) => add(&of(line), n),
        Edit::Set(line, n) => set(&of(line), n),
        Edit::Step(line, by) if by > 0 => inc(&of(line), by.unsigned_abs()),
        Edit::Step(line, by) => dec(&of(line), by.unsigned_abs()),
        Edit::Remove(line) => remove(&of(line)),
        Edit::Clear => Operation::Clear,
        Edit::Note(line, n, value) => Operation::SetAttribute {
            line: product(line),
            name: name(&code(n)),
            value: text(&code(value)),
        },
        Edit::Coupon(n) => coupon(&code(n)),
        Edit::NoCoupon(n) => no_coupon(&code(n)),
        Edit::Field(n, value) => Operation::SetField {
            name: name(&code(n)),
            value: text(&code(value)),
        },
        Edit::Collapse(_) => return None,
    })
}

fn product(line: u8) -> LineKey {
    crate::support::line(&format!("p{line}"))
}

fn code(n: u8) -> String {
    format!("n{n}")
}

fn number(text: &str) -> u8 {
    text[1..].parse().expect("a letter and a number")
}

/// The view of the implementation in the oracle's words.
fn picture(cart: &Cart) -> Picture {
    let view = cart.view(&|_| units(CAP));
    let values = |registers: &[abasto_cart::Register]| -> BTreeMap<u8, Vec<u8>> {
        let all = registers.iter().map(|register| {
            let values = std::iter::once(&register.value).chain(&register.others);
            (
                number(register.name.as_str()),
                values.map(|value| number(value.as_str())).collect(),
            )
        });
        all.collect()
    };
    let lines = view.lines.iter().map(|line| {
        let quantity = line.quantity.get().into();
        let notes = values(&line.attributes);
        (
            number(line.line.as_str()),
            Shown {
                quantity,
                raw: line.raw,
                sets: line.sets,
                notes,
            },
        )
    });
    Picture {
        lines: lines.collect(),
        coupons: view
            .coupons
            .iter()
            .map(|code| number(code.as_str()))
            .collect(),
        fields: values(&view.fields),
    }
}

/// States and changes as they come about in a run, for tests of laws and of the codec.
pub(crate) fn sample(seed: u64) -> Vec<Cart> {
    let mut simulation = Simulation::new(seed, Mistake::None);
    for _ in 0..STEPS {
        simulation.step().expect("no mistake is switched on");
    }
    let states = simulation.places.iter().map(|place| place.cart.clone());
    states
        .chain(simulation.sent.iter().map(|message| message.cart.clone()))
        .collect()
}
