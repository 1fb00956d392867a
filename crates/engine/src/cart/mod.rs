//! Carts: making, reading and leasing; whose eyes and hands may reach one.
//!
//! Owns what is common to the three modes. What an edit does is in `edit.rs`, what is shown in
//! `view.rs`, how a life ends in `merge.rs`, `seal.rs` and `cleanup.rs`. A cart holds no stock and
//! takes no lock.

use std::sync::Arc;

use abasto_cart::Rid;
use abasto_cart::limit::MAX_DEVICES;
use abasto_domain::access::{Permission, Sight};
use abasto_domain::branch::Branch;
use abasto_domain::business::{Business, CartMode};
use abasto_domain::cart::{Cart, CartStatus};
use abasto_domain::currency::Currency;
use abasto_domain::customer::Customer;
use abasto_domain::id::{BranchId, CartId, CustomerId};
use abasto_domain::stamp::Stamp;
use abasto_store::cart::CartLogEntry;
use abasto_store::query::{Page, Query};
use abasto_store::record::{Claim, Document, Record, Unique};
use abasto_store::unit::{Guard, UnitOfWork};
use serde_json::json;

use crate::Engine;
use crate::cache::Freshness;
use crate::commit;
use crate::context::Context;
use crate::error::Error;
use crate::record::typed;

mod author;
mod cleanup;
mod edit;
mod edit_commit;
mod edit_step;
mod fold;
mod held;
mod merge;
mod operation;
mod refusal;
mod seal;
mod token;
mod view;

pub(crate) use author::Authors;
pub use cleanup::CleanUp;
pub use edit::{EditCart, Edited};
pub(crate) use held::Cells;
pub use operation::{EditOperation, EditStep, FieldName};
pub use refusal::CartRefusal;
pub use seal::CartToBuy;
pub use view::{CartView, CouponView, Estimate, LineFlag, LineView, ViewProblem};

/// A caller of the cart routes.
#[derive(Debug, Clone)]
pub struct CartCaller {
    /// Who asks, and in which request.
    pub context: Context,
    /// The secret of a guest's cart, when the caller has one.
    pub guest_secret: Option<String>,
}

/// A cart to be made.
#[derive(Debug, Clone)]
pub struct NewCart {
    /// Where it is to be bought.
    pub branch: BranchId,
    /// Whose it shall be; a calling customer's is always their own.
    pub customer: Option<CustomerId>,
    /// How concurrent edits meet; by default as the business says.
    pub mode: Option<CartMode>,
    /// The currency in which the shopper would like to see it.
    pub currency_hint: Option<Currency>,
}

/// What making a cart came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedCart {
    /// The cart.
    pub view: CartView,
    /// Whether it was there before: a customer has one active cart per branch.
    pub existed: bool,
    /// The secret of a guest's new cart; told once.
    pub guest_secret: Option<String>,
}

/// A name under which a device numbers its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The name, opaque.
    pub device: String,
    /// The first number to use.
    pub next_sequence: u64,
}

impl CartCaller {
    /// Whether the caller may see the cart at all.
    fn sees(&self, cart: &Cart) -> bool {
        match self.context.principal.sight(Permission::ReadCarts) {
            Sight::All => true,
            Sight::Branches(branches) => branches.contains(&cart.branch),
            Sight::Own(own) => {
                cart.customer == Some(own) || (cart.customer.is_none() && self.is_guest(cart))
            }
            Sight::Assigned(_) | Sight::Nothing => false,
        }
    }

    fn is_guest(&self, cart: &Cart) -> bool {
        let secret = self.guest_secret.as_deref();
        secret.is_some_and(|secret| token::is_guest(cart, secret))
    }
}

impl Engine {
    /// Makes a cart, or gives the active one that the customer has at the branch.
    pub async fn create_cart(
        &self,
        caller: &CartCaller,
        command: NewCart,
    ) -> Result<OpenedCart, Error> {
        let context = &caller.context;
        context.require(Permission::EditCarts)?;
        let business = context.business();
        let customer = match (context.principal.customer, command.customer) {
            (Some(own), Some(asked)) if own != asked => return Err(Error::NotFound),
            (own, asked) => own.or(asked),
        };
        if let Some(id) = customer {
            self.find::<Customer>(business, id, Freshness::Cached)
                .await?;
        }
        if let Some(cart) = self.active_cart(context, customer, command.branch).await? {
            return self.existing(caller, cart).await;
        }
        let (secret, guest_hash) = match customer {
            Some(_) => (None, None),
            None => {
                let (text, hash) = token::guest_secret()?;
                (Some(text), Some(hash))
            }
        };
        let made = self.make_cart(context, command.clone(), customer, guest_hash);
        match made.await {
            Ok(cart) => Ok(OpenedCart {
                view: self.view_of(caller, &cart).await?,
                existed: false,
                guest_secret: secret,
            }),
            // Another request of the same customer was first.
            Err(Error::Taken(_)) => {
                let cart = self.active_cart(context, customer, command.branch).await?;
                self.existing(caller, cart.ok_or(Error::Contended)?).await
            }
            Err(error) => Err(error),
        }
    }

    async fn existing(&self, caller: &CartCaller, cart: Arc<Cart>) -> Result<OpenedCart, Error> {
        Ok(OpenedCart {
            view: self.view_of(caller, &cart).await?,
            existed: true,
            guest_secret: None,
        })
    }

    async fn active_cart(
        &self,
        context: &Context,
        customer: Option<CustomerId>,
        branch: BranchId,
    ) -> Result<Option<Arc<Cart>>, Error> {
        let Some(customer) = customer else {
            return Ok(None);
        };
        let claim = Claim {
            rule: Unique::ActiveCart,
            value: format!("{customer}:{branch}"),
        };
        let holders = self.store.holders(context.business(), &[claim]).await?;
        match holders.into_iter().next().flatten() {
            Some(id) => self
                .find::<Cart>(context.business(), id, Freshness::Fresh)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    async fn make_cart(
        &self,
        context: &Context,
        command: NewCart,
        customer: Option<CustomerId>,
        guest_hash: Option<[u8; 32]>,
    ) -> Result<Arc<Cart>, Error> {
        let secret = token::cart_secret()?;
        let (engine, context) = (self.clone(), context.clone());
        self.detached(async move {
            let business = context.business();
            let (engine, context, command) = (&engine, &context, &command);
            let decide = |freshness| async move {
                let tenant = engine
                    .find::<Business>(business, business, freshness)
                    .await?;
                let branch = engine
                    .find::<Branch>(business, command.branch, freshness)
                    .await?;
                context.require_at(Permission::EditCarts, branch.id)?;
                let now = engine.now();
                let cart = Cart {
                    business,
                    id: CartId(engine.new_id(now)),
                    branch: branch.id,
                    customer,
                    guest_hash,
                    secret,
                    mode: command.mode.unwrap_or(tenant.settings.cart_mode),
                    status: CartStatus::Active,
                    successor: None,
                    inherits: Vec::new(),
                    seal: None,
                    currency_hint: command.currency_hint,
                    due_at: Some(Cart::idle_at(now)),
                    stamp: Stamp::first(now),
                };
                let branch: Document = branch.into();
                let mut unit = engine.cart_unit(context, &cart, now);
                unit.guards = vec![Guard::Document(branch.key(), branch.version())];
                unit.puts = vec![engine.put(None, cart.into(), "abasto.cart.created", now)];
                Ok(unit)
            };
            let done = engine.settle(business, None, decide).await?;
            typed(commit::document(done.value)?)
        })
        .await
    }

    /// A unit about a cart that writes nothing yet.
    fn cart_unit(
        &self,
        context: &Context,
        cart: &Cart,
        now: abasto_domain::time::Timestamp,
    ) -> UnitOfWork {
        let mut unit = self.bare_unit(context.business(), context.principal.actor, now);
        unit.branch = Some(cart.branch);
        unit.request.clone_from(&context.request);
        unit
    }

    /// How fresh a cart's record must be read: where nobody else writes, the cache is told of
    /// every change.
    fn record_freshness(&self) -> Freshness {
        if self.store.is_shared() {
            Freshness::Fresh
        } else {
            Freshness::Cached
        }
    }

    /// A cart in the caller's sight.
    async fn cart_record(
        &self,
        caller: &CartCaller,
        id: CartId,
        freshness: Freshness,
    ) -> Result<Arc<Cart>, Error> {
        let business = caller.context.business();
        let cart = self.find::<Cart>(business, id, freshness).await?;
        if caller.sees(&cart) {
            Ok(cart)
        } else {
            Err(Error::NotFound)
        }
    }

    /// A cart in the caller's sight, as it is now. Waits a moment for what the caller has seen
    /// elsewhere (`min_ctx`); what does not come in time makes the view stale, not an error.
    pub async fn cart(
        &self,
        caller: &CartCaller,
        id: CartId,
        min_ctx: Option<&str>,
    ) -> Result<CartView, Error> {
        let cart = self
            .cart_record(caller, id, self.record_freshness())
            .await?;
        let Some(text) = min_ctx else {
            return self.view_of(caller, &cart).await;
        };
        let wanted = token::read_context(text).ok_or_else(refusal::bad_context)?;
        let has_come = self.wait_for(caller, &cart, &wanted).await?;
        let mut view = self.view_of(caller, &cart).await?;
        view.stale = !has_come;
        Ok(view)
    }

    /// Leases a device its own numbers on a cart. Nothing is stored: the name is random and sealed.
    pub async fn lease_device(&self, caller: &CartCaller, id: CartId) -> Result<Lease, Error> {
        let cart = self.editable(caller, id).await?;
        if !cart.is_active() {
            return Err(refusal::ended(&cart));
        }
        let held = self.content_of(&cart).await?;
        let context = held.content.context();
        let devices = context.vector().iter().filter(|(rid, _)| rid.is_device());
        if devices.count() >= MAX_DEVICES {
            return Err(CartRefusal::Limit("devices").into());
        }
        let rid = Rid::device(u64::from_be_bytes(token::random()?));
        Ok(Lease {
            device: token::device(&cart, rid),
            next_sequence: context.run_of(rid) + 1,
        })
    }

    /// A cart that the caller may edit.
    async fn editable(&self, caller: &CartCaller, id: CartId) -> Result<Arc<Cart>, Error> {
        let cart = self
            .cart_record(caller, id, self.record_freshness())
            .await?;
        caller
            .context
            .require_at(Permission::EditCarts, cart.branch)?;
        Ok(cart)
    }

    /// One page of the history of a cart in mode `events`, oldest first.
    pub async fn cart_log(
        &self,
        caller: &CartCaller,
        id: CartId,
        page: Page,
    ) -> Result<Vec<CartLogEntry>, Error> {
        let cart = self
            .cart_record(caller, id, self.record_freshness())
            .await?;
        if cart.mode != CartMode::Events {
            return Err(Error::NotFound);
        }
        let query = Query::CartLog(id);
        let rows = self.store.list(cart.business, &query, page).await?;
        rows.into_iter()
            .map(|row| match row {
                Record::CartLog(entry) => Ok(entry),
                _ => Err(Error::defect("a history holds something else")),
            })
            .collect()
    }
}

/// What an event of a cart says beside its name.
fn facts(cart: &Cart) -> serde_json::Value {
    json!({
        "status": cart.status.name(),
        "branchId": cart.branch,
        "customerId": cart.customer,
        "successor": cart.successor,
    })
}
