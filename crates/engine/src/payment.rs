//! Payments: beginning an attempt, reading attempts, giving money back.
//!
//! Owns who may do it and that the provider is called only after the commit: what is committed
//! here is that a call is due (see `payment_call.rs`).

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{BusinessId, OrderId, PaymentId, RefundId};
use abasto_domain::limits::PAYMENTS_PER_ORDER_MAX;
use abasto_domain::money::Amount;
use abasto_domain::order::Order;
use abasto_domain::order_payment::payable;
use abasto_domain::payment::{Payment, PaymentState, Provider, RefundReason};
use abasto_domain::payment_call::CallState;
use abasto_domain::stamp::Stamp;
use abasto_domain::time::Timestamp;
use abasto_store::query::{Page, Query};
use abasto_store::unit::{OperationDraft, Put, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::order::in_sight;
use crate::order_action::allow;
use crate::record::typed;

/// An attempt to pay an order.
#[derive(Debug, Clone, Serialize)]
pub struct StartPayment {
    /// The order.
    pub order: OrderId,
    /// Who moves the money.
    pub provider: Provider,
    /// Where the buyer goes after it.
    pub return_url: Option<String>,
}

/// Money to give back.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RequestRefund {
    /// The order.
    pub order: OrderId,
    /// How much.
    pub amount: Amount,
}

impl Engine {
    /// Begins an attempt to pay; earlier ones that are still open are given up.
    pub async fn start_payment(
        &self,
        context: &Context,
        key: &str,
        command: StartPayment,
    ) -> Result<Done<Arc<Payment>>, Error> {
        context.require(Permission::PlaceOrders)?;
        if !self.providers.contains(&command.provider) {
            const ABSENT: InvalidValue =
                InvalidValue::new("not-available", "this provider is not set up here");
            return Err(Error::fault("/provider", ABSENT));
        }
        let operation = operation(context, key, "payment.start", &command)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |_| engine.decide_start(&context, &command, &operation);
            let done = engine.settle(business, Some(&operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_start(
        &self,
        context: &Context,
        command: &StartPayment,
        operation: &OperationDraft,
    ) -> Result<UnitOfWork, Error> {
        let order = self.order(context, command.order).await?;
        allow(context, Permission::PlaceOrders, &order)?;
        let attempts = self.attempts(&order).await?;
        let now = self.now();
        payable(&order, attempts.len(), now)?;
        let payment = self.draft_payment(&order, command, now);
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.branch = Some(order.branch);
        unit.request.clone_from(&context.request);
        unit.operation = Some(operation.clone());
        unit.puts = vec![self.put(None, payment.into(), "abasto.payment.created", now)];
        unit.puts.extend(self.given_up(&attempts, now));
        // One attempt after the other: the order's version lets one begin at a time.
        let mut next = Order::clone(&order);
        next.stamp = order.stamp.next(now);
        let event = "abasto.order.payment_started";
        unit.puts.push(self.order_put(&order, next, event, now));
        Ok(unit)
    }

    fn draft_payment(&self, order: &Order, command: &StartPayment, now: Timestamp) -> Payment {
        let id = PaymentId(self.new_id(now));
        // The sandbox has no names of its own.
        let named = command.provider == Provider::Sandbox;
        Payment {
            business: order.business,
            id,
            order: order.id,
            provider: command.provider,
            provider_ref: named.then(|| format!("sandbox_{id}")),
            amount: order.totals.total,
            currency: order.currency,
            state: PaymentState::Created,
            failure: None,
            given_up_at: None,
            refunds: Vec::new(),
            redirect_url: None,
            return_url: command.return_url.clone(),
            call: CallState::due(now),
            stamp: Stamp::first(now),
        }
    }

    fn given_up(&self, attempts: &[Arc<Payment>], now: Timestamp) -> Vec<Put> {
        let given_up = attempts.iter().filter_map(|attempt| {
            let next = attempt.give_up(now)?;
            Some(self.payment_put(attempt, next, "abasto.payment.given_up", now))
        });
        given_up.collect()
    }

    /// A change of an attempt.
    pub(crate) fn payment_put(
        &self,
        base: &Arc<Payment>,
        next: Payment,
        event: &'static str,
        now: Timestamp,
    ) -> Put {
        self.put(Some(Arc::clone(base).into()), next.into(), event, now)
    }

    /// What a cancelled order's attempts come to: captured money goes back, open ones are given up.
    pub(crate) async fn money_back(
        &self,
        order: &Order,
        now: Timestamp,
    ) -> Result<Vec<Put>, Error> {
        let attempts = self.attempts(order).await?;
        let mut puts = self.given_up(&attempts, now);
        for attempt in &attempts {
            let id = RefundId(self.new_id(now));
            let left = attempt.refundable();
            if let Some(next) = attempt.request_refund(id, left, RefundReason::Cancelled, now) {
                let event = "abasto.payment.refund_requested";
                puts.push(self.payment_put(attempt, next, event, now));
            }
        }
        Ok(puts)
    }

    /// The attempts of an order, newest first; an order has few.
    pub(crate) async fn attempts(&self, order: &Order) -> Result<Vec<Arc<Payment>>, Error> {
        self.attempts_of(order.business, order.id).await
    }

    pub(crate) async fn attempts_of(
        &self,
        business: BusinessId,
        order: OrderId,
    ) -> Result<Vec<Arc<Payment>>, Error> {
        let page = Page {
            after: None,
            limit: u32::try_from(PAYMENTS_PER_ORDER_MAX).unwrap_or(u32::MAX),
        };
        self.list_documents(business, &Query::Payments(order), page)
            .await
    }

    /// The attempts to pay an order in the caller's sight, newest first.
    pub async fn payments(
        &self,
        context: &Context,
        order: OrderId,
        page: Page,
    ) -> Result<Vec<Arc<Payment>>, Error> {
        let order = self.order(context, order).await?;
        self.list_documents(context.business(), &Query::Payments(order.id), page)
            .await
    }

    /// Asks for money back: at most what was captured and is not on its way back. Answers the
    /// attempt that it goes back on.
    pub async fn request_refund(
        &self,
        context: &Context,
        key: &str,
        command: RequestRefund,
    ) -> Result<Done<Arc<Payment>>, Error> {
        context.require(Permission::RefundPayments)?;
        let operation = operation(context, key, "payment.refund", &command)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |_| engine.decide_refund(&context, &command, &operation);
            let done = engine.settle(business, Some(&operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_refund(
        &self,
        context: &Context,
        command: &RequestRefund,
        operation: &OperationDraft,
    ) -> Result<UnitOfWork, Error> {
        let order = self
            .find::<Order>(context.business(), command.order, Freshness::Fresh)
            .await?;
        if !in_sight(context, &order) {
            return Err(Error::NotFound);
        }
        let now = self.now();
        let id = RefundId(self.new_id(now));
        let attempts = self.attempts(&order).await?;
        let mut fitting = attempts.iter().filter_map(|attempt| {
            let next = attempt.request_refund(id, command.amount, RefundReason::Asked, now)?;
            Some((attempt, next))
        });
        let (attempt, next) = fitting.next().ok_or_else(|| {
            let refundable = attempts.iter().map(|attempt| attempt.refundable()).max();
            Error::RefundExceeds {
                refundable: refundable.unwrap_or(Amount::ZERO),
            }
        })?;
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.branch = Some(order.branch);
        unit.request.clone_from(&context.request);
        unit.operation = Some(operation.clone());
        unit.puts = vec![self.payment_put(attempt, next, "abasto.payment.refund_requested", now)];
        Ok(unit)
    }

    /// Reads an attempt as it is now.
    pub(crate) async fn attempt(
        &self,
        business: BusinessId,
        id: PaymentId,
    ) -> Result<Arc<Payment>, Error> {
        self.find::<Payment>(business, id, Freshness::Fresh).await
    }
}
