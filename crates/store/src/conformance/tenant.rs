//! A business of a test: its documents, and the units that change them, made by the rules of the
//! domain.
//!
//! Owns fixtures. A unit is returned as a value where a case wants to change or send it itself.

use std::sync::Arc;

use abasto_domain::access::{Actor, Role};
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::business::{Business, Settings};
use abasto_domain::credential::{ApiKey, Member};
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{ApiKeyId, BranchId, BusinessId, CustomerId, MemberId, ProductId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::product::Product;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::Place;
use serde_json::json;

use super::world::{World, committed, document_in};
use crate::event::EventDraft;
use crate::record::Document;
use crate::unit::{Answer, OperationDraft, Put, UnitOfWork};
use crate::verdict::Skus;

/// A business with the world it lives in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tenant {
    /// Where it lives.
    pub world: World,
    /// Its record.
    pub record: Arc<Business>,
}

/// A value that the test chose right.
///
/// # Panics
/// When it did not.
#[track_caller]
pub fn valid<T>(value: Result<T, InvalidValue>) -> T {
    match value {
        Ok(value) => value,
        Err(invalid) => panic!("a test's own value is invalid: {invalid}"),
    }
}

/// An amount in minor units.
///
/// # Panics
/// When it is out of range.
#[track_caller]
pub fn amount(minor: i64) -> Amount {
    valid(Amount::from_minor(minor).map_err(InvalidValue::from))
}

impl World {
    /// A new business, not committed.
    pub fn draft_tenant(&self) -> Tenant {
        let record = Business {
            id: BusinessId(self.id()),
            name: "Panadería".to_owned(),
            currency: valid(Currency::parse("COP")),
            time_zone: "America/Bogota".to_owned(),
            settings: Settings::default(),
            stamp: Stamp::first(self.now()),
        };
        Tenant {
            world: self.clone(),
            record: Arc::new(record),
        }
    }

    /// A new business.
    pub async fn tenant(&self) -> Tenant {
        let tenant = self.draft_tenant();
        tenant.save(Arc::clone(&tenant.record)).await;
        tenant
    }
}

impl Tenant {
    /// Its id.
    pub fn business(&self) -> BusinessId {
        self.record.id
    }

    /// A unit that does nothing yet.
    pub fn unit(&self) -> UnitOfWork {
        UnitOfWork {
            business: self.business(),
            branch: None,
            actor: Actor::Platform,
            request: "test".to_owned(),
            at: self.world.now(),
            operation: None,
            guards: Vec::new(),
            puts: Vec::new(),
            stock: Vec::new(),
            tallies: Vec::new(),
            carts: crate::cart::CartWork::default(),
            answer: Answer::Stock(Skus::new()),
        }
    }

    /// The put of a new document.
    pub fn creation(&self, next: impl Into<Document>) -> Put {
        Put {
            base: None,
            next: next.into(),
            event: EventDraft {
                id: self.world.id().into(),
                name: "abasto.test.created",
                data: json!({}),
            },
        }
    }

    /// The put of a changed document.
    pub fn change(&self, base: impl Into<Document>, next: impl Into<Document>) -> Put {
        Put {
            base: Some(base.into()),
            event: EventDraft {
                id: self.world.id().into(),
                name: "abasto.test.changed",
                data: json!({}),
            },
            next: next.into(),
        }
    }

    /// A unit with puts that answers with the first one.
    pub fn unit_of(&self, puts: impl IntoIterator<Item = Put>) -> UnitOfWork {
        UnitOfWork {
            puts: puts.into_iter().collect(),
            answer: Answer::Put(0),
            ..self.unit()
        }
    }

    /// Commits a new document.
    pub async fn save(&self, document: impl Into<Document>) -> Document {
        let unit = self.unit_of([self.creation(document)]);
        document_in(committed(self.world.commit(unit).await))
    }

    /// Commits a change.
    pub async fn update(&self, base: impl Into<Document>, next: impl Into<Document>) -> Document {
        let unit = self.unit_of([self.change(base, next)]);
        document_in(committed(self.world.commit(unit).await))
    }

    /// The stamp after one more change now.
    pub fn next(&self, stamp: Stamp) -> Stamp {
        stamp.next(self.world.now())
    }

    /// A branch, not committed.
    pub fn draft_branch(&self, code: &str) -> Branch {
        Branch {
            business: self.business(),
            id: BranchId(self.world.id()),
            code: valid(BranchCode::parse(code)),
            name: format!("Branch {code}"),
            time_zone: "America/Bogota".to_owned(),
            active: true,
            stamp: Stamp::first(self.world.now()),
        }
    }

    /// A branch.
    pub async fn branch(&self, code: &str) -> Arc<Branch> {
        let branch = Arc::new(self.draft_branch(code));
        self.save(Arc::clone(&branch)).await;
        branch
    }

    /// A product, not committed.
    pub fn draft_product(&self, sku: &str) -> Product {
        Product {
            business: self.business(),
            id: ProductId(self.world.id()),
            sku: sku.to_owned(),
            name: format!("Product {sku}"),
            sale_price: amount(350_000),
            tax_rate: valid(TaxRate::parse("0.19")),
            active: true,
            branches: None,
            max_per_order: None,
            attributes: std::collections::BTreeMap::default(),
            deleted_at: None,
            stamp: Stamp::first(self.world.now()),
        }
    }

    /// A product.
    pub async fn product(&self, sku: &str) -> Arc<Product> {
        let product = Arc::new(self.draft_product(sku));
        self.save(Arc::clone(&product)).await;
        product
    }

    /// A customer, not committed.
    pub fn draft_customer(&self, phone: Option<&str>) -> Customer {
        Customer {
            business: self.business(),
            id: CustomerId(self.world.id()),
            name: "Ana".to_owned(),
            phone: phone.map(str::to_owned),
            email: None,
            email_verified_at: None,
            stamp: Stamp::first(self.world.now()),
        }
    }

    /// A customer.
    pub async fn customer(&self) -> Arc<Customer> {
        let customer = Arc::new(self.draft_customer(None));
        self.save(Arc::clone(&customer)).await;
        customer
    }

    /// A membership, not committed.
    pub fn draft_member(&self, user_id: &str) -> Member {
        Member {
            business: self.business(),
            id: MemberId(self.world.id()),
            user_id: user_id.to_owned(),
            role: Role::Courier,
            branches: None,
            customer: None,
            active: true,
            stamp: Stamp::first(self.world.now()),
        }
    }

    /// An API key, not committed.
    pub fn draft_key(&self, name: &str) -> ApiKey {
        ApiKey {
            business: self.business(),
            id: ApiKeyId(self.world.id()),
            name: name.to_owned(),
            role: Role::Owner,
            branches: None,
            customer: None,
            secret_hash: [0xa5; 32],
            revoked_at: None,
            stamp: Stamp::first(self.world.now()),
        }
    }

    /// A key of the business, for content that `content` stands for.
    pub fn operation(key: &str, content: u8) -> OperationDraft {
        OperationDraft {
            key: OperationKey {
                customer: None,
                key: key.to_owned(),
            },
            fingerprint: Fingerprint([content; 32]),
        }
    }

    /// (available, reserved) of a level.
    pub async fn units(&self, place: Place) -> (i64, i64) {
        self.world.units(self.business(), place).await
    }
}

/// The level of a product at a branch.
pub fn place(branch: &Branch, product: &Product) -> Place {
    Place {
        branch: branch.id,
        product: product.id,
    }
}
