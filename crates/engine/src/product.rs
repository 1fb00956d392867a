//! Products: making, reading, changing, deleting and restoring them. Import is in
//! `product_import.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::branch::Branch;
use abasto_domain::id::{BranchId, BusinessId, ProductId};
use abasto_domain::money::{Amount, TaxRate};
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::query::{Page, ProductFilter, Query};

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::{Change, check_version, set};
use crate::error::Error;

/// The fields of a product that callers set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProduct {
    /// Unique among products that are not deleted.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// Price of one unit, tax included.
    pub sale_price: Amount,
    /// The tax inside the price.
    pub tax_rate: TaxRate,
    /// Whether it is sold.
    pub active: bool,
    /// Where it is sold; `None` means everywhere.
    pub branches: Option<Vec<BranchId>>,
    /// Most units of one order.
    pub max_per_order: Option<Quantity>,
    /// Free attributes.
    pub attributes: BTreeMap<String, String>,
}

/// What is to change of a product; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeProduct {
    /// The sku.
    pub sku: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The price.
    pub sale_price: Option<Amount>,
    /// The tax rate.
    pub tax_rate: Option<TaxRate>,
    /// Whether it is sold.
    pub active: Option<bool>,
    /// Where it is sold.
    pub branches: Option<Option<Vec<BranchId>>>,
    /// Most units of one order.
    pub max_per_order: Option<Option<Quantity>>,
    /// All attributes anew.
    pub attributes: Option<BTreeMap<String, String>>,
}

impl ChangeProduct {
    /// The product after the change.
    pub(crate) fn apply(&self, base: &Product, now: Timestamp) -> Product {
        let mut next = base.clone();
        set(&mut next.sku, &self.sku);
        set(&mut next.name, &self.name);
        set(&mut next.sale_price, &self.sale_price);
        set(&mut next.tax_rate, &self.tax_rate);
        set(&mut next.active, &self.active);
        set(&mut next.branches, &self.branches);
        set(&mut next.max_per_order, &self.max_per_order);
        set(&mut next.attributes, &self.attributes);
        if next != *base {
            next.stamp = base.stamp.next(now);
        }
        next
    }
}

impl NewProduct {
    /// The product as it begins.
    pub(crate) fn begin(self, business: BusinessId, id: ProductId, now: Timestamp) -> Product {
        Product {
            business,
            id,
            sku: self.sku,
            name: self.name,
            sale_price: self.sale_price,
            tax_rate: self.tax_rate,
            active: self.active,
            branches: self.branches,
            max_per_order: self.max_per_order,
            attributes: self.attributes,
            deleted_at: None,
            stamp: Stamp::first(now),
        }
    }
}

impl Engine {
    /// Makes a product.
    pub async fn create_product(
        &self,
        context: &Context,
        command: NewProduct,
    ) -> Result<Arc<Product>, Error> {
        context.require(Permission::ChangeProducts)?;
        self.check_branches(context, command.branches.as_deref())
            .await?;
        let now = self.now();
        let id = ProductId(self.new_id(now));
        let product = Arc::new(command.begin(context.business(), id, now));
        self.save(context, move |_, _, _| {
            let next = Arc::clone(&product).into();
            async move {
                Ok(Change {
                    base: None,
                    next,
                    event: "abasto.product.created",
                    at: now,
                })
            }
        })
        .await
    }

    /// One page of the products, newest first.
    pub async fn products(
        &self,
        context: &Context,
        filter: ProductFilter,
        page: Page,
    ) -> Result<Vec<Arc<Product>>, Error> {
        context.require(Permission::ReadProducts)?;
        self.list_documents(context.business(), &Query::Products(filter), page)
            .await
    }

    /// One product, deleted ones included.
    pub async fn product(&self, context: &Context, id: ProductId) -> Result<Arc<Product>, Error> {
        context.require(Permission::ReadProducts)?;
        self.find(context.business(), id, Freshness::Fresh).await
    }

    /// Changes the version of a product that the caller saw.
    pub async fn change_product(
        &self,
        context: &Context,
        id: ProductId,
        seen_version: i64,
        command: ChangeProduct,
    ) -> Result<Arc<Product>, Error> {
        let branches = command.branches.clone().flatten();
        self.check_branches(context, branches.as_deref()).await?;
        let event = "abasto.product.changed";
        self.edit_product(context, id, Some(seen_version), event, move |base, now| {
            command.apply(base, now)
        })
        .await
    }

    /// Deletes the version of a product that the caller saw; softly: its sku is free again, its
    /// stock and history stay. Deleting it again changes nothing.
    pub async fn delete_product(
        &self,
        context: &Context,
        id: ProductId,
        seen_version: i64,
    ) -> Result<Arc<Product>, Error> {
        let event = "abasto.product.deleted";
        self.edit_product(context, id, Some(seen_version), event, |base, now| {
            let mut next = base.clone();
            if next.deleted_at.is_none() {
                next.deleted_at = Some(now);
                next.stamp = base.stamp.next(now);
            }
            next
        })
        .await
    }

    /// Takes a deletion back; refused when the sku has another holder now.
    pub async fn restore_product(
        &self,
        context: &Context,
        id: ProductId,
    ) -> Result<Arc<Product>, Error> {
        self.edit_product(context, id, None, "abasto.product.restored", |base, now| {
            let mut next = base.clone();
            if next.deleted_at.take().is_some() {
                next.stamp = base.stamp.next(now);
            }
            next
        })
        .await
    }

    async fn edit_product(
        &self,
        context: &Context,
        id: ProductId,
        seen_version: Option<i64>,
        event: &'static str,
        edit: impl Fn(&Product, Timestamp) -> Product + Send + Sync + 'static,
    ) -> Result<Arc<Product>, Error> {
        self.product(context, id).await?;
        context.require(Permission::ChangeProducts)?;
        let edit = Arc::new(edit);
        self.save(context, move |engine, context, _| {
            let edit = Arc::clone(&edit);
            async move {
                let base: Arc<Product> = engine
                    .find(context.business(), id, Freshness::Fresh)
                    .await?;
                if let Some(version) = seen_version {
                    check_version(&Arc::clone(&base).into(), version)?;
                }
                let at = engine.now();
                let next = edit(&base, at);
                Ok(Change {
                    base: Some(base.into()),
                    next: next.into(),
                    event,
                    at,
                })
            }
        })
        .await
    }

    pub(crate) async fn check_branches(
        &self,
        context: &Context,
        branches: Option<&[BranchId]>,
    ) -> Result<(), Error> {
        let branches = branches.unwrap_or_default().iter().map(|branch| branch.0);
        self.find_all::<Branch>(context.business(), branches, Freshness::Cached)
            .await?;
        Ok(())
    }
}
