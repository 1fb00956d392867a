//! Orders from checkouts: the hold passes to the order, and `available` is not touched.
//!
//! Owns what such an order reads and guards. Prices are taken from the catalogue again: the total
//! must still be what the checkout, or the caller, says.

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::basket::Basket;
use abasto_domain::branch::Branch;
use abasto_domain::business::Business;
use abasto_domain::checkout::{Checkout, CheckoutRejection};
use abasto_domain::coupon::Coupon;
use abasto_domain::effect::TAKE_OVER;
use abasto_domain::id::{CheckoutId, OrderId};
use abasto_domain::money::Amount;
use abasto_domain::order::{Draft, Order, place};
use abasto_domain::pricing::Item;
use abasto_domain::product::Product;
use abasto_store::unit::{OperationDraft, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::checkout::{in_sight, known, unchanged};
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::limit::{changes, of_checkout, of_order};
use crate::order::{BuyerChoice, created};
use crate::record::typed;
use crate::zone::civil_year;

/// An order of what a checkout holds.
#[derive(Debug, Clone, Serialize)]
pub struct OrderCheckout {
    /// The checkout.
    pub checkout: CheckoutId,
    /// Who buys; the checkout's customer when it has one.
    pub customer: BuyerChoice,
    /// For the people who pack.
    pub note: Option<String>,
    /// What the caller believes the total to be; what the checkout says when left out.
    pub expected_total: Option<Amount>,
}

impl Engine {
    /// Makes an order of a checkout: one, whatever the keys.
    pub async fn order_checkout(
        &self,
        context: &Context,
        key: &str,
        command: OrderCheckout,
    ) -> Result<Done<Arc<Order>>, Error> {
        context.require(Permission::PlaceOrders)?;
        let operation = operation(context, key, "order.from_checkout", &command)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide =
                |freshness| engine.decide_completion(&context, &command, &operation, freshness);
            let done = engine.settle(business, Some(&operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_completion(
        &self,
        context: &Context,
        command: &OrderCheckout,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let business = context.business();
        let checkout = self
            .find::<Checkout>(business, command.checkout, Freshness::Fresh)
            .await?;
        if !in_sight(context, &checkout) {
            return Err(Error::NotFound);
        }
        context.require_at(Permission::PlaceOrders, checkout.branch)?;
        let now = self.now();
        let id = OrderId(self.new_id(now));
        let completed = checkout
            .complete(id, now)
            .map_err(|why| ended(&checkout, why))?;
        let tenant = self.find::<Business>(business, business, freshness).await?;
        let branch = self
            .find::<Branch>(business, checkout.branch, freshness)
            .await?;
        let wanted = checkout.lines.iter().map(|line| line.product.0);
        let products: Vec<Arc<Product>> = self.find_all(business, wanted, freshness).await?;
        let codes = checkout.coupons.iter().map(|coupon| coupon.coupon.0);
        let coupons: Vec<Arc<Coupon>> = self.find_all(business, codes, Freshness::Fresh).await?;
        let buyer = match checkout.customer {
            Some(customer) => BuyerChoice::Known(customer),
            None => command.customer.clone(),
        };
        let buyer = self.buyer(context, &buyer, freshness).await?;
        let items: Vec<Item> = checkout.lines.iter().map(item).collect();
        let shelf: Vec<&Product> = products.iter().map(Arc::as_ref).collect();
        let used: Vec<&Coupon> = coupons.iter().map(Arc::as_ref).collect();
        let draft = Draft {
            id,
            basket: Basket {
                branch: &branch,
                items: &items,
                products: &shelf,
                coupons: &used,
                buyer: known(checkout.customer),
                delivery_fee: Amount::ZERO,
            },
            currency: tenant.currency,
            year: civil_year(now, &branch.time_zone),
            customer: buyer,
            fulfilment: checkout.fulfilment.clone(),
            payment_method: checkout.payment_method,
            note: command.note.clone(),
            checkout: Some(checkout.id),
            cart: checkout.cart,
            expected_total: Some(command.expected_total.unwrap_or(checkout.totals.total)),
            unpaid_ms: i64::from(tenant.settings.unpaid_order_minutes) * 60_000,
        };
        let order = place(draft, now)?;
        let mut unit = self.bare_unit(business, context.principal.actor, now);
        unit.branch = Some(branch.id);
        unit.request.clone_from(&context.request);
        unit.operation = Some(operation.clone());
        unit.guards = vec![unchanged(tenant), unchanged(branch)];
        unit.guards.extend(products.into_iter().map(unchanged));
        unit.guards.extend(coupons.iter().cloned().map(unchanged));
        // The customer of the order counts as the checkout's did.
        unit.tallies = changes(of_checkout(&checkout), of_order(&order), &coupons, false);
        unit.stock = order.stock_changes(TAKE_OVER, &mut || self.new_id(now));
        let base = Some(Arc::clone(&checkout).into());
        let completing = self.put(base, completed.into(), "abasto.checkout.completed", now);
        unit.puts = vec![created(order, self.new_id(now)), completing];
        self.seal_cart(&checkout, &mut unit).await?;
        Ok(unit)
    }
}

const fn item(line: &abasto_domain::pricing::Line) -> Item {
    Item {
        product: line.product,
        quantity: line.quantity,
    }
}

fn ended(checkout: &Checkout, why: CheckoutRejection) -> Error {
    match why {
        CheckoutRejection::Ended(status) => Error::CheckoutEnded {
            status,
            order: checkout.order,
        },
        CheckoutRejection::StillHeld => Error::defect("a hold that is good can be used"),
    }
}
