//! A cart on its way to an order.
//!
//! Owns what a checkout takes from a cart, and the puts that end the cart with the order. What the
//! buyer had not seen goes on in the successor, which inherits it; nothing is computed twice.

use std::sync::Arc;

use abasto_domain::cart::Cart;
use abasto_domain::coupon::CouponCode;
use abasto_domain::id::{CartId, ProductId};
use abasto_domain::pricing::{Item, merge_items};
use abasto_domain::quantity::Quantity;
use abasto_domain::time::Timestamp;
use abasto_store::event::EventDraft;
use abasto_store::record::Document;
use abasto_store::unit::Put;

use super::refusal;
use super::view::ViewProblem;
use super::{CartCaller, facts, token};
use crate::Engine;
use crate::cache::Freshness;
use crate::error::Error;

/// What a checkout takes from a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartToBuy {
    /// The cart; guard its version.
    pub cart: Arc<Cart>,
    /// Its lines, those of one product summed.
    pub items: Vec<Item>,
    /// Its coupon codes.
    pub coupons: Vec<CouponCode>,
    /// Why it cannot be bought before the shopper has looked at it; empty when it can.
    pub problems: Vec<ViewProblem>,
    /// The state that is bought: keep it with the checkout and give it back when the order comes.
    pub seal: Vec<u8>,
}

impl Engine {
    /// An active cart as a checkout needs it.
    pub async fn cart_to_buy(&self, caller: &CartCaller, id: CartId) -> Result<CartToBuy, Error> {
        let mut cart = self.cart_record(caller, id, Freshness::Fresh).await?;
        if !cart.is_active() {
            return Err(refusal::ended(&cart));
        }
        if !cart.inherits.is_empty() {
            self.settle_inheritance(&cart).await?;
            cart = self.cart_record(caller, id, Freshness::Fresh).await?;
        }
        let held = self.content_of(&cart).await?;
        let view = self.view(&cart, &held).await?;
        let items: Result<Vec<Item>, Error> = view.lines.iter().map(item).collect();
        let items = merge_items(&items?)
            .map_err(|(index, invalid)| Error::fault(&format!("/items/{index}"), invalid))?;
        let codes = view.coupons.iter();
        Ok(CartToBuy {
            items,
            coupons: codes
                .filter_map(|coupon| CouponCode::parse(&coupon.code).ok())
                .collect(),
            problems: view.problems,
            seal: held.content.encode(),
            cart,
        })
    }

    /// The puts that end a bought cart and begin its successor, with the successor's id. They
    /// belong into the unit that makes the order.
    pub(crate) fn seal_puts(
        &self,
        cart: &Arc<Cart>,
        seal: Vec<u8>,
        now: Timestamp,
    ) -> Result<(Vec<Put>, CartId), Error> {
        let id = CartId(self.new_id(now));
        let successor = cart.successor(id, token::cart_secret()?, now);
        let sealed = cart.sealed(seal, id, now);
        let put = |base: Option<Document>, next: Cart, name| Put {
            event: EventDraft {
                id: self.new_id(now).into(),
                name,
                data: facts(&next),
            },
            base,
            next: next.into(),
        };
        let base = Some(Document::Cart(Arc::clone(cart)));
        let puts = vec![
            put(base, sealed, "abasto.cart.sealed"),
            put(None, successor, "abasto.cart.created"),
        ];
        Ok((puts, id))
    }
}

fn item(line: &super::LineView) -> Result<Item, Error> {
    Ok(Item {
        product: ProductId::clone(&line.product),
        quantity: Quantity::new(i64::from(line.quantity))
            .map_err(|invalid| Error::fault("/items", invalid))?,
    })
}
