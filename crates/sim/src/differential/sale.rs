//! Units that move stock and sell.

use std::sync::Arc;

use abasto_domain::branch::Branch;
use abasto_domain::coupon::Redemption;
use abasto_domain::order::Order;
use abasto_domain::order_state::{Action, Units};
use abasto_domain::product::Product;
use abasto_domain::stock::Place;
use abasto_store::conformance::sale::YEAR;
use abasto_store::record::{Document, Kind};
use abasto_store::unit::{Guard, UnitOfWork};

use super::workload::Workload;

impl Workload {
    fn a_branch(&mut self, town: usize) -> Option<Arc<Branch>> {
        let branches = self.towns[town].of_kind(Kind::Branch);
        match self.dice.pick(&branches)? {
            Document::Branch(branch) => Some(Arc::clone(branch)),
            _ => None,
        }
    }

    fn a_product(&mut self, town: usize) -> Option<Arc<Product>> {
        let products = self.towns[town].of_kind(Kind::Product);
        match self.dice.pick(&products)? {
            Document::Product(product) => Some(Arc::clone(product)),
            _ => None,
        }
    }

    /// A place that has a level, or one that has none yet.
    fn a_place(&mut self, town: usize) -> Option<Place> {
        if self.dice.chance(300) {
            let (branch, product) = (self.a_branch(town)?, self.a_product(town)?);
            return Some(Place {
                branch: branch.id,
                product: product.id,
            });
        }
        self.dice.pick(&self.towns[town].places).copied()
    }

    pub(super) fn adjust(&mut self, town: usize) -> UnitOfWork {
        let mut changes = Vec::new();
        for _ in 0..=self.dice.roll(4) {
            if let Some(place) = self.a_place(town) {
                changes.push((place, self.dice.between(-15, 40)));
            }
        }
        self.towns[town].tenant.adjustment(&changes)
    }

    pub(super) fn transfer(&mut self, town: usize) -> Option<UnitOfWork> {
        let (from, to) = (self.a_place(town)?, self.a_branch(town)?);
        let units = self.dice.between(1, 20);
        (from.branch != to.id).then(|| self.towns[town].tenant.transfer(from, &to, units))
    }

    pub(super) fn order(&mut self, town: usize) -> Option<UnitOfWork> {
        // The domain sells only what is on sale; the stores are asked about everything.
        let branch = Branch {
            active: true,
            ..Branch::clone(&*self.a_branch(town)?)
        };
        let mut products: Vec<Product> = Vec::new();
        let mut guards = Vec::new();
        for _ in 0..=self.dice.roll(4) {
            let product = self.a_product(town)?;
            if products.iter().any(|known| known.id == product.id) {
                continue;
            }
            let document = Document::from(Arc::clone(&product));
            guards.push(Guard::Document(document.key(), document.version()));
            products.push(Product {
                active: true,
                branches: None,
                deleted_at: None,
                ..Product::clone(&product)
            });
        }
        let lines: Vec<(&Product, i64)> = products
            .iter()
            .map(|product| (product, self.dice.between(1, 6)))
            .collect();
        let year = if self.dice.chance(700) {
            YEAR
        } else {
            YEAR + 1
        };
        let customers = self.towns[town].of_kind(Kind::Customer);
        let customer = self.dice.pick(&customers).map(|customer| customer.key().id);
        let members = self.towns[town].of_kind(Kind::Member);
        let courier = self.dice.pick(&members).map(|member| member.key().id);
        let tenant = &self.towns[town].tenant;
        let mut order = tenant.draft_order(&branch, &lines, year);
        order.customer.id = customer.map(Into::into);
        order.fulfilment.courier = courier.map(Into::into);
        Some(UnitOfWork {
            guards,
            ..tenant.placing(order)
        })
    }

    pub(super) fn step(&mut self, town: usize) -> Option<UnitOfWork> {
        let Document::Order(order) = self.towns[town].base(&mut self.dice, Kind::Order)? else {
            return None;
        };
        let action = self.action(&order)?;
        Some(self.towns[town].tenant.step(&order, action))
    }

    fn action(&mut self, order: &Order) -> Option<Action> {
        let units = if self.dice.chance(500) {
            Units::Restock
        } else {
            Units::WriteOff
        };
        let cancel = Action::Cancel {
            reason: "changed their mind".to_owned(),
            units,
            coupons: Redemption::Returned,
        };
        let mut actions = vec![
            Action::Confirm,
            Action::Prepare,
            Action::Dispatch,
            Action::Deliver,
        ];
        actions.push(cancel);
        actions.retain(|action| order.status.allowed().contains(&action.target()));
        self.dice.pick(&actions).cloned()
    }
}
