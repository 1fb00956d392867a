//! Checkouts: opening one with its hold, reading and abandoning it.
//!
//! Owns what opening reads and guards. The end of holds whose time is over is in `expiry.rs`; the
//! rules are in `abasto_domain::checkout`.

use std::sync::Arc;

use abasto_domain::access::{Actor, Permission, Sight};
use abasto_domain::basket::Basket;
use abasto_domain::branch::Branch;
use abasto_domain::business::Business;
use abasto_domain::cart::Cart;
use abasto_domain::checkout::{Checkout, CheckoutDraft, CheckoutRejection, Ending, open, renew};
use abasto_domain::coupon::{Coupon, CouponCode, KnownBuyer};
use abasto_domain::customer::Customer;
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{BranchId, CartId, CheckoutId, CustomerId, RawId};
use abasto_domain::money::Amount;
use abasto_domain::order::{Address, Fulfilment, FulfilmentKind, PaymentMethod};
use abasto_domain::pricing::{Item, merge_items};
use abasto_domain::product::Product;
use abasto_domain::stock::StockChange;
use abasto_domain::time::Timestamp;
use abasto_store::record::Document;
use abasto_store::unit::{Answer, Guard, OperationDraft, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit::{self, Done};
use crate::context::Context;
use crate::error::Error;
use crate::fingerprint::operation;
use crate::limit::{changes, of_checkout};
use crate::record::typed;

/// A checkout of items, as a caller asks for it. Nothing in it is a price.
#[derive(Debug, Clone, Serialize)]
pub struct OpenCheckout {
    /// Where it is sold.
    pub branch: BranchId,
    /// What is bought, 1 to 200 items; those of one product are summed.
    pub items: Vec<Item>,
    /// Who buys, when known; a calling customer always buys for themselves.
    pub customer: Option<CustomerId>,
    /// The coupons to use.
    pub coupons: Vec<CouponCode>,
    /// Fetched or brought.
    pub fulfilment: FulfilmentKind,
    /// Where to; needed for a delivery.
    pub address: Option<Address>,
    /// How it is to be paid.
    pub payment_method: PaymentMethod,
    /// The cart whose lines these are.
    pub cart: Option<BoughtCart>,
}

/// A cart as a checkout takes it.
#[derive(Debug, Clone, Serialize)]
pub struct BoughtCart {
    /// Which.
    pub id: CartId,
    /// Its state, as the cart type writes it.
    #[serde(skip)]
    pub seal: Vec<u8>,
}

/// What a checkout is decided upon.
pub(crate) struct Grounds {
    business: Arc<Business>,
    branch: Arc<Branch>,
    products: Vec<Arc<Product>>,
    coupons: Vec<Arc<Coupon>>,
    /// The open checkout of the same cart: it is renewed.
    pub(crate) held: Option<Arc<Checkout>>,
    /// The cart.
    pub(crate) cart: Option<Arc<Cart>>,
}

impl Engine {
    /// Opens a checkout and holds its units: all of them, or none.
    pub async fn open_checkout(
        &self,
        context: &Context,
        key: &str,
        command: OpenCheckout,
    ) -> Result<Done<Arc<Checkout>>, Error> {
        let command = Arc::new(admit(context, command)?);
        let operation = operation(context, key, "checkout.open", &canonical(&command))?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let decide = |freshness| engine.decide_open(&context, &command, &operation, freshness);
            let done = engine.settle_in_time(business, Some(&operation), decide);
            let done = commit::count_shortage("checkout", done.await)?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_open(
        &self,
        context: &Context,
        command: &OpenCheckout,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let grounds = self.grounds(context, command, freshness).await?;
        self.opening(context, command, operation, &grounds)
    }

    /// The unit that opens a checkout, or renews the one that the cart has.
    pub(crate) fn opening(
        &self,
        context: &Context,
        command: &OpenCheckout,
        operation: &OperationDraft,
        grounds: &Grounds,
    ) -> Result<UnitOfWork, Error> {
        let now = self.now();
        let (checkout, stock) = self.draft_checkout(context, command, grounds, now)?;
        let mut unit = self.checkout_unit(context, grounds, checkout, stock, now);
        unit.operation = Some(operation.clone());
        Ok(unit)
    }

    pub(crate) async fn grounds(
        &self,
        context: &Context,
        command: &OpenCheckout,
        freshness: Freshness,
    ) -> Result<Grounds, Error> {
        let business = context.business();
        let branch = self
            .find::<Branch>(business, command.branch, freshness)
            .await?;
        context.require_at(Permission::PlaceOrders, branch.id)?;
        if let Some(customer) = command.customer {
            self.find::<Customer>(business, customer, freshness).await?;
        }
        let wanted = command.items.iter().map(|item| item.product.0);
        Ok(Grounds {
            business: self.find(business, business, freshness).await?,
            branch,
            products: self.find_all(business, wanted, freshness).await?,
            coupons: self.coupons_of(business, &command.coupons).await?,
            held: None,
            cart: None,
        })
    }

    fn draft_checkout(
        &self,
        context: &Context,
        command: &OpenCheckout,
        grounds: &Grounds,
        now: Timestamp,
    ) -> Result<(Checkout, Vec<StockChange>), Error> {
        let products: Vec<&Product> = grounds.products.iter().map(Arc::as_ref).collect();
        let coupons: Vec<&Coupon> = grounds.coupons.iter().map(Arc::as_ref).collect();
        let draft = CheckoutDraft {
            id: self.new_id(now),
            basket: Basket {
                branch: &grounds.branch,
                items: &command.items,
                products: &products,
                coupons: &coupons,
                buyer: known(command.customer),
                delivery_fee: Amount::ZERO,
            },
            currency: grounds.business.currency,
            customer: command.customer,
            holder: holder(context.principal.actor, command.customer),
            fulfilment: Fulfilment {
                kind: command.fulfilment,
                address: command.address.clone(),
                courier: None,
            },
            payment_method: command.payment_method,
            cart: command.cart.as_ref().map(|cart| cart.id),
            hold_ms: i64::from(grounds.business.settings.hold_minutes) * 60_000,
        };
        let mut ids = || self.new_id(now);
        let (mut checkout, stock) = match &grounds.held {
            Some(held) => renew(held, draft, now, &mut ids)?,
            None => open(draft, now, &mut ids)?,
        };
        checkout.seal = command.cart.as_ref().map(|cart| cart.seal.clone());
        Ok((checkout, stock))
    }

    fn checkout_unit(
        &self,
        context: &Context,
        grounds: &Grounds,
        checkout: Checkout,
        stock: Vec<StockChange>,
        now: Timestamp,
    ) -> UnitOfWork {
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.branch = Some(checkout.branch);
        unit.request.clone_from(&context.request);
        unit.guards = vec![
            unchanged(Arc::clone(&grounds.business)),
            unchanged(Arc::clone(&grounds.branch)),
        ];
        unit.guards
            .extend(grounds.products.iter().cloned().map(unchanged));
        unit.guards
            .extend(grounds.coupons.iter().cloned().map(unchanged));
        let known = checkout.customer.is_some();
        unit.guards
            .extend(grounds.cart.iter().cloned().map(unchanged));
        let held = grounds.held.as_ref();
        let before = held.map_or_else(Vec::new, |held| of_checkout(held));
        unit.tallies = changes(before, of_checkout(&checkout), &grounds.coupons, known);
        unit.stock = stock;
        let (base, event) = match held {
            Some(held) => (Some(Arc::clone(held).into()), "abasto.checkout.renewed"),
            None => (None, "abasto.checkout.opened"),
        };
        unit.puts = vec![self.put(base, checkout.into(), event, now)];
        unit
    }

    /// A checkout in the caller's sight, as it was last written.
    pub async fn checkout(
        &self,
        context: &Context,
        id: CheckoutId,
    ) -> Result<Arc<Checkout>, Error> {
        let checkout = self
            .find::<Checkout>(context.business(), id, Freshness::Fresh)
            .await?;
        if in_sight(context, &checkout) {
            Ok(checkout)
        } else {
            Err(Error::NotFound)
        }
    }

    /// The state of a checkout by the clock, for showing it.
    pub fn checkout_status(&self, checkout: &Checkout) -> abasto_domain::checkout::CheckoutStatus {
        checkout.status_at(self.now())
    }

    /// Gives a checkout up: its units go back, once. One that has ended stays as it is.
    pub async fn abandon_checkout(
        &self,
        context: &Context,
        key: &str,
        id: CheckoutId,
    ) -> Result<Done<Arc<Checkout>>, Error> {
        context.require(Permission::PlaceOrders)?;
        let operation = operation(context, key, "checkout.abandon", &id)?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let (engine, context, operation) = (&engine, &context, &operation);
            let decide = |_| async move {
                let checkout = engine.checkout(context, id).await?;
                let mut unit = engine.ending(&checkout, Ending::Abandoned)?;
                unit.actor = context.principal.actor;
                unit.request.clone_from(&context.request);
                unit.operation = Some(operation.clone());
                Ok(unit)
            };
            let done = engine.settle(business, Some(operation), decide).await?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    /// The unit that ends a checkout without an order, or that leaves one as it is which ended
    /// already.
    pub(crate) fn ending(&self, checkout: &Checkout, how: Ending) -> Result<UnitOfWork, Error> {
        let now = self.now();
        let mut unit = self.bare_unit(checkout.business, Actor::System, now);
        unit.branch = Some(checkout.branch);
        let base = Document::from(checkout.clone());
        match checkout.end(how, now, &mut || self.new_id(now)) {
            Ok((next, stock)) => {
                let event = match next.status_at(now) {
                    abasto_domain::checkout::CheckoutStatus::Expired => "abasto.checkout.expired",
                    _ => "abasto.checkout.abandoned",
                };
                unit.tallies = changes(of_checkout(checkout), Vec::new(), &[], false);
                unit.stock = stock;
                unit.puts = vec![self.put(Some(base), next.into(), event, now)];
            }
            Err(CheckoutRejection::Ended(_) | CheckoutRejection::StillHeld) => {
                unit.guards = vec![Guard::Document(base.key(), base.version())];
                unit.answer = Answer::Unchanged(base);
            }
        }
        Ok(unit)
    }
}

/// Guards a document that a decision only read.
pub(crate) fn unchanged<T>(document: Arc<T>) -> Guard
where
    Document: From<Arc<T>>,
{
    let document = Document::from(document);
    Guard::Document(document.key(), document.version())
}

pub(crate) const fn known(customer: Option<CustomerId>) -> KnownBuyer {
    match customer {
        Some(_) => KnownBuyer::Yes,
        None => KnownBuyer::No,
    }
}

/// Against whose limit an open checkout counts: the customer's, else the credential's.
fn holder(actor: Actor, customer: Option<CustomerId>) -> RawId {
    match (customer, actor) {
        (Some(customer), _) => customer.0,
        (None, Actor::Key(key)) => key.0,
        (None, Actor::Member(member)) => member.0,
        (None, Actor::Platform | Actor::System) => RawId::default(),
    }
}

pub(crate) fn in_sight(context: &Context, checkout: &Checkout) -> bool {
    match context.principal.sight(Permission::ReadOrders) {
        Sight::All => true,
        Sight::Branches(branches) => branches.contains(&checkout.branch),
        Sight::Own(customer) => checkout.customer == Some(customer),
        Sight::Assigned(_) | Sight::Nothing => false,
    }
}

/// What can be refused before anything is read.
pub(crate) fn admit(context: &Context, mut command: OpenCheckout) -> Result<OpenCheckout, Error> {
    context.require(Permission::PlaceOrders)?;
    if let Some(own) = context.principal.customer {
        if command.customer.is_some_and(|asked| asked != own) {
            return Err(Error::NotFound);
        }
        command.customer = Some(own);
    }
    if command.fulfilment == FulfilmentKind::Delivery && command.address.is_none() {
        const MISSING: InvalidValue = InvalidValue::new("required", "a delivery needs an address");
        return Err(Error::fault("/fulfilment/address", MISSING));
    }
    command.items = merge_items(&command.items)
        .map_err(|(index, invalid)| Error::fault(&format!("/items/{index}/quantity"), invalid))?;
    Ok(command)
}

/// The order of lines and codes does not make a request new.
pub(crate) fn canonical(command: &OpenCheckout) -> OpenCheckout {
    let mut canonical = command.clone();
    canonical.items.sort_by_key(|item| item.product);
    canonical.coupons.sort();
    canonical
}
