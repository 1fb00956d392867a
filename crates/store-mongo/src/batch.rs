//! A batch: units of one lane that go into one transaction.
//!
//! Owns each unit's verdict and what a fault of one unit means for the others: it is answered, the
//! rest goes on without it.

use std::collections::{BTreeMap, BTreeSet};

use abasto_domain::currency::Currency;
use abasto_domain::id::BusinessId;
use abasto_domain::number::Series;
use abasto_store::StoreError;
use abasto_store::index::{self, Purpose};
use abasto_store::record::HeadKey;
use abasto_store::resolve::resolve;
use abasto_store::unit::UnitOfWork;
use abasto_store::verdict::{Reply, Verdict};
use async_trait::async_trait;
use mongodb::Database;

use crate::effect::{self, Decided};
use crate::fault::{DUPLICATE_KEY, Fault, Refusal};
use crate::heads::{self, Read};
use crate::runner::Body;
use crate::series;
use crate::transaction::Transaction;

/// The index on `_id` that every collection has.
const SERVER_S_OWN: &str = "_id_";

/// What became of a unit in an attempt.
#[derive(Debug, Clone)]
pub(crate) enum Decision {
    /// It wrote; this is its answer when the transaction commits.
    Wrote(Reply),
    /// It wrote nothing.
    Verdict(Verdict),
    /// It cannot be written; its neighbours can.
    Broken(Broken),
}

/// Why one unit cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    /// What is stored contradicts itself.
    #[error("{0}")]
    Corrupt(String),
    /// A defect of ours.
    #[error("{0}")]
    Defect(String),
}

impl From<Broken> for StoreError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Corrupt(what) => Self::Corrupt(what),
            Broken::Defect(_) => Self::Backend(Box::new(broken)),
        }
    }
}

/// Units of one business that are tried together.
#[derive(Debug)]
pub(crate) struct Batch {
    database: Database,
    business: BusinessId,
    currency: Option<Currency>,
    units: Vec<UnitOfWork>,
    /// How many of them, from the first, take part.
    active: usize,
    /// Units that no further attempt takes along.
    settled: BTreeMap<usize, Decision>,
    /// Refusals seen once: the same one again is not a race.
    seen: BTreeSet<(usize, String)>,
    /// Least last numbers of series whose counter was found behind.
    floors: BTreeMap<Series, i64>,
}

impl Batch {
    pub(crate) fn new(
        database: Database,
        business: BusinessId,
        currency: Option<Currency>,
        units: Vec<UnitOfWork>,
    ) -> Self {
        Self {
            database,
            business,
            currency,
            active: units.len(),
            units,
            settled: BTreeMap::new(),
            seen: BTreeSet::new(),
            floors: BTreeMap::new(),
        }
    }

    /// The verdict that does not depend on the transaction, if the unit has one.
    pub(crate) fn settled(&self, unit: usize) -> Option<&Decision> {
        self.settled.get(&unit)
    }

    /// Whose units they are.
    pub(crate) const fn business(&self) -> BusinessId {
        self.business
    }

    /// The units, to be answered or tried again.
    pub(crate) fn units(&self) -> &[UnitOfWork] {
        &self.units
    }

    /// The same, given back.
    pub(crate) fn into_units(self) -> Vec<UnitOfWork> {
        self.units
    }

    fn taking_part(&self) -> impl Iterator<Item = (usize, &UnitOfWork)> {
        let units = self.units.iter().enumerate().take(self.active);
        units.filter(|(place, _)| !self.settled.contains_key(place))
    }

    async fn read(&self, transaction: &mut Transaction<'_>) -> Result<Read, Fault> {
        let keys = self.taking_part().flat_map(|(_, unit)| unit.heads());
        let mut read = heads::read(transaction, self.business, keys.collect()).await?;
        for (series, floor) in &self.floors {
            let last = read.series.get(series).copied().unwrap_or_default();
            read.heads
                .set_series(self.business, series.clone(), last.max(*floor));
        }
        Ok(read)
    }

    fn decide(&self, read: &mut Read) -> (Vec<Decision>, Decided) {
        let mut decided = Vec::new();
        let decisions = (0..self.active).map(|place| {
            if let Some(settled) = self.settled.get(&place) {
                return settled.clone();
            }
            match resolve(&mut read.heads, &self.units[place]) {
                Ok(effects) => {
                    let reply = effects.reply.clone();
                    decided.push((place, effects));
                    Decision::Wrote(reply)
                }
                Err(verdict) => Decision::Verdict(verdict),
            }
        });
        (decisions.collect(), decided)
    }

    fn settle(&mut self, unit: usize, decision: Decision) {
        self.settled.insert(unit, decision);
    }

    async fn after_refusal(&mut self, refusal: Refusal) -> Result<(), Fault> {
        let unit = refusal.unit;
        let name = refusal.index.clone().unwrap_or_default();
        let first = self.seen.insert((unit, name.clone()));
        if refusal.code != DUPLICATE_KEY {
            tracing::error!(
                refusal.code,
                refusal.collection,
                "refused: {}",
                refusal.detail
            );
            let what = format!(
                "{} refused a document ({})",
                refusal.collection, refusal.code
            );
            self.settle(unit, Decision::Broken(Broken::Defect(what)));
            return Ok(());
        }
        match meaning(&name) {
            Meaning::AlreadyDone => {
                let what = "an effect on stock was asked for that happened before";
                self.settle(unit, Decision::Broken(Broken::Defect(what.to_owned())));
            }
            Meaning::CounterBehind if first => self.heal(unit).await?,
            Meaning::Race if first => {}
            Meaning::CounterBehind | Meaning::Race => {
                tracing::error!(
                    index = name,
                    refusal.collection,
                    "duplicate: {}",
                    refusal.detail
                );
                self.settle(unit, Decision::Broken(doubled(refusal.collection, &name)));
            }
        }
        Ok(())
    }

    /// Raises the floor of the unit's series to the top of its orders.
    async fn heal(&mut self, unit: usize) -> Result<(), Fault> {
        for head in self.units[unit].heads() {
            if let HeadKey::Series(wanted) = head {
                let known = self.floors.get(&wanted).copied().unwrap_or_default();
                let top = series::top(&self.database, self.business, &wanted, known).await?;
                tracing::error!(series = ?wanted, top, "an order counter was behind its orders");
                self.floors.insert(wanted, top);
            }
        }
        Ok(())
    }
}

/// What a duplicate under an index means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The effect was applied before, by a unit that this one should have been decided upon.
    AlreadyDone,
    /// The counter gave a number that an order has.
    CounterBehind,
    /// Somebody else was first: a fresh snapshot shows it. Twice for one unit, it is no race.
    Race,
}

fn meaning(index: &str) -> Meaning {
    let serves = |index: &index::Index, rule| index.serves.contains(&Purpose::Rule(rule));
    match index::named(index) {
        Some(index) if serves(index, "an effect on stock happens once") => Meaning::AlreadyDone,
        Some(index) if serves(index, "an order number is given once") => Meaning::CounterBehind,
        _ => Meaning::Race,
    }
}

/// A duplicate that a fresh snapshot does not explain. An id that exists is asked for twice; any
/// other key that exists contradicts the head it was made from.
fn doubled(collection: &str, index: &str) -> Broken {
    let what = format!("{collection} already holds what {index} keeps apart");
    if index == SERVER_S_OWN {
        Broken::Defect(what)
    } else {
        Broken::Corrupt(what)
    }
}

#[async_trait]
impl Body for Batch {
    type Out = Vec<Decision>;

    async fn attempt(&mut self, transaction: &mut Transaction<'_>) -> Result<Self::Out, Fault> {
        let mut read = self.read(transaction).await?;
        let (decisions, decided) = self.decide(&mut read);
        effect::write(transaction, self.business, self.currency, &read, &decided).await?;
        Ok(decisions)
    }

    async fn after(&mut self, fault: Fault) -> Result<(), Fault> {
        match fault {
            Fault::Refused(refusal) => self.after_refusal(refusal).await,
            Fault::Missed(_) => Ok(()),
            Fault::Unstorable(unit, why) => {
                self.settle(unit, Decision::Broken(Broken::Defect(why.to_string())));
                Ok(())
            }
            Fault::Driver(_) | Fault::Unreadable(_) => Err(fault),
        }
    }

    fn shrink(&mut self) {
        self.active = self.active.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unique_index_has_its_meaning() {
        assert_eq!(
            meaning("uq_stock_movements_operation"),
            Meaning::AlreadyDone
        );
        assert_eq!(meaning("uq_orders_number"), Meaning::CounterBehind);
        for index in ["uq_operations_key", "uq_products_sku", "_id_", "unheard_of"] {
            assert_eq!(meaning(index), Meaning::Race, "{index}");
        }
    }

    #[test]
    fn an_id_asked_for_twice_is_a_defect_and_a_head_that_lies_is_corrupt() {
        assert!(matches!(doubled("events", "_id_"), Broken::Defect(_)));
        let sequence = doubled("stockMovements", "uq_stock_movements_sequence");
        assert!(matches!(sequence, Broken::Corrupt(_)));
    }
}
