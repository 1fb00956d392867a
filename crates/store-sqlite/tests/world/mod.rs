//! A small business for tests and benches: units as the engine would make them.
//!
//! Owns ids and times that repeat from run to run. Must not know the adapter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use abasto_domain::access::Actor;
use abasto_domain::basket::Basket;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::business::{Business, Settings};
use abasto_domain::coupon::KnownBuyer;
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, BusinessId, CustomerId, OrderId, ProductId, RawId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::{
    Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, RESERVE, place,
};
use abasto_domain::order_state::{Action, Outcome, act};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::{Cause, MovementKind, OperationId, Place, Step, StockChange};
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::record::Document;
use abasto_store::unit::{Answer, Guard, OperationDraft, Put, UnitOfWork};
use abasto_store::verdict::Skus;
use serde_json::json;

/// 2026-03-01T00:00:00Z.
pub(crate) const START: i64 = 1_772_323_200_000;

/// One tenant with branches and products.
pub(crate) struct World {
    pub(crate) business: Arc<Business>,
    pub(crate) branches: Vec<Arc<Branch>>,
    pub(crate) products: Vec<Arc<Product>>,
    ids: AtomicU64,
}

impl World {
    /// Tenants of different numbers share nothing.
    pub(crate) fn new(number: u8, branches: usize, products: usize) -> Self {
        let ids = AtomicU64::new(1);
        let id = || id_of(number, ids.fetch_add(1, Ordering::Relaxed));
        let business = Business {
            id: id().into(),
            name: "Panadería Aurora".to_owned(),
            currency: Currency::parse("COP").unwrap(),
            time_zone: "America/Bogota".to_owned(),
            settings: Settings::default(),
            stamp: stamp(),
        };
        let branches = (0..branches)
            .map(|index| Branch {
                business: business.id,
                id: id().into(),
                code: BranchCode::parse(&format!("B{index:03}")).unwrap(),
                name: format!("Sede {index}"),
                time_zone: "America/Bogota".to_owned(),
                active: true,
                stamp: stamp(),
            })
            .map(Arc::new)
            .collect();
        let products = (0..products)
            .map(|index| Arc::new(product(business.id, id().into(), index)))
            .collect();
        Self {
            business: Arc::new(business),
            branches,
            products,
            ids,
        }
    }

    pub(crate) fn id(&self) -> BusinessId {
        self.business.id
    }

    /// A new id; ids grow.
    pub(crate) fn next_id(&self) -> RawId {
        let number = self.business.id.0.0[4];
        id_of(number, self.ids.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn place(&self, branch: usize, product: usize) -> Place {
        Place {
            branch: self.branches[branch].id,
            product: self.products[product].id,
        }
    }

    /// A unit that writes nothing yet.
    pub(crate) fn unit(&self, branch: Option<BranchId>) -> UnitOfWork {
        UnitOfWork {
            business: self.id(),
            branch,
            actor: Actor::Platform,
            request: "0f1e2d3c4b5a69788796a5b4".to_owned(),
            at: Timestamp::from_millis(START),
            operation: None,
            guards: Vec::new(),
            puts: Vec::new(),
            stock: Vec::new(),
            tallies: Vec::new(),
            carts: abasto_store::cart::CartWork::default(),
            answer: Answer::Stock(Skus::new()),
        }
    }

    /// A put of a document, new or over another.
    pub(crate) fn put(&self, base: Option<Document>, next: impl Into<Document>) -> Put {
        Put {
            base,
            next: next.into(),
            event: EventDraft {
                id: self.next_id().into(),
                name: "abasto.test.changed",
                data: json!({}),
            },
        }
    }

    /// Everything but stock and orders, as units of at most 200 puts.
    pub(crate) fn catalogue(&self) -> Vec<UnitOfWork> {
        let branches = self.branches.iter().cloned().map(Document::from);
        let products = self.products.iter().cloned().map(Document::from);
        let mut puts: Vec<Put> = std::iter::once(Document::from(Arc::clone(&self.business)))
            .chain(branches)
            .chain(products)
            .map(|document| self.put(None, document))
            .collect();
        let mut units = Vec::new();
        while !puts.is_empty() {
            let rest = puts.split_off(puts.len().min(200));
            units.push(UnitOfWork {
                puts: std::mem::replace(&mut puts, rest),
                answer: Answer::Put(0),
                ..self.unit(None)
            });
        }
        units
    }

    /// A change of one level by hand.
    pub(crate) fn adjustment(&self, place: Place, delta: i64) -> UnitOfWork {
        UnitOfWork {
            stock: vec![self.change(place, delta)],
            ..self.unit(Some(place.branch))
        }
    }

    pub(crate) fn change(&self, place: Place, delta: i64) -> StockChange {
        StockChange {
            id: self.next_id().into(),
            place,
            kind: MovementKind::Receipt,
            available: delta,
            reserved: 0,
            operation: OperationId {
                source: self.next_id(),
                step: Step::Apply,
                line: 0,
            },
            cause: Cause {
                reason: Some("receipt".to_owned()),
                ..Cause::default()
            },
        }
    }

    /// So many units of every product at a branch.
    pub(crate) fn stocked(&self, branch: usize, quantity: i64) -> Vec<UnitOfWork> {
        let indexes: Vec<usize> = (0..self.products.len()).collect();
        indexes
            .chunks(200)
            .map(|chunk| {
                let places = chunk.iter().map(|product| self.place(branch, *product));
                UnitOfWork {
                    stock: places.map(|place| self.change(place, quantity)).collect(),
                    ..self.unit(Some(self.branches[branch].id))
                }
            })
            .collect()
    }

    /// An order of one unit of each product named, under an idempotency key.
    pub(crate) fn order(
        &self,
        key: &str,
        branch: usize,
        products: &[usize],
        at: i64,
    ) -> UnitOfWork {
        self.order_for(None, key, branch, products, at)
    }

    /// The same, of a customer.
    pub(crate) fn order_for(
        &self,
        customer: Option<CustomerId>,
        key: &str,
        branch: usize,
        products: &[usize],
        at: i64,
    ) -> UnitOfWork {
        let at = Timestamp::from_millis(START + at);
        let branch = &self.branches[branch];
        let shelf: Vec<&Product> = products
            .iter()
            .map(|index| &*self.products[*index])
            .collect();
        let items: Vec<Item> = shelf
            .iter()
            .map(|product| Item {
                product: product.id,
                quantity: Quantity::new(1).unwrap(),
            })
            .collect();
        let order = place(self.draft(customer, branch, &items, &shelf), at).unwrap();
        let unchanged = |document: Document| Guard::Document(document.key(), document.version());
        let mut guards = vec![
            unchanged(Arc::clone(&self.business).into()),
            unchanged(Arc::clone(branch).into()),
        ];
        guards.extend(
            products
                .iter()
                .map(|index| unchanged(Arc::clone(&self.products[*index]).into())),
        );
        UnitOfWork {
            at,
            operation: Some(operation(key)),
            guards,
            stock: order.stock_changes(RESERVE, &mut || self.next_id()),
            puts: vec![self.created(order)],
            answer: Answer::Put(0),
            ..self.unit(Some(branch.id))
        }
    }

    fn draft<'a>(
        &self,
        customer: Option<CustomerId>,
        branch: &'a Branch,
        items: &'a [Item],
        products: &'a [&'a Product],
    ) -> Draft<'a> {
        Draft {
            id: OrderId(self.next_id()),
            basket: Basket {
                branch,
                items,
                products,
                coupons: &[],
                buyer: KnownBuyer::No,
                delivery_fee: Amount::ZERO,
            },
            currency: self.business.currency,
            year: 2026,
            customer: Buyer {
                id: customer,
                name: Some("Ana María Restrepo".to_owned()),
                phone: Some("+573001234567".to_owned()),
            },
            fulfilment: Fulfilment {
                kind: FulfilmentKind::Pickup,
                address: None,
                courier: None,
            },
            payment_method: PaymentMethod::OnDelivery,
            note: None,
            checkout: None,
            cart: None,
            expected_total: None,
            unpaid_ms: 1_800_000,
        }
    }

    fn created(&self, order: Order) -> Put {
        Put {
            base: None,
            event: EventDraft {
                id: self.next_id().into(),
                name: "abasto.order.created",
                data: json!({
                    "from": null,
                    "to": order.status.name(),
                    "branchId": order.branch,
                    "total": order.totals.total.to_decimal(order.currency),
                    "currency": order.currency,
                }),
            },
            next: order.into(),
        }
    }

    /// A step of an order's life, under an idempotency key.
    pub(crate) fn step(
        &self,
        key: &str,
        order: &Arc<Order>,
        action: Action,
        at: i64,
    ) -> UnitOfWork {
        let at = Timestamp::from_millis(START + at);
        let outcome = act(order, action, at, &mut || self.next_id()).unwrap();
        let Outcome::Changed { order: next, stock } = outcome else {
            panic!("the order is already there");
        };
        UnitOfWork {
            at,
            operation: Some(operation(key)),
            stock,
            puts: vec![self.put(Some(Arc::clone(order).into()), *next)],
            answer: Answer::Put(0),
            ..self.unit(Some(order.branch))
        }
    }
}

/// A key with the content that it alone stands for.
pub(crate) fn operation(key: &str) -> OperationDraft {
    let mut content = [0; 32];
    for (byte, at) in key.bytes().zip((0..32).cycle()) {
        content[at] ^= byte;
    }
    OperationDraft {
        key: OperationKey {
            customer: None,
            key: key.to_owned(),
        },
        fingerprint: Fingerprint(content),
    }
}

fn product(business: BusinessId, id: ProductId, index: usize) -> Product {
    let price = i64::try_from(index % 90 + 10).unwrap() * 10_000;
    Product {
        business,
        id,
        sku: format!("SKU-{index:06}"),
        name: format!("Pan artesanal número {index}"),
        sale_price: Amount::from_minor(price).unwrap(),
        tax_rate: TaxRate::parse("0.19").unwrap(),
        active: true,
        branches: None,
        max_per_order: None,
        attributes: BTreeMap::new(),
        deleted_at: None,
        stamp: stamp(),
    }
}

pub(crate) fn stamp() -> Stamp {
    Stamp::first(Timestamp::from_millis(START))
}

/// The ObjectId layout: seconds, the tenant's number, a counter.
fn id_of(number: u8, count: u64) -> RawId {
    let mut id = [0; 12];
    id[..4].copy_from_slice(&[0x69, 0xa3, 0x82, 0]);
    id[4] = number;
    id[5..].copy_from_slice(&count.to_be_bytes()[1..]);
    RawId(id)
}
