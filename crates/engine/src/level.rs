//! Stock as it stands: reading levels and movements.
//!
//! Owns who may see them and how a level is shown with its product. Must not change any.

use abasto_domain::access::Permission;
use abasto_domain::branch::Branch;
use abasto_domain::id::{BranchId, ProductId};
use abasto_domain::product::Product;
use abasto_domain::stock::{Movement, Place, StockLevel};
use abasto_store::query::{LevelFilter, Page, Query};
use abasto_store::record::Record;
use abasto_store::verdict::StockReply;

use crate::Engine;
use crate::cache::Freshness;
use crate::context::Context;
use crate::error::Error;

/// A level with the product's present sku.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelView {
    /// The level.
    pub level: StockLevel,
    /// The product's sku.
    pub sku: String,
}

impl Engine {
    /// One page of the levels of a branch, by product id.
    pub async fn levels(
        &self,
        context: &Context,
        filter: LevelFilter,
        page: Page,
    ) -> Result<Vec<LevelView>, Error> {
        self.readable_branch(context, filter.branch).await?;
        let rows = self
            .store
            .list(context.business(), &Query::Levels(filter), page)
            .await?;
        let levels = rows.into_iter().map(|row| match row {
            Record::Level(level) => Ok(level),
            _ => Err(Error::defect("a list of levels holds something else")),
        });
        let levels: Vec<StockLevel> = levels.collect::<Result<_, _>>()?;
        self.with_skus(context, &levels).await
    }

    /// The levels of some products of a branch, in the order asked for. A product that never
    /// moved there has a level of zero.
    pub async fn levels_of(
        &self,
        context: &Context,
        branch: BranchId,
        products: &[ProductId],
    ) -> Result<Vec<LevelView>, Error> {
        self.readable_branch(context, branch).await?;
        let business = context.business();
        let places: Vec<Place> = products
            .iter()
            .map(|product| Place {
                branch,
                product: *product,
            })
            .collect();
        let levels = self.store.levels(business, &places).await?;
        let levels = places
            .into_iter()
            .zip(levels)
            .map(|(place, level)| level.unwrap_or_else(|| StockLevel::empty(business, place)));
        let levels: Vec<StockLevel> = levels.collect();
        self.with_skus(context, &levels).await
    }

    /// One page of the movements of a level, newest first.
    pub async fn movements(
        &self,
        context: &Context,
        place: Place,
        page: Page,
    ) -> Result<Vec<Movement>, Error> {
        self.readable_branch(context, place.branch).await?;
        let business = context.business();
        self.find::<Product>(business, place.product, Freshness::Cached)
            .await?;
        let rows = self
            .store
            .list(business, &Query::Movements(place), page)
            .await?;
        rows.into_iter()
            .map(|row| match row {
                Record::Movement(movement) => Ok(movement),
                _ => Err(Error::defect("a list of movements holds something else")),
            })
            .collect()
    }

    async fn readable_branch(&self, context: &Context, branch: BranchId) -> Result<(), Error> {
        self.find::<Branch>(context.business(), branch, Freshness::Cached)
            .await?;
        context.require_at(Permission::ReadStock, branch)
    }

    /// The levels that an operation led to, as its first answer showed them.
    pub async fn moved_levels(
        &self,
        context: &Context,
        reply: &StockReply,
    ) -> Result<Vec<LevelView>, Error> {
        let named = |level: &StockLevel| {
            let sku = reply.skus.get(&level.place.product)?.clone();
            Some(LevelView { level: *level, sku })
        };
        match reply.levels.iter().map(named).collect() {
            Some(levels) => Ok(levels),
            // Answers from before they kept skus.
            None => self.with_skus(context, &reply.levels).await,
        }
    }

    async fn with_skus(
        &self,
        context: &Context,
        levels: &[StockLevel],
    ) -> Result<Vec<LevelView>, Error> {
        let ids = levels.iter().map(|level| level.place.product.0);
        let products = self
            .find_all::<Product>(context.business(), ids, Freshness::Cached)
            .await?;
        let views = levels.iter().zip(products);
        Ok(views
            .map(|(level, product)| LevelView {
                level: *level,
                sku: product.sku.clone(),
            })
            .collect())
    }
}
