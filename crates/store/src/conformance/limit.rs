//! The largest and the strangest that the domain lets through.

use std::sync::Arc;

use abasto_domain::customer::Customer;
use abasto_domain::limits::{AMOUNT_MINOR_MAX, ATTRIBUTES_MAX, ORDER_LINES_MAX, QUANTITY_MAX};
use abasto_domain::money::TaxRate;
use abasto_domain::order::Address;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::stock::Place;
use abasto_domain::time::Timestamp;

use super::sale::YEAR;
use super::tenant::{Tenant, amount, place, valid};
use super::world::{World, answer};
use crate::record::{Document, DocumentKey, Kind};

/// As many lines as an order may have.
pub async fn an_order_of_two_hundred_lines(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let drafts: Vec<Arc<Product>> = (0..ORDER_LINES_MAX)
        .map(|number| Arc::new(tenant.draft_product(&format!("PAN-{number}"))))
        .collect();
    let creations = drafts
        .iter()
        .map(|product| tenant.creation(Arc::clone(product)));
    let unit = tenant.unit_of(creations);
    super::world::committed(world.commit(unit).await);
    let receipts: Vec<(Place, i64)> = drafts
        .iter()
        .map(|product| (place(&branch, product), 2))
        .collect();
    super::world::committed(world.commit(tenant.adjustment(&receipts)).await);
    let lines: Vec<_> = drafts.iter().map(|product| (&**product, 2)).collect();
    let order = tenant.draft_order(&branch, &lines, YEAR);
    let order = tenant.order(tenant.placing(order)).await;
    assert_eq!(order.lines.len(), ORDER_LINES_MAX);
    let found = world
        .document(tenant.business(), Document::from(Arc::clone(&order)).key())
        .await;
    assert_eq!(found, Some(Document::Order(order)));
}

async fn comes_back(tenant: &Tenant, document: impl Into<Document>) {
    let document = document.into();
    tenant.save(document.clone()).await;
    let found = tenant
        .world
        .document(tenant.business(), document.key())
        .await;
    assert_eq!(found, Some(document));
}

/// Long texts of four-byte characters, marks that turn the direction, quotes, names of operators.
pub async fn texts_at_their_limits(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let texts = [
        "🥖".repeat(200),
        "\u{202e}txt.exe\u{202c}".to_owned(),
        "a\u{301}\u{200d}\u{feff}".to_owned(),
        "'; DROP TABLE products; --".to_owned(),
        "{\"$gt\": \"\"}".to_owned(),
        "\u{10ffff}\u{fffd}\u{e000}".to_owned(),
        "null".to_owned(),
    ];
    for (number, text) in texts.iter().enumerate() {
        let product = Product {
            name: text.clone(),
            attributes: [(text.chars().take(64).collect(), text.clone())].into(),
            ..tenant.draft_product(&format!("PAN-{number}"))
        };
        comes_back(&tenant, product).await;
        let customer = Customer {
            name: text.clone(),
            ..tenant.draft_customer(None)
        };
        comes_back(&tenant, customer).await;
    }
    let many = (0..ATTRIBUTES_MAX).map(|n| (format!("$name.{n}"), "v".repeat(500)));
    let product = Product {
        attributes: many.collect(),
        ..tenant.draft_product("PAN-many")
    };
    let product = Arc::new(product);
    comes_back(&tenant, Arc::clone(&product)).await;
    tenant.receive(place(&branch, &product), 1).await;
    let mut order = tenant.draft_order(&branch, &[(&product, 1)], YEAR);
    order.note = Some("línea 1\nlínea 2 🥐".repeat(40));
    let parts = [
        ("street.name", "Calle 1 # 2-3"),
        ("$city", "Bogotá"),
        ("", ""),
    ];
    let parts = parts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    order.fulfilment.address = Some(Address::Parts(parts.into()));
    let order = tenant.order(tenant.placing(order)).await;
    let document = Document::Order(order);
    let found = world.document(tenant.business(), document.key()).await;
    assert_eq!(found, Some(document));
}

/// The largest amount, rate, quantity; the earliest and the latest time.
pub async fn numbers_at_their_limits(world: World) {
    let tenant = world.tenant().await;
    let ends = [
        (0, "0", 1),
        (1, "0.000001", 2),
        (AMOUNT_MINOR_MAX, "1", QUANTITY_MAX),
    ];
    for (minor, rate, most) in ends {
        let product = Product {
            sale_price: amount(minor),
            tax_rate: valid(TaxRate::parse(rate)),
            max_per_order: Some(valid(Quantity::new(most))),
            ..tenant.draft_product(&format!("PAN-{minor}"))
        };
        comes_back(&tenant, product).await;
    }
    // 0001-01-01 and 9999-12-31.
    for millis in [-62_135_596_800_000, -1, 0, 1, 253_402_300_799_999] {
        let at = Timestamp::from_millis(millis);
        let customer = Customer {
            stamp: Stamp::first(at),
            email: Some(format!("ana{millis}@example.org")),
            email_verified_at: Some(at),
            ..tenant.draft_customer(None)
        };
        comes_back(&tenant, customer).await;
    }
}

/// More keys in one read than a page has rows.
pub async fn many_keys_in_one_read(world: World) {
    let tenant = world.tenant().await;
    let branch = tenant.branch("BOG").await;
    let products: Vec<Arc<Product>> = (0..300)
        .map(|number| Arc::new(tenant.draft_product(&format!("PAN-{number}"))))
        .collect();
    for some in products.chunks(100) {
        let creations = some
            .iter()
            .map(|product| tenant.creation(Arc::clone(product)));
        super::world::committed(world.commit(tenant.unit_of(creations)).await);
    }
    let places: Vec<Place> = products
        .iter()
        .map(|product| place(&branch, product))
        .collect();
    let receipts: Vec<(Place, i64)> = places.iter().step_by(2).map(|p| (*p, 1)).collect();
    super::world::committed(world.commit(tenant.adjustment(&receipts)).await);
    let (store, business) = (world.store(), tenant.business());
    let keys: Vec<_> = products
        .iter()
        .map(|product| DocumentKey::new(Kind::Product, product.id))
        .collect();
    let expected: Vec<_> = products
        .iter()
        .map(|product| Some(Document::from(Arc::clone(product))))
        .collect();
    assert_eq!(answer(store.documents(business, &keys).await), expected);
    let skus: Vec<String> = products.iter().map(|product| product.sku.clone()).collect();
    assert_eq!(
        answer(store.products_by_sku(business, &skus).await),
        expected
    );
    let levels = answer(store.levels(business, &places).await);
    for (number, (place, level)) in places.iter().zip(levels).enumerate() {
        let found = level.map(|level| (level.place, level.available));
        let expected = number.is_multiple_of(2).then_some((*place, 1));
        assert_eq!(found, expected);
    }
}
