//! The documents of products: as shown, as made, as changed.
//!
//! Owns their fields and what is checked of them beyond the schema. Must not know routes.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::currency::Currency;
use abasto_domain::fault::{Faults, InvalidValue};
use abasto_domain::limits::{self, ATTRIBUTES_MAX};
use abasto_domain::money::TaxRate;
use abasto_domain::product::Product;
use abasto_domain::quantity::Quantity;
use abasto_domain::text::clean;
use abasto_engine::product::{ChangeProduct, NewProduct};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body;
use crate::json::push_step;
use crate::problem::Problem;
use crate::value::{Id, Money, Price, Prices, Time, finish, ids, nullable, optional};

/// An article of the catalogue.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Product)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProductView {
    id: Id,
    /// Unique among the products that are not deleted.
    #[schema(example = "PAN-001")]
    sku: String,
    #[schema(example = "Pan de bono")]
    name: String,
    /// Price of one unit, tax included.
    sale_price: Price,
    /// The tax inside the price.
    #[schema(example = "0.19")]
    tax_rate: String,
    /// Whether it is sold.
    active: bool,
    /// Where it is sold; null means at every branch.
    #[schema(required = true)]
    branch_ids: Option<Vec<Id>>,
    /// Most units of one order; null means no limit.
    #[schema(required = true)]
    max_per_order: Option<i64>,
    attributes: BTreeMap<String, String>,
    version: i64,
    created_at: Time,
    updated_at: Time,
    /// When it was deleted, softly.
    #[schema(required = true)]
    deleted_at: Option<Time>,
}

impl ProductView {
    pub(crate) fn new(product: &Product, currency: Currency) -> Self {
        let branches = product.branches.as_ref();
        Self {
            id: product.id.into(),
            sku: product.sku.clone(),
            name: product.name.clone(),
            sale_price: Prices::of(currency).show(product.sale_price),
            tax_rate: product.tax_rate.to_decimal(),
            active: product.active,
            branch_ids: branches.map(|ids| ids.iter().map(|id| Id::from(*id)).collect()),
            max_per_order: product.max_per_order.map(Quantity::units),
            attributes: product.attributes.clone(),
            version: product.stamp.version,
            created_at: product.stamp.created_at.into(),
            updated_at: product.stamp.updated_at.into(),
            deleted_at: product.deleted_at.map(Time::from),
        }
    }
}

/// A product to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateProduct {
    #[schema(min_length = 1, max_length = 64, example = "PAN-001")]
    sku: String,
    #[schema(min_length = 1, max_length = 200, example = "Pan de bono")]
    name: String,
    /// Price of one unit, tax included.
    sale_price: Money,
    /// The tax inside the price.
    #[schema(
        pattern = r"^[01](\.[0-9]{1,6})?$",
        default = "0",
        example = "0.19",
        nullable = false
    )]
    tax_rate: Option<String>,
    #[schema(nullable = false, default = true)]
    active: Option<bool>,
    /// Where it is sold; null or left out means at every branch.
    #[schema(max_items = 200)]
    branch_ids: Option<BTreeSet<Id>>,
    /// Most units of one order; null or left out means no limit.
    #[schema(minimum = 1, maximum = 1_000_000)]
    max_per_order: Option<i64>,
    /// At most 50, names of 1 to 64 and values of up to 500 characters.
    #[schema(nullable = false)]
    attributes: Option<BTreeMap<String, String>>,
}

impl CreateProduct {
    pub(crate) fn read(self, currency: Currency) -> Result<NewProduct, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let sku = f.take("/sku", clean(&self.sku, limits::SKU));
        let name = f.take("/name", clean(&self.name, limits::NAME));
        let price = f.take("/salePrice", self.sale_price.read(currency));
        let rate = optional(f, "/taxRate", self.tax_rate, |rate| TaxRate::parse(&rate));
        let most = optional(f, "/maxPerOrder", self.max_per_order, Quantity::new);
        let attributes = attributes(f, self.attributes.unwrap_or_default());
        let command = || {
            Some(NewProduct {
                sku: sku?,
                name: name?,
                sale_price: price?,
                tax_rate: rate?.unwrap_or(TaxRate::ZERO),
                active: self.active.unwrap_or(true),
                branches: self.branch_ids.map(ids),
                max_per_order: most?,
                attributes: attributes?,
            })
        };
        finish(faults, command())
    }
}

/// What is to change of a product; what is left out stays as it is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[schema(as = ChangeProduct)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProductChange {
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub(crate) sku: Option<String>,
    #[schema(min_length = 1, max_length = 200, nullable = false)]
    pub(crate) name: Option<String>,
    #[schema(nullable = false)]
    pub(crate) sale_price: Option<Money>,
    #[schema(pattern = r"^[01](\.[0-9]{1,6})?$", nullable = false)]
    pub(crate) tax_rate: Option<String>,
    #[schema(nullable = false)]
    pub(crate) active: Option<bool>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<BTreeSet<Id>>, max_items = 200)]
    pub(crate) branch_ids: Option<Option<BTreeSet<Id>>>,
    #[serde(default, deserialize_with = "body::nullable")]
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 1_000_000)]
    pub(crate) max_per_order: Option<Option<i64>>,
    /// All attributes anew: at most 50, names of 1 to 64 and values of up to 500 characters.
    #[schema(nullable = false)]
    pub(crate) attributes: Option<BTreeMap<String, String>>,
}

impl ProductChange {
    pub(crate) fn read(self, currency: Currency) -> Result<ChangeProduct, Problem> {
        let mut faults = Faults::default();
        let f = &mut faults;
        let sku = optional(f, "/sku", self.sku, |sku| clean(&sku, limits::SKU));
        let name = optional(f, "/name", self.name, |name| clean(&name, limits::NAME));
        let price = optional(f, "/salePrice", self.sale_price, |price| {
            price.read(currency)
        });
        let rate = optional(f, "/taxRate", self.tax_rate, |rate| TaxRate::parse(&rate));
        let most = nullable(f, "/maxPerOrder", self.max_per_order, Quantity::new);
        let attributes = match self.attributes {
            None => Some(None),
            Some(given) => attributes(f, given).map(Some),
        };
        let command = || {
            Some(ChangeProduct {
                sku: sku?,
                name: name?,
                sale_price: price?,
                tax_rate: rate?,
                active: self.active,
                branches: self.branch_ids.map(|set| set.map(ids)),
                max_per_order: most?,
                attributes: attributes?,
            })
        };
        finish(faults, command())
    }
}

/// Normalised attributes; two names that become one are a fault.
fn attributes(
    faults: &mut Faults,
    given: BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    if given.len() > ATTRIBUTES_MAX {
        let many = InvalidValue {
            code: "too-many",
            message: format!("at most {ATTRIBUTES_MAX} attributes").into(),
        };
        return faults.take("/attributes", Err(many));
    }
    let mut read = BTreeMap::new();
    let mut sound = true;
    for (name, value) in given {
        const TWICE: InvalidValue =
            InvalidValue::new("duplicate-field", "two names are the same when normalised");
        let mut pointer = "/attributes".to_owned();
        push_step(&mut pointer, &name);
        let name = faults.take(pointer.as_str(), clean(&name, limits::ATTRIBUTE_NAME));
        let value = faults.take(pointer.as_str(), clean(&value, limits::ATTRIBUTE_VALUE));
        sound &= match name.zip(value) {
            Some((name, value)) if !read.contains_key(&name) => {
                read.insert(name, value);
                true
            }
            Some(_) => faults.take::<()>(pointer, Err(TWICE)).is_some(),
            None => false,
        };
    }
    sound.then_some(read)
}
