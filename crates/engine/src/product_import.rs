//! Import of products: rows that create or change by sku, each with its own outcome.
//!
//! Owns the order of rows: rows of one sku take effect one after the other, as they stand in the
//! file; the others are committed together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::id::ProductId;
use abasto_domain::money::TaxRate;
use abasto_domain::product::Product;
use abasto_store::record::Document;
use tokio::task::JoinSet;

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::document::Change;
use crate::error::Error;
use crate::product::{ChangeProduct, NewProduct};

/// What became of a row.
#[derive(Debug)]
pub enum Imported {
    /// A new product.
    Created(ProductId),
    /// A product changed.
    Updated(ProductId),
    /// The product was so already.
    Unchanged(ProductId),
    /// Nothing happened, and why.
    Failed(Error),
}

/// Most rows of one call.
pub const ROWS_MAX: usize = 256;

impl Engine {
    /// Imports rows, at most [`ROWS_MAX`]; the outcomes are in the order of the rows. A row names
    /// its product by `sku`; a new one needs a name and a price.
    pub async fn import_products(
        &self,
        context: &Context,
        rows: Vec<ChangeProduct>,
    ) -> Result<Vec<Imported>, Error> {
        context.require(Permission::ChangeProducts)?;
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let mut skus = BTreeSet::new();
            let mut round = Vec::new();
            while let Some(row) = rows.next_if(|row| !skus.contains(&row.sku)) {
                skus.insert(row.sku.clone());
                round.push(row);
            }
            outcomes.extend(self.import_round(context, round).await?);
        }
        Ok(outcomes)
    }

    /// Rows of different skus: read together, committed together.
    async fn import_round(
        &self,
        context: &Context,
        rows: Vec<ChangeProduct>,
    ) -> Result<Vec<Imported>, Error> {
        let skus: Vec<String> = rows.iter().filter_map(|row| row.sku.clone()).collect();
        let known = self
            .store
            .products_by_sku(context.business(), &skus)
            .await?;
        let known: BTreeMap<String, Option<Document>> = skus.into_iter().zip(known).collect();
        let mut tasks = JoinSet::new();
        for (index, row) in rows.into_iter().enumerate() {
            let known = row
                .sku
                .as_ref()
                .and_then(|sku| known.get(sku))
                .cloned()
                .flatten();
            let (engine, context) = (self.clone(), context.clone());
            tasks.spawn(async move { (index, engine.import_row(&context, row, known).await) });
        }
        let mut outcomes = BTreeMap::new();
        while let Some(done) = tasks.join_next().await {
            let (index, outcome) = done.map_err(|error| Error::Internal(Box::new(error)))?;
            outcomes.insert(index, outcome.unwrap_or_else(Imported::Failed));
        }
        Ok(outcomes.into_values().collect())
    }

    async fn import_row(
        &self,
        context: &Context,
        row: ChangeProduct,
        known: Option<Document>,
    ) -> Result<Imported, Error> {
        let branches = row.branches.clone().flatten();
        self.check_branches(context, branches.as_deref()).await?;
        let now = self.now();
        let new_id = ProductId(self.new_id(now));
        let row = Arc::new(row);
        let seen = known.as_ref().map(Document::version);
        let saved: Arc<Product> = self
            .save(context, move |engine, context, freshness| {
                let (row, known) = (Arc::clone(&row), known.clone());
                async move {
                    let base = match freshness {
                        Freshness::Cached => known,
                        Freshness::Fresh => engine.by_sku(&context, &row).await?,
                    };
                    engine.decide_row(&context, &row, base, new_id)
                }
            })
            .await?;
        Ok(match saved.stamp.version {
            1 if saved.id == new_id => Imported::Created(saved.id),
            version if seen == Some(version) => Imported::Unchanged(saved.id),
            _ => Imported::Updated(saved.id),
        })
    }

    async fn by_sku(
        &self,
        context: &Context,
        row: &ChangeProduct,
    ) -> Result<Option<Document>, Error> {
        let skus: Vec<String> = row.sku.iter().cloned().collect();
        let found = self
            .store
            .products_by_sku(context.business(), &skus)
            .await?;
        Ok(found.into_iter().next().flatten())
    }

    fn decide_row(
        &self,
        context: &Context,
        row: &ChangeProduct,
        base: Option<Document>,
        new_id: ProductId,
    ) -> Result<Change, Error> {
        let at = self.now();
        if let Some(Document::Product(product)) = &base {
            let next = row.apply(product, at).into();
            return Ok(Change {
                base,
                next,
                event: "abasto.product.changed",
                at,
            });
        }
        let missing = |field: &'static str| {
            const MISSING: abasto_domain::fault::InvalidValue =
                abasto_domain::fault::InvalidValue::new("required", "a new product needs this");
            Error::fault(field, MISSING)
        };
        let product = NewProduct {
            sku: row.sku.clone().ok_or_else(|| missing("/sku"))?,
            name: row.name.clone().ok_or_else(|| missing("/name"))?,
            sale_price: row.sale_price.ok_or_else(|| missing("/salePrice"))?,
            tax_rate: row.tax_rate.unwrap_or(TaxRate::ZERO),
            active: row.active.unwrap_or(true),
            branches: row.branches.clone().flatten(),
            max_per_order: row.max_per_order.flatten(),
            attributes: row.attributes.clone().unwrap_or_default(),
        };
        let next = product.begin(context.business(), new_id, at).into();
        Ok(Change {
            base: None,
            next,
            event: "abasto.product.created",
            at,
        })
    }
}
