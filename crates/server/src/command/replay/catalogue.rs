//! What the server knows of the branches and products that a file names.
//!
//! Owns the way from codes and skus to ids. Must not create anything.

use std::collections::BTreeMap;

use abasto_client::Client;
use serde::Deserialize;

use super::basket::Survey;
use crate::exit::{During, Exit, Failure};

/// Ids by the names that the file uses.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) time_zone: String,
    pub(super) branches: BTreeMap<String, String>,
    pub(super) products: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Business {
    time_zone: String,
}

#[derive(Deserialize)]
struct Branch {
    id: String,
    code: String,
}

#[derive(Deserialize)]
struct Product {
    id: String,
    sku: String,
}

/// Asks the server. Products are paged through once: a file names a good part of a catalogue.
pub(super) async fn find(client: &mut Client, survey: &Survey) -> Result<Catalogue, Failure> {
    let business: Business = client
        .get("/v1/business")
        .await
        .during(|| "asking for the business")?;
    let mut branches = BTreeMap::new();
    let each = |branch: Branch| {
        branches.insert(branch.code, branch.id);
    };
    client
        .walk("/v1/branches", each)
        .await
        .during(|| "asking for the branches")?;
    let mut products = BTreeMap::new();
    let each = |product: Product| {
        if survey.skus.contains(&product.sku) {
            products.insert(product.sku, product.id);
        }
    };
    client
        .walk("/v1/products", each)
        .await
        .during(|| "asking for the products")?;
    Ok(Catalogue {
        time_zone: business.time_zone,
        branches,
        products,
    })
}

impl Catalogue {
    /// Whether everything is there.
    pub(super) fn check(&self, survey: &Survey) -> Result<(), Failure> {
        let branches = survey
            .branches
            .keys()
            .filter(|code| !self.branches.contains_key(*code));
        missing(branches, "branches", "`--prepare` creates them")?;
        let skus = survey
            .skus
            .iter()
            .filter(|sku| !self.products.contains_key(*sku));
        missing(skus, "products", "bring them with `abasto import products`")
    }
}

fn missing<'a>(
    names: impl Iterator<Item = &'a String>,
    what: &str,
    remedy: &str,
) -> Result<(), Failure> {
    let names: Vec<_> = names.map(String::as_str).collect();
    if names.is_empty() {
        return Ok(());
    }
    let shown = names[..names.len().min(5)].join(", ");
    let count = names.len();
    let line = format!("{count} {what} of the file do not exist ({shown}): {remedy}");
    Err(Failure::new(Exit::Failure, line))
}
