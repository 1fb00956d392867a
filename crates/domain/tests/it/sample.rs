//! Small records to decide upon.

use abasto_domain::basket::Basket;
use abasto_domain::branch::{Branch, BranchCode};
use abasto_domain::checkout::{Checkout, CheckoutDraft, open};
use abasto_domain::coupon::{Coupon, CouponCode, Discount, KnownBuyer};
use abasto_domain::currency::Currency;
use abasto_domain::id::{BranchId, BusinessId, CouponId, OrderId, PaymentId, ProductId, RawId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::order::{Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, place};
use abasto_domain::payment::{Payment, PaymentState, Provider};
use abasto_domain::payment_call::CallState;
use abasto_domain::pricing::{Item, Line, price_line};
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::StockChange;
use abasto_domain::time::Timestamp;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000_000);
pub(crate) const HOLD_MS: i64 = 600_000;

pub(crate) fn raw(number: u8) -> RawId {
    RawId([number; 12])
}

/// A source of ids that no sample uses.
pub(crate) fn ids() -> impl FnMut() -> RawId {
    let mut next = 1_000u32;
    move || {
        next += 1;
        let mut id = [0; 12];
        id[8..].copy_from_slice(&next.to_be_bytes());
        RawId(id)
    }
}

pub(crate) fn amount(minor: i64) -> Amount {
    Amount::from_minor(minor).unwrap()
}

pub(crate) fn units(units: i64) -> Quantity {
    Quantity::new(units).unwrap()
}

pub(crate) fn cop() -> Currency {
    Currency::parse("COP").unwrap()
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

pub(crate) fn product(number: u8, price: i64) -> Product {
    Product {
        business: BusinessId(raw(1)),
        id: ProductId(raw(number)),
        sku: format!("SKU-{number}"),
        name: format!("Product {number}"),
        sale_price: amount(price),
        tax_rate: TaxRate::parse("0.19").unwrap(),
        active: true,
        branches: None,
        max_per_order: None,
        attributes: std::collections::BTreeMap::new(),
        deleted_at: None,
        stamp: Stamp::first(NOW),
    }
}

pub(crate) fn item(product: &Product, quantity: i64) -> Item {
    Item {
        product: product.id,
        quantity: units(quantity),
    }
}

pub(crate) fn line(product: &Product, quantity: i64) -> Line {
    price_line(product, units(quantity)).unwrap()
}

pub(crate) fn coupon(code: &str, discount: Discount) -> Coupon {
    let mut id = [9; 12];
    id[..code.len().min(12)].copy_from_slice(&code.as_bytes()[..code.len().min(12)]);
    Coupon {
        business: BusinessId(raw(1)),
        id: CouponId(RawId(id)),
        code: CouponCode::parse(code).unwrap(),
        discount,
        products: None,
        min_subtotal: None,
        starts_at: Timestamp::from_millis(0),
        ends_at: Timestamp::from_millis(i64::MAX),
        max_redemptions: None,
        max_per_customer: None,
        active: true,
        stamp: Stamp::first(NOW),
    }
}

const fn pickup() -> Fulfilment {
    Fulfilment {
        kind: FulfilmentKind::Pickup,
        address: None,
        courier: None,
    }
}

pub(crate) fn draft<'a>(id: RawId, basket: Basket<'a>) -> CheckoutDraft<'a> {
    CheckoutDraft {
        id,
        basket,
        currency: cop(),
        customer: None,
        holder: raw(7),
        fulfilment: pickup(),
        payment_method: PaymentMethod::Online,
        cart: None,
        hold_ms: HOLD_MS,
    }
}

pub(crate) fn basket<'a>(
    branch: &'a Branch,
    items: &'a [Item],
    products: &'a [&'a Product],
) -> Basket<'a> {
    Basket {
        branch,
        items,
        products,
        coupons: &[],
        buyer: KnownBuyer::No,
        delivery_fee: Amount::ZERO,
    }
}

/// An open checkout of so many units of products 10, 11, 12 …
pub(crate) fn held(quantities: &[i64], now: Timestamp) -> (Checkout, Vec<StockChange>) {
    let products: Vec<Product> = (10..)
        .zip(quantities)
        .map(|(number, _)| product(number, 1_000))
        .collect();
    let items: Vec<Item> = products
        .iter()
        .zip(quantities)
        .map(|(product, quantity)| item(product, *quantity))
        .collect();
    let shelf: Vec<&Product> = products.iter().collect();
    let branch = branch();
    let draft = draft(raw(20), basket(&branch, &items, &shelf));
    open(draft, now, &mut ids()).unwrap()
}

/// An online order of two units for 1000 each, which waits for its payment.
pub(crate) fn unpaid_order() -> Order {
    let (branch, product) = (branch(), product(10, 1_000));
    let items = [item(&product, 2)];
    let shelf = [&product];
    let draft = Draft {
        id: OrderId(raw(30)),
        basket: basket(&branch, &items, &shelf),
        currency: cop(),
        year: 2026,
        customer: Buyer {
            id: None,
            name: None,
            phone: None,
        },
        fulfilment: pickup(),
        payment_method: PaymentMethod::Online,
        note: None,
        checkout: None,
        cart: None,
        expected_total: None,
        unpaid_ms: HOLD_MS,
    };
    place(draft, NOW).unwrap()
}

/// An attempt to pay [`unpaid_order`].
pub(crate) fn payment() -> Payment {
    Payment {
        business: BusinessId(raw(1)),
        id: PaymentId(raw(40)),
        order: OrderId(raw(30)),
        provider: Provider::Stripe,
        provider_ref: None,
        amount: amount(2_000),
        currency: cop(),
        state: PaymentState::Created,
        failure: None,
        given_up_at: None,
        refunds: Vec::new(),
        redirect_url: None,
        return_url: None,
        call: CallState::due(NOW),
        stamp: Stamp::first(NOW),
    }
}
