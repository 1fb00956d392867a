//! Stock: the level of a product at a branch and the movements that explain it.
//!
//! Owns what each operation means for `available` and `reserved`. Must not know how a level is
//! stored or who else writes it: decisions are deltas with a floor of zero, checked at commit.

use alloc::string::String;
use core::fmt;

use crate::access::Actor;
use crate::id::{BranchId, BusinessId, CheckoutId, MovementId, OrderId, ProductId, RawId};
use crate::quantity::Quantity;
use crate::time::Timestamp;

/// One product at one branch: the unit of contention.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Place {
    /// Where.
    pub branch: BranchId,
    /// What.
    pub product: ProductId,
}

/// The stock of one product at one branch. Both numbers are never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockLevel {
    /// The tenant.
    pub business: BusinessId,
    /// Which level.
    pub place: Place,
    /// Units that can be sold.
    pub available: i64,
    /// Units promised to holds and orders.
    pub reserved: i64,
    /// How many movements made it: the sequence of the last one.
    pub version: i64,
    /// When the last movement was.
    pub updated_at: Timestamp,
}

impl StockLevel {
    /// A level that no movement has touched.
    pub const fn empty(business: BusinessId, place: Place) -> Self {
        Self {
            business,
            place,
            available: 0,
            reserved: 0,
            version: 0,
            updated_at: Timestamp::from_millis(0),
        }
    }

    /// Units on the shelf.
    pub const fn on_hand(&self) -> i64 {
        self.available + self.reserved
    }

    /// The level after a change, or why it cannot be.
    pub fn after(&self, change: &StockChange, at: Timestamp) -> Result<Self, Shortage> {
        let available = self.available.checked_add(change.available);
        let reserved = self.reserved.checked_add(change.reserved);
        match (available, reserved) {
            (Some(available), _) if available < 0 => Err(Shortage::Available),
            (_, Some(reserved)) if reserved < 0 => Err(Shortage::Reserved),
            (Some(available), Some(reserved))
                if available
                    .checked_add(reserved)
                    .is_some_and(|sum| sum <= UNITS_MAX) =>
            {
                Ok(Self {
                    available,
                    reserved,
                    version: self.version + 1,
                    updated_at: at.max(self.updated_at),
                    ..*self
                })
            }
            _ => Err(Shortage::Overflow),
        }
    }
}

/// Most units on one shelf: far below the end of a 64-bit integer in either store.
pub const UNITS_MAX: i64 = 1_000_000_000_000;

/// Why a level cannot take a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// Fewer units are available than the change takes.
    #[error("not enough units are available")]
    Available,
    /// Fewer units are reserved than the change takes.
    #[error("not enough units are reserved")]
    Reserved,
    /// More than [`UNITS_MAX`].
    #[error("the level would be out of range")]
    Overflow,
}

/// What a movement was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MovementKind {
    /// Goods came in.
    Receipt,
    /// A correction for a reason.
    Adjustment,
    /// A physical count.
    Count,
    /// Units left for another branch.
    TransferOut,
    /// Units came from another branch.
    TransferIn,
    /// A checkout holds units.
    Hold,
    /// A hold ended without an order.
    HoldRelease,
    /// An order reserves units.
    Reservation,
    /// An order gave its units back.
    Release,
    /// Reserved units left the house.
    Dispatch,
    /// Sold units came back.
    Return,
}

impl MovementKind {
    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Adjustment => "adjustment",
            Self::Count => "count",
            Self::TransferOut => "transfer_out",
            Self::TransferIn => "transfer_in",
            Self::Hold => "hold",
            Self::HoldRelease => "hold_release",
            Self::Reservation => "reservation",
            Self::Release => "release",
            Self::Dispatch => "dispatch",
            Self::Return => "return",
        }
    }
}

/// Why somebody adjusted stock by hand.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum AdjustmentReason {
    /// Goods came in.
    Receipt,
    /// Broken or spoiled.
    Damage,
    /// Gone.
    Loss,
    /// Turned up.
    Found,
    /// A mistake put right.
    Correction,
}

impl AdjustmentReason {
    /// The kind of movement it makes.
    pub const fn kind(self) -> MovementKind {
        match self {
            Self::Receipt => MovementKind::Receipt,
            Self::Damage | Self::Loss | Self::Found | Self::Correction => MovementKind::Adjustment,
        }
    }

    /// The name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Damage => "damage",
            Self::Loss => "loss",
            Self::Found => "found",
            Self::Correction => "correction",
        }
    }
}

/// The identity of one effect on stock: an operation applied twice is refused by it.
/// Unique in a business.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct OperationId {
    /// What caused it: an order, a checkout, or an operation of its own (adjustment, count …).
    pub source: RawId,
    /// Which step of the cause.
    pub step: Step,
    /// Which line of the cause, from 0.
    pub line: u16,
}

/// The steps at which a cause can move stock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The only step of an adjustment, a count, the sending side of a transfer.
    Apply,
    /// The receiving side of a transfer.
    Receive,
    /// A hold.
    Hold,
    /// A reservation.
    Reserve,
    /// A release.
    Release,
    /// The loss of units that are not restocked.
    WriteOff,
    /// A dispatch.
    Dispatch,
    /// A return.
    Return,
}

impl Step {
    /// All steps, in the order of their stored numbers.
    pub const ALL: [Self; 8] = [
        Self::Apply,
        Self::Receive,
        Self::Hold,
        Self::Reserve,
        Self::Release,
        Self::WriteOff,
        Self::Dispatch,
        Self::Return,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Receive => "receive",
            Self::Hold => "hold",
            Self::Reserve => "reserve",
            Self::Release => "release",
            Self::WriteOff => "write-off",
            Self::Dispatch => "dispatch",
            Self::Return => "return",
        }
    }
}

impl OperationId {
    /// Fifteen bytes: source, step, line.
    pub fn to_bytes(self) -> [u8; 15] {
        let mut bytes = [0; 15];
        bytes[..12].copy_from_slice(&self.source.0);
        bytes[12] = self.step as u8;
        bytes[13..].copy_from_slice(&self.line.to_be_bytes());
        bytes
    }

    /// Back from [`Self::to_bytes`].
    pub fn from_bytes(bytes: [u8; 15]) -> Option<Self> {
        let mut source = [0; 12];
        source.copy_from_slice(&bytes[..12]);
        Some(Self {
            source: RawId(source),
            step: *Step::ALL.get(usize::from(bytes[12]))?,
            line: u16::from_be_bytes([bytes[13], bytes[14]]),
        })
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.source, self.step.name(), self.line)
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A wanted effect on one level, before the commit gives it a sequence and balances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockChange {
    /// The movement's id.
    pub id: MovementId,
    /// Which level.
    pub place: Place,
    /// What it is.
    pub kind: MovementKind,
    /// Signed change of `available`.
    pub available: i64,
    /// Signed change of `reserved`.
    pub reserved: i64,
    /// Its identity.
    pub operation: OperationId,
    /// What it belongs to and why.
    pub cause: Cause,
}

/// What a movement belongs to and why it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The order.
    pub order: Option<OrderId>,
    /// The checkout.
    pub checkout: Option<CheckoutId>,
    /// The reason given.
    pub reason: Option<String>,
    /// A document outside.
    pub reference: Option<String>,
}

/// One committed effect on one level. Never changed, never deleted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// The tenant.
    pub business: BusinessId,
    /// Its id.
    pub id: MovementId,
    /// Which level.
    pub place: Place,
    /// 1, 2, 3 … per level, no gap.
    pub sequence: i64,
    /// What it was.
    pub kind: MovementKind,
    /// Signed change of `available`.
    pub available: i64,
    /// Signed change of `reserved`.
    pub reserved: i64,
    /// `available` after it.
    pub available_after: i64,
    /// `reserved` after it.
    pub reserved_after: i64,
    /// Its identity.
    pub operation: OperationId,
    /// What it belongs to and why.
    pub cause: Cause,
    /// Who made it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
}

/// Why a count cannot be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CountRejection {
    /// The level moved since the form was printed.
    #[error("the level changed since it was read")]
    Changed,
    /// Fewer units were counted than are reserved.
    #[error("fewer units were counted than are reserved")]
    BelowReserved,
}

/// Decides a physical count of all units on the shelf: the signed change of `available`.
pub fn count(
    level: &StockLevel,
    counted: i64,
    expected_version: i64,
) -> Result<i64, CountRejection> {
    if level.version != expected_version {
        return Err(CountRejection::Changed);
    }
    if counted < level.reserved {
        return Err(CountRejection::BelowReserved);
    }
    Ok(counted - level.on_hand())
}

/// The effect of a reservation on (available, reserved).
pub const fn reserving(quantity: Quantity) -> (i64, i64) {
    (-quantity.units(), quantity.units())
}

/// The effect of a release on (available, reserved).
pub const fn releasing(quantity: Quantity) -> (i64, i64) {
    (quantity.units(), -quantity.units())
}
