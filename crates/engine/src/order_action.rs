//! The steps of an order's life: confirm, prepare, dispatch, deliver, cancel, assign a courier.
//!
//! Owns who may take a step and how a step commits. Which step may follow which is in
//! `abasto_domain::order_state`.

use std::sync::Arc;

use abasto_domain::access::{Permission, Role, Sight};
use abasto_domain::business::Business;
use abasto_domain::coupon::Redemption;
use abasto_domain::credential::Member;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{MemberId, OrderId};
use abasto_domain::order::Order;
use abasto_domain::order_state::{Action, Outcome, Units, act, assign_courier};
use abasto_domain::stock::StockChange;
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartWork;
use abasto_store::record::{Document, DocumentKey, Kind};
use abasto_store::unit::{Answer, Guard, OperationDraft, Put, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::limit::{changes, of_order};
use crate::order::in_sight;
use crate::record::typed;

/// A step, as a caller asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum OrderStep {
    /// Accept it.
    Confirm,
    /// Start packing.
    Prepare,
    /// Send it off.
    Dispatch,
    /// Hand it over.
    Deliver,
    /// End it.
    Cancel {
        /// Why.
        reason: String,
        /// Whether its units can be sold again; the business decides when the caller does not.
        restock: Option<bool>,
    },
    /// Say who brings it.
    Courier(MemberId),
}

impl OrderStep {
    const fn permission(&self) -> Permission {
        match self {
            Self::Confirm | Self::Prepare | Self::Courier(_) => Permission::WorkOrders,
            Self::Dispatch | Self::Deliver => Permission::DeliverOrders,
            // To call units lost is a decision about stock, which no buyer makes.
            Self::Cancel {
                restock: Some(false),
                ..
            } => Permission::WorkOrders,
            Self::Cancel { .. } => Permission::CancelOrders,
        }
    }

    const fn event(&self) -> &'static str {
        match self {
            Self::Confirm => "abasto.order.confirmed",
            Self::Prepare => "abasto.order.preparing",
            Self::Dispatch => "abasto.order.dispatched",
            Self::Deliver => "abasto.order.delivered",
            Self::Cancel { .. } => "abasto.order.cancelled",
            Self::Courier(_) => "abasto.order.courier_assigned",
        }
    }
}

/// Which order, which step, and from which version when the caller says.
#[derive(Debug, Clone, Serialize)]
pub struct StepOrder {
    /// The order.
    pub order: OrderId,
    /// The step.
    pub step: OrderStep,
    /// The version the caller saw (`If-Match`); not part of what the key stands for.
    #[serde(skip)]
    pub expected_version: Option<i64>,
}

impl Engine {
    /// Takes a step. The step that led to the present state, taken again, changes nothing.
    pub async fn step_order(
        &self,
        context: &Context,
        key: &str,
        command: StepOrder,
    ) -> Result<Done<Arc<Order>>, Error> {
        let operation = operation(context, key, "order.step", &command)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |freshness| engine.decide_step(&context, &command, &operation, freshness);
            let done = engine.settle(business, Some(&operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_step(
        &self,
        context: &Context,
        command: &StepOrder,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let business = context.business();
        let order = self
            .find::<Order>(business, command.order, freshness)
            .await?;
        if !in_sight(context, &order) {
            return Err(Error::NotFound);
        }
        allow(context, command.step.permission(), &order)?;
        if command
            .expected_version
            .is_some_and(|version| version != order.stamp.version)
        {
            return Err(Error::VersionMismatch(order.into()));
        }
        let now = self.now();
        let (outcome, guards, refunds) = match &command.step {
            OrderStep::Courier(member) => {
                let courier = self.find::<Member>(business, *member, freshness).await?;
                check_courier(&courier, &order)?;
                let guard = Guard::Document(
                    DocumentKey::new(Kind::Member, courier.id),
                    courier.stamp.version,
                );
                (
                    assign_courier(&order, *member, now)?,
                    vec![guard],
                    Vec::new(),
                )
            }
            step => {
                let action = self.action(context, step, freshness).await?;
                let refunds = match step {
                    OrderStep::Cancel { .. } => self.money_back(&order, now).await?,
                    _ => Vec::new(),
                };
                let outcome = act(&order, action, now, &mut || self.new_id(now))?;
                (outcome, Vec::new(), refunds)
            }
        };
        Ok(self.step_unit(
            context,
            command,
            operation,
            Decided {
                order,
                outcome,
                guards,
                refunds,
                now,
            },
        ))
    }

    async fn action(
        &self,
        context: &Context,
        step: &OrderStep,
        freshness: Freshness,
    ) -> Result<Action, Error> {
        Ok(match step {
            OrderStep::Confirm => Action::Confirm,
            OrderStep::Prepare => Action::Prepare,
            OrderStep::Dispatch => Action::Dispatch,
            OrderStep::Deliver => Action::Deliver,
            OrderStep::Cancel { reason, restock } => {
                let business = context.business();
                let tenant = self.find::<Business>(business, business, freshness).await?;
                let settings = tenant.settings;
                let units = if restock.unwrap_or(settings.restock_on_cancel) {
                    Units::Restock
                } else {
                    Units::WriteOff
                };
                let coupons = if settings.return_coupons_on_cancel {
                    Redemption::Returned
                } else {
                    Redemption::Counted
                };
                Action::Cancel {
                    reason: reason.clone(),
                    units,
                    coupons,
                }
            }
            OrderStep::Courier(_) => return Err(Error::defect("a courier is not a state")),
        })
    }

    fn step_unit(
        &self,
        context: &Context,
        command: &StepOrder,
        operation: &OperationDraft,
        decided: Decided,
    ) -> UnitOfWork {
        let Decided {
            order,
            outcome,
            mut guards,
            refunds,
            now,
        } = decided;
        let base = Document::from(Arc::clone(&order));
        let mut tallies = Vec::new();
        let (puts, stock, answer): (Vec<Put>, Vec<StockChange>, Answer) = match outcome {
            Outcome::Unchanged => {
                guards.push(Guard::Document(base.key(), base.version()));
                (Vec::new(), Vec::new(), Answer::Unchanged(base))
            }
            Outcome::Changed { order: next, stock } => {
                tallies = changes(of_order(&order), of_order(&next), &[], false);
                let put = self.order_put(&order, *next, command.step.event(), now);
                let puts = std::iter::once(put).chain(refunds).collect();
                (puts, stock, Answer::Put(0))
            }
        };
        UnitOfWork {
            carts: CartWork::default(),
            business: context.business(),
            branch: Some(order.branch),
            actor: context.principal.actor,
            request: context.request.clone(),
            at: now,
            operation: Some(operation.clone()),
            guards,
            puts,
            stock,
            tallies,
            answer,
        }
    }
}

struct Decided {
    order: Arc<Order>,
    outcome: Outcome,
    guards: Vec<Guard>,
    /// Attempts whose money goes back, or that are given up.
    refunds: Vec<Put>,
    now: Timestamp,
}

/// A caller who sees the order but may not take the step.
pub(crate) fn allow(context: &Context, permission: Permission, order: &Order) -> Result<(), Error> {
    let allowed = match context.principal.sight(permission) {
        Sight::All => true,
        Sight::Branches(branches) => branches.contains(&order.branch),
        Sight::Assigned(courier) => order.fulfilment.courier == Some(courier),
        Sight::Own(customer) => order.customer.id == Some(customer),
        Sight::Nothing => false,
    };
    if allowed {
        Ok(())
    } else {
        Err(Error::Forbidden)
    }
}

fn check_courier(member: &Member, order: &Order) -> Result<(), Error> {
    let reaches = member
        .branches
        .as_ref()
        .is_none_or(|branches| branches.contains(&order.branch));
    if member.active && member.role == Role::Courier && reaches {
        return Ok(());
    }
    const UNFIT: InvalidValue = InvalidValue::new(
        "not-a-courier",
        "the member is not an active courier of the order's branch",
    );
    Err(Error::fault("/memberId", UNFIT))
}
