//! Baskets as the file has them, and what the file as a whole needs and adds up to.
//!
//! Owns the form of the file. Must not know the server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rust_decimal::Decimal;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::exit::{Exit, Failure};
use crate::lines::Lines;
use crate::secret::hex;

/// One line of the file.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Basket {
    /// Its id.
    pub(super) basket: String,
    /// The code of the branch.
    pub(super) branch: String,
    /// Who bought.
    pub(super) customer: Option<String>,
    /// When, as the till wrote it.
    pub(super) at: Option<String>,
    /// What.
    pub(super) items: Vec<Item>,
    /// What the file says that it cost.
    pub(super) total: Option<Decimal>,
}

/// One line of a basket.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Item {
    pub(super) sku: String,
    pub(super) quantity: u32,
}

impl Basket {
    /// Units of all lines.
    pub(super) fn units(&self) -> u64 {
        self.items.iter().map(|item| u64::from(item.quantity)).sum()
    }
}

/// The baskets of a file, in its order.
pub(super) fn read(path: &Path) -> Result<impl Iterator<Item = Result<Basket, Failure>>, Failure> {
    let lines = Lines::open(path)?;
    Ok(lines.map(|line| {
        let (number, text) = line?;
        let basket = serde_json::from_str(&text);
        basket.map_err(|error| Failure::new(Exit::Failure, format_args!("line {number}: {error}")))
    }))
}

/// What a branch's baskets come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) orders: u64,
    pub(super) units: u64,
    pub(super) total: Decimal,
}

/// The file as a whole. Its size is that of the catalogue and the branches, not of the file.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) baskets: u64,
    /// Of the whole content: two files never share keys of preparation.
    pub(super) digest: String,
    pub(super) skus: BTreeSet<String>,
    pub(super) branches: BTreeMap<String, Sums>,
    /// Units by branch and sku.
    pub(super) demand: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Survey {
    /// Reads the file once.
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let mut survey = Self {
            baskets: 0,
            digest: String::new(),
            skus: BTreeSet::new(),
            branches: BTreeMap::new(),
            demand: BTreeMap::new(),
        };
        let mut hash = Sha256::new();
        for basket in read(path)? {
            let basket = basket?;
            hash.update(&basket.basket);
            hash.update([0]);
            survey.add(basket);
        }
        survey.digest = hex(&hash.finalize()[..8]);
        Ok(survey)
    }

    fn add(&mut self, basket: Basket) {
        self.baskets += 1;
        let sums = self.branches.entry(basket.branch.clone()).or_default();
        sums.orders += 1;
        sums.units += basket.units();
        sums.total += basket.total.unwrap_or_default();
        let demand = self.demand.entry(basket.branch).or_default();
        for item in basket.items {
            if !self.skus.contains(&item.sku) {
                self.skus.insert(item.sku.clone());
            }
            *demand.entry(item.sku).or_default() += u64::from(item.quantity);
        }
    }
}
