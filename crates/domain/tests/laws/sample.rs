//! Records to decide upon.

use abasto_domain::basket::Basket;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::coupon::KnownBuyer;
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, BusinessId, OrderId, ProductId, RawId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::{Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, place};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

pub(crate) fn raw(number: u32) -> RawId {
    let mut id = [7; 12];
    id[8..].copy_from_slice(&number.to_be_bytes());
    RawId(id)
}

/// A source of ids that no sample uses.
pub(crate) fn ids() -> impl FnMut() -> RawId {
    let mut next = 1_000_000;
    move || {
        next += 1;
        raw(next)
    }
}

pub(crate) fn amount(minor: i64) -> Amount {
    Amount::from_minor(minor).unwrap()
}

pub(crate) fn units(units: i64) -> Quantity {
    Quantity::new(units).unwrap()
}

pub(crate) fn branch() -> Branch {
    Branch {
        business: BusinessId(raw(1)),
        id: BranchId(raw(2)),
        code: BranchCode::parse("BOG").unwrap(),
        name: "Bogotá".into(),
        time_zone: "America/Bogota".into(),
        active: true,
        stamp: Stamp::first(NOW),
    }
}

pub(crate) fn product(number: u32, price_minor: i64, rate_millionths: u32) -> Product {
    Product {
        business: BusinessId(raw(1)),
        id: ProductId(raw(1_000 + number)),
        sku: format!("SKU-{number}"),
        name: format!("Product {number}"),
        sale_price: amount(price_minor),
        tax_rate: TaxRate::from_millionths(rate_millionths).unwrap(),
        active: true,
        branches: None,
        max_per_order: None,
        attributes: std::collections::BTreeMap::new(),
        deleted_at: None,
        stamp: Stamp::first(NOW),
    }
}

/// What a buyer asks for: products and how many of each.
pub(crate) struct Wish {
    pub(crate) branch: Branch,
    pub(crate) lines: Vec<(Product, i64)>,
    pub(crate) method: PaymentMethod,
    pub(crate) fee: Amount,
    pub(crate) expected_total: Option<Amount>,
}

impl Wish {
    pub(crate) fn of(lines: Vec<(Product, i64)>) -> Self {
        Self {
            branch: branch(),
            lines,
            method: PaymentMethod::OnDelivery,
            fee: Amount::ZERO,
            expected_total: None,
        }
    }

    pub(crate) fn place(&self) -> Result<Order, abasto_domain::order::PlaceRejection> {
        let items: Vec<Item> = self
            .lines
            .iter()
            .map(|(product, quantity)| Item {
                product: product.id,
                quantity: units(*quantity),
            })
            .collect();
        let products: Vec<&Product> = self.lines.iter().map(|(product, _)| product).collect();
        let draft = Draft {
            id: OrderId(raw(500)),
            basket: Basket {
                branch: &self.branch,
                items: &items,
                products: &products,
                coupons: &[],
                buyer: KnownBuyer::No,
                delivery_fee: self.fee,
            },
            currency: Currency::parse("COP").unwrap(),
            year: 2027,
            customer: Buyer {
                id: None,
                name: Some("Ana".into()),
                phone: None,
            },
            fulfilment: Fulfilment {
                kind: FulfilmentKind::Pickup,
                address: None,
                courier: None,
            },
            payment_method: self.method,
            note: None,
            checkout: None,
            cart: None,
            expected_total: self.expected_total,
            unpaid_ms: 1_800_000,
        };
        place(draft, NOW)
    }
}

/// An order of two products, pending.
pub(crate) fn order() -> Order {
    let lines = vec![
        (product(1, 350_000, 190_000), 3),
        (product(2, 120_050, 50_000), 2),
    ];
    Wish::of(lines).place().unwrap()
}
