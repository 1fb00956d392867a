//! A product: the current truth of the catalogue, never the history of a sale.
//!
//! Owns soft deletion and where a product is sold. Must not know stock.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::id::{BranchId, BusinessId, ProductId};
use crate::money::{Amount, TaxRate};
use crate::quantity::Quantity;
use crate::stamp::Stamp;
use crate::time::Timestamp;

/// One article of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: ProductId,
    /// Unique among the business's products that are not deleted.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// Price of one unit, tax included.
    pub sale_price: Amount,
    /// The tax inside the price.
    pub tax_rate: TaxRate,
    /// Whether it is sold.
    pub active: bool,
    /// Where it is sold; `None` means at every branch.
    pub branches: Option<Vec<BranchId>>,
    /// Most units of one order; `None` means no limit.
    pub max_per_order: Option<Quantity>,
    /// Free attributes.
    pub attributes: BTreeMap<String, String>,
    /// When it was deleted (softly).
    pub deleted_at: Option<Timestamp>,
    /// Version and times.
    pub stamp: Stamp,
}

/// Why a product cannot be sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsellable {
    /// It was deleted.
    Deleted,
    /// It is not active.
    Inactive,
    /// It is not sold at the branch.
    NotAtBranch,
}

impl Product {
    /// Whether the product can be sold at the branch now.
    pub fn sellable_at(&self, branch: BranchId) -> Result<(), Unsellable> {
        if self.deleted_at.is_some() {
            return Err(Unsellable::Deleted);
        }
        if !self.active {
            return Err(Unsellable::Inactive);
        }
        match &self.branches {
            Some(branches) if !branches.contains(&branch) => Err(Unsellable::NotAtBranch),
            _ => Ok(()),
        }
    }
}
