//! A small business to shop at, on the model store or on SQLite.

use std::sync::Arc;

use abasto_domain::access::{Actor, Principal, Role};
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::currency::Currency;
use abasto_domain::id::{BusinessId, MemberId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::product::Product;
use abasto_engine::branch::NewBranch;
use abasto_engine::business::OpenBusiness;
use abasto_engine::product::NewProduct;
use abasto_engine::{Context, Engine};
use abasto_sim::model::ModelStore;
use abasto_store::Store;
use abasto_store_sqlite::{Options, SqliteStore};
use tempfile::TempDir;

/// What the carts are kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    Model,
    Sqlite,
}

pub(crate) struct World {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: Engine,
    pub(crate) owner: Context,
    pub(crate) bogota: Arc<Branch>,
    /// Goes after the store.
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new(on: Backing) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = match on {
            Backing::Model => Arc::new(ModelStore::new()),
            Backing::Sqlite => {
                let options = Options::new(folder.path().join("carts.db"));
                Arc::new(SqliteStore::open(options).unwrap())
            }
        };
        let engine = Engine::new(Arc::clone(&store)).unwrap();
        let command = OpenBusiness {
            name: "Panadería".into(),
            currency: Currency::parse("COP").unwrap(),
            time_zone: "America/Bogota".into(),
        };
        let (_, key) = engine.open_business("setup", command).await.unwrap();
        let owner = Context {
            principal: engine.authenticate_key(&key.text).await.unwrap().unwrap(),
            request: "test".into(),
        };
        let command = NewBranch {
            code: BranchCode::parse("BOG").unwrap(),
            name: "Bogotá".into(),
            time_zone: "America/Bogota".into(),
            active: true,
        };
        let bogota = engine.create_branch(&owner, command).await.unwrap();
        Self {
            store,
            engine,
            owner,
            bogota,
            _folder: folder,
        }
    }

    pub(crate) fn business(&self) -> BusinessId {
        self.owner.business()
    }

    /// Another instance with nothing in memory. On SQLite it may only read beside the first: the
    /// file belongs to one process, and to one engine.
    pub(crate) fn second_instance(&self) -> Engine {
        Engine::new(Arc::clone(&self.store)).unwrap()
    }

    pub(crate) fn role(&self, role: Role) -> Context {
        let member = MemberId::parse("0123456789abcdef01234567").unwrap();
        Context {
            principal: Principal {
                business: self.business(),
                actor: Actor::Member(member),
                role,
                branches: None,
                customer: None,
            },
            request: "test".into(),
        }
    }

    pub(crate) async fn product(&self, sku: &str, minor: i64) -> Arc<Product> {
        let product = NewProduct {
            sku: sku.into(),
            name: format!("Product {sku}"),
            sale_price: Amount::from_minor(minor).unwrap(),
            tax_rate: TaxRate::ZERO,
            active: true,
            branches: None,
            max_per_order: None,
            attributes: Default::default(),
        };
        self.engine
            .create_product(&self.owner, product)
            .await
            .unwrap()
    }
}
