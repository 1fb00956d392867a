//! What is sent: units of every kind, right and wrong, made from what is stored and what was.
//!
//! Owns the memory of the run: present and past documents, keys used, units sent.

use std::collections::BTreeMap;

use abasto_domain::id::BusinessId;
use abasto_domain::stock::Place;
use abasto_store::conformance::tenant::Tenant;
use abasto_store::conformance::world::World;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::{Guard, OperationDraft, UnitOfWork};
use abasto_store::verdict::Reply;

use crate::dice::Dice;

/// Businesses of a run.
const TENANTS: usize = 3;
/// Most units sent at once.
const BURST_MAX: u64 = 5;
/// Earlier units that may be sent again.
const REMEMBERED_MAX: usize = 60;

/// The state of a run.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) dice: Dice,
    pub(super) world: World,
    pub(super) towns: Vec<Town>,
}

/// What is known of one business.
#[derive(Debug)]
pub(super) struct Town {
    pub(super) tenant: Tenant,
    pub(super) present: BTreeMap<DocumentKey, Document>,
    pub(super) past: Vec<Document>,
    pub(super) places: Vec<Place>,
    sent: Vec<UnitOfWork>,
}

impl Town {
    /// Present documents of a kind.
    pub(super) fn of_kind(&self, kind: Kind) -> Vec<&Document> {
        let all = self.present.values();
        all.filter(|document| document.key().kind == kind).collect()
    }

    /// A document of a kind to build on: mostly as it is, sometimes as it was.
    pub(super) fn base(&self, dice: &mut Dice, kind: Kind) -> Option<Document> {
        let past = dice.chance(120);
        let old = self
            .past
            .iter()
            .filter(|document| document.key().kind == kind);
        let choices: Vec<&Document> = if past {
            old.collect()
        } else {
            self.of_kind(kind)
        };
        dice.pick(&choices).copied().cloned()
    }
}

impl Workload {
    pub(super) fn new(seed: u64, world: World) -> Self {
        Self {
            dice: Dice::new(seed),
            world,
            towns: Vec::new(),
        }
    }

    /// The units that found the businesses, each with a branch, a product and some stock.
    pub(super) fn openings(&mut self) -> Vec<UnitOfWork> {
        let mut units = Vec::new();
        for _ in 0..TENANTS {
            let tenant = self.world.draft_tenant();
            let creation = tenant.creation(tenant.record.clone());
            units.push(tenant.unit_of([creation]));
            let branch = tenant.draft_branch("BOG");
            let product = tenant.draft_product("PAN-0");
            let place = Place {
                branch: branch.id,
                product: product.id,
            };
            units.push(tenant.unit_of([tenant.creation(branch)]));
            units.push(tenant.unit_of([tenant.creation(product)]));
            units.push(tenant.adjustment(&[(place, 50)]));
            self.towns.push(Town {
                tenant,
                present: BTreeMap::new(),
                past: Vec::new(),
                places: vec![place],
                sent: Vec::new(),
            });
        }
        units
    }

    /// All businesses.
    pub(super) fn businesses(&self) -> Vec<BusinessId> {
        let towns = self.towns.iter();
        towns.map(|town| town.tenant.business()).collect()
    }

    /// Some units of one lane, decided upon the same state.
    pub(super) fn next_units(&mut self) -> Vec<UnitOfWork> {
        let town = usize::try_from(self.dice.roll(3)).unwrap_or(0);
        let size = match self.dice.roll(3) {
            0 => 1 + self.dice.roll(BURST_MAX),
            _ => 1,
        };
        let mut units: Vec<UnitOfWork> = (0..size).filter_map(|_| self.unit(town)).collect();
        let lane = units.first().and_then(|unit| unit.branch);
        units.iter_mut().for_each(|unit| unit.branch = lane);
        units
    }

    fn unit(&mut self, town: usize) -> Option<UnitOfWork> {
        if self.dice.chance(60) {
            return self.resent(town);
        }
        if self.dice.chance(30) {
            return self.foreign(town);
        }
        let mut unit = self.fresh(town)?;
        if self.dice.chance(60) {
            // Two intentions in one unit.
            let other = self.fresh(town)?;
            unit.puts.extend(other.puts);
            unit.stock.extend(other.stock);
            unit.guards.extend(other.guards);
        }
        if self.dice.chance(150) {
            unit.guards.extend(self.guard(town));
        }
        if self.dice.chance(300) {
            unit.operation = Some(self.operation());
        }
        let sent = &mut self.towns[town].sent;
        if sent.len() >= REMEMBERED_MAX {
            sent.remove(0);
        }
        sent.push(unit.clone());
        Some(unit)
    }

    fn fresh(&mut self, town: usize) -> Option<UnitOfWork> {
        match self.dice.roll(20) {
            0..2 => Some(self.new_product(town)),
            2..4 => self.change_product(town),
            4 => Some(self.branch(town)),
            5..7 => Some(self.customer(town)),
            7 => Some(self.credential(town)),
            8..11 => Some(self.adjust(town)),
            11 => self.transfer(town),
            12..17 => self.order(town),
            _ => self.step(town),
        }
    }

    /// A unit that was sent before, to the letter.
    fn resent(&mut self, town: usize) -> Option<UnitOfWork> {
        self.dice.pick(&self.towns[town].sent).cloned()
    }

    /// A change of another business's document, and a guard on it.
    fn foreign(&mut self, town: usize) -> Option<UnitOfWork> {
        let other = (town + 1) % TENANTS;
        let base = self.towns[other].base(&mut self.dice, Kind::Product)?;
        let tenant = self.towns[town].tenant.clone();
        if self.dice.chance(500) {
            let key = base.key();
            let creation = tenant.creation(tenant.draft_customer(None));
            return Some(UnitOfWork {
                guards: vec![Guard::Document(key, base.version())],
                ..tenant.unit_of([creation])
            });
        }
        let Document::Product(product) = &base else {
            return None;
        };
        let mut next = abasto_domain::product::Product::clone(product);
        next.stamp = tenant.next(next.stamp);
        Some(tenant.unit_of([tenant.change(base, next)]))
    }

    fn guard(&mut self, town: usize) -> Option<Guard> {
        let version = self.dice.between(-1, 1);
        let town = &self.towns[town];
        if self.dice.chance(300) {
            let place = self.dice.pick(&town.places)?;
            let version = self.dice.between(0, 6);
            return Some(Guard::Level(*place, version));
        }
        let documents: Vec<&Document> = town.present.values().collect();
        let document = self.dice.pick(&documents)?;
        let version = if self.dice.chance(700) { 0 } else { version };
        Some(Guard::Document(
            document.key(),
            document.version() + version,
        ))
    }

    fn operation(&mut self) -> OperationDraft {
        let number = self.dice.roll(25);
        let content = u8::try_from(self.dice.roll(2)).unwrap_or(0);
        let mut operation = Tenant::operation(&format!("key-{number}"), content);
        if self.dice.chance(300) {
            let towns = &self.towns[0];
            let customers = towns.of_kind(Kind::Customer);
            let customer = self.dice.pick(&customers);
            operation.key.customer = customer.map(|customer| customer.key().id.into());
        }
        operation
    }

    /// Remembers what a committed unit wrote.
    pub(super) fn learn(&mut self, unit: UnitOfWork, reply: &Reply) {
        let towns = self.towns.iter_mut();
        let Some(town) = towns
            .into_iter()
            .find(|town| town.tenant.business() == unit.business)
        else {
            return;
        };
        for (index, put) in unit.puts.into_iter().enumerate() {
            // Only the answer knows the number that an order was given.
            let written = match reply {
                Reply::Document(document) if index == 0 => document.clone(),
                _ => put.next,
            };
            let blank = matches!(&written, Document::Order(order) if order.number.is_blank());
            if !blank && let Some(old) = town.present.insert(written.key(), written) {
                town.past.push(old);
            }
        }
        for change in unit.stock {
            if !town.places.contains(&change.place) {
                town.places.push(change.place);
            }
        }
    }
}
