//! The business that is walked over.

use std::sync::Arc;

use abasto_domain::access::{Principal, Role};
use abasto_domain::branch::BranchCode;
use abasto_domain::coupon::{CouponCode, Discount, Percent};
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, CustomerId, ProductId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::stock::AdjustmentReason;
use abasto_domain::time::Timestamp;
use abasto_engine::branch::NewBranch;
use abasto_engine::business::OpenBusiness;
use abasto_engine::clock::Clock;
use abasto_engine::coupon::NewCoupon;
use abasto_engine::customer::NewCustomer;
use abasto_engine::product::NewProduct;
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Context, Engine};
use abasto_store::Store;

/// 2026-11-30T12:00:00Z: every walk begins here.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_796_040_000_000);

pub(crate) struct Bakery {
    pub(crate) engine: Engine,
    pub(crate) owner: Context,
    pub(crate) branch: BranchId,
    pub(crate) products: Vec<ProductId>,
    pub(crate) customers: Vec<CustomerId>,
    /// Who acts for each customer.
    pub(crate) shoppers: Vec<Context>,
    pub(crate) coupons: Vec<CouponCode>,
}

impl Bakery {
    pub(crate) async fn open(store: Arc<dyn Store>) -> Self {
        let engine = Engine::new(store)
            .unwrap()
            .with_clock(Clock::standing(START));
        let command = OpenBusiness {
            name: "Panadería".into(),
            currency: Currency::parse("COP").unwrap(),
            time_zone: "America/Bogota".into(),
        };
        let (_, key) = engine.open_business("setup", command).await.unwrap();
        let owner = Context {
            principal: engine.authenticate_key(&key.text).await.unwrap().unwrap(),
            request: "walk".into(),
        };
        let branch = NewBranch {
            code: BranchCode::parse("BOG").unwrap(),
            name: "Bogotá".into(),
            time_zone: "America/Bogota".into(),
            active: true,
        };
        let branch = engine.create_branch(&owner, branch).await.unwrap().id;
        let mut bakery = Self {
            engine,
            owner,
            branch,
            products: Vec::new(),
            customers: Vec::new(),
            shoppers: Vec::new(),
            coupons: Vec::new(),
        };
        bakery.furnish().await;
        bakery
    }

    async fn furnish(&mut self) {
        for number in 0..3 {
            let command = NewProduct {
                sku: format!("PAN-{number}"),
                name: "Pan".into(),
                sale_price: Amount::from_minor(100_000 + number * 33_333).unwrap(),
                tax_rate: TaxRate::parse("0.19").unwrap(),
                active: true,
                branches: None,
                max_per_order: None,
                attributes: Default::default(),
            };
            let product = self
                .engine
                .create_product(&self.owner, command)
                .await
                .unwrap();
            self.products.push(product.id);
            self.receive(product.id, 20, &format!("first-{number}"))
                .await;
        }
        for name in ["Ana", "Eva", "Luz", "Sol"] {
            let command = NewCustomer {
                name: name.into(),
                phone: None,
                email: None,
                email_verified_at: None,
            };
            let customer = self.engine.create_customer(&self.owner, command).await;
            let customer = customer.unwrap().id;
            self.customers.push(customer);
            self.shoppers.push(Context {
                principal: Principal {
                    role: Role::Customer,
                    customer: Some(customer),
                    ..self.owner.principal.clone()
                },
                request: "shopper".into(),
            });
        }
        for (code, all, each) in [("FEW-3", Some(3), None), ("ONE-EACH", None, Some(1))] {
            let code = CouponCode::parse(code).unwrap();
            let command = NewCoupon {
                code: code.clone(),
                discount: Discount::Percent(Percent::parse("12.5").unwrap()),
                products: None,
                min_subtotal: None,
                starts_at: Timestamp::from_millis(0),
                ends_at: Timestamp::from_millis(i64::MAX),
                max_redemptions: all,
                max_per_customer: each,
                active: true,
            };
            self.engine
                .create_coupon(&self.owner, command)
                .await
                .unwrap();
            self.coupons.push(code);
        }
    }

    pub(crate) async fn receive(&self, product: ProductId, units: i64, key: &str) {
        let command = MoveStock::Adjust {
            branch: self.branch,
            items: vec![Adjustment {
                product,
                delta: units,
                reason: AdjustmentReason::Receipt,
                reference: None,
            }],
        };
        self.engine
            .move_stock(&self.owner, key, command)
            .await
            .unwrap();
    }
}
