//! What each step of a checkout's or an order's life does to the stock of its lines.
//!
//! Owns the table of effects and the making of one change per line. Must not know which step may
//! follow which.

use alloc::vec::Vec;

use crate::id::{BranchId, MovementId, ProductId, RawId};
use crate::quantity::Quantity;
use crate::stock::{
    Cause, MovementKind, OperationId, Place, Step, StockChange, releasing, reserving,
};

/// What one step does to the stock of each line.
#[derive(Debug, Clone, Copy)]
pub struct LineEffect {
    /// The kind of movement.
    pub kind: MovementKind,
    /// The step, part of the movement's identity.
    pub step: Step,
    /// The signed change of (available, reserved) for so many units.
    pub units: fn(Quantity) -> (i64, i64),
    /// A reason to record.
    pub reason: Option<&'static str>,
}

/// A checkout holds its units: available → reserved.
pub const HOLD: LineEffect = LineEffect {
    kind: MovementKind::Hold,
    step: Step::Hold,
    units: reserving,
    reason: None,
};

/// A hold ends without an order: reserved → available.
pub const HOLD_RELEASE: LineEffect = LineEffect {
    kind: MovementKind::HoldRelease,
    step: Step::Release,
    units: releasing,
    reason: None,
};

/// An order takes its units: available → reserved.
pub const RESERVE: LineEffect = LineEffect {
    kind: MovementKind::Reservation,
    step: Step::Reserve,
    units: reserving,
    reason: None,
};

/// A hold passes to its order: the units are reserved already, only their owner changes.
pub const TAKE_OVER: LineEffect = LineEffect {
    units: |_| (0, 0),
    ..RESERVE
};

/// An order gives its units back: reserved → available.
pub const RELEASE: LineEffect = LineEffect {
    kind: MovementKind::Release,
    step: Step::Release,
    units: releasing,
    reason: None,
};

/// Units that came back cannot be sold any more.
pub const WRITE_OFF: LineEffect = LineEffect {
    kind: MovementKind::Adjustment,
    step: Step::WriteOff,
    units: |quantity| (-quantity.units(), 0),
    reason: Some("loss"),
};

/// Reserved units leave the house.
pub const DISPATCH: LineEffect = LineEffect {
    kind: MovementKind::Dispatch,
    step: Step::Dispatch,
    units: |quantity| (0, -quantity.units()),
    reason: None,
};

/// Sold units come back.
pub const RETURN: LineEffect = LineEffect {
    kind: MovementKind::Return,
    step: Step::Return,
    units: |quantity| (quantity.units(), 0),
    reason: None,
};

/// Whose units are moved: the identity and the cause of the movements.
#[derive(Debug)]
pub struct Owner {
    /// Where.
    pub branch: BranchId,
    /// What the movements' identities begin with.
    pub source: RawId,
    /// What they belong to; the effect adds its reason.
    pub cause: Cause,
}

impl Owner {
    /// One change per line, sorted by product, so that units that share products touch them in
    /// one order.
    pub fn changes(
        &self,
        lines: impl IntoIterator<Item = (ProductId, Quantity)>,
        effect: LineEffect,
        ids: &mut dyn FnMut() -> RawId,
    ) -> Vec<StockChange> {
        let mut changes: Vec<StockChange> = lines
            .into_iter()
            .zip(0u16..)
            .map(|((product, quantity), line)| {
                let (available, reserved) = (effect.units)(quantity);
                StockChange {
                    id: MovementId(ids()),
                    place: Place {
                        branch: self.branch,
                        product,
                    },
                    kind: effect.kind,
                    available,
                    reserved,
                    operation: OperationId {
                        source: self.source,
                        step: effect.step,
                        line,
                    },
                    cause: Cause {
                        reason: effect.reason.map(Into::into),
                        ..self.cause.clone()
                    },
                }
            })
            .collect();
        changes.sort_by_key(|change| change.place);
        changes
    }
}
