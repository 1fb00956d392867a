//! Claims: what only one document of a business may have.

use std::sync::Arc;

use abasto_domain::customer::Customer;
use abasto_domain::product::Product;

use super::tenant::Tenant;
use super::world::{World, answer, committed};
use crate::record::{Claim, Document, Unique};
use crate::unit::Put;
use crate::verdict::{Rejection, Verdict};

fn taken(rule: Unique, value: &str) -> Verdict {
    let value = value.to_owned();
    Verdict::Rejected(Rejection::Taken(Claim { rule, value }))
}

/// The product after it was deleted.
fn deleted(tenant: &Tenant, product: &Product) -> Product {
    Product {
        deleted_at: Some(tenant.world.now()),
        stamp: tenant.next(product.stamp),
        ..product.clone()
    }
}

/// The product after it was restored.
fn restored(tenant: &Tenant, product: &Product) -> Product {
    Product {
        deleted_at: None,
        stamp: tenant.next(product.stamp),
        ..product.clone()
    }
}

async fn put(tenant: &Tenant, put: Put) -> Verdict {
    tenant.world.commit(tenant.unit_of([put])).await
}

/// A second holder is refused; the holder itself is not in its own way.
pub async fn a_claim_belongs_to_one_document(world: World) {
    let tenant = world.tenant().await;
    let product = tenant.product("PAN-1").await;
    let twin = tenant.draft_product("PAN-1");
    let verdict = put(&tenant, tenant.creation(twin)).await;
    assert_eq!(verdict, taken(Unique::Sku, "PAN-1"));
    let next = restored(&tenant, &product);
    tenant.update(product, next).await;
}

fn customer_with_email(tenant: &Tenant, email: &str) -> Customer {
    Customer {
        email: Some(email.to_owned()),
        email_verified_at: Some(tenant.world.now()),
        ..tenant.draft_customer(None)
    }
}

/// Each rule refuses a second holder, per business.
pub async fn every_rule_of_uniqueness_is_kept(world: World) {
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let phone = "+573001234567";
    type Make = fn(&Tenant) -> Document;
    let rules: [(Unique, &str, Make); 5] = [
        (Unique::BranchCode, "BOG", |t| t.draft_branch("BOG").into()),
        (Unique::ActiveMember, "user-1", |t| {
            t.draft_member("user-1").into()
        }),
        (Unique::Sku, "PAN-1", |t| t.draft_product("PAN-1").into()),
        (Unique::Phone, phone, |t| {
            t.draft_customer(Some("+573001234567")).into()
        }),
        (Unique::VerifiedEmail, "ana@example.org", |t| {
            customer_with_email(t, " Ana@Example.org").into()
        }),
    ];
    for (rule, value, make) in rules {
        tenant.save(make(&tenant)).await;
        let verdict = put(&tenant, tenant.creation(make(&tenant))).await;
        assert_eq!(verdict, taken(rule, value));
        other.save(make(&other)).await;
    }
}

/// Deleted, inactive, absent and unverified values are nobody's.
pub async fn what_no_rule_names_may_repeat(world: World) {
    let tenant = world.tenant().await;
    let time = world.now();
    for _ in 0..3 {
        tenant.save(tenant.draft_customer(None)).await;
        let mut customer = tenant.draft_customer(None);
        customer.email = Some("ana@example.org".to_owned());
        tenant.save(customer).await;
        let mut product = tenant.draft_product("PAN-1");
        product.deleted_at = Some(time);
        tenant.save(product).await;
        let mut member = tenant.draft_member("user-1");
        member.active = false;
        tenant.save(member).await;
        tenant.save(tenant.draft_key("one name")).await;
    }
    tenant.product("PAN-1").await;
}

/// A deleted product's sku can be used again; then the restore is refused.
pub async fn a_claim_is_free_when_its_holder_lets_go(world: World) {
    let tenant = world.tenant().await;
    let first = tenant.product("PAN-1").await;
    let gone = deleted(&tenant, &first);
    tenant.update(first, gone.clone()).await;
    let sku = ["PAN-1".to_owned()];
    let read = || async { answer(world.store().products_by_sku(tenant.business(), &sku).await) };
    assert_eq!(read().await, [None]);
    let second = tenant.product("PAN-1").await;
    assert_eq!(read().await, [Some(Document::from(Arc::clone(&second)))]);
    let back = restored(&tenant, &gone);
    let verdict = put(&tenant, tenant.change(gone.clone(), back.clone())).await;
    assert_eq!(verdict, taken(Unique::Sku, "PAN-1"));
    let renamed = Product {
        sku: "PAN-2".to_owned(),
        ..restored(&tenant, &second)
    };
    tenant.update(second, renamed).await;
    tenant.update(gone, back).await;
}

/// One unit lets go of a claim and gives it to another document.
pub async fn a_claim_moves_within_one_unit(world: World) {
    let tenant = world.tenant().await;
    let old = tenant.product("PAN-1").await;
    let gone = deleted(&tenant, &old);
    let new = Arc::new(tenant.draft_product("PAN-1"));
    let unit = tenant.unit_of([tenant.change(old, gone), tenant.creation(Arc::clone(&new))]);
    committed(world.commit(unit).await);
    let sku = ["PAN-1".to_owned()];
    let found = answer(world.store().products_by_sku(tenant.business(), &sku).await);
    assert_eq!(found, [Some(Document::from(new))]);
}

/// Units that let go of claims and units that take them come at once.
pub async fn a_claim_moves_within_one_group(world: World) {
    let tenant = world.tenant().await;
    for round in 0..4 {
        let mut units = Vec::new();
        for number in 0..16 {
            let sku = format!("PAN-{round}-{number}");
            let old = tenant.product(&sku).await;
            let gone = deleted(&tenant, &old);
            units.push(tenant.unit_of([tenant.change(old, gone)]));
            units.push(tenant.unit_of([tenant.creation(tenant.draft_product(&sku))]));
        }
        let takers: Vec<_> = units.iter().skip(1).step_by(2).cloned().collect();
        let verdicts = world.commit_all(units).await;
        for (number, pair) in verdicts.chunks(2).enumerate() {
            committed(pair[0].clone());
            match &pair[1] {
                Verdict::Committed(_) => {}
                // It came before the claim was free; now it is.
                Verdict::Rejected(Rejection::Taken(_)) => {
                    committed(world.commit(takers[number].clone()).await);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Two documents of one unit cannot both have it.
pub async fn the_same_claim_twice_in_one_unit_is_refused(world: World) {
    let tenant = world.tenant().await;
    let twins = [
        tenant.creation(tenant.draft_product("PAN-1")),
        tenant.creation(tenant.draft_product("PAN-1")),
    ];
    let verdict = world.commit(tenant.unit_of(twins)).await;
    assert_eq!(verdict, taken(Unique::Sku, "PAN-1"));
    tenant.product("PAN-1").await;
}

/// Twenty new products with one sku at once: one is made.
pub async fn one_of_many_claimants_wins(world: World) {
    let tenant = world.tenant().await;
    let unit = |_| tenant.unit_of([tenant.creation(tenant.draft_product("PAN-1"))]);
    let verdicts = world.commit_all((0..20).map(unit).collect()).await;
    let refused = taken(Unique::Sku, "PAN-1");
    let lost = verdicts.iter().filter(|verdict| **verdict == refused);
    assert_eq!(lost.count(), 19, "{verdicts:?}");
}

/// Values that look alike are not the same: case, accents in another form, invisible characters,
/// leading zeros, trailing spaces.
pub async fn claims_compare_bytes(world: World) {
    let tenant = world.tenant().await;
    let skus = [
        "pan",
        "PAN",
        "Pan",
        "pan ",
        "p\u{200d}an",
        "pa\u{301}n",
        "p\u{e1}n",
        "1",
        "01",
        "1.0",
        "ß",
        "ss",
        "p%n",
        "p_n",
        "null",
        "[]",
    ];
    for sku in skus {
        tenant.product(sku).await;
    }
    let skus = skus.map(str::to_owned);
    let found = answer(
        world
            .store()
            .products_by_sku(tenant.business(), &skus)
            .await,
    );
    for (sku, document) in skus.iter().zip(found) {
        let Some(Document::Product(product)) = document else {
            panic!("{sku:?} is not found");
        };
        assert_eq!(product.sku, *sku);
    }
}
