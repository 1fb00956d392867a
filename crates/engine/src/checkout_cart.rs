//! Checkouts of carts: the cart says what is bought, and a second one renews the first.
//!
//! Owns how a cart becomes a checkout, and how the order ends the cart. The cart stays active
//! until then: what is added meanwhile goes on in its successor.

use std::sync::Arc;

use abasto_domain::access::Permission;
use abasto_domain::cart::Cart;
use abasto_domain::checkout::{Checkout, CheckoutStatus, Ending};
use abasto_domain::fault::InvalidValue;
use abasto_domain::id::{BranchId, CartId};
use abasto_domain::order::{Address, FulfilmentKind, PaymentMethod};
use abasto_store::record::{Claim, Unique};
use abasto_store::unit::{OperationDraft, UnitOfWork};
use serde::Serialize;

use crate::Engine;
use crate::cache::Freshness;
use crate::cart::{CartCaller, CartRefusal, ViewProblem};
use crate::checkout::{BoughtCart, OpenCheckout, admit};
use crate::commit::{self, Done};
use crate::error::Error;
use crate::fingerprint::operation;
use crate::record::typed;

/// A checkout of a cart, as a caller asks for it.
#[derive(Debug, Clone, Serialize)]
pub struct CheckOutCart {
    /// The cart.
    pub cart: CartId,
    /// Where the caller believes it is bought; another branch than the cart's is refused.
    pub branch: Option<BranchId>,
    /// Fetched or brought.
    pub fulfilment: FulfilmentKind,
    /// Where to; needed for a delivery.
    pub address: Option<Address>,
    /// How it is to be paid.
    pub payment_method: PaymentMethod,
}

impl Engine {
    /// Opens a checkout of a cart and holds its units, or renews the one that it has.
    pub async fn check_out_cart(
        &self,
        caller: &CartCaller,
        key: &str,
        command: CheckOutCart,
    ) -> Result<Done<Arc<Checkout>>, Error> {
        caller.context.require(Permission::PlaceOrders)?;
        let operation = operation(&caller.context, key, "checkout.cart", &command)?;
        let (engine, caller) = (self.clone(), caller.clone());
        self.detached(async move {
            let business = caller.context.business();
            let decide = |freshness| engine.decide_cart(&caller, &command, &operation, freshness);
            let done = engine.settle_in_time(business, Some(&operation), decide);
            let done = commit::count_shortage("checkout", done.await)?;
            done.map(|reply| typed(commit::document(reply)?))
        })
        .await
    }

    async fn decide_cart(
        &self,
        caller: &CartCaller,
        command: &CheckOutCart,
        operation: &OperationDraft,
        freshness: Freshness,
    ) -> Result<UnitOfWork, Error> {
        let bought = self.cart_to_buy(caller, command.cart).await?;
        check(command, &bought.cart)?;
        needs_no_look(&bought.problems, bought.items.is_empty())?;
        let opened = OpenCheckout {
            branch: bought.cart.branch,
            items: bought.items,
            customer: bought.cart.customer,
            coupons: bought.coupons,
            fulfilment: command.fulfilment,
            address: command.address.clone(),
            payment_method: command.payment_method,
            cart: Some(BoughtCart {
                id: bought.cart.id,
                seal: bought.seal,
            }),
        };
        let opened = admit(&caller.context, opened)?;
        let mut grounds = self.grounds(&caller.context, &opened, freshness).await?;
        grounds.held = self.open_checkout_of(&bought.cart).await?;
        grounds.cart = Some(bought.cart);
        self.opening(&caller.context, &opened, operation, &grounds)
    }

    /// The open checkout of a cart. One whose time is over is ended first.
    async fn open_checkout_of(&self, cart: &Cart) -> Result<Option<Arc<Checkout>>, Error> {
        let claim = Claim {
            rule: Unique::OpenCheckout,
            value: cart.id.to_string(),
        };
        let holders = self.store.holders(cart.business, &[claim]).await?;
        let Some(id) = holders.into_iter().next().flatten() else {
            return Ok(None);
        };
        let held = self
            .find::<Checkout>(cart.business, id, Freshness::Fresh)
            .await?;
        if held.status_at(self.now()) == CheckoutStatus::Open {
            return Ok(Some(held));
        }
        if held.status == CheckoutStatus::Open {
            // Whoever ends it first, it has ended then.
            let unit = self.ending(&held, Ending::Expired)?;
            self.commit_once(unit).await?;
        }
        Ok(None)
    }

    /// The cart of a checkout that becomes an order: it ends with it, in the same unit.
    pub(crate) async fn seal_cart(
        &self,
        checkout: &Checkout,
        unit: &mut UnitOfWork,
    ) -> Result<(), Error> {
        let (Some(id), Some(seal)) = (checkout.cart, &checkout.seal) else {
            return Ok(());
        };
        let mut cart: Arc<Cart> = self.find(checkout.business, id, Freshness::Fresh).await?;
        if !cart.inherits.is_empty() && cart.is_active() {
            self.settle_inheritance(&cart).await?;
            cart = self.find(checkout.business, id, Freshness::Fresh).await?;
        }
        if !cart.is_active() {
            return Err(CartRefusal::Ended {
                status: cart.status,
                successor: cart.successor,
            }
            .into());
        }
        let (puts, _) = self.seal_puts(&cart, seal.clone(), unit.at)?;
        unit.puts.extend(puts);
        Ok(())
    }
}

fn check(command: &CheckOutCart, cart: &Cart) -> Result<(), Error> {
    const BRANCH: InvalidValue = InvalidValue::new("other-branch", "the branch of the cart");
    match command.branch {
        Some(branch) if branch != cart.branch => Err(Error::fault("/branchId", BRANCH)),
        _ => Ok(()),
    }
}

/// A cart that shows something else than what was put in is looked at first.
fn needs_no_look(problems: &[ViewProblem], is_empty: bool) -> Result<(), Error> {
    const EMPTY: InvalidValue = InvalidValue::new("empty-cart", "a cart with something in it");
    if is_empty {
        return Err(Error::fault("/cartId", EMPTY));
    }
    let grave = |problem: &&ViewProblem| {
        matches!(
            problem,
            ViewProblem::Clamped(_) | ViewProblem::TooManyLines(_) | ViewProblem::TooManyCoupons(_)
        )
    };
    let grave: Vec<ViewProblem> = problems.iter().filter(grave).cloned().collect();
    if grave.is_empty() {
        Ok(())
    } else {
        Err(CartRefusal::NeedsLook(grave).into())
    }
}
