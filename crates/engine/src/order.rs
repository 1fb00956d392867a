//! Orders: placing one and reading them.
//!
//! Owns what placing reads and guards. The steps of an order's life are in `order_action.rs`; the
//! rules are in `abasto_domain::order`.

use std::sync::Arc;

use abasto_domain::access::{Permission, Role, Sight};
use abasto_domain::basket::Basket;
use abasto_domain::branch::Branch;
use abasto_domain::business::Business;
use abasto_domain::coupon::{Coupon, CouponCode};
use abasto_domain::customer::Customer;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{BranchId, CustomerId, OrderId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::number::OrderNumber;
use abasto_domain::order::{
    Address, Buyer, Draft, Fulfilment, FulfilmentKind, Order, PaymentMethod, PlaceRejection,
    RESERVE, place,
};
use abasto_domain::pricing::{Item, merge_items};
use abasto_domain::product::Product;
use abasto_domain::time::Timestamp;
use abasto_store::cart::CartWork;
use abasto_store::event::{Event, EventDraft};
use abasto_store::query::{OrderFilter, Page, Query};
use abasto_store::record::{DocumentKey, Kind, Record};
use abasto_store::unit::{Answer, Guard, OperationDraft, Put, UnitOfWork};
use serde::Serialize;
use serde_json::json;

use crate::Engine;
use crate::cache::Freshness;
use crate::checkout::{known, unchanged};
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::limit::{changes, of_order};
use crate::record::typed;
use crate::zone::civil_year;

/// A direct order, as a caller asks for it. Nothing in it is a price.
#[derive(Debug, Clone, Serialize)]
pub struct PlaceOrder {
    /// Where it is sold.
    pub branch: BranchId,
    /// What is bought, 1 to 200 items; those of one product are summed.
    pub items: Vec<Item>,
    /// Who buys; a calling customer always buys for themselves.
    pub customer: BuyerChoice,
    /// Fetched or brought.
    pub fulfilment: FulfilmentKind,
    /// Where to; needed for a delivery.
    pub address: Option<Address>,
    /// How it is paid.
    pub payment_method: PaymentMethod,
    /// The coupons to use.
    pub coupons: Vec<CouponCode>,
    /// The fee for the delivery; staff and up only.
    pub delivery_fee: Option<Amount>,
    /// For the people who pack.
    pub note: Option<String>,
    /// What the caller believes the total to be.
    pub expected_total: Option<Amount>,
}

/// Who buys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum BuyerChoice {
    /// Nobody in particular (a walk-in), or the calling customer.
    Unnamed,
    /// A customer of the business.
    Known(CustomerId),
    /// Somebody by name.
    Named {
        /// The name.
        name: String,
        /// The phone number.
        phone: Option<String>,
    },
}

impl Engine {
    /// Places a direct order: reserves its units, or nothing at all.
    pub async fn place_order(
        &self,
        context: &Context,
        key: &str,
        command: PlaceOrder,
    ) -> Result<Done<Arc<Order>>, Error> {
        let command = Arc::new(admit(context, command)?);
        let operation = operation(context, key, "order.place", &canonical(&command))?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |freshness| engine.decide_order(&context, &command, &operation, freshness);
            let done = engine.settle_in_time(business, Some(&operation), decide);
            let done = commit::count_shortage("order", done.await)?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_order(
        &self,
        context: &Context,
        command: &PlaceOrder,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let business = context.business();
        let tenant = self.find::<Business>(business, business, freshness).await?;
        let branch = self
            .find::<Branch>(business, command.branch, freshness)
            .await?;
        context.require_at(Permission::PlaceOrders, branch.id)?;
        let wanted = command.items.iter().map(|item| item.product.0);
        let products = self
            .find_all::<Product>(business, wanted, freshness)
            .await?;
        let coupons = self.coupons_of(business, &command.coupons).await?;
        let used: Vec<&Coupon> = coupons.iter().map(Arc::as_ref).collect();
        let buyer = self.buyer(context, &command.customer, freshness).await?;
        let now = self.now();
        let shelf: Vec<&Product> = products.iter().map(Arc::as_ref).collect();
        let order = place(
            Draft {
                id: OrderId(self.new_id(now)),
                basket: Basket {
                    branch: &branch,
                    items: &command.items,
                    products: &shelf,
                    coupons: &used,
                    buyer: known(buyer.id),
                    delivery_fee: command.delivery_fee.unwrap_or(Amount::ZERO),
                },
                currency: tenant.currency,
                year: civil_year(now, &branch.time_zone),
                customer: buyer,
                fulfilment: Fulfilment {
                    kind: command.fulfilment,
                    address: command.address.clone(),
                    courier: None,
                },
                payment_method: command.payment_method,
                note: command.note.clone(),
                checkout: None,
                cart: None,
                expected_total: command.expected_total,
                unpaid_ms: i64::from(tenant.settings.unpaid_order_minutes) * 60_000,
            },
            now,
        )?;
        let mut guards = vec![unchanged(tenant), unchanged(branch)];
        guards.extend(products.into_iter().map(unchanged));
        guards.extend(coupons.iter().cloned().map(unchanged));
        let tallies = changes(Vec::new(), of_order(&order), &coupons, false);
        let mut unit = self.order_unit(context, order, guards, operation, now);
        unit.tallies = tallies;
        Ok(unit)
    }

    fn order_unit(
        &self,
        context: &Context,
        order: Order,
        guards: Vec<Guard>,
        operation: &OperationDraft,
        now: Timestamp,
    ) -> UnitOfWork {
        let mut ids = || self.new_id(now);
        UnitOfWork {
            business: context.business(),
            branch: Some(order.branch),
            actor: context.principal.actor,
            request: context.request.clone(),
            at: now,
            operation: Some(operation.clone()),
            guards,
            stock: order.stock_changes(RESERVE, &mut ids),
            tallies: Vec::new(),
            carts: CartWork::default(),
            puts: vec![created(order, ids())],
            answer: Answer::Put(0),
        }
    }

    /// The buyer as known now. A customer's name and phone are copied: later changes do not show.
    pub(crate) async fn buyer(
        &self,
        context: &Context,
        choice: &BuyerChoice,
        freshness: Freshness,
    ) -> Result<Buyer, Error> {
        let known = match (choice, context.principal.customer) {
            (_, Some(own)) => own,
            (BuyerChoice::Known(id), None) => *id,
            (BuyerChoice::Unnamed, None) => {
                return Ok(Buyer {
                    id: None,
                    name: None,
                    phone: None,
                });
            }
            (BuyerChoice::Named { name, phone }, None) => {
                return Ok(Buyer {
                    id: None,
                    name: Some(name.clone()),
                    phone: phone.clone(),
                });
            }
        };
        let customer = self
            .find::<Customer>(context.business(), known, freshness)
            .await?;
        Ok(Buyer {
            id: Some(customer.id),
            name: Some(customer.name.clone()),
            phone: customer.phone.clone(),
        })
    }

    /// An order in the caller's sight.
    pub async fn order(&self, context: &Context, id: OrderId) -> Result<Arc<Order>, Error> {
        let order = self
            .find::<Order>(context.business(), id, Freshness::Fresh)
            .await?;
        if in_sight(context, &order) {
            Ok(order)
        } else {
            Err(Error::NotFound)
        }
    }

    /// An order in the caller's sight, by its number.
    pub async fn order_by_number(
        &self,
        context: &Context,
        number: &OrderNumber,
    ) -> Result<Arc<Order>, Error> {
        let order = self
            .store
            .order_by_number(context.business(), number)
            .await?;
        let order = order.filter(|order| in_sight(context, order));
        order.map(Arc::new).ok_or(Error::NotFound)
    }

    /// One page of the orders in the caller's sight, newest first.
    pub async fn orders(
        &self,
        context: &Context,
        mut filter: OrderFilter,
        page: Page,
    ) -> Result<Vec<Arc<Order>>, Error> {
        match context.principal.sight(Permission::ReadOrders) {
            Sight::Nothing => return Err(Error::Forbidden),
            Sight::All => {}
            Sight::Branches(seen) => {
                let mut branches = filter.branches.unwrap_or_else(|| seen.to_vec());
                branches.retain(|branch| seen.contains(branch));
                filter.branches = Some(branches);
            }
            Sight::Assigned(courier) => filter.courier = Some(courier),
            Sight::Own(own) if filter.customer.is_none_or(|asked| asked == own) => {
                filter.customer = Some(own);
            }
            Sight::Own(_) => return Ok(Vec::new()),
        }
        if filter.branches.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let rows = self
            .store
            .list(context.business(), &Query::Orders(filter), page)
            .await?;
        rows.into_iter()
            .map(|row| match row {
                Record::Document(document) => typed(document),
                _ => Err(Error::defect("a list of orders holds something else")),
            })
            .collect()
    }

    /// One page of the history of an order in the caller's sight, oldest first.
    pub async fn order_events(
        &self,
        context: &Context,
        id: OrderId,
        page: Page,
    ) -> Result<Vec<Event>, Error> {
        self.order(context, id).await?;
        let history = Query::History(DocumentKey::new(Kind::Order, id));
        let rows = self.store.list(context.business(), &history, page).await?;
        rows.into_iter()
            .map(|row| match row {
                Record::Event(event) => Ok(event),
                _ => Err(Error::defect("a history holds something else")),
            })
            .collect()
    }
}

/// What can be refused before anything is read.
fn admit(context: &Context, mut command: PlaceOrder) -> Result<PlaceOrder, Error> {
    context.require(Permission::PlaceOrders)?;
    if command.delivery_fee.is_some() {
        context.require(Permission::SetDeliveryFee)?;
    }
    if let (BuyerChoice::Known(asked), Role::Customer) = (&command.customer, context.principal.role)
        && context.principal.customer != Some(*asked)
    {
        return Err(Error::NotFound);
    }
    if command.fulfilment == FulfilmentKind::Delivery && command.address.is_none() {
        const MISSING: InvalidValue = InvalidValue::new("required", "a delivery needs an address");
        return Err(Error::fault("/fulfilment/address", MISSING));
    }
    command.items = merge_items(&command.items)
        .map_err(|(index, invalid)| Error::fault(&format!("/items/{index}/quantity"), invalid))?;
    Ok(command)
}

/// A new order with the first event of its history.
pub(crate) fn created(order: Order, event: RawId) -> Put {
    let event = EventDraft {
        id: event.into(),
        name: "abasto.order.created",
        data: json!({
            "from": null,
            "to": order.status.name(),
            "branchId": order.branch,
            "total": order.totals.total.to_decimal(order.currency),
            "currency": order.currency,
        }),
    };
    Put {
        base: None,
        next: order.into(),
        event,
    }
}

/// The order of lines and codes does not make a request new.
fn canonical(command: &PlaceOrder) -> PlaceOrder {
    let mut canonical = command.clone();
    canonical.items.sort_by_key(|item| item.product);
    canonical.coupons.sort();
    canonical
}

pub(crate) fn in_sight(context: &Context, order: &Order) -> bool {
    match context.principal.sight(Permission::ReadOrders) {
        Sight::All => true,
        Sight::Branches(branches) => branches.contains(&order.branch),
        Sight::Assigned(courier) => order.fulfilment.courier == Some(courier),
        Sight::Own(customer) => order.customer.id == Some(customer),
        Sight::Nothing => false,
    }
}

impl From<PlaceRejection> for Error {
    fn from(rejection: PlaceRejection) -> Self {
        match rejection {
            PlaceRejection::BranchInactive => Self::BranchInactive,
            PlaceRejection::Unsellable(refused) => Self::ProductUnavailable(refused),
            PlaceRejection::OverLimit(over) => Self::OverLimit(over),
            PlaceRejection::PriceChanged { expected, actual } => {
                Self::PriceChanged { expected, actual }
            }
            PlaceRejection::Coupon(code, why) => Self::CouponRefused(code, why),
            PlaceRejection::Overflow(overflow) => Self::fault("/items", overflow.into()),
        }
    }
}
