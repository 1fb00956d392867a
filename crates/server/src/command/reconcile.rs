//! `abasto reconcile`: every rule that must always hold, checked over all that is stored.
//!
//! Works beside a running server, on one snapshot per business. Must not repair anything.

use std::collections::BTreeMap;

use abasto_domain::id::BusinessId;
use abasto_store::Store;
use abasto_store::invariants::{Invariant, Report, audit};
use abasto_store::query::{Page, Position};

use crate::cli::Reconcile;
use crate::exit::{Exit, Failure};
use crate::output::{Format, counted, show, table};
use crate::store;

/// Businesses of one page.
const PAGE: u32 = 200;
/// Differences that are printed for people; JSON has as many as the audit kept.
const PRINTED: usize = 50;

pub(super) fn run(arguments: &Reconcile, format: Format) -> Result<(), Failure> {
    let config = super::sources(&arguments.sources, Vec::new())?.config()?;
    let reports = super::block_on(async {
        let store = store::open_read_only(&config.store).await?;
        let mut reports = Vec::new();
        for business in businesses(store.as_ref()).await? {
            reports.push(audit(store.as_ref(), business).await?);
        }
        Ok(reports)
    })?;
    show(format, &reports, |reports| text(reports))?;
    match reports
        .iter()
        .map(|report| report.difference_count)
        .sum::<u64>()
    {
        0 => Ok(()),
        count => Err(Failure::new(
            Exit::Failure,
            format_args!("{count} differences"),
        )),
    }
}

async fn businesses(store: &dyn Store) -> Result<Vec<BusinessId>, Failure> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.businesses(Page { after, limit: PAGE }).await?;
        after = page.last().map(|business| Position {
            order: business.stamp.created_at.as_millis(),
            id: business.id.0,
        });
        found.extend(page.iter().map(|business| business.id));
        if page.len() < PAGE as usize {
            return Ok(found);
        }
    }
}

fn text(reports: &[Report]) -> String {
    let mut checked: BTreeMap<Invariant, u64> = BTreeMap::new();
    let mut broken: BTreeMap<Invariant, u64> = BTreeMap::new();
    for report in reports {
        for (rule, count) in &report.checked {
            *checked.entry(*rule).or_default() += count;
        }
        for difference in &report.differences {
            *broken.entry(difference.code.invariant()).or_default() += 1;
        }
    }
    let row = |(rule, count): (&Invariant, &u64)| {
        let broken = broken.get(rule).copied().unwrap_or_default();
        [
            rule.statement().to_owned(),
            count.to_string(),
            broken.to_string(),
        ]
    };
    let rows: Vec<_> = checked.iter().map(row).collect();
    let mut text = table(["rule", "checks", "differences"], &rows);
    let records: u64 = reports.iter().map(|report| report.records).sum();
    let count: u64 = reports.iter().map(|report| report.difference_count).sum();
    text.push_str(&format!(
        "{} of {}, {}\n",
        counted(records, "record", "records"),
        counted(reports.len(), "business", "businesses"),
        counted(count, "difference", "differences"),
    ));
    let differences = reports.iter().flat_map(|report| {
        let business = report.business;
        report
            .differences
            .iter()
            .map(move |difference| format!("business {business}: {difference}\n"))
    });
    text.extend(differences.take(PRINTED));
    text
}
