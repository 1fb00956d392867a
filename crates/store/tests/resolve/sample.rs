//! Units and heads to decide.

use std::sync::Arc;

use abasto_domain::access::Actor;
use abasto_domain::basket::Basket;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::coupon::KnownBuyer;
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::id::{BranchId, BusinessId, CustomerId, MovementId, OrderId, ProductId, RawId};
use abasto_domain::idempotency::{Fingerprint, OperationKey};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::number::Series;
use abasto_domain::order::{
    Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, RESERVE, place,
};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::{Cause, MovementKind, OperationId, Place, Step, StockChange};
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::heads::Heads;
use abasto_store::record::{Document, HeadKey};
use abasto_store::unit::{Answer, OperationDraft, Put, UnitOfWork};
use abasto_store::verdict::Skus;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
pub(crate) const SHOP: BusinessId = BusinessId(RawId([1; 12]));
pub(crate) const OTHER_SHOP: BusinessId = BusinessId(RawId([2; 12]));

pub(crate) fn raw(number: u32) -> RawId {
    let mut id = [7; 12];
    id[8..].copy_from_slice(&number.to_be_bytes());
    RawId(id)
}

pub(crate) fn level(number: u32) -> Place {
    Place {
        branch: BranchId(raw(1)),
        product: ProductId(raw(number)),
    }
}

pub(crate) fn unit() -> UnitOfWork {
    UnitOfWork {
        business: SHOP,
        branch: None,
        actor: Actor::System,
        request: "request".to_owned(),
        at: NOW,
        operation: None,
        guards: Vec::new(),
        puts: Vec::new(),
        stock: Vec::new(),
        tallies: Vec::new(),
        carts: abasto_store::cart::CartWork::default(),
        answer: Answer::Stock(Skus::new()),
    }
}

pub(crate) fn product(number: u32, sku: &str) -> Product {
    Product {
        business: SHOP,
        id: ProductId(raw(number)),
        sku: sku.to_owned(),
        name: sku.to_owned(),
        sale_price: Amount::from_minor(100).unwrap(),
        tax_rate: TaxRate::ZERO,
        active: true,
        branches: None,
        max_per_order: None,
        attributes: std::collections::BTreeMap::new(),
        deleted_at: None,
        stamp: Stamp::first(NOW),
    }
}

pub(crate) fn customer(number: u32) -> Customer {
    Customer {
        business: SHOP,
        id: CustomerId(raw(number)),
        name: "Ana".to_owned(),
        phone: None,
        email: None,
        email_verified_at: None,
        stamp: Stamp::first(NOW),
    }
}

/// The product one version later.
pub(crate) fn changed(product: &Product, sku: &str) -> Product {
    Product {
        sku: sku.to_owned(),
        stamp: product.stamp.next(NOW),
        ..product.clone()
    }
}

pub(crate) fn put(base: Option<Document>, next: impl Into<Document>) -> Put {
    Put {
        base,
        next: next.into(),
        event: EventDraft {
            id: raw(90_000).into(),
            name: "abasto.test",
            data: serde_json::json!({ "said": true }),
        },
    }
}

pub(crate) fn puts(puts: impl IntoIterator<Item = Put>) -> UnitOfWork {
    UnitOfWork {
        puts: puts.into_iter().collect(),
        answer: Answer::Put(0),
        ..unit()
    }
}

pub(crate) fn change(place: Place, available: i64, reserved: i64) -> StockChange {
    StockChange {
        id: MovementId(raw(80_000)),
        place,
        kind: MovementKind::Adjustment,
        available,
        reserved,
        operation: OperationId {
            source: raw(80_001),
            step: Step::Apply,
            line: 0,
        },
        cause: Cause::default(),
    }
}

pub(crate) fn moving(changes: &[(Place, i64)]) -> UnitOfWork {
    let changes = changes.iter();
    UnitOfWork {
        stock: changes
            .map(|(place, available)| change(*place, *available, 0))
            .collect(),
        ..unit()
    }
}

pub(crate) fn operation(key: &str, content: u8) -> OperationDraft {
    OperationDraft {
        key: OperationKey {
            customer: None,
            key: key.to_owned(),
        },
        fingerprint: Fingerprint([content; 32]),
    }
}

pub(crate) fn series(year: i16) -> Series {
    Series {
        code: BranchCode::parse("BOG").unwrap(),
        year,
    }
}

pub(crate) fn order(number: u32, year: i16) -> Order {
    let branch = Branch {
        business: SHOP,
        id: BranchId(raw(1)),
        code: series(year).code,
        name: "Bogotá".to_owned(),
        time_zone: "America/Bogota".to_owned(),
        active: true,
        stamp: Stamp::first(NOW),
    };
    let product = product(10, "PAN");
    let items = [Item {
        product: product.id,
        quantity: Quantity::new(2).unwrap(),
    }];
    let draft = Draft {
        id: OrderId(raw(number)),
        basket: Basket {
            branch: &branch,
            items: &items,
            products: &[&product],
            coupons: &[],
            buyer: KnownBuyer::No,
            delivery_fee: Amount::ZERO,
        },
        currency: Currency::parse("COP").unwrap(),
        year,
        customer: Buyer {
            id: None,
            name: None,
            phone: None,
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
        unpaid_ms: 0,
    };
    place(draft, NOW).unwrap()
}

/// A unit that places an order of two units of product 10.
pub(crate) fn sale(number: u32, year: i16) -> UnitOfWork {
    let order = order(number, year);
    let stock = order.stock_changes(RESERVE, &mut || raw(70_000));
    UnitOfWork {
        stock,
        ..puts([put(None, order)])
    }
}

/// Sets a head as in an empty store.
pub(crate) fn set_empty(heads: &mut Heads, business: BusinessId, key: HeadKey) {
    match key {
        HeadKey::Document(key) => heads.set_document(business, key, 0),
        HeadKey::Level(place) => heads.set_level(business, place, None),
        HeadKey::Claim(claim) => heads.set_claim(business, claim, None),
        HeadKey::Series(series) => heads.set_series(business, series, 0),
        HeadKey::Tally(key) => heads.set_tally(business, key, 0),
        HeadKey::Dot(dot) => heads.set_dot(business, dot, abasto_store::cart::DotHead::Unheard),
        HeadKey::CartState(cart) => heads.set_cart_state(business, cart, 0),
        HeadKey::Operation(key) => heads.set_operation(business, key, None),
    }
}

/// Sets what is missing for units, as an adapter does for a group; the store is empty.
pub(crate) fn heads_for<'a>(units: impl IntoIterator<Item = &'a UnitOfWork>) -> Heads {
    let mut heads = Heads::default();
    for unit in units {
        for key in heads.missing(unit) {
            set_empty(&mut heads, unit.business, key);
        }
    }
    heads
}

/// Puts units on a shelf that had none.
pub(crate) fn stocked(mut heads: Heads, place: Place, available: i64) -> Heads {
    let level = abasto_domain::stock::StockLevel {
        available,
        version: 1,
        ..abasto_domain::stock::StockLevel::empty(SHOP, place)
    };
    heads.set_level(SHOP, place, Some(level));
    heads
}

pub(crate) fn product_document(product: &Product) -> Document {
    Document::Product(Arc::new(product.clone()))
}
