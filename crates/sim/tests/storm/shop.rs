//! The business that the storm comes over.

use std::sync::Arc;

use abasto_domain::branch::BranchCode;
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, ProductId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::Order;
use abasto_domain::stock::AdjustmentReason;
use abasto_engine::branch::NewBranch;
use abasto_engine::business::OpenBusiness;
use abasto_engine::product::NewProduct;
use abasto_engine::stock::{Adjustment, MoveStock};
use abasto_engine::{Context, Engine};
use abasto_sim::model::ModelStore;
use abasto_store::Store;
use std::sync::Mutex;

pub(crate) struct Shop {
    pub(crate) store: Arc<ModelStore>,
    pub(crate) owner: Context,
    pub(crate) branches: Vec<BranchId>,
    pub(crate) products: Vec<ProductId>,
    /// Orders that somebody was told of: everybody works on them.
    pub(crate) orders: Arc<Mutex<Vec<Arc<Order>>>>,
}

impl Shop {
    pub(crate) async fn open() -> Self {
        let store = Arc::new(ModelStore::new());
        let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>).unwrap();
        let command = OpenBusiness {
            name: "Panadería".into(),
            currency: Currency::parse("COP").unwrap(),
            time_zone: "America/Bogota".into(),
        };
        let (_, key) = engine.open_business("setup", command).await.unwrap();
        let owner = Context {
            principal: engine.authenticate_key(&key.text).await.unwrap().unwrap(),
            request: "storm".into(),
        };
        let mut shop = Self {
            store,
            owner,
            branches: Vec::new(),
            products: Vec::new(),
            orders: Arc::default(),
        };
        shop.furnish(&engine).await;
        shop
    }

    async fn furnish(&mut self, engine: &Engine) {
        for code in ["BOG", "MED"] {
            let command = NewBranch {
                code: BranchCode::parse(code).unwrap(),
                name: code.into(),
                time_zone: "America/Bogota".into(),
                active: true,
            };
            let branch = engine.create_branch(&self.owner, command).await.unwrap();
            self.branches.push(branch.id);
        }
        for number in 0..4 {
            let command = NewProduct {
                sku: format!("PAN-{number}"),
                name: "Pan".into(),
                sale_price: Amount::from_minor(350_000).unwrap(),
                tax_rate: TaxRate::ZERO,
                active: true,
                branches: None,
                max_per_order: None,
                attributes: Default::default(),
            };
            let product = engine.create_product(&self.owner, command).await.unwrap();
            self.products.push(product.id);
            for branch in &self.branches {
                let items = vec![Adjustment {
                    product: product.id,
                    delta: 25,
                    reason: AdjustmentReason::Receipt,
                    reference: None,
                }];
                let receipt = MoveStock::Adjust {
                    branch: *branch,
                    items,
                };
                let key = format!("receipt-{branch}-{}", product.id);
                engine.move_stock(&self.owner, &key, receipt).await.unwrap();
            }
        }
    }
}
