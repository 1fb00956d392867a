//! Returns of sold units.
//!
//! Owns who may take units back. The bound is in `abasto_domain::order_return`.

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::id::OrderId;
use abasto_domain::order_return::{OrderReturn, ReturnedItem, take_back};
use abasto_store::query::{Page, Query};
use abasto_store::unit::{OperationDraft, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::order_action::allow;
use crate::record::typed;

/// Units that come back.
#[derive(Debug, Clone, Serialize)]
pub struct TakeBack {
    /// The order.
    pub order: OrderId,
    /// What; 1 to 200 items.
    pub items: Vec<ReturnedItem>,
    /// Why.
    pub reason: String,
}

impl Engine {
    /// Takes units back, all of them or none.
    pub async fn take_back(
        &self,
        context: &Context,
        key: &str,
        mut command: TakeBack,
    ) -> Result<Done<Arc<OrderReturn>>, Error> {
        context.require(Permission::TakeReturns)?;
        command.items.sort();
        let operation = operation(context, key, "order.return", &command)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |_| engine.decide_return(&context, &command, &operation);
            let done = engine.settle(business, Some(&operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_return(
        &self,
        context: &Context,
        command: &TakeBack,
        operation: &OperationDraft,
    ) -> Result<UnitOfWork, Error> {
        let order = self.order(context, command.order).await?;
        allow(context, Permission::TakeReturns, &order)?;
        let now = self.now();
        let reason = command.reason.clone();
        let ids = &mut || self.new_id(now);
        let back = take_back(&order, &command.items, reason, now, ids)?;
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.branch = Some(order.branch);
        unit.request.clone_from(&context.request);
        unit.operation = Some(operation.clone());
        unit.stock = back.stock;
        unit.puts = vec![
            self.put(None, back.record.into(), "abasto.return.created", now),
            self.order_put(&order, back.order, "abasto.order.returned", now),
        ];
        Ok(unit)
    }

    /// The returns of an order in the caller's sight, newest first.
    pub async fn returns(
        &self,
        context: &Context,
        order: OrderId,
        page: Page,
    ) -> Result<Vec<Arc<OrderReturn>>, Error> {
        let order = self.order(context, order).await?;
        self.list_documents(context.business(), &Query::Returns(order.id), page)
            .await
    }
}
