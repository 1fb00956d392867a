//! Units that write the catalogue and people: few values for many documents, so that they collide.

use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::customer::Customer;
use abasto_domain::product::Product;
use abasto_store::conformance::tenant::amount;
use abasto_store::record::{Document, Kind};
use abasto_store::unit::UnitOfWork;

use super::workload::Workload;

const CODES: [&str; 4] = ["BOG", "MED", "CLO", "B2"];
const NAMES: [&str; 4] = ["Pan de yuca", "ALMOJÁBANA", "100% pan_", "🥖"];

impl Workload {
    fn sku(&mut self) -> String {
        format!("PAN-{}", self.dice.roll(12))
    }

    fn name(&mut self) -> String {
        let name = self.dice.pick(&NAMES).copied();
        name.unwrap_or_default().to_owned()
    }

    pub(super) fn new_product(&mut self, town: usize) -> UnitOfWork {
        let (sku, name) = (self.sku(), self.name());
        let tenant = &self.towns[town].tenant;
        let mut product = tenant.draft_product(&sku);
        product.name = name;
        product.active = self.dice.chance(800);
        if self.dice.chance(200) {
            product.branches = Some(Vec::new());
        }
        tenant.unit_of([tenant.creation(product)])
    }

    pub(super) fn change_product(&mut self, town: usize) -> Option<UnitOfWork> {
        let base = self.towns[town].base(&mut self.dice, Kind::Product)?;
        let Document::Product(product) = &base else {
            return None;
        };
        let (sku, name) = (self.sku(), self.name());
        let tenant = &self.towns[town].tenant;
        let mut next = Product {
            stamp: tenant.next(product.stamp),
            ..Product::clone(product)
        };
        match self.dice.roll(5) {
            0 => next.deleted_at = Some(next.stamp.updated_at),
            1 => next.deleted_at = None,
            2 => next.sku = sku,
            3 => next.active = !next.active,
            _ => next.name = name,
        }
        next.sale_price = amount(self.dice.between(0, 900_000));
        Some(tenant.unit_of([tenant.change(base, next)]))
    }

    pub(super) fn branch(&mut self, town: usize) -> UnitOfWork {
        let code = self.dice.pick(&CODES).copied().unwrap_or("BOG");
        let base = self.towns[town].base(&mut self.dice, Kind::Branch);
        let tenant = &self.towns[town].tenant;
        match base {
            Some(Document::Branch(branch)) if self.dice.chance(500) => {
                let next = Branch {
                    code: BranchCode::parse(code).unwrap_or_else(|_| branch.code.clone()),
                    active: self.dice.chance(700),
                    stamp: tenant.next(branch.stamp),
                    ..Branch::clone(&branch)
                };
                tenant.unit_of([tenant.change(branch, next)])
            }
            _ => tenant.unit_of([tenant.creation(tenant.draft_branch(code))]),
        }
    }

    pub(super) fn customer(&mut self, town: usize) -> UnitOfWork {
        let base = self.towns[town].base(&mut self.dice, Kind::Customer);
        let phone = self.dice.roll(6);
        let email = self.dice.roll(6);
        let tenant = &self.towns[town].tenant;
        let (base, mut next) = match base {
            Some(Document::Customer(customer)) if self.dice.chance(500) => {
                let next = Customer {
                    stamp: tenant.next(customer.stamp),
                    ..Customer::clone(&customer)
                };
                (Some(customer), next)
            }
            _ => (None, tenant.draft_customer(None)),
        };
        next.phone = (phone < 4).then(|| format!("+5730012345{phone}0"));
        next.email = (email < 4).then(|| format!("Ana{email}@Example.org"));
        next.email_verified_at = self.dice.chance(500).then_some(next.stamp.updated_at);
        match base {
            Some(base) => tenant.unit_of([tenant.change(base, next)]),
            None => tenant.unit_of([tenant.creation(next)]),
        }
    }

    pub(super) fn credential(&mut self, town: usize) -> UnitOfWork {
        let user = format!("user-{}", self.dice.roll(4));
        let keys = self.dice.chance(400);
        let kind = if keys { Kind::ApiKey } else { Kind::Member };
        let base = self.towns[town].base(&mut self.dice, kind);
        let tenant = &self.towns[town].tenant;
        match base.filter(|_| self.dice.chance(500)) {
            Some(Document::ApiKey(key)) => {
                let next = ApiKey {
                    revoked_at: Some(tenant.world.now()),
                    stamp: tenant.next(key.stamp),
                    ..ApiKey::clone(&key)
                };
                tenant.unit_of([tenant.change(key, next)])
            }
            Some(Document::Member(member)) => {
                let next = Member {
                    active: self.dice.chance(500),
                    user_id: user,
                    stamp: tenant.next(member.stamp),
                    ..Member::clone(&member)
                };
                tenant.unit_of([tenant.change(member, next)])
            }
            _ if keys => tenant.unit_of([tenant.creation(tenant.draft_key(&user))]),
            _ => tenant.unit_of([tenant.creation(tenant.draft_member(&user))]),
        }
    }
}
