//! What an audit found: how much was checked, and every difference with its place.
//!
//! Owns the stable codes and the bound on how many differences are kept. Must not know how any of
//! them is found.

use std::collections::BTreeMap;
use std::fmt;

use abasto_domain::id::{BranchId, BusinessId, OrderId, ProductId};
use abasto_domain::stock::Place;
use serde::Serialize;

use crate::record::{DocumentKey, Kind};

/// Most differences that a report lists; the rest is only counted.
pub const DIFFERENCES_MAX: usize = 1_000;

/// The rules that must always hold, as far as a walk over one business can show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invariant {
    /// No level and no balance is below zero.
    StockNotNegative,
    /// A level is the sum of its movements.
    StockIsSum,
    /// Movements of a level are 1..n, each with the running balance.
    MovementsWithoutGaps,
    /// What is on the shelf is explained by what came in and went out.
    OnHandExplained,
    /// What is reserved is explained by open orders.
    ReservedExplained,
    /// Each order line took its units once and gave or sent them once.
    LineEffectsOnce,
    /// An idempotency key stands for one answer, an order for one key.
    OneOrderPerKey,
    /// Order numbers are 1..n per series, each given once.
    NumbersWithoutGaps,
    /// The events of a document are 1..n and tell its history.
    HistoryWhole,
    /// Lines, discounts, taxes and totals add up.
    AmountsAddUp,
    /// Everything that is referred to is in the same business.
    ReferencesStayInside,
    /// No more goes back than was captured, and money of a cancelled order does.
    MoneyBounded,
    /// Redemptions and open checkouts are counted right.
    LimitsExplained,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::StockNotNegative,
        Self::StockIsSum,
        Self::MovementsWithoutGaps,
        Self::OnHandExplained,
        Self::ReservedExplained,
        Self::LineEffectsOnce,
        Self::OneOrderPerKey,
        Self::NumbersWithoutGaps,
        Self::HistoryWhole,
        Self::AmountsAddUp,
        Self::ReferencesStayInside,
        Self::MoneyBounded,
        Self::LimitsExplained,
    ];

    /// The rule in one sentence.
    pub const fn statement(self) -> &'static str {
        match self {
            Self::StockNotNegative => "no stock is negative",
            Self::StockIsSum => "levels are the sum of their movements",
            Self::MovementsWithoutGaps => "movements are numbered without gaps and carry balances",
            Self::OnHandExplained => "units on the shelf are explained by what came and went",
            Self::ReservedExplained => "reserved units are explained by open orders and checkouts",
            Self::LineEffectsOnce => "order lines took their units once and gave them up once",
            Self::OneOrderPerKey => "a key stands for one answer, an order for one key",
            Self::NumbersWithoutGaps => "order numbers are given once and without gaps",
            Self::HistoryWhole => "events are numbered without gaps and tell the history",
            Self::AmountsAddUp => "amounts of orders add up",
            Self::ReferencesStayInside => "references stay inside the business",
            Self::MoneyBounded => "refunds are within what was captured, and none is forgotten",
            Self::LimitsExplained => "redemptions and open checkouts are counted right",
        }
    }
}

/// One kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A level or balance is below zero.
    NegativeStock,
    /// A level is not the sum of its movements.
    LevelDiffers,
    /// A level has no movements, or movements have no level.
    LevelUnexplained,
    /// A movement is missing or there twice.
    MovementGap,
    /// A movement's balance is not the running sum.
    BalanceDiffers,
    /// A movement changed what its kind cannot change.
    MovementKind,
    /// Units on the shelf differ from what came in and went out.
    OnHandDiffers,
    /// Units that left one branch did not reach another.
    TransferUnbalanced,
    /// Reserved units differ from those of open orders.
    ReservedDiffers,
    /// One operation moved stock twice.
    EffectRepeated,
    /// An order line did not take its units exactly once.
    LineReservation,
    /// An order line gave up its units too often, or not as its state says.
    LineOutcome,
    /// A movement has not the units of its order line.
    LineUnits,
    /// A movement of an order that is not there.
    MovementWithoutLine,
    /// Two answers under one key.
    KeyRepeated,
    /// Two keys made the same order.
    OrderRepeated,
    /// A key answered with something that is not stored.
    AnswerWithoutRecord,
    /// An order number was given twice.
    NumberRepeated,
    /// An order number was skipped.
    NumberGap,
    /// A counter is not at the last number.
    CounterDiffers,
    /// An event is missing or there twice.
    EventGap,
    /// A document and its events differ in how far it came.
    EventCount,
    /// An event of a document that is not there.
    EventWithoutDocument,
    /// The events of an order do not tell its states.
    EventHistory,
    /// An amount of a line is wrong.
    LineAmount,
    /// An amount of the totals is wrong.
    TotalAmount,
    /// A record came twice, or at the wrong place of the walk.
    RecordRepeated,
    /// Something of another business.
    ForeignRecord,
    /// Something refers to what is not there.
    ReferenceMissing,
    /// A checkout and its order do not name each other, or there are two.
    CheckoutOrder,
    /// More goes back than was captured.
    RefundExceeds,
    /// Money of a cancelled order that nobody asked back.
    RefundMissing,
    /// A contended number is not what is counted.
    TallyDiffers,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 33] = [
        Self::NegativeStock,
        Self::LevelDiffers,
        Self::LevelUnexplained,
        Self::MovementGap,
        Self::BalanceDiffers,
        Self::MovementKind,
        Self::OnHandDiffers,
        Self::TransferUnbalanced,
        Self::ReservedDiffers,
        Self::EffectRepeated,
        Self::LineReservation,
        Self::LineOutcome,
        Self::LineUnits,
        Self::MovementWithoutLine,
        Self::KeyRepeated,
        Self::OrderRepeated,
        Self::AnswerWithoutRecord,
        Self::NumberRepeated,
        Self::NumberGap,
        Self::CounterDiffers,
        Self::EventGap,
        Self::EventCount,
        Self::EventWithoutDocument,
        Self::EventHistory,
        Self::LineAmount,
        Self::TotalAmount,
        Self::RecordRepeated,
        Self::ForeignRecord,
        Self::ReferenceMissing,
        Self::CheckoutOrder,
        Self::RefundExceeds,
        Self::RefundMissing,
        Self::TallyDiffers,
    ];

    /// The rule that is broken.
    pub const fn invariant(self) -> Invariant {
        match self {
            Self::NegativeStock => Invariant::StockNotNegative,
            Self::LevelDiffers | Self::LevelUnexplained => Invariant::StockIsSum,
            Self::MovementGap | Self::BalanceDiffers => Invariant::MovementsWithoutGaps,
            Self::MovementKind | Self::OnHandDiffers | Self::TransferUnbalanced => {
                Invariant::OnHandExplained
            }
            Self::ReservedDiffers => Invariant::ReservedExplained,
            Self::EffectRepeated
            | Self::LineReservation
            | Self::LineOutcome
            | Self::LineUnits
            | Self::MovementWithoutLine => Invariant::LineEffectsOnce,
            Self::KeyRepeated
            | Self::OrderRepeated
            | Self::AnswerWithoutRecord
            | Self::CheckoutOrder => Invariant::OneOrderPerKey,
            Self::RefundExceeds | Self::RefundMissing => Invariant::MoneyBounded,
            Self::TallyDiffers => Invariant::LimitsExplained,
            Self::NumberRepeated | Self::NumberGap | Self::CounterDiffers => {
                Invariant::NumbersWithoutGaps
            }
            Self::EventGap
            | Self::EventCount
            | Self::EventWithoutDocument
            | Self::EventHistory
            | Self::RecordRepeated => Invariant::HistoryWhole,
            Self::LineAmount | Self::TotalAmount => Invariant::AmountsAddUp,
            Self::ForeignRecord | Self::ReferenceMissing => Invariant::ReferencesStayInside,
        }
    }
}

/// Where a difference is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// The branch, where one is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    /// The product, where one is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product_id: Option<ProductId>,
    /// The order, where one is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_id: Option<OrderId>,
    /// What it is about, for people: `movement 3`, `event 2 of product …`.
    pub subject: String,
}

impl Location {
    /// At a level.
    pub(super) fn level(place: Place, subject: impl Into<String>) -> Self {
        Self {
            branch_id: Some(place.branch),
            product_id: Some(place.product),
            order_id: None,
            subject: subject.into(),
        }
    }

    /// At an order.
    pub(super) fn order(order: OrderId, subject: impl Into<String>) -> Self {
        Self {
            order_id: Some(order),
            subject: subject.into(),
            ..Self::default()
        }
    }

    /// At a document of any kind.
    pub(super) fn document(key: DocumentKey, subject: &str) -> Self {
        match key.kind {
            Kind::Order => Self::order(OrderId(key.id), subject),
            kind => Self::named(format!("{subject} of {} {}", kind.name(), key.id)),
        }
    }

    /// At something that only has a name.
    pub(super) fn named(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            ..Self::default()
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subject)?;
        if let Some(order) = self.order_id {
            write!(f, ", order {order}")?;
        }
        if let Some(branch) = self.branch_id {
            write!(f, ", branch {branch}")?;
        }
        if let Some(product) = self.product_id {
            write!(f, ", product {product}")?;
        }
        Ok(())
    }
}

/// One thing that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Stable, for programs.
    pub code: Code,
    /// Where.
    pub location: Location,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}, found {}",
            self.location, self.expected, self.found
        )
    }
}

/// The result of an audit of one business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Which business.
    pub business: BusinessId,
    /// How many records were read.
    pub records: u64,
    /// How many checks were made of each rule.
    pub checked: BTreeMap<Invariant, u64>,
    /// How many differences there are.
    pub difference_count: u64,
    /// The first [`DIFFERENCES_MAX`] of them.
    pub differences: Vec<Difference>,
}

impl Report {
    pub(super) fn new(business: BusinessId) -> Self {
        let none = Invariant::ALL.into_iter().map(|rule| (rule, 0));
        Self {
            business,
            records: 0,
            checked: none.collect(),
            difference_count: 0,
            differences: Vec::new(),
        }
    }

    /// Whether everything agrees.
    pub const fn is_clean(&self) -> bool {
        self.difference_count == 0
    }

    /// Counts one check of the code's rule, and its difference when it fails. Location and words
    /// are only made then.
    pub(super) fn check(
        &mut self,
        code: Code,
        holds: bool,
        difference: impl FnOnce() -> (Location, String, String),
    ) {
        *self.checked.entry(code.invariant()).or_default() += 1;
        if holds {
            return;
        }
        self.difference_count += 1;
        if self.differences.len() < DIFFERENCES_MAX {
            let (location, expected, found) = difference();
            self.differences.push(Difference {
                code,
                location,
                expected,
                found,
            });
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, count) = (self.records, self.difference_count);
        writeln!(f, "{records} records, {count} differences")?;
        self.differences
            .iter()
            .try_for_each(|difference| writeln!(f, "{difference}"))
    }
}
