//! A small business to test on: two branches, an owner, and products at round prices.

use std::sync::Arc;

use abasto_domain::access::{Actor, Principal, Role};
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, BusinessId, MemberId, ProductId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::{FulfilmentKind, Order, PaymentMethod};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stock::{AdjustmentReason, Place, StockLevel};
use abasto_engine::branch::NewBranch;
use abasto_engine::business::OpenBusiness;
use abasto_engine::order::{BuyerChoice, PlaceOrder};
use abasto_engine::order_action::{OrderStep, StepOrder};
use abasto_engine::product::NewProduct;
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Context, Done, Engine, Error};
use abasto_sim::backing::{Backed, Backing};

pub(crate) struct World {
    pub(crate) store: Arc<Backed>,
    pub(crate) engine: Engine,
    pub(crate) owner: Context,
    pub(crate) bogota: Arc<Branch>,
    pub(crate) medellin: Arc<Branch>,
}

impl World {
    pub(crate) async fn new(on: Backing) -> Self {
        Self::on(Arc::new(on.open().await.unwrap())).await
    }

    pub(crate) async fn on_model() -> Self {
        Self::new(Backing::Model).await
    }

    /// Another business in the same store.
    pub(crate) async fn on(store: Arc<Backed>) -> Self {
        let engine = Engine::new(Arc::clone(&store.store)).unwrap();
        let command = OpenBusiness {
            name: "Panadería".into(),
            currency: Currency::parse("COP").unwrap(),
            time_zone: "America/Bogota".into(),
        };
        let (business, key) = engine.open_business("setup", command).await.unwrap();
        let owner = Context {
            principal: engine.authenticate_key(&key.text).await.unwrap().unwrap(),
            request: "test".into(),
        };
        assert_eq!(owner.business(), business.id);
        let branch = async |code: &str, time_zone: &str| {
            let command = NewBranch {
                code: BranchCode::parse(code).unwrap(),
                name: code.into(),
                time_zone: time_zone.into(),
                active: true,
            };
            engine.create_branch(&owner, command).await.unwrap()
        };
        let bogota = branch("BOG", "America/Bogota").await;
        let medellin = branch("MED", "America/Bogota").await;
        Self {
            store,
            engine,
            owner,
            bogota,
            medellin,
        }
    }

    /// Another instance on the same store, with caches of its own.
    pub(crate) fn second_instance(&self) -> Engine {
        Engine::new(Arc::clone(&self.store.store)).unwrap()
    }

    pub(crate) fn business(&self) -> BusinessId {
        self.owner.business()
    }

    /// The same caller in another role.
    pub(crate) fn role(&self, role: Role, branches: Option<Vec<BranchId>>) -> Context {
        let member = MemberId::parse("0123456789abcdef01234567").unwrap();
        Context {
            principal: Principal {
                business: self.business(),
                actor: Actor::Member(member),
                role,
                branches,
                customer: None,
            },
            request: "test".into(),
        }
    }

    pub(crate) async fn product(&self, sku: &str, minor: i64) -> Arc<Product> {
        self.engine
            .create_product(&self.owner, new_product(sku, minor))
            .await
            .unwrap()
    }

    /// A product with so many units in Bogotá.
    pub(crate) async fn stocked(&self, sku: &str, units: i64) -> Arc<Product> {
        let product = self.product(sku, 350_000).await;
        self.receive(self.bogota.id, product.id, units).await;
        product
    }

    pub(crate) async fn receive(&self, branch: BranchId, product: ProductId, units: i64) {
        let command = receipt(branch, product, units);
        let key = format!("receive-{branch}-{product}-{units}");
        self.engine
            .move_stock(&self.owner, &key, command)
            .await
            .unwrap();
    }

    pub(crate) async fn level(&self, branch: BranchId, product: ProductId) -> StockLevel {
        let levels = self
            .engine
            .levels_of(&self.owner, branch, &[product])
            .await
            .unwrap();
        levels[0].level
    }

    /// `available` and `reserved` in Bogotá.
    pub(crate) async fn units(&self, product: ProductId) -> (i64, i64) {
        let level = self.level(self.bogota.id, product).await;
        (level.available, level.reserved)
    }

    pub(crate) fn order(&self, items: &[(ProductId, i64)]) -> PlaceOrder {
        let items = items.iter().map(|(product, units)| Item {
            product: *product,
            quantity: Quantity::new(*units).unwrap(),
        });
        PlaceOrder {
            branch: self.bogota.id,
            items: items.collect(),
            customer: BuyerChoice::Named {
                name: "Ana".into(),
                phone: None,
            },
            fulfilment: FulfilmentKind::Pickup,
            address: None,
            payment_method: PaymentMethod::OnDelivery,
            coupons: Vec::new(),
            delivery_fee: None,
            note: None,
            expected_total: None,
        }
    }

    pub(crate) async fn buy(
        &self,
        key: &str,
        items: &[(ProductId, i64)],
    ) -> Result<Done<Arc<Order>>, Error> {
        self.engine
            .place_order(&self.owner, key, self.order(items))
            .await
    }

    pub(crate) async fn step(
        &self,
        key: &str,
        order: &Order,
        step: OrderStep,
    ) -> Result<Done<Arc<Order>>, Error> {
        let command = StepOrder {
            order: order.id,
            step,
            expected_version: None,
        };
        self.engine.step_order(&self.owner, key, command).await
    }

    /// Every movement of a level explains it: the sums agree and the sequence has no gap.
    pub(crate) async fn check_level(&self, branch: BranchId, product: ProductId) {
        let place = Place { branch, product };
        let page = abasto_store::query::Page {
            after: None,
            limit: 200,
        };
        let mut movements = Vec::new();
        let mut page = page;
        loop {
            let rows = self
                .engine
                .movements(&self.owner, place, page)
                .await
                .unwrap();
            let Some(last) = rows.last() else { break };
            page.after = Some(abasto_store::query::Position {
                order: last.sequence,
                id: last.id.0,
            });
            movements.extend(rows);
        }
        movements.reverse();
        let level = self.level(branch, product).await;
        let sequences: Vec<i64> = movements.iter().map(|movement| movement.sequence).collect();
        assert_eq!(sequences, (1..=level.version).collect::<Vec<_>>());
        let available: i64 = movements.iter().map(|movement| movement.available).sum();
        let reserved: i64 = movements.iter().map(|movement| movement.reserved).sum();
        assert_eq!((available, reserved), (level.available, level.reserved));
    }
}

pub(crate) fn new_product(sku: &str, minor: i64) -> NewProduct {
    NewProduct {
        sku: sku.into(),
        name: format!("Product {sku}"),
        sale_price: Amount::from_minor(minor).unwrap(),
        tax_rate: TaxRate::ZERO,
        active: true,
        branches: None,
        max_per_order: None,
        attributes: Default::default(),
    }
}

pub(crate) fn receipt(branch: BranchId, product: ProductId, units: i64) -> MoveStock {
    MoveStock::Adjust {
        branch,
        items: vec![Adjustment {
            product,
            delta: units,
            reason: AdjustmentReason::Receipt,
            reference: None,
        }],
    }
}
