//! Splitting a cart at checkout.
//!
//! Owns [`Seal`]: an order takes exactly the operations that the checkout saw, and what came
//! beside or after goes on in the successor cart.

use crate::cart::Cart;

/// A cart as a checkout saw it.
///
/// ```
/// # use abasto_cart::{Cart, Dot, Hlc, LineKey, Operation, Quantity, Rid, Seal, Stamp, default_cap};
/// # let add = |sku| Operation::AddItem { line: LineKey::new(sku).unwrap(), quantity: Quantity::new(1).unwrap() };
/// # let stamp = |device| Stamp { dot: Dot::new(Rid::device(device), 1).unwrap(), hlc: Hlc::ZERO };
/// let mut cart = Cart::new();
/// cart.apply(&add("bread"), stamp(1), &default_cap)?;
/// let seal = Seal::of(&cart);
///
/// // An edit that the checkout did not see arrives afterwards.
/// cart.apply(&add("milk"), stamp(2), &default_cap)?;
/// assert_eq!(seal.order().view(&default_cap).lines.len(), 1);
/// let successor = seal.rest(&cart);
/// assert_eq!(successor.view(&default_cap).lines[0].line.as_str(), "milk");
/// # Ok::<(), abasto_cart::OperationError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    sealed: Cart,
}

impl Seal {
    /// Seals everything that this state knows. Store it once per checkout; a second attempt
    /// reads it back instead of sealing again.
    #[must_use]
    pub fn of(cart: &Cart) -> Self {
        Self {
            sealed: cart.clone(),
        }
    }

    /// What is ordered. Removals that arrive later do not reach it.
    #[must_use]
    pub fn order(&self) -> &Cart {
        &self.sealed
    }

    /// What of a cart, or of a late change, belongs to the successor.
    ///
    /// It may be taken before or after joining, part by part, any number of times: the rest of a
    /// join is the join of the rests. Of authors that made nothing since the seal nothing is
    /// carried over, so a successor that starts with nothing starts with no history either.
    #[must_use]
    pub fn rest(&self, cart: &Cart) -> Cart {
        let seen = self.sealed.context();
        let entries = cart
            .entries()
            .iter()
            .filter(|(dot, _)| !seen.contains(*dot))
            .cloned()
            .collect();
        let mut context = cart.context().clone();
        context.union(seen);
        // Where an author went on, the sealed dots count as removed: otherwise they would stay
        // gaps below the new ones for ever.
        context.retain_authors(|rid| cart.context().exceeds(seen, rid));
        Cart::from_checked(entries, context)
    }
}
