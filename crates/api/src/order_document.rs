//! The documents of orders as shown.

use std::collections::BTreeMap;

use abasto_domain::coupon::AppliedCoupon;
use abasto_domain::currency::Currency;
use abasto_domain::fault::InvalidValue;
use abasto_domain::limits;
use abasto_domain::order::{Address, Fulfilment, Order};
use abasto_domain::pricing::{Line, Totals};
use abasto_domain::text::clean;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::order_names::{FulfilmentType, PaymentMethodName, PaymentStatusName, StatusName};
use crate::value::{Id, Money, Time};

/// An order. Its items are snapshots: no later change of a product shows in them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Order)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderView {
    id: Id,
    /// Branch code, year in the branch's zone, sequence without gaps.
    #[schema(example = "BOG-2026-000184")]
    number: String,
    branch_id: Id,
    status: StatusName,
    payment_status: PaymentStatusName,
    payment_method: PaymentMethodName,
    customer: BuyerView,
    items: Vec<LineView>,
    totals: TotalsView,
    #[schema(example = "COP")]
    currency: String,
    /// The coupons it used.
    coupons: Vec<AppliedCouponView>,
    fulfilment: FulfilmentView,
    #[schema(required = true)]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout_id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cart_id: Option<Id>,
    /// When an unpaid order gives its units back.
    #[schema(required = true)]
    reservation_expires_at: Option<Time>,
    version: i64,
    created_at: Time,
    updated_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparing_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<String>,
}

impl From<&Order> for OrderView {
    fn from(order: &Order) -> Self {
        let currency = order.currency;
        Self {
            id: order.id.into(),
            number: order.number.to_string(),
            branch_id: order.branch.into(),
            status: order.status.into(),
            payment_status: order.payment_status.into(),
            payment_method: order.payment_method.into(),
            customer: BuyerView {
                id: order.customer.id.map(Id::from),
                name_at_purchase: order.customer.name.clone(),
                phone_at_purchase: order.customer.phone.clone(),
            },
            items: order
                .lines
                .iter()
                .map(|line| LineView::new(line, currency))
                .collect(),
            totals: TotalsView::new(&order.totals, currency),
            coupons: order
                .coupons
                .iter()
                .map(|coupon| AppliedCouponView::new(coupon, currency))
                .collect(),
            currency: currency.code().to_owned(),
            fulfilment: FulfilmentView::from(&order.fulfilment),
            note: order.note.clone(),
            checkout_id: order.checkout.map(Id::from),
            cart_id: order.cart.map(Id::from),
            reservation_expires_at: order.reservation_expires_at.map(Time::from),
            version: order.stamp.version,
            created_at: order.stamp.created_at.into(),
            updated_at: order.stamp.updated_at.into(),
            confirmed_at: order.timeline.confirmed_at.map(Time::from),
            preparing_at: order.timeline.preparing_at.map(Time::from),
            dispatched_at: order.timeline.dispatched_at.map(Time::from),
            delivered_at: order.timeline.delivered_at.map(Time::from),
            cancelled_at: order.timeline.cancelled_at.map(Time::from),
            cancel_reason: order.cancel_reason.clone(),
        }
    }
}

/// The buyer as known when the order was placed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Buyer)]
#[serde(rename_all = "camelCase")]
struct BuyerView {
    #[schema(required = true)]
    id: Option<Id>,
    #[schema(required = true)]
    name_at_purchase: Option<String>,
    #[schema(required = true)]
    phone_at_purchase: Option<String>,
}

/// One product of an order, as it was sold.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderItem)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineView {
    product_id: Id,
    sku_at_purchase: String,
    name_at_purchase: String,
    quantity: i64,
    /// Price of one unit, tax included.
    unit_price: Money,
    /// `unitPrice × quantity`.
    subtotal: Money,
    discount: Money,
    /// The tax inside `total`.
    tax: Money,
    /// `subtotal − discount`.
    total: Money,
}

impl LineView {
    pub(crate) fn new(line: &Line, currency: Currency) -> Self {
        let money = |amount| Money::show(amount, currency);
        Self {
            product_id: line.product.into(),
            sku_at_purchase: line.sku.clone(),
            name_at_purchase: line.name.clone(),
            quantity: line.quantity.units(),
            unit_price: money(line.unit_price),
            subtotal: money(line.subtotal),
            discount: money(line.discount),
            tax: money(line.tax),
            total: money(line.total),
        }
    }
}

/// The sums of an order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Totals)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TotalsView {
    subtotal: Money,
    discount: Money,
    /// Inside the prices, not on top.
    tax: Money,
    delivery_fee: Money,
    /// `subtotal − discount + deliveryFee`.
    total: Money,
}

impl TotalsView {
    pub(crate) fn new(totals: &Totals, currency: Currency) -> Self {
        let money = |amount| Money::show(amount, currency);
        Self {
            subtotal: money(totals.subtotal),
            discount: money(totals.discount),
            tax: money(totals.tax),
            delivery_fee: money(totals.delivery_fee),
            total: money(totals.total),
        }
    }
}

/// A coupon that a checkout or order used.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AppliedCoupon)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppliedCouponView {
    coupon_id: Id,
    code: String,
    discount: Money,
}

impl AppliedCouponView {
    pub(crate) fn new(coupon: &AppliedCoupon, currency: Currency) -> Self {
        Self {
            coupon_id: coupon.coupon.into(),
            code: coupon.code.as_str().to_owned(),
            discount: Money::show(coupon.discount, currency),
        }
    }
}

/// How an order reaches its buyer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OrderFulfilment)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FulfilmentView {
    r#type: FulfilmentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<AddressDocument>,
    /// The member who brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    courier_id: Option<Id>,
}

impl From<&Fulfilment> for FulfilmentView {
    fn from(fulfilment: &Fulfilment) -> Self {
        Self {
            r#type: fulfilment.kind.into(),
            address: fulfilment.address.clone().map(AddressDocument::from),
            courier_id: fulfilment.courier.map(Id::from),
        }
    }
}

/// An address: one text, or named parts such as `street` and `city`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[schema(as = Address)]
#[serde(untagged)]
pub(crate) enum AddressDocument {
    Text(AddressText),
    Parts(BTreeMap<String, String>),
}

/// As written on a label.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, min_length = 1, max_length = 500)]
pub(crate) struct AddressText(String);

impl From<Address> for AddressDocument {
    fn from(address: Address) -> Self {
        match address {
            Address::Text(text) => Self::Text(AddressText(text)),
            Address::Parts(parts) => Self::Parts(parts),
        }
    }
}

impl AddressDocument {
    /// An address has at most twenty parts.
    pub(crate) fn read(self) -> Result<Address, InvalidValue> {
        const MANY: InvalidValue = InvalidValue::new("too-many", "1 to 20 parts");
        match self {
            Self::Text(AddressText(text)) => clean(&text, limits::ADDRESS).map(Address::Text),
            Self::Parts(parts) if (1..=20).contains(&parts.len()) => {
                let part = |(name, value): (String, String)| {
                    let name = clean(&name, limits::ATTRIBUTE_NAME)?;
                    Ok((name, clean(&value, limits::ATTRIBUTE_VALUE)?))
                };
                let parts: Result<_, InvalidValue> = parts.into_iter().map(part).collect();
                parts.map(Address::Parts)
            }
            Self::Parts(_) => Err(MANY),
        }
    }
}
