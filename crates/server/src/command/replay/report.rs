//! What a replay came to, beside what the file says.
//!
//! Owns the comparison. Must not place anything.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use std::collections::BTreeMap;

use super::basket::{Sums, Survey};
use super::place::{Difference, Placed};
use crate::exit::{Exit, Failure};
use crate::output::{Format, show, table};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    baskets: u64,
    orders: u64,
    replayed: u64,
    rejected: u64,
    rejected_by_code: BTreeMap<String, u64>,
    seconds: f64,
    orders_per_second: f64,
    p50_ms: f64,
    p99_ms: f64,
    /// Orders whose total is not their basket's.
    differences: u64,
    first_differences: Vec<Difference>,
    branches: Vec<BranchRow>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BranchRow {
    branch: String,
    orders: u64,
    units: u64,
    total: String,
    file_baskets: u64,
    file_units: u64,
    file_total: String,
    agrees: bool,
}

/// Writes the summary; fails with [`Exit::Partial`] when not everything is as in the file.
pub(super) fn tell(survey: &Survey, placed: &Placed, format: Format) -> Result<(), Failure> {
    let report = Report::of(survey, placed);
    show(format, &report, Report::text)?;
    let apart = report.branches.iter().filter(|row| !row.agrees).count();
    if report.rejected == 0 && report.differences == 0 && apart == 0 {
        return Ok(());
    }
    let line = format!(
        "{} orders were refused, {} have another total than their basket, {apart} branches do not \
         add up",
        report.rejected, report.differences
    );
    Err(Failure::new(Exit::Partial, line))
}

impl Report {
    fn of(survey: &Survey, placed: &Placed) -> Self {
        let seconds = placed.took.as_secs_f64();
        let quantile = |at| {
            placed
                .latency_us
                .value_at_quantile(at)
                .to_f64()
                .unwrap_or_default()
        };
        let orders = placed.orders.to_f64().unwrap_or_default();
        let branches = survey.branches.iter().map(|(code, file)| {
            let sums = placed.branches.get(code).cloned().unwrap_or_default();
            BranchRow::of(code, &sums, file)
        });
        Self {
            baskets: survey.baskets,
            orders: placed.orders,
            replayed: placed.replayed,
            rejected: placed.refused.values().sum(),
            rejected_by_code: placed.refused.clone(),
            seconds,
            orders_per_second: if seconds > 0.0 { orders / seconds } else { 0.0 },
            p50_ms: quantile(0.50) / 1000.0,
            p99_ms: quantile(0.99) / 1000.0,
            differences: placed.differences,
            first_differences: placed.first_differences.clone(),
            branches: branches.collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} baskets: {} orders ({} of them replayed), {} rejected\n\
             {:.1} s, {:.0} orders/s, p50 {:.2} ms, p99 {:.2} ms\n\n",
            self.baskets,
            self.orders,
            self.replayed,
            self.rejected,
            self.seconds,
            self.orders_per_second,
            self.p50_ms,
            self.p99_ms
        );
        let mut rows: Vec<_> = self.branches.iter().map(BranchRow::cells).collect();
        rows.push(self.sum());
        let head = ["branch", "orders", "units", "total", "total in file", ""];
        text.push_str(&table(head, &rows));
        for (code, count) in &self.rejected_by_code {
            text.push_str(&format!("rejected: {count} × {code}\n"));
        }
        for Difference {
            basket,
            expected,
            total,
        } in &self.first_differences
        {
            text.push_str(&format!(
                "basket {basket}: {expected} in the file, {total} as ordered\n"
            ));
        }
        text
    }

    fn sum(&self) -> [String; 6] {
        let total = |of: fn(&BranchRow) -> &String| -> Decimal {
            self.branches
                .iter()
                .filter_map(|row| of(row).parse::<Decimal>().ok())
                .sum()
        };
        [
            "all".to_owned(),
            self.branches
                .iter()
                .map(|row| row.orders)
                .sum::<u64>()
                .to_string(),
            self.branches
                .iter()
                .map(|row| row.units)
                .sum::<u64>()
                .to_string(),
            total(|row| &row.total).to_string(),
            total(|row| &row.file_total).to_string(),
            String::new(),
        ]
    }
}

impl BranchRow {
    fn of(code: &str, placed: &Sums, file: &Sums) -> Self {
        Self {
            branch: code.to_owned(),
            orders: placed.orders,
            units: placed.units,
            total: placed.total.to_string(),
            file_baskets: file.orders,
            file_units: file.units,
            file_total: file.total.to_string(),
            agrees: placed == file,
        }
    }

    fn cells(&self) -> [String; 6] {
        let verdict = if self.agrees { "agrees" } else { "DIFFERS" };
        [
            self.branch.clone(),
            self.orders.to_string(),
            self.units.to_string(),
            self.total.clone(),
            self.file_total.clone(),
            verdict.to_owned(),
        ]
    }
}
